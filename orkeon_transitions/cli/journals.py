"""A journal as chapters: one machine each, with the definition that it was recorded with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orkeon_transitions.cli.screen import Mistake
from orkeon_transitions.cli.subjects import existing_file, find_machine

if TYPE_CHECKING:
    from orkeon_transitions.definition import MachineDefinition
    from orkeon_transitions.store import Replay


@dataclass(frozen=True, slots=True)
class Chapter:
    """What a journal says about one machine.

    Attributes:
        definition: What was allowed.
        replay: What happened.
    """

    definition: MachineDefinition
    replay: Replay

    @property
    def snapshot(self) -> dict[str, object]:
        """As much of a snapshot as a picture shows."""
        replay = self.replay
        return {
            "state": replay.final_state,
            "visits": replay.histogram,
            "transition_count": replay.transition_count,
            "trip": {"reason": replay.broken_reason or "circuit broken"}
            if replay.is_circuit_broken
            else None,
        }


def chapters_of(log: str, machine: str | None, machine_id: str | None) -> list[Chapter]:
    """Replays the machines of a journal.

    Args:
        log: The journal's file.
        machine: Which definition: a catalog name or a file; None: the one that each line names.
        machine_id: Which machine; None: all.

    Raises:
        Mistake: The journal has no such machine, or does not say which definition it was recorded with.
        JournalError: The journal is damaged.
    """
    from orkeon_transitions.store import recorded_machines, replay, replay_each

    path = existing_file(log, "journal")
    recorded = recorded_machines(path)
    given = None if machine is None else find_machine(machine)
    wanted = [key for key in recorded if machine_id in (None, key[0])]
    if not wanted and machine_id is not None:
        ids = ", ".join(dict.fromkeys(key for key, _ in recorded)) or "none"
        raise Mistake(f"{log}: no machine '{machine_id}'; there are: {ids}")
    if given is not None:
        wanted = [key for key in wanted if key[1] in (None, given.name)] or wanted
    if not wanted:
        definition = given or _definition_of(log, None)
        return [Chapter(definition, replay(path, definition))]
    machines = [(key, given or _definition_of(log, name)) for key, name in wanted]
    # Read once: a log may have thousands of machines.
    return [
        Chapter(definition, replayed)
        for (_, definition), replayed in zip(machines, replay_each(path, machines), strict=True)
    ]


def _definition_of(log: str, name: str | None) -> MachineDefinition:
    from orkeon_transitions.machines import machine_definition, machine_names

    if name is None:
        raise Mistake(f"{log}: does not say which machine it was recorded with; name it with --machine")
    if name not in machine_names():
        raise Mistake(
            f"{log}: recorded with machine '{name}', which does not ship; give its file with --machine"
        )
    return machine_definition(name)
