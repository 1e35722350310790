"""`orkeon check`: what is wrong with a machine or crew file, and where; nothing is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orkeon_transitions.cli.app import INVALID, examples, place_of, problem_words, shared_options
from orkeon_transitions.cli.screen import Screen, current_screen
from orkeon_transitions.cli.subjects import existing_file, kind_of
from orkeon_transitions.cli.words import SEVERITY_STYLES, counted, visible
from orkeon_transitions.definition import read_source
from orkeon_transitions.definition.places import dotted
from orkeon_transitions.errors import DefinitionError

if TYPE_CHECKING:
    from orkeon_transitions.definition import Finding
    from orkeon_transitions.definition.places import Path as DataPath
    from orkeon_transitions.definition.places import Place


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that the check found.

    Attributes:
        severity: `error`, `warning` or `note`.
        code: A short word for the kind of fault.
        line: Counted from 1, or None.
        column: Counted from 1, or None.
        path: Where in the data.
        message: What is wrong.
    """

    severity: str
    code: str
    line: int | None
    column: int | None
    path: str
    message: str


@dataclass(slots=True)
class Report:
    """What the check has to say about one file."""

    file: str
    kind: str | None = None
    summary: str = ""
    remarks: list[Remark] = field(default_factory=list)

    def fails(self, *, strict: bool) -> bool:
        """Whether the file is refused: for an error, or under `--strict` for a warning too."""
        refused = {"error", "warning"} if strict else {"error"}
        return any(remark.severity in refused for remark in self.remarks)


EXAMPLES = examples(
    "orkeon check my-machine.yaml",
    "orkeon check --strict machines/*.yaml crew.yaml",
)


@click.command("check", epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--strict", is_flag=True, help="Refuse warnings too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of lines.")
@shared_options
@click.pass_context
def command(context: click.Context, *, files: tuple[str, ...], strict: bool, as_json: bool) -> None:
    """Say what is wrong with machine and crew files, and where.

    Each problem is a line `file:line:column: severity: message [code]`. Exit code 2 if a file is refused.
    """
    screen = current_screen()
    reports = [examine(name) for name in files]
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


def examine(name: str) -> Report:
    """Reads one file as what it looks like and gathers everything that can be said about it."""
    report = Report(name)
    try:
        path = existing_file(name, "file")
        report.kind = _kind(path, report)
        if report.kind == "machine":
            _examine_machine(path, report)
        elif report.kind == "crew":
            _examine_crew(path, report)
    except DefinitionError as error:
        report.remarks += [
            Remark("error", "invalid", found.line, found.column, found.path, problem_words(found, path=False))
            for found in error.problems
        ]
    except click.ClickException as error:
        report.remarks.append(Remark("error", "unreadable", None, None, "", _without(name, error.message)))
    except OSError as error:
        report.remarks.append(Remark("error", "unreadable", None, None, "", str(error.strerror)))
    return report


def _kind(path: Path, report: Report) -> str | None:
    """Which kind of file this is; that it is of none is reported."""
    data = read_source(path).data
    kind = kind_of(data)
    if kind is not None:
        return kind
    found = f"its keys are {', '.join(data)}" if data and isinstance(data, Mapping) else _kind_words(data)
    message = (
        "neither a machine nor a crew: a machine has `initial`, `states` and `transitions`, "
        f"a crew has `agents` and `tasks`; {found}"
    )
    report.remarks.append(Remark("error", "unknown-kind", 1, 1, "", message))
    return None


def _kind_words(data: object) -> str:
    match data:
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
    report.remarks += _remarks_of(findings, definition.origin.places)


def _examine_crew(path: Path, report: Report) -> None:
    from orkeon_transitions.crew import load_crew

    crew = load_crew(path)
    agents, tasks = len(crew.config.agents), len(crew.config.tasks)
    report.summary = f"crew {crew.config.name}, {counted(agents, 'agent')}, {counted(tasks, 'task')}"
    report.remarks += _remarks_of(crew.findings, read_source(path).places)


def _remarks_of(findings: Iterable[Finding], places: Mapping[DataPath, Place]) -> list[Remark]:
    """Findings as remarks, in the order of the file; the column is where the finding's part begins."""
    columns = {dotted(path): place for path, place in places.items()}
    remarks = []
    for found in findings:
        line, column = columns.get(found.path, (None, None))
        column = column if line == found.line else None
        remarks.append(Remark(found.severity, found.code, found.line, column, found.path, found.message))
    return sorted(remarks, key=lambda remark: (remark.line or 0, remark.column or 0))


def _print(screen: Screen, report: Report, *, strict: bool) -> None:
    for remark in report.remarks:
        place = place_of(report.file, remark.line, remark.column)
        severity = "error" if strict and remark.severity == "warning" else remark.severity
        if severity == "note" and screen.quiet:
            continue
        path = f"{remark.path}: " if remark.path else ""
        label = screen.colored(f"{severity}:", SEVERITY_STYLES[severity])
        screen.result(f"{visible(place)}: {label} {visible(path + remark.message)} [{remark.code}]")
    if not screen.quiet and not report.fails(strict=strict):
        screen.result(f"{visible(report.file)}: {screen.colored('ok', 'green')} ({visible(report.summary)})")


def _without(name: str, message: str) -> str:
    return message.removeprefix(f"{name}: ")
