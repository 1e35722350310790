"""From whatever a person names to the session that shows it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orkeon_transitions.crew import Crew, load_crew
from orkeon_transitions.crew.packaged import example_names
from orkeon_transitions.definition import MachineDefinition, load_definition, nearest, read_source
from orkeon_transitions.definition.source import is_text
from orkeon_transitions.errors import DefinitionError, JournalError, OrkeonError
from orkeon_transitions.explorer.crew_session import CrewSession
from orkeon_transitions.explorer.crew_watch import CrewWatch
from orkeon_transitions.explorer.journal_session import JournalSession
from orkeon_transitions.explorer.machine_session import MachineSession
from orkeon_transitions.explorer.problems_session import ProblemsSession
from orkeon_transitions.explorer.reloading import ReloadingSession
from orkeon_transitions.explorer.session import Session
from orkeon_transitions.graph import GraphRunner, StateGraph
from orkeon_transitions.machines import machine_names
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine, StateMachineBuilder
from orkeon_transitions.store.records import begins_a_record, parse_line
from orkeon_transitions.store.replay import is_store_url

SQLITE = b"SQLite format 3\0"
YAML = frozenset({".yaml", ".yml"})
JOURNALS = frozenset({".jsonl", ".log", ".ndjson"})
CREW_KEYS = frozenset({"agents", "tasks", "crew", "process"})
LONGEST_LOOK = 100_000


def open_session(
    subject: Any,
    *,
    machine: MachineDefinition | str | os.PathLike[str] | None = None,
    machine_id: str | None = None,
    **options: Any,
) -> Session:
    """Opens what a person wants to look at.

    A file that has problems is opened as well: the session shows them, and `{"do": "reload"}` reads it again.

    Args:
        subject: A machine, which is followed and fired itself; a builder of one; a `MachineDefinition`,
            `StateGraph`, `GraphRunner` or `Crew`; the name of a machine or of a crew that ships; the path of
            a machine file, a crew file or a folder of them, or a journal; a store's URL; a machine's text.
        machine: For a journal: what was allowed, as a definition, a name or a file.
        machine_id: For a journal of several machines: the one that is shown first.
        **options: Those of `MachineSession`.

    Raises:
        OrkeonError: There is no such file, machine or journal.
        TypeError: It is nothing that can be shown.
    """
    if isinstance(subject, StateGraph | GraphRunner):
        subject = subject.definition() if isinstance(subject, StateGraph) else subject.definition
    if isinstance(subject, StateMachineBuilder):
        subject = subject.build()
    if isinstance(subject, MachineDefinition | StateMachine | AsyncStateMachine):
        return MachineSession(subject, **options)
    if isinstance(subject, CrewWatch):
        return CrewSession(subject)
    if isinstance(subject, Crew):
        return _crew_session(subject)
    if isinstance(subject, type):
        raise TypeError(f"{subject.__name__} is a class: make a machine of it, and explore that")
    if not isinstance(subject, str | os.PathLike):
        raise TypeError(
            f"an object of {type(subject).__name__} cannot be explored: a machine, a definition, a graph or "
            "a crew can, and the path of a file of one of these or of a journal"
        )
    named = os.fspath(subject)
    if named in machine_names():
        return MachineSession(named, **options)
    if named in example_names():
        return _crew_session(load_crew(named))
    opens = _way_to_open(named, machine, machine_id, options)
    return ReloadingSession(lambda: _opened_or_told(opens, named))


def _crew_session(crew: Crew) -> Session:
    """A crew that nobody runs here."""
    hint = (
        None
        if crew.source is None
        else f"Nothing runs here; `orkeon run {crew.source} --watch` does, and is followed"
    )
    return CrewSession(CrewWatch(crew), hint=hint)


def _opened_or_told(opens: Callable[[], Session], source: str) -> Session:
    try:
        return opens()
    except (DefinitionError, JournalError) as error:
        return ProblemsSession(error, source)


def _way_to_open(
    named: str,
    machine: MachineDefinition | str | os.PathLike[str] | None,
    machine_id: str | None,
    options: dict[str, Any],
) -> Callable[[], Session]:
    """How a text or a file is opened, now and when it is read again."""
    if is_text(named):
        return lambda: MachineSession(load_definition(named), **options)

    def journal() -> Session:
        return JournalSession(named, machine=machine, machine_id=machine_id)

    if is_store_url(named):
        return journal
    path = Path(named)
    if not named or not path.exists():
        raise _not_there(named)
    if path.is_dir():
        return lambda: _crew_session(load_crew(named))
    if not path.is_file():
        raise OrkeonError(f"{named}: is a pipe or a device: save what it gives as a file first")
    if _begins_with(path, SQLITE):
        url = f"sqlite:///{path}"
        return lambda: JournalSession(url, machine=machine, machine_id=machine_id)
    if path.suffix.lower() in JOURNALS or (path.suffix.lower() not in YAML and _is_journal(path)):
        return journal
    return lambda: _defined(named, options)


def _defined(named: str, options: dict[str, Any]) -> Session:
    """A machine file or a crew file, by the keys at its top."""
    data = read_source(named).data
    keys = set(data) if isinstance(data, dict) else set()
    if keys & CREW_KEYS and not keys & {"states", "transitions"}:
        return _crew_session(load_crew(named))
    return MachineSession(load_definition(Path(named)), source=named, **options)


def _not_there(named: str) -> OrkeonError:
    known = [*machine_names(), *example_names()]
    near = nearest(named, known)
    hint = f" (did you mean '{near}'?)" if near else f": there are {', '.join(known)}"
    return OrkeonError(f"{named or 'an empty name'}: no such file, and nothing of that name ships{hint}")


def _begins_with(path: Path, start: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(start)) == start
    except OSError:  # whoever reads it says so
        return False


def _is_journal(path: Path) -> bool:
    """Whether the first line of a file is a record, or may be the beginning of one."""
    try:
        with path.open("rb") as file:
            lines = file.read(LONGEST_LOOK).splitlines()
    except OSError:
        return False
    first = next((line for line in lines if line.strip()), b"")
    if not begins_a_record(first):
        return False
    try:
        data = parse_line(first)
    except ValueError:
        return False
    return data is not None and "session_id" in data
