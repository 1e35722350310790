"""Guards and actions by name: methods of the machine's class, or what the program gives.

Names are resolved when they are needed, so that a machine keeps no bound method of its own; that each one
exists is checked when the machine is made.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from orkeon_transitions.definition import MachineDefinition, nearest
from orkeon_transitions.definition.models import Names
from orkeon_transitions.definition.places import Path, dotted
from orkeon_transitions.errors import DefinitionError, Problem
from orkeon_transitions.facts import error_text
from orkeon_transitions.runtime.naming import members_of, text_of

if TYPE_CHECKING:
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.event import TriggerEvent


@dataclass(frozen=True, slots=True)
class TypedGuard:
    """A guard of the builder: it takes the plain context, and may ask for its type."""

    function: Callable[[Any], Any]
    context: type | None = None

    def __call__(self, event: TriggerEvent) -> Any:
        """Asks the function, or says which context it needs."""
        context = event.context
        if self.context is None or isinstance(context, self.context):
            return self.function(context)
        given = "none was given" if context is None else f"not {type(context).__name__}"
        return _Needs(f"it needs a context of type {self.context.__name__}, {given}")


@dataclass(frozen=True, slots=True)
class PlainAction:
    """An action of the builder: it takes the two states."""

    function: Callable[[Any, Any], Any]

    def __call__(self, event: TriggerEvent) -> Any:
        """Calls the function with the states that the event has."""
        return self.function(event.from_state, event.to_state)


@dataclass(frozen=True, slots=True)
class Objection:
    """A guard that did not let a row pass.

    Attributes:
        guard: Its name.
        description: What the definition says of it, or None.
        detail: What to say beyond the description, or None.
        error: What it raised, or None.
        forbids: Whether the row asked for a no (`unless`).
    """

    guard: str
    description: str | None
    detail: str | None = None
    error: Exception | None = None
    forbids: bool = False

    def __str__(self) -> str:
        # A description says what a row asks for, which is just what is not so.
        asked = "must not be" if self.forbids else "needed"
        meaning = f" ({asked}: {self.description})" if self.description else ""
        told = f"{'not ' if self.forbids and not self.description else ''}'{self.guard}'{meaning}"
        return f"{told}: {self.detail}" if self.detail else told


def guard_of(machine: MachineBase[Any, Any], name: str) -> Callable[[TriggerEvent], Any]:
    """The guard of that name; on an async machine it may give an awaitable."""
    given = machine._record.guards
    guard: Callable[[TriggerEvent], Any] = (
        getattr(machine, name) if given is None or name not in given else given[name]
    )
    return guard


class _Needs(str):
    """What a typed guard needs and was not given: a no, with its reason."""

    __slots__ = ()


def objection_to(definition: MachineDefinition, name: str, wanted: bool, answer: Any) -> Objection | None:
    """What a guard's answer has against a row, or None.

    Raises:
        Exception: What the answer raises when it is asked for yes or no.
        TypeError: It is a generator, which cannot be asked.
    """
    needs = isinstance(answer, _Needs)
    if inspect.isgenerator(answer) or inspect.isasyncgen(answer):
        raise TypeError(f"the guard '{name}' answered with a generator, which would always mean yes")
    if not needs and bool(answer) is wanted:
        return None
    return Objection(name, definition.guards.get(name), str(answer) if needs else None, forbids=not wanted)


def objection_of(definition: MachineDefinition, name: str, error: Exception) -> Objection:
    """What a guard that raised has against a row."""
    return Objection(name, definition.guards.get(name), f"it raised {error_text(error)}", error)


def action_of(machine: MachineBase[Any, Any], name: str) -> Callable[[TriggerEvent], Any]:
    """The action of that name; on an async machine it may give an awaitable."""
    given = machine._record.actions
    action: Callable[[TriggerEvent], Any] = (
        getattr(machine, name) if given is None or name not in given else given[name]
    )
    return action


def refuse_awaitable(answer: Any, what: str) -> Any:
    """Lets a plain machine's answer through, unless it is a coroutine.

    Raises:
        TypeError: It is one; it has been closed.
    """
    if not inspect.isawaitable(answer):
        return answer
    if inspect.iscoroutine(answer):
        answer.close()
    raise TypeError(f"{what} is async: it needs an AsyncStateMachine")


def check_given(
    definition: MachineDefinition,
    machine_class: type,
    guards: Mapping[str, Any],
    actions: Mapping[str, Any],
    *,
    plain: bool,
) -> None:
    """Checks that every guard and action exists and suits the machine.

    Raises:
        DefinitionError: With every one that does not.
    """
    problems = list(_missing(definition, machine_class, frozenset(guards), frozenset(actions), plain=plain))
    for kind, given in (("guard", guards), ("action", actions)):
        for name, function in given.items():
            if not callable(function):
                problems.append(_problem(name, f"the {kind} '{name}' is not callable"))
            elif unfit := _unfit(function, plain=plain):
                problems.append(_problem(name, f"the {kind} '{name}' {unfit}"))
    if problems:
        raise DefinitionError(_placed(definition, problem) for problem in problems)


@lru_cache(maxsize=512)
def _missing(
    definition: MachineDefinition,
    machine_class: type,
    guards: frozenset[str],
    actions: frozenset[str],
    *,
    plain: bool,
) -> tuple[Problem, ...]:
    problems = []
    methods = [n for n in dir(machine_class) if not n.startswith("_") and _own_method(machine_class, n)]
    for kind, names, given in (
        ("guard", guard_names(definition), guards),
        ("action", action_names(definition), actions),
    ):
        for name in names:
            if name in given:
                continue
            method = _own_method(machine_class, name)
            if method is None:
                hint = nearest(name, [*given, *methods])
                told = f"'{definition.name}' names the {kind} '{name}', which is neither given nor a method"
                way = f"{kind}s={{'{name}': ...}} gives it"
                problems.append(_problem(name, f"{told} of {machine_class.__name__}: {way}", hint))
            elif unfit := _unfit(method, plain=plain):
                problems.append(_problem(name, f"the {kind} '{name}' {unfit}"))
    return tuple(problems)


def _placed(definition: MachineDefinition, problem: Problem) -> Problem:
    """The problem with a callback where the definition first names it; it stays where it names it nowhere."""
    path = next((path for path, name in _uses(definition) if name == problem.path), None)
    if path is None:
        return problem
    origin = definition.origin
    return Problem(origin.file, *origin.place(path), dotted(path[:3]), problem.message, problem.hint)


def _uses(definition: MachineDefinition) -> Iterator[tuple[Path, str]]:
    """Every place that names a guard or action, in file order."""
    parts: list[tuple[Path, Names]] = []
    for number, state in enumerate(definition.states):
        parts += [(("states", number, key), getattr(state, key)) for key in ("on_enter", "on_exit")]
    for number, row in enumerate(definition.transitions):
        keys = ("conditions", "unless", "before", "after")
        parts += [(("transitions", number, key), getattr(row, key)) for key in keys]
    for path, names in parts:
        yield from (((*path, number), name) for number, name in enumerate(names))


def _own_method(machine_class: type, name: str) -> Callable[..., Any] | None:
    """A method that a program's class defines: `fire` and others that every machine has are no callbacks."""
    owner = next((each for each in machine_class.__mro__ if name in vars(each)), object)
    if name.startswith("__") or owner is object or owner.__module__.startswith(f"{__package__}."):
        return None
    method = getattr(machine_class, name)
    return method if callable(method) else None


def guard_names(definition: MachineDefinition) -> tuple[str, ...]:
    """Every guard that a row names, once, in file order."""
    return tuple(dict.fromkeys(g for row in definition.transitions for g in (*row.conditions, *row.unless)))


def action_names(definition: MachineDefinition) -> tuple[str, ...]:
    """Every action that a row or a state names, once, in file order."""
    of_states = [name for state in definition.states for name in (*state.on_enter, *state.on_exit)]
    of_rows = [name for row in definition.transitions for name in (*row.before, *row.after)]
    return tuple(dict.fromkeys([*of_states, *of_rows]))


@lru_cache(maxsize=512)
def check_members(
    definition: MachineDefinition, states: type[Enum] | None, triggers: type[Enum] | None
) -> None:
    """Checks that Enum classes, where there are any, have one member for every state and trigger.

    Raises:
        DefinitionError: With every name that has no member, or two.
    """
    problems = []
    for kind, names, members in (
        ("state", tuple(definition.states_by_name), states),
        ("trigger", definition.triggers, triggers),
    ):
        if members is None:
            continue
        known = members_of(members)
        problems += [
            _problem(text_of(each), f"{each} and {known[text_of(each)]} are both known as '{text_of(each)}'")
            for each in members
            if known[text_of(each)] is not each and text_of(each) in names
        ]
        problems += [
            _problem(name, f"the {kind} '{name}' of '{definition.name}' has no member in {members.__name__}")
            for name in names
            if name not in known
        ]
    if problems:
        raise DefinitionError(problems)


def is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine, as far as can be seen."""
    if isinstance(function, TypedGuard | PlainAction):
        return is_async(function.function)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 (an object whose call is a coroutine function)
    )


def is_generator(function: Any) -> bool:
    """Whether calling it gives a generator, which runs nothing by itself, as far as can be seen."""
    if isinstance(function, TypedGuard | PlainAction):
        return is_generator(function.function)
    called = getattr(function, "__call__", None)  # noqa: B004 (an object whose call is a generator function)
    return any(
        inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in (function, called)
    )


def _unfit(function: Any, *, plain: bool) -> str | None:
    """Why a machine cannot use a guard or an action, or None."""
    if is_generator(function):
        return "is a generator: calling it would run nothing"
    return "is async: it needs an AsyncStateMachine" if plain and is_async(function) else None


def _problem(name: str, message: str, hint: str | None = None) -> Problem:
    return Problem(file=None, line=None, column=None, path=name, message=message, hint=hint)
