"""A journal as chapters: one machine each, with the definition that it was recorded with."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orkeon_transitions.cli.screen import Mistake
from orkeon_transitions.cli.subjects import existing_file, find_machine, is_store_url

if TYPE_CHECKING:
    from pathlib import Path

    from orkeon_transitions.definition import MachineDefinition
    from orkeon_transitions.store import MachineStore, Replay, Step

MOST_NAMES = 10


@dataclass(frozen=True, slots=True)
class Chapter:
    """What a journal says about one machine.

    Attributes:
        definition: What was allowed.
        replay: What happened.
        log: Where that is written: a file's name, or a store's URL without its password.
    """

    definition: MachineDefinition
    replay: Replay
    log: str

    def place(self, line: int) -> str:
        """Where something stands: a line of a file, or a version of a machine in a store."""
        if is_store_url(self.log):
            return f"{self.log} {self.replay.machine_id}, version {line}"
        return f"{self.log}:{line}"

    def at(self, ordinal: int, life: int | None) -> Chapter:
        """The chapter as it was right after a step."""
        return dataclasses.replace(self, replay=self.replay.at(ordinal, life))

    @property
    def steps(self) -> list[Step]:
        """The steps of the last machine of this name."""
        return [step for step in self.replay.steps if step.life == self.replay.lives]

    @property
    def snapshot(self) -> dict[str, object]:
        """As much of a snapshot as a picture shows."""
        replay = self.replay
        # Visits are counted anew with each budget; a way that spans several is drawn with its own visits.
        one_budget = all(step.transition_count != 1 for step in self.steps[1:])
        return {
            "state": replay.final_state,
            "visits": replay.histogram if one_budget else None,
            "transition_count": replay.transition_count,
            "trip": {"reason": replay.broken_reason or "circuit broken"}
            if replay.is_circuit_broken
            else None,
        }


def chapters_of(log: str, machine: str | None, machine_id: str | None) -> list[Chapter]:
    """Replays the machines of a journal.

    Args:
        log: The journal's file, or a store's URL.
        machine: Which definition: a catalog name or a file; None: the one that each line names.
        machine_id: Which machine; None: all.

    Raises:
        Mistake: The journal has no such machine, or does not say which definition it was recorded with.
        JournalError: The journal is damaged, or the store cannot be read.
    """
    from orkeon_transitions.store import recorded_machines, replay, replay_each

    with _opened(log) as (source, name):
        recorded = recorded_machines(source)
        given = None if machine is None else find_machine(machine)
        wanted = [key for key in recorded if machine_id in (None, key[0])]
        if not wanted and machine_id is not None:
            raise Mistake(f"{name}: no machine '{machine_id}'; there are: {names_of(recorded) or 'none'}")
        if given is not None:
            wanted = [key for key in wanted if key[1] in (None, given.name)] or wanted
        if not wanted:
            definition = given or _definition_of(name, None)
            return [Chapter(definition, replay(source, definition), name)]
        machines = [(key, given or _definition_of(name, kind)) for key, kind in wanted]
        # Read once: a log may have thousands of machines.
        return [
            Chapter(definition, replayed, name)
            for (_, definition), replayed in zip(machines, replay_each(source, machines), strict=True)
        ]


def only_one(chapters: list[Chapter], what: str) -> Chapter:
    """The one chapter that there must be.

    Args:
        chapters: All that were meant.
        what: For what there must be one only.

    Raises:
        Mistake: There are several.
    """
    if len(chapters) > 1:
        ids = names_of((str(chapter.replay.machine_id), None) for chapter in chapters)
        raise Mistake(f"{chapters[0].log}: has several machines; choose {what} with --machine-id: {ids}")
    return chapters[0]


def names_of(recorded: Iterable[tuple[str, str | None]]) -> str:
    """The machines' own names, the first of them if there are many."""
    ids = list(dict.fromkeys(key for key, _ in recorded))
    more = len(ids) - MOST_NAMES
    return ", ".join(ids[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


@contextmanager
def _opened(log: str) -> Iterator[tuple[Path | MachineStore, str]]:
    """What a name leads to, and how it is shown: a store's URL without its password."""
    if not is_store_url(log):
        yield existing_file(log, "journal"), log
        return
    from orkeon_transitions.store import MachineStore

    with MachineStore(log, must_exist=True) as store:
        yield store, store.url


def _definition_of(log: str, name: str | None) -> MachineDefinition:
    from orkeon_transitions.machines import machine_definition, machine_names

    if name is None:
        raise Mistake(f"{log}: does not say which machine it was recorded with; name it with --machine")
    if name not in machine_names():
        raise Mistake(
            f"{log}: recorded with machine '{name}', which does not ship; give its file with --machine"
        )
    return machine_definition(name)
