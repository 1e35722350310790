"""What can be said of a definition without running it: mistakes that load, but hardly can be meant.

Each check passes over the rows once; a `*` row counts as one row, not as one for every state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from orkeon_transitions.definition.findings import Finding
from orkeon_transitions.definition.models import (
    ANY_STATE,
    SAME_STATE,
    MachineDefinition,
    TransitionDefinition,
)
from orkeon_transitions.definition.places import Path, dotted

# The attributes of a machine: a trigger of such a name is fired by `fire` only. A test of the runtime holds
# the list against the class.
MACHINE_MEMBERS = frozenset(
    {
        "STATES",
        "TRIGGERS",
        "attach_commit",
        "budget_starts",
        "can_fire",
        "check_circuit",
        "circuit_status",
        "definition",
        "during",
        "fire",
        "fire_later",
        "is_circuit_broken",
        "is_terminal",
        "machine_id",
        "on_circuit_broken",
        "on_refused",
        "on_transition",
        "permitted_triggers",
        "persisted",
        "policy",
        "reset_circuit_breaker",
        "restore",
        "snapshot",
        "spend",
        "state",
        "transition_count",
        "try_fire",
        "why_not",
    }
)

_Found = tuple[Path, str, str]


def check_definition(definition: MachineDefinition) -> list[Finding]:
    """Looks for what is probably a mistake.

    Codes: `unreachable`, `dead-end`, `no-final`, `shadowed`, `duplicate`, `leaves-final`,
    `degraded-not-final`, `name-clash`.

    Args:
        definition: One that loads.

    Returns:
        The findings in the order of the file, all of them warnings; with lines where the definition was
        loaded from a text.
    """
    looked = _Looked(definition)
    found = [one for check in _CHECKS for one in check(looked)]
    found.sort(key=lambda one: one[0])
    findings = [
        Finding("warning", code, dotted(path), definition.origin.place(path)[0], message)
        for path, code, message in found
    ]
    findings.sort(key=lambda finding: finding.line or 0)
    return findings


class _Looked:
    """A definition as the checks need it, looked through once for all of them."""

    def __init__(self, definition: MachineDefinition) -> None:
        self.definition = definition
        self.finals = definition.final_states
        self.rows = definition.transitions
        self.graph = _Graph(definition)
        self.duplicates = _duplicates(self.rows)

    def states(self) -> Iterator[tuple[Path, str]]:
        """Every state with its place in the file."""
        for index, state in enumerate(self.definition.states):
            yield ("states", index), state.name


def _states_never_entered(looked: _Looked) -> Iterator[_Found]:
    initial, degraded = looked.definition.initial, looked.definition.degraded
    reached = looked.graph.reached_from([initial] if degraded is None else [initial, degraded])
    for path, name in looked.states():
        if name not in reached:
            yield path, "unreachable", f"the state '{name}' can never be reached"


def _states_never_left(looked: _Looked) -> Iterator[_Found]:
    ending = looked.graph.reaching(looked.finals)
    for path, name in looked.states():
        if name in looked.finals:
            continue
        if not looked.graph.leads_anywhere(name):
            yield path, "dead-end", f"the state '{name}' has no way out and is not final"
        elif looked.finals and name not in ending:
            yield path, "no-final", f"from the state '{name}' no final state can be reached"


def _degraded_goes_on(looked: _Looked) -> Iterator[_Found]:
    degraded = looked.definition.degraded
    if degraded is None or degraded in looked.finals:
        return
    for path, name in looked.states():
        if name == degraded:
            yield path, "degraded-not-final", f"the degraded state '{name}' is not final"


def _rows_out_of_final_states(looked: _Looked) -> Iterator[_Found]:
    for index, row in enumerate(looked.rows):
        if looked.finals.isdisjoint(row.source):
            continue
        ended = next(name for name in row.source if name in looked.finals)
        yield _at(index), "leaves-final", f"a machine that has ended in '{ended}' makes no transition"


def _rows_given_twice(looked: _Looked) -> Iterator[_Found]:
    for index, first in looked.duplicates.items():
        yield _at(index), "duplicate", f"the same transition as {dotted(_at(first))}"


def _rows_never_tried(looked: _Looked) -> Iterator[_Found]:
    """Finds rows with a row before them that needs no guard, in every state where they could be taken.

    A row that is `always` is hidden only by one that is, too: the others do not pass a limit.
    """
    every = frozenset(looked.definition.states_by_name) - looked.finals
    winners = {True: _Winners(every), False: _Winners(every)}
    for index, row in enumerate(looked.rows):
        sources: Collection[str] = every
        if row.source != (ANY_STATE,):
            is_live = looked.finals.isdisjoint(row.source)
            sources = row.source if is_live else every.intersection(row.source)
        winner = winners[row.always].over(row, sources)
        if winner is not None and index not in looked.duplicates:
            message = f"never tried: {dotted(_at(winner))} comes first and has no guard"
            yield _at(index), "shadowed", message
        if not (row.conditions or row.unless):
            winners[False].add(index, row, sources)
            if row.always:
                winners[True].add(index, row, sources)


def _triggers_named_like_members(looked: _Looked) -> Iterator[_Found]:
    seen = set()
    for index, row in enumerate(looked.rows):
        name = row.trigger
        if name in seen:
            continue
        seen.add(name)
        if name in MACHINE_MEMBERS or (name.startswith("__") and name.endswith("__")):
            yield (
                _at(index),
                "name-clash",
                f"the machine has an attribute '{name}': only fire('{name}') fires it",
            )


_CHECKS: tuple[Callable[[_Looked], Iterator[_Found]], ...] = (
    _states_never_entered,
    _states_never_left,
    _degraded_goes_on,
    _rows_out_of_final_states,
    _rows_given_twice,
    _rows_never_tried,
    _triggers_named_like_members,
)


class _Graph:
    """Which state leads to which other; what every state leads to is kept once."""

    def __init__(self, definition: MachineDefinition) -> None:
        self._finals = definition.final_states
        self._live = [state.name for state in definition.states if not state.final]
        self._from_all: set[str] = set()
        self._from: dict[str, set[str]] = defaultdict(set)
        for row in definition.transitions:
            if row.dest is None or row.dest == SAME_STATE:
                continue
            if row.source == (ANY_STATE,):
                self._from_all.add(row.dest)
                continue
            for source in row.source:
                if source not in self._finals:
                    self._from[source].add(row.dest)

    def leads_anywhere(self, state: str) -> bool:
        """Whether a state that is not final can be left for another."""
        own = self._from.get(state, set())
        return len(own) > (state in own) or len(self._from_all) > (state in self._from_all)

    def reached_from(self, starts: Iterable[str]) -> set[str]:
        """Every state that can be reached from these, themselves included."""
        reached, waiting = set(starts), list(starts)
        all_added = False
        while waiting:
            state = waiting.pop()
            nexts = set(self._from.get(state, ()))
            if state not in self._finals and not all_added:
                nexts |= self._from_all
                all_added = True
            waiting += nexts - reached
            reached |= nexts
        return reached

    def reaching(self, ends: frozenset[str]) -> set[str]:
        """Every state from which one of these can be reached, themselves included."""
        back: dict[str, list[str]] = defaultdict(list)
        for state, dests in self._from.items():
            for dest in dests:
                back[dest].append(state)
        reaching, waiting = set(ends), list(ends)
        all_added = False
        while waiting:
            state = waiting.pop()
            befores = set(back[state])
            if state in self._from_all and not all_added:
                befores |= set(self._live)
                all_added = True
            waiting += befores - reaching
            reaching |= befores
        return reaching


class _Winners:
    """The rows without a guard so far, by trigger and state."""

    def __init__(self, every: frozenset[str]) -> None:
        self._every = every
        self._everywhere: dict[str, int] = {}
        self._somewhere: dict[str, dict[str, int]] = defaultdict(dict)

    def add(self, index: int, row: TransitionDefinition, sources: Collection[str]) -> None:
        """Adds a row without a guard."""
        if row.trigger in self._everywhere:
            return
        if sources is self._every:
            self._everywhere[row.trigger] = index
            return
        somewhere = self._somewhere[row.trigger]
        for source in sources:
            somewhere.setdefault(source, index)
        if len(somewhere) == len(self._every) > 0:
            self._everywhere[row.trigger] = index

    def over(self, row: TransitionDefinition, sources: Collection[str]) -> int | None:
        """The row that wins over this one wherever it could be taken, or one of several."""
        if not sources:
            return None
        somewhere = self._somewhere.get(row.trigger, {})
        if sources is not self._every and all(source in somewhere for source in sources):
            return min(somewhere[source] for source in sources)
        return self._everywhere.get(row.trigger)


def _at(index: int) -> Path:
    return ("transitions", index)


def _duplicates(rows: Iterable[TransitionDefinition]) -> dict[int, int]:
    """The rows that say what an earlier one says, each with that one; what people read does not count."""
    first: dict[tuple[object, ...], int] = {}
    twice = {}
    for index, row in enumerate(rows):
        said = (
            row.trigger,
            frozenset(row.source),
            row.dest,
            row.conditions,
            row.unless,
            row.before,
            row.after,
            row.always,
            row.repeatable,
        )
        earlier = first.setdefault(said, index)
        if earlier != index:
            twice[index] = earlier
    return twice
