"""The beginning of a run that is written down, and how another process takes it up.

A crew or inputs that are not those that the run began with are told by name, all at once, with their places.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from orkeon_transitions.crew.config import CrewConfig
from orkeon_transitions.crew.fingerprint import Fingerprint, changes, fingerprint
from orkeon_transitions.crew.mounts import Mount
from orkeon_transitions.crew.recording import RunRecorder
from orkeon_transitions.crew.run_log import ENDED, RecordedMachine, RecordedRun, RunHold, RunLog
from orkeon_transitions.definition.names import camel_case
from orkeon_transitions.definition.places import Source
from orkeon_transitions.errors import CrewDefinitionError, OrkeonError, Problem


@dataclass(frozen=True, slots=True)
class Origin:
    """What a run begins with, as it is noted in its log.

    Attributes:
        crew: The crew's name.
        process: How its tasks are run.
        source: What the crew was loaded from; None: from a text.
        tasks: The keys of its tasks.
        inputs: What fills its placeholders.
        unavailable: Keys of agents that are out of service.
        fingerprint: What the crew is made of.
    """

    crew: str
    process: str
    source: str | None
    tasks: Sequence[str]
    inputs: Mapping[str, Any]
    unavailable: Sequence[str]
    fingerprint: Fingerprint

    @classmethod
    def of(
        cls,
        config: CrewConfig,
        mounts: Sequence[Mount],
        source: str | None,
        inputs: Mapping[str, Any],
        unavailable: Sequence[str] = (),
    ) -> Origin:
        """What a run of a crew begins with.

        Raises:
            TypeError: An input cannot be kept.
        """
        for name, value in inputs.items():
            if not isinstance(name, str) or not _is_kept(value):
                raise TypeError(
                    f"input '{name}' is of type {type(value).__name__}: a run that is written down keeps its "
                    "inputs, which must be texts, numbers, or lists and mappings of them"
                )
        return cls(
            crew=config.name,
            process=config.process,
            source=source,
            tasks=tuple(config.tasks),
            inputs=inputs,
            unavailable=tuple(sorted(unavailable)),
            fingerprint=fingerprint(config, mounts),
        )

    def to_note(self) -> dict[str, Any]:
        """The same as plain JSON data."""
        return asdict(self)

    @classmethod
    def from_note(cls, note: Mapping[str, Any]) -> Origin:
        """Reads what `to_note` gave."""
        return cls(**note)


def _is_kept(value: Any) -> bool:
    """Whether a value is the same once it was written down as JSON and read again."""
    try:
        read = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return False
    return bool(read == value) and str(read) == str(value)


def readable(log: RunLog, run_id: str) -> RecordedRun:
    """Reads a run that can go on.

    Raises:
        OrkeonError: There is none of that name, or it has ended.
    """
    found = log.read(run_id)
    if found.status in ENDED:
        why = {
            "completed": "nothing is left to be done",
            "degraded": "what its limits allowed is done, and resuming it would not renew them",
        }.get(found.status, "its limits are used up, and resuming it would not renew them; begin a new run")
        raise OrkeonError(f"run '{run_id}' has ended ({found.status}): {why}")
    return found


async def begun(log: RunLog, run_id: str, origin: Origin) -> RunRecorder:
    """Begins to write a run down; errors as for `RunLog.begin`."""
    return RunRecorder(await _held(partial(log.begin, run_id, origin.to_note())))


async def taken_up(
    log: RunLog, run_id: str, origin: Origin | None, *, take_over: bool
) -> tuple[RunRecorder, Sequence[RecordedMachine]]:
    """Takes a run up, and gives what is known of it by then; errors as for `RunLog.take_up`.

    Args:
        log: Where it is written down.
        run_id: The run.
        origin: What it goes on with, where that has changed.
        take_over: Whether to do so though another process seems to work on it.
    """
    note = None if origin is None else origin.to_note()
    recorder = RunRecorder(await _held(partial(log.take_up, run_id, take_over=take_over, note=note)))
    try:
        found = await asyncio.to_thread(log.read, run_id)
    except BaseException:
        recorder.interrupt()
        raise
    return recorder, found.machines


async def _held(take: Callable[[], RunHold]) -> RunHold:
    """Takes hold of a run in a thread; a cancellation that comes meanwhile lets go of it again."""
    taking = asyncio.ensure_future(asyncio.to_thread(take))
    try:
        return await asyncio.shield(taking)
    except asyncio.CancelledError:
        RunRecorder(await taking).interrupt()
        raise


def check_unchanged(run_id: str, before: Origin, now: Origin, source: Source) -> None:
    """Compares a crew and inputs with those that a run began with.

    Raises:
        CrewDefinitionError: They are not the same; each difference is named.
    """
    problems = [_problem(path, words, run_id, source) for path, words in _differences(before, now)]
    if problems:
        raise CrewDefinitionError(
            [
                *problems,
                Problem(
                    None,
                    None,
                    None,
                    "",
                    f"run '{run_id}' does not go on with a crew or inputs that have changed, unless that is "
                    "allowed (allow_changes=True, --allow-changes); what it has done stays as it is",
                ),
            ]
        )


def has_changed(before: Origin, now: Origin) -> bool:
    """Whether anything is not as it was."""
    return any(True for _ in _differences(before, now))


def _differences(before: Origin, now: Origin) -> Iterator[tuple[tuple[str, ...], str]]:
    yield from changes(before.fingerprint, now.fingerprint)
    for name in {**before.inputs, **now.inputs}:
        if name not in now.inputs:
            yield ("inputs", name), "is missing"
        elif name not in before.inputs:
            yield ("inputs", name), "is new"
        elif before.inputs[name] != now.inputs[name]:
            yield ("inputs", name), "has another value"


def _problem(path: tuple[str, ...], words: str, run_id: str, source: Source) -> Problem:
    camel = (*path[:-1], camel_case(path[-1]))
    at = next((one for one in (camel, path, path[:-1]) if one in source.places), ())
    line, column = source.place(at) if at else (None, None)
    return Problem(source.file_of(at), line, column, ".".join(path), f"{words} since run '{run_id}' began")
