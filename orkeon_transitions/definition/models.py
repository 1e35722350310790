"""The neutral model of a machine: what is allowed, frozen and hashable by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    field_serializer,
    model_validator,
)

from orkeon_transitions.breaker import CircuitBreakerPolicy, StateClock
from orkeon_transitions.definition.findings import Finding
from orkeon_transitions.definition.places import Origin
from orkeon_transitions.definition.writing import write_yaml

ANY_STATE = "*"
SAME_STATE = "="
Names = tuple[str, ...]
Descriptions = Annotated[Mapping[str, str], AfterValidator(lambda given: MappingProxyType(dict(given)))]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StateDefinition(_Frozen):
    """One state of a machine.

    Attributes:
        name: Any text.
        description: For people.
        final: Whether the machine ends here.
        timeout: Seconds that replace the policy's `state_timeout` here; 0: a patient state.
        on_timeout: The trigger that is fired when the time is up, instead of tripping.
        on_enter: Names of actions.
        on_exit: Names of actions.
        tags: For people and tools; no meaning here.
    """

    name: str
    description: str | None = None
    final: StrictBool = False
    timeout: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    on_timeout: str | None = None
    on_enter: Names = ()
    on_exit: Names = ()
    tags: Names = ()


class TransitionDefinition(_Frozen):
    """One row of the transition table.

    Attributes:
        trigger: What is fired.
        source: State names, or `("*",)` for every state that is not final.
        dest: A state's name, `=` for the source again, None for an internal transition.
        conditions: Names of guards that must say yes.
        unless: Names of guards that must say no.
        before: Names of actions that run before the state is left.
        after: Names of actions that run after the new state was entered.
        always: Whether the row passes any limit of the breaker, and a broken machine too.
        repeatable: False: `max_repeats` counts how often in a row it is taken with an equal payload.
        description: For people.
    """

    trigger: str
    source: Names
    dest: str | None
    conditions: Names = ()
    unless: Names = ()
    before: Names = ()
    after: Names = ()
    always: StrictBool = False
    repeatable: StrictBool = True
    description: str | None = None


class MachineDefinition(_Frozen):
    """A whole machine, immutable, shared by all machines that run it.

    Make one with `load_definition` or `StateMachineBuilder`; equal content is equal and has an equal hash.

    Attributes:
        name: The machine's name in messages, journals and pictures.
        description: For people.
        initial: The state in which a machine starts.
        states: In file order.
        transitions: In file order: the first row whose guards pass wins.
        degraded: The state to which a tripped machine moves, if the policy uses degraded mode.
        circuit_breaker: The machine's own policy, or None.
        guards: What each guard means, by name.
    """

    name: str = "machine"
    description: str | None = None
    initial: str
    states: tuple[StateDefinition, ...]
    transitions: tuple[TransitionDefinition, ...] = ()
    degraded: str | None = None
    circuit_breaker: CircuitBreakerPolicy | None = None
    guards: Descriptions = Field(default_factory=dict, validate_default=True)

    # Where it came from is kept beside the content: it takes no part in equality, hash, copies or pickles.
    _origin: Origin = PrivateAttr(default_factory=Origin)

    @model_validator(mode="after")
    def _refuse_unknown_states(self) -> Self:
        """A file's reader has told all problems with their places; this holds for programs, too."""
        known = {state.name for state in self.states}
        if len(known) < len(self.states):
            raise ValueError("two states have the same name")
        named = {self.initial, *([] if self.degraded is None else [self.degraded])}
        for row in self.transitions:
            named.update(() if row.source == (ANY_STATE,) else row.source)
            named.update(() if row.dest in (None, SAME_STATE) else (row.dest,))
        if unknown := sorted(named - known):
            raise ValueError(f"there is no state '{unknown[0]}'")
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MachineDefinition):
            return NotImplemented
        return self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __repr__(self) -> str:
        size = ", ".join(
            f"{len(parts)} {noun}{'' if len(parts) == 1 else 's'}"
            for noun, parts in (("state", self.states), ("transition", self.transitions))
        )
        return f"<{type(self).__name__} '{self.name}': {size}, {self.content_hash[:8]}>"

    def __str__(self) -> str:
        return repr(self)

    def __copy__(self) -> Self:
        return self.model_construct(self.model_fields_set, **self._content())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.__copy__()  # all content is immutable

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).model_validate, (self._content() | {"guards": dict(self.guards)},)

    def _content(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields}

    def with_origin(self, origin: Origin) -> Self:
        """The same definition, with the places of its parts beside it."""
        placed = self.__copy__()
        placed._origin = origin
        return placed

    @property
    def origin(self) -> Origin:
        """Where each part was written; empty if the definition came from no text."""
        return self._origin

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What `load_definition` accepted without its having an effect."""
        return self._origin.notes

    @cached_property
    def content_hash(self) -> str:
        """A hash of the content, stable between runs and machines (SHA-256, hexadecimal)."""
        text = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def states_by_name(self) -> Mapping[str, StateDefinition]:
        """The states by name, in file order."""
        return MappingProxyType({state.name: state for state in self.states})

    @cached_property
    def final_states(self) -> frozenset[str]:
        """The names of the states in which a machine has ended."""
        return frozenset(state.name for state in self.states if state.final)

    @cached_property
    def triggers(self) -> Names:
        """Every trigger once, in file order."""
        return tuple(dict.fromkeys(row.trigger for row in self.transitions))

    @cached_property
    def clocks(self) -> Mapping[str, StateClock]:
        """How time counts in each state; where a machine has ended, both clocks stand still."""
        timeouts = {state.name: 0 if state.final else state.timeout for state in self.states}
        return MappingProxyType({name: StateClock(timeout) for name, timeout in timeouts.items()})

    def sources_of(self, row: TransitionDefinition) -> Names:
        """The states from which a row can be taken: `*` expanded, final states left out."""
        if row.source == (ANY_STATE,):
            return tuple(state.name for state in self.states if not state.final)
        return tuple(dict.fromkeys(name for name in row.source if name not in self.final_states))

    @cached_property
    def rows_by_state(self) -> Mapping[str, tuple[TransitionDefinition, ...]]:
        """For each state, the rows that can be taken from it, in file order."""
        rows: dict[str, list[TransitionDefinition]] = {state.name: [] for state in self.states}
        for row in self.transitions:
            for source in self.sources_of(row):
                rows[source].append(row)
        return MappingProxyType({name: tuple(of_state) for name, of_state in rows.items()})

    def triggers_from(self, state: str) -> Names:
        """The triggers that have a row in a state, once each, in file order."""
        return tuple(dict.fromkeys(row.trigger for row in self.rows_by_state[state]))

    def to_dict(self) -> dict[str, Any]:
        """The definition as plain JSON data, as `load_definition` reads it; defaults are left out."""
        own = {"transitions", "circuit_breaker", "guards"}
        plain = self.model_dump(mode="json", exclude_defaults=True, exclude=own)
        plain["transitions"] = [_row_dict(row) for row in self.transitions]
        if self.circuit_breaker is not None:
            plain["circuit_breaker"] = _policy_dict(self.circuit_breaker)
        if self.guards:
            used = (guard for row in self.transitions for guard in (*row.conditions, *row.unless))
            plain["guards"] = dict(self.guards) | {guard: None for guard in used if guard not in self.guards}
        return plain

    def to_yaml(self) -> str:
        """The definition as YAML text that `load_definition` reads back as an equal one."""
        return write_yaml(self.to_dict())

    def to_transitions(self) -> dict[str, Any]:
        """The definition as keywords of a stock `transitions` machine, also `GraphMachine`.

        `*` is expanded; our own keys and the rows out of final states are left out, since stock machines
        know neither. Each call gives a fresh dict: `transitions` changes what it is given.
        """
        rows = [_stock_row(row, self.sources_of(row)) for row in self.transitions]
        return {
            "name": self.name,
            "states": [_stock_state(state) for state in self.states],
            "transitions": [row for row in rows if row["source"]],
            "initial": self.initial,
            "auto_transitions": False,
            "send_event": True,
        }

    @field_serializer("guards")
    def _guards_as_dict(self, guards: Mapping[str, str]) -> dict[str, str]:
        return dict(guards)

    @field_serializer("circuit_breaker")
    def _policy_in_seconds(self, policy: CircuitBreakerPolicy | None) -> dict[str, Any] | None:
        return None if policy is None else _policy_dict(policy)


def _policy_dict(policy: CircuitBreakerPolicy) -> dict[str, Any]:
    """A policy as plain data, durations in seconds."""
    plain = {name: getattr(policy, name) for name in CircuitBreakerPolicy.model_fields}
    for name in ("state_timeout", "max_total_duration"):
        plain[name] = plain[name].total_seconds()
    return plain | {"meters": dict(policy.meters)}


def _row_dict(row: TransitionDefinition) -> dict[str, Any]:
    """A row as plain data; `dest` is always there, since null has a meaning."""
    return row.model_dump(mode="json", exclude_defaults=True) | {"dest": row.dest}


def _stock_state(state: StateDefinition) -> dict[str, Any]:
    callbacks = {"on_enter": list(state.on_enter), "on_exit": list(state.on_exit)}
    return {"name": state.name, "final": state.final} | callbacks


def _stock_row(row: TransitionDefinition, sources: Names) -> dict[str, Any]:
    callbacks = {stage: list(getattr(row, stage)) for stage in ("conditions", "unless", "before", "after")}
    return {"trigger": row.trigger, "source": list(sources), "dest": row.dest} | callbacks
