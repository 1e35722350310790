"""What may be made at once: the rows of the engine, read once for all machines of a definition and class.

A trigger whose rows are all here need not go through `transitions`: the machine asks the guards that a row
names, performs its callbacks in the order of `transitions` and writes the state. It is the same engine, read
instead of called; `engine="stock"` never uses it, and a fuzz test holds both against each other.

A row stays away, and the law and the engine make it, where more has to be judged than a count and a clock:
one that passes limits (`always`), that begins a new budget, or that leads to where the clocks stand still.
What the plan does not understand, such as a callback that is more than a name, it leaves to them as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from orkeon_transitions.facts import Outcome
from orkeon_transitions.runtime.base import MachineBase
from orkeon_transitions.runtime.callbacks import check_members
from orkeon_transitions.runtime.engine import Action
from orkeon_transitions.runtime.naming import members_of

if TYPE_CHECKING:
    from enum import Enum

    from orkeon_transitions.definition import MachineDefinition
    from orkeon_transitions.runtime.engine import Row

Moves = dict[Any, "Move"]
_STAGES = (
    "prepare_event",
    "before_state_change",
    "after_state_change",
    "finalize_event",
    "on_exception",
    "on_final",
)


class Move:
    """One row from one state, with everything resolved but the machine.

    Attributes:
        trigger: The trigger's text.
        outcome: What the row's results have in common.
        dest: The state that is entered; None: the row is internal.
        there: What may be made at once from the state in which the machine then is.
        guards: The guards' names, and the answer that each must give.
        before: What is performed before the state is written: `before`, then `on_exit`.
        after: What is performed then: `on_enter`, then `after`.
        timeout: Seconds that the entered state allows; None: as many as the policy.
        repeatable: Whether it may be taken any number of times with an equal payload.
        otherwise: The next row of the trigger, for when a guard objects.
    """

    __slots__ = (
        "after",
        "before",
        "dest",
        "guards",
        "otherwise",
        "outcome",
        "repeatable",
        "there",
        "timeout",
        "trigger",
    )

    def __init__(self, trigger: str, row: Row, outcome: Outcome, there: Moves, timeout: float | None) -> None:
        self.trigger = trigger
        self.outcome = outcome
        self.dest = row.dest
        self.there = there
        self.guards = row.guards
        self.timeout = timeout
        self.repeatable = row.repeatable
        self.before: tuple[str, ...] = ()
        self.after: tuple[str, ...] = ()
        self.otherwise: Move | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What all machines of one definition and class share.

    Attributes:
        definition: What they are allowed.
        engine: The `transitions` machine that they all fire.
        states: The Enum's members by text, if the states have an Enum.
        triggers: The Enum's members by text, if the triggers have an Enum.
        moves: What may be made at once, by state.
        has_fields: Whether a transition may change attributes of the machine.
        has_clocks: Whether the class itself says how time counts in a state.
        hears: Whether the class wants to know that a state has been written.
    """

    definition: MachineDefinition
    engine: Any
    states: Mapping[str, Any]
    triggers: Mapping[str, Any]
    moves: Mapping[str, Moves]
    has_fields: bool
    has_clocks: bool
    hears: bool


@lru_cache(maxsize=512)
def plan_for(
    machine_class: type[MachineBase[Any, Any]],
    definition: MachineDefinition,
    states: type[Enum] | None,
    triggers: type[Enum] | None,
) -> Plan:
    """The one plan of a class, a definition and its Enums.

    Raises:
        DefinitionError: A state or trigger has no member in the Enum.
    """
    check_members(definition, states, triggers)
    engine = machine_class._engine_for(definition)
    has_clocks = machine_class._state_clock is not MachineBase._state_clock
    reading = _Reading(definition, engine, members_of(states), members_of(triggers), has_clocks)
    return Plan(
        definition=definition,
        engine=engine,
        states=reading.states,
        triggers=reading.triggers,
        moves=reading.moves(machine_class.budget_starts),
        has_fields=machine_class._fields_after is not MachineBase._fields_after,
        has_clocks=has_clocks,
        hears=machine_class._written is not MachineBase._written,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads the engine's rows."""

    definition: MachineDefinition
    engine: Any
    states: Mapping[str, Any]
    triggers: Mapping[str, Any]
    has_clocks: bool

    def moves(self, budget_starts: frozenset[str]) -> Mapping[str, Moves]:
        found: dict[str, Moves] = {name: {} for name in self.definition.states_by_name}
        if any(getattr(self.engine, stage) for stage in _STAGES):
            return found
        for trigger, event in self.engine.events.items():
            if trigger in budget_starts:
                continue
            member = self.triggers.get(trigger, trigger)
            for source, rows in event.transitions.items():
                first = self._chain(found, trigger, source, rows)
                if first is not None:
                    found[source][trigger] = found[source][member] = first
        return found

    def _chain(
        self, found: Mapping[str, Moves], trigger: str, source: str, rows: Iterable[Row]
    ) -> Move | None:
        """The rows of a trigger in a state, each with the next one; None if one of them is not for here."""
        first: Move | None = None
        for row in reversed(list(rows)):
            move = self._move(found, trigger, source, row)
            if move is None:
                return None
            move.otherwise, first = first, move
        return first

    def _move(self, found: Mapping[str, Moves], trigger: str, source: str, row: Any) -> Move | None:
        state, dest = self.engine.states[source], self.engine.states[row.dest or source]
        clock = self.definition.clocks[dest.name]
        # A class may say otherwise about a clock, but final states stand still for all.
        stands_still = dest.name in self.definition.final_states if self.has_clocks else clock.is_patient
        if row.always or stands_still or row.prepare:
            return None
        is_entry = row.dest is not None
        before = _names([*row.before, *(state.on_exit if is_entry else ())])
        after = _names([*(dest.on_enter if is_entry else ()), *row.after])
        if before is None or after is None:
            return None
        outcome = Outcome(
            self.states.get(source, source),
            self.states.get(dest.name, dest.name),
            self.triggers.get(trigger, trigger),
            state_changed=dest is not state,
            internal=not is_entry,
        )
        move = Move(trigger, row, outcome, found[dest.name], clock.timeout)
        move.before, move.after = before, after
        return move


def _names(callbacks: Iterable[Any]) -> tuple[str, ...] | None:
    """The names of actions; None if one of them is something else."""
    actions = list(callbacks)
    if not all(isinstance(each, Action) for each in actions):
        return None
    return tuple(each.name for each in actions)
