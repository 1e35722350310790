"""What a run is given by the program."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from orkeon_transitions.crew.checks import Checker
from orkeon_transitions.crew.executors import AgentExecutor
from orkeon_transitions.crew.human import Human
from orkeon_transitions.crew.mounts import Mounts
from orkeon_transitions.crew.observing import CrewObserver
from orkeon_transitions.crew.pacing import Paces
from orkeon_transitions.crew.recording import RunRecorder
from orkeon_transitions.crew.run_log import RecordedMachine
from orkeon_transitions.crew.secrets import NO_SECRETS, Secrets


class Journal(Protocol):
    """Anything that takes note of a machine's facts, such as a `JsonlJournal`."""

    def record(self, machine: Any, /) -> Any:
        """Becomes the machine's commit hook."""
        ...


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is given by the program.

    Attributes:
        run_id: The run's own name.
        executor: Does each attempt at a task.
        inputs: What fills the placeholders.
        observer: Who watches.
        journal: Takes note of every task's machines, or None.
        clock: The monotonic clock of the machines, in seconds.
        mounts: Where deliverables are written.
        concurrency: How many tasks a process that runs several at once may run at once.
        unavailable: Keys of agents that are out of service.
        recorder: Writes the run down, or None.
        recorded: What another process has done of the run.
        human: Who can be asked, or None.
        checker: Holds outputs against rules.
        paces: How often models may be asked, or None: as often as agents like.
        secrets: What no error may tell.
    """

    run_id: str
    executor: AgentExecutor
    inputs: Mapping[str, Any] = field(default_factory=dict)
    observer: CrewObserver = field(default_factory=CrewObserver)
    journal: Journal | None = None
    clock: Callable[[], float] = time.monotonic
    mounts: Mounts = field(default_factory=Mounts)
    concurrency: int = 8
    unavailable: Collection[str] = ()
    recorder: RunRecorder | None = None
    recorded: Sequence[RecordedMachine] = ()
    human: Human | None = None
    checker: Checker = field(default_factory=Checker)
    paces: Paces | None = None
    secrets: Secrets = NO_SECRETS
