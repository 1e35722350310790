"""`orkeon check`: what is wrong with a machine or crew file, and where; nothing is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orkeon_transitions.cli.app import INVALID, examples, shared_options
from orkeon_transitions.cli.limits import CrewLimits, limit_lines, limits_of
from orkeon_transitions.cli.own_tools import imported, tools_option
from orkeon_transitions.cli.screen import Screen, current_screen
from orkeon_transitions.cli.subjects import existing_file, kind_of
from orkeon_transitions.cli.words import SEVERITY_STYLES, counted, visible
from orkeon_transitions.definition import read_source
from orkeon_transitions.definition.places import dotted
from orkeon_transitions.errors import DefinitionError, place_text

if TYPE_CHECKING:
    from orkeon_transitions.crew import Tool
    from orkeon_transitions.definition import Finding
    from orkeon_transitions.definition.places import Path as DataPath
    from orkeon_transitions.definition.places import Place


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that the check found.

    Attributes:
        file: The file that it is about; a crew may have several.
        severity: `error`, `warning` or `note`.
        code: A short word for the kind of fault.
        line: Counted from 1, or None.
        column: Counted from 1, or None.
        path: Where in the data.
        message: What is wrong.
    """

    file: str
    severity: str
    code: str
    line: int | None
    column: int | None
    path: str
    message: str


@dataclass(slots=True)
class Report:
    """What the check has to say about one file, or one crew.

    Attributes:
        file: What was named.
        kind: `machine`, `crew`, or None.
        summary: A few words on what is in it.
        limits: What a crew's tasks are allowed, and where that comes from.
        remarks: What is wrong with it, or worth knowing.
    """

    file: str
    kind: str | None = None
    summary: str = ""
    limits: CrewLimits | None = None
    remarks: list[Remark] = field(default_factory=list)

    def fails(self, *, strict: bool) -> bool:
        """Whether the file is refused: for an error, or under `--strict` for a warning too."""
        refused = {"error", "warning"} if strict else {"error"}
        return any(remark.severity in refused for remark in self.remarks)


EXAMPLES = examples(
    "orkeon check my-machine.yaml",
    "orkeon check --strict machines/*.yaml crew.yaml my-crew/",
)


@click.command("check", epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--strict", is_flag=True, help="Refuse warnings too.")
@tools_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of lines.")
@shared_options
@click.pass_context
def command(
    context: click.Context, *, files: tuple[str, ...], strict: bool, own_tools: tuple[str, ...], as_json: bool
) -> None:
    """Say what is wrong with machine and crew files, and where.

    Each problem is a line `file:line:column: severity: message [code]`. Exit code 2 if a file is refused.

    A crew may be a file, a folder, a CrewAI project as `orkeon run` takes it, or an example that ships. For
    each of its tasks: what the circuit breaker
    allows, and where that comes from: the task, the crew, the preset, or widened from the preset to what the
    task's own budgets need.
    """
    screen, tools = current_screen(), imported(own_tools)
    reports = [examine(name, strict=strict, tools=tools) for name in files]
    if as_json:
        screen.json(
            {
                "ok": not any(report.fails(strict=strict) for report in reports),
                "files": [asdict(report) | {"ok": not report.fails(strict=strict)} for report in reports],
            }
        )
    else:
        for report in reports:
            _print(screen, report, strict=strict)
    context.exit(INVALID if any(report.fails(strict=strict) for report in reports) else 0)


def examine(name: str, *, strict: bool = False, tools: Sequence[Tool] = ()) -> Report:
    """Reads one file as what it looks like and gathers everything that can be said about it.

    Under `strict` an unknown key of a crew is an error, told with all others. The tools are those that a
    crew may name besides the ones that are always there.
    """
    report = Report(name)
    try:
        report.kind = _kind(name, report)
        if report.kind == "machine":
            _examine_machine(Path(name), report)
        elif report.kind == "crew":
            _examine_crew(name, report, strict=strict, tools=tools)
    except DefinitionError as error:
        report.remarks += [
            Remark(
                file=found.file or name,
                severity="error",
                code="invalid",
                line=found.line,
                column=found.column,
                path=found.path,
                message=found.sentence,
            )
            for found in error.problems
        ]
    except click.ClickException as error:
        words = _without(name, error.message)
        report.remarks.append(Remark(name, "error", "unreadable", None, None, "", words))
    except OSError as error:
        report.remarks.append(Remark(name, "error", "unreadable", None, None, "", str(error.strerror)))
    return report


def _kind(name: str, report: Report) -> str | None:
    """Which kind of thing this is; that it is of none is reported."""
    from orkeon_transitions.crew import example_names
    from orkeon_transitions.crew.layouts import MAIN_NAMES

    path = Path(name)
    if path.is_dir() or (name in example_names() and not path.exists()):
        return "crew"
    data = read_source(existing_file(name, "file")).data
    kind = kind_of(data)
    if kind is None and isinstance(data, Mapping) and path.stem in MAIN_NAMES:
        # Its agents and tasks may lie beside it.
        return "crew"
    if kind is not None:
        return kind
    found = _kind_words(data, name)
    message = (
        "neither a machine nor a crew: a machine has `initial`, `states` and `transitions`, "
        f"a crew has `agents` and `tasks`; {found}"
    )
    report.remarks.append(Remark(name, "error", "unknown-kind", 1, 1, "", message))
    return None


def _kind_words(data: object, name: str) -> str:
    from orkeon_transitions.crew.foreign import likeness

    match data:
        case Mapping() if data:
            looks = likeness(data, name)
            return f"it looks like {looks}" if looks else f"its keys are {', '.join(data)}"
        case Mapping():
            return "it is an empty mapping"
        case list():
            return "it is a list"
        case str():
            return "it is plain text"
        case _:
            return f"it is the value {data!r}"


def _examine_machine(path: Path, report: Report) -> None:
    from orkeon_transitions.definition import check_definition, load_definition

    definition = load_definition(path)
    states, triggers = len(definition.states), len(definition.triggers)
    report.summary = f"machine {definition.name}, {counted(states, 'state')}, {counted(triggers, 'trigger')}"
    findings = [*check_definition(definition), *definition.origin.notes]
    report.remarks += _remarks_of(report.file, findings, definition.origin.places)


def _examine_crew(name: str, report: Report, *, strict: bool, tools: Sequence[Tool]) -> None:
    from orkeon_transitions.crew import load_crew

    crew = load_crew(name, strict=strict, tools=tools)
    agents, tasks = len(crew.config.agents), len(crew.config.tasks)
    report.summary = f"crew {crew.config.name}, {counted(agents, 'agent')}, {counted(tasks, 'task')}"
    report.remarks += _remarks_of(name, crew.findings, {})
    report.limits = limits_of(crew.config)


def _remarks_of(name: str, findings: Iterable[Finding], places: Mapping[DataPath, Place]) -> list[Remark]:
    """Findings as remarks, file by file and in the order of each.

    The column of one that has none of its own is where the finding's part begins.
    """
    columns = {dotted(path): place for path, place in places.items()}
    remarks = []
    for found in findings:
        line, column = columns.get(found.path, (None, None))
        remarks.append(
            Remark(
                file=found.file or name,
                severity=found.severity,
                code=found.code,
                line=found.line,
                column=found.column or (column if line == found.line else None),
                path=found.path,
                message=found.message,
            )
        )
    files = list(dict.fromkeys(remark.file for remark in remarks))
    return sorted(
        remarks, key=lambda remark: (files.index(remark.file), remark.line or 0, remark.column or 0)
    )


def _print(screen: Screen, report: Report, *, strict: bool) -> None:
    for remark in report.remarks:
        place = place_text(remark.file, remark.line, remark.column)
        severity = "error" if strict and remark.severity == "warning" else remark.severity
        if severity == "note" and screen.quiet:
            continue
        path = f"{remark.path}: " if remark.path else ""
        label = screen.colored(f"{severity}:", SEVERITY_STYLES[severity])
        screen.result(f"{visible(place)}: {label} {visible(path + remark.message)} [{remark.code}]")
    if not screen.quiet and not report.fails(strict=strict):
        screen.result(f"{visible(report.file)}: {screen.colored('ok', 'green')} ({visible(report.summary)})")
        for line in limit_lines(report.limits) if report.limits else ():
            screen.result(visible(line))


def _without(name: str, message: str) -> str:
    return message.removeprefix(f"{name}: ")
