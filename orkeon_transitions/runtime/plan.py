"""What may be made at once: the rows of the engine, read once for all machines of a definition and class.

A trigger whose rows are all here need not go through `transitions`: the machine asks the guards that a row
names, performs its callbacks in the order of `transitions` and writes the state. It is the same engine, read
instead of called; `engine="stock"` never uses it, and a fuzz test holds both against each other.

A row stays away, and the law and the engine make it, where more has to be judged than counts and clocks: one
that begins a new budget, and any other once a limit is passed. What the plan does not understand, such as a
callback that is more than a name, it leaves to them as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from orkeon_transitions.facts import Outcome
from orkeon_transitions.runtime.callbacks import check_given, check_members
from orkeon_transitions.runtime.engine import Action
from orkeon_transitions.runtime.naming import members_of

if TYPE_CHECKING:
    from orkeon_transitions.definition import MachineDefinition
    from orkeon_transitions.runtime.base import MachineBase

# By trigger, what makes the move: a plain machine has functions, an async one the rows themselves.
Moves = dict[Any, Any]
_STAGES = (
    "prepare_event",
    "before_state_change",
    "after_state_change",
    "finalize_event",
    "on_exception",
    "on_final",
)


@dataclass(slots=True, eq=False)
class Move:
    """One row from one state, with everything resolved but the machine.

    Attributes:
        trigger: The trigger's text.
        outcome: What the row's results have in common.
        dest: The state that is entered; None: the row is internal.
        place: The place of the state in which the machine then is, in the definition.
        here: What may be made at once from the state that it starts from, this one among them.
        there: What may be made at once from that state.
        timeout: Seconds that it allows; None: as many as the policy.
        guards: The guards' names, and the answer that each must give.
        before: What is performed before the state is written: `before`, then `on_exit`.
        after: What is performed then: `on_enter`, then `after`.
        repeatable: Whether it, and those after it, may be taken any number of times with an equal payload.
        always: Whether it passes any limit; where one is passed, the law makes it.
        may_pass: Whether it, or one of those after it, is `always`.
        stands_still: Whether it leads to where the clocks stand still.
        otherwise: The next row of the trigger, for when a guard objects.
    """

    trigger: str
    outcome: Outcome
    dest: str | None
    place: int
    here: Moves
    there: Moves
    timeout: float | None
    guards: tuple[tuple[str, bool], ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    repeatable: bool
    always: bool
    may_pass: bool
    stands_still: bool
    otherwise: Move | None


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What all machines of one definition and class share.

    Attributes:
        definition: What they are allowed.
        engine: The `transitions` machine that they all fire.
        states: The Enum's members by text, if the states have an Enum.
        triggers: The Enum's members by text, if the triggers have an Enum.
        callable: The triggers' texts, each of which calls one by its name.
        names: The states in the order of the definition.
        places: The place of each state in that order.
        moves: What may be made at once, by state.
        has_fields: Whether a transition may change attributes of the machine.
        has_clocks: Whether the class itself says how time counts in a state.
        hears: Whether the class wants to know that a state has been written.
        has_given: Whether guards and actions may be others than methods of the class.
    """

    definition: MachineDefinition
    engine: Any
    states: Mapping[str, Any]
    triggers: Mapping[str, Any]
    callable: frozenset[str]
    names: tuple[str, ...]
    places: Mapping[str, int]
    moves: Mapping[str, Moves]
    has_fields: bool
    has_clocks: bool
    hears: bool
    has_given: bool


@lru_cache(maxsize=512)
def plan_for(
    machine_class: type[MachineBase[Any, Any]],
    definition: MachineDefinition,
    states: type[Enum] | None,
    triggers: type[Enum] | None,
    has_given: bool,
) -> Plan:
    """The one plan of a class, a definition and its Enums, with guards and actions given or without.

    Raises:
        DefinitionError: A state or trigger has no member in the Enum, or a guard or action no method.
    """
    check_members(definition, states, triggers)
    if not has_given:
        check_given(definition, machine_class, {}, {}, plain=machine_class._is_plain)
    names = tuple(definition.states_by_name)
    plan = Plan(
        definition=definition,
        engine=machine_class._engine_for(definition),
        states=members_of(states),
        triggers=members_of(triggers),
        callable=frozenset(definition.triggers),
        names=names,
        places={name: place for place, name in enumerate(names)},
        moves={name: {} for name in names},
        has_fields=machine_class._overrides("_fields_after"),
        has_clocks=machine_class._overrides("_state_clock"),
        hears=machine_class._overrides("_written"),
        has_given=has_given,
    )
    for source, move in _first_moves(plan, machine_class.budget_starts):
        # By the member as well: the lookup is all that a trigger costs before it is made.
        made = machine_class._making(plan, move)
        plan.moves[source][move.trigger] = made
        if _is_like_no_other(move.outcome.trigger):
            plan.moves[source][move.outcome.trigger] = made
    return plan


def _is_like_no_other(trigger: Any) -> bool:
    """Whether nothing but a trigger is equal to it: a member that is a number, too, is found by its text."""
    kind: Any = type(trigger)
    return isinstance(trigger, str) or kind.__hash__ is Enum.__hash__


def _first_moves(plan: Plan, budget_starts: frozenset[str]) -> Iterator[tuple[str, Move]]:
    """The first row of each trigger in each state, if all of them may be made at once."""
    if any(getattr(plan.engine, stage) for stage in _STAGES):
        return
    for trigger, event in plan.engine.events.items():
        if trigger in budget_starts:
            continue
        for source, rows in event.transitions.items():
            first = _chained(plan, trigger, source, rows)
            if first is not None:
                yield source, first


def _chained(plan: Plan, trigger: str, source: str, rows: Iterable[Any]) -> Move | None:
    """The rows of a trigger in a state, each with the next one; None if one of them is not for here."""
    first: Move | None = None
    for row in reversed(list(rows)):
        first = _move(plan, trigger, source, row, first)
        if first is None:
            return None
    return first


def _move(plan: Plan, trigger: str, source: str, row: Any, otherwise: Move | None) -> Move | None:
    state, dest = plan.engine.states[source], plan.engine.states[row.dest or source]
    clock = plan.definition.clocks[dest.name]
    # A class may say otherwise about a clock, but a state in which a machine has ended stands still for all.
    stands_still = dest.name in plan.definition.final_states if plan.has_clocks else clock.is_patient
    is_entry = row.dest is not None
    before = _names([*row.before, *(state.on_exit if is_entry else ())])
    after = _names([*(dest.on_enter if is_entry else ()), *row.after])
    if row.prepare or before is None or after is None:
        return None
    return Move(
        trigger=trigger,
        outcome=Outcome(
            plan.states.get(source, source),
            plan.states.get(dest.name, dest.name),
            plan.triggers.get(trigger, trigger),
            state_changed=dest is not state,
            internal=not is_entry,
        ),
        dest=row.dest,
        place=plan.places[dest.name],
        here=plan.moves[source],
        there=plan.moves[dest.name],
        timeout=clock.timeout,
        guards=row.guards,
        before=before,
        after=after,
        repeatable=row.repeatable and (otherwise is None or otherwise.repeatable),
        always=row.always,
        may_pass=row.always or (otherwise is not None and otherwise.may_pass),
        stands_still=stands_still,
        otherwise=otherwise,
    )


def _names(callbacks: Iterable[Any]) -> tuple[str, ...] | None:
    """The names of actions; None if one of them is something else."""
    actions = list(callbacks)
    if not all(isinstance(each, Action) for each in actions):
        return None
    return tuple(each.name for each in actions)
