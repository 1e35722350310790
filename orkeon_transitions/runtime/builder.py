"""A machine in Python: the same definition that a YAML file gives, with its guards and actions at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Generic, Self

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import MachineDefinition, load_definition
from orkeon_transitions.definition.names import unused
from orkeon_transitions.runtime.async_machine import AsyncStateMachine
from orkeon_transitions.runtime.base import E, S
from orkeon_transitions.runtime.callbacks import PlainAction, TypedGuard
from orkeon_transitions.runtime.machine import StateMachine
from orkeon_transitions.runtime.naming import text_of

Callback = Callable[..., Any] | str


class StateMachineBuilder(Generic[S, E]):
    """Builds a definition row by row, and machines of it.

    ::

        fsm = (
            StateMachineBuilder[MyState, MyEvent]()
            .initial(MyState.IDLE).terminal(MyState.DONE)
            .when(MyState.IDLE, MyEvent.START).to(MyState.DONE)
                .guard(lambda ctx: ctx.is_ready, "Must be ready", context=MyContext)
            .build()
        )

    Args:
        name: The machine's name in messages, journals and pictures.
    """

    def __init__(self, name: str = "machine") -> None:
        self._name = name
        self._initial: str | None = None
        self._degraded: str | None = None
        self._policy: CircuitBreakerPolicy | None = None
        self._states: dict[str, dict[str, Any]] = {}
        self._rows: list[dict[str, Any]] = []
        self._descriptions: dict[str, str | None] = {}
        self._guards: dict[str, TypedGuard] = {}
        self._actions: dict[str, Any] = {}
        self._state_enum: type[Enum] | None = None
        self._trigger_enum: type[Enum] | None = None

    def initial(self, state: S | str) -> Self:
        """Names the state in which a machine starts."""
        self._initial = self._known(state)
        return self

    def terminal(self, *states: S | str) -> Self:
        """Names states in which a machine has ended."""
        for state in states:
            self._states[self._known(state)]["final"] = True
        return self

    def degraded(self, state: S | str) -> Self:
        """Names the state to which a tripped machine moves, if its policy uses degraded mode."""
        self._degraded = self._known(state)
        return self

    def circuit_breaker(self, policy: CircuitBreakerPolicy) -> Self:
        """Sets the limits; without them the preset `default` counts."""
        self._policy = policy
        return self

    def state(
        self,
        state: S | str,
        *,
        timeout: float | None = None,
        on_timeout: E | str | None = None,
        on_enter: Callback | Iterable[Callback] = (),
        on_exit: Callback | Iterable[Callback] = (),
        description: str | None = None,
    ) -> Self:
        """Says more of a state.

        Args:
            state: The state.
            timeout: Seconds that replace the policy's `state_timeout`; 0: a patient state.
            on_timeout: The trigger that is fired when the time is up, instead of tripping.
            on_enter: Functions of one event, or names of actions.
            on_exit: Functions of one event, or names of actions.
            description: For people.
        """
        entry = self._states[self._known(state)]
        if timeout is not None:
            entry["timeout"] = timeout
        if on_timeout is not None:
            entry["on_timeout"] = self._known_trigger(on_timeout)
        if description is not None:
            entry["description"] = description
        entry.setdefault("on_enter", []).extend(self._action_names(on_enter))
        entry.setdefault("on_exit", []).extend(self._action_names(on_exit))
        return self

    def when(self, source: S | str | Iterable[S | str], trigger: E | str) -> RowStart[S, E]:
        """Begins a row: in this state, or in each of these, when this trigger is fired."""
        is_one = isinstance(source, str | Enum)
        sources: Iterable[Any] = [source] if is_one else source  # type: ignore[assignment]  # is_one tells
        names = [name if name == "*" else self._known(name) for name in sources]
        return RowStart(self, "*" if names == ["*"] else names, self._known_trigger(trigger))

    def guard(
        self, function: Callable[[Any], Any], description: str | None = None, *, context: type | None = None
    ) -> Self:
        """Adds a guard to the row: a function of the plain context.

        Args:
            function: True lets the row pass.
            description: What it means; also what its name is made of.
            context: The type of context that it needs; another one, or none, is refused.
        """
        row = self._last_row("guard")
        name = _free_name(description or _name_of(function), "guard", self._guards)
        self._guards[name] = TypedGuard(function, context)
        self._descriptions[name] = description
        row["conditions"].append(name)
        return self

    def action(self, function: Callable[[Any, Any], Any]) -> Self:
        """Adds an action to the row: a function of the two states, called after the new one was entered."""
        row = self._last_row("action")
        name = _free_name(_name_of(function), "action", self._actions)
        self._actions[name] = PlainAction(function)
        row["after"].append(name)
        return self

    def definition(self) -> MachineDefinition:
        """The definition as it stands.

        Raises:
            DefinitionError: With everything that is wrong with it.
        """
        data: dict[str, Any] = {"name": self._name, "states": list(self._states.values())}
        if self._initial is not None:
            data["initial"] = self._initial
        if self._degraded is not None:
            data["degraded"] = self._degraded
        made = load_definition(data | {"transitions": self._rows, "guards": self._descriptions})
        return made.model_copy(update={"circuit_breaker": self._policy})

    def build(self, **options: Any) -> StateMachine[S, E]:
        """Makes a plain machine; options are those of `StateMachine`."""
        return StateMachine(self.definition(), **self._options(options))

    def build_async(self, **options: Any) -> AsyncStateMachine[S, E]:
        """Makes an async machine; options are those of `AsyncStateMachine`."""
        return AsyncStateMachine(self.definition(), **self._options(options))

    def _options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "states": self._state_enum,
            "triggers": self._trigger_enum,
            **given,
            "guards": {**self._guards, **given.get("guards", {})},
            "actions": {**self._actions, **given.get("actions", {})},
        }

    def _add_row(
        self, source: str | list[str], trigger: str, dest: str | None, marks: Mapping[str, bool]
    ) -> Self:
        row = {"trigger": trigger, "source": source, "dest": dest, "conditions": [], "after": [], **marks}
        self._rows.append(row)
        return self

    def _last_row(self, what: str) -> dict[str, Any]:
        if not self._rows:
            raise ValueError(f"{what}: there is no row yet, begin one with when(...).to(...)")
        return self._rows[-1]

    def _known(self, state: Any) -> str:
        name = text_of(state)
        self._states.setdefault(name, {"name": name})
        if isinstance(state, Enum):
            self._state_enum = _one_enum(self._state_enum, type(state), "states")
        return name

    def _known_trigger(self, trigger: Any) -> str:
        if isinstance(trigger, Enum):
            self._trigger_enum = _one_enum(self._trigger_enum, type(trigger), "triggers")
        return text_of(trigger)

    def _action_names(self, callbacks: Callback | Iterable[Callback]) -> list[str]:
        if isinstance(callbacks, str) or callable(callbacks):
            callbacks = [callbacks]
        return [self._action_name(callback) for callback in callbacks]

    def _action_name(self, callback: Callback) -> str:
        if isinstance(callback, str):
            return callback
        name = _free_name(_name_of(callback), "action", self._actions)
        self._actions[name] = callback
        return name


class RowStart(Generic[S, E]):
    """A row that does not yet say where it leads."""

    __slots__ = ("_builder", "_source", "_trigger")

    def __init__(self, builder: StateMachineBuilder[S, E], source: str | list[str], trigger: str) -> None:
        self._builder = builder
        self._source = source
        self._trigger = trigger

    def to(
        self, dest: S | str | None, *, always: bool = False, repeatable: bool = True
    ) -> StateMachineBuilder[S, E]:
        """Says where the row leads, and gives the builder back.

        Args:
            dest: A state; `"="` for the source again; None for an internal row.
            always: Whether the row passes any limit, and a broken machine too.
            repeatable: False: `max_repeats` counts how often in a row it is taken with an equal payload.
        """
        keeps = dest is None or (isinstance(dest, str) and dest == "=")
        name: Any = dest if keeps else self._builder._known(dest)
        return self._builder._add_row(
            self._source, self._trigger, name, {"always": always, "repeatable": repeatable}
        )


def _one_enum(known: type[Enum] | None, given: type[Enum], what: str) -> type[Enum]:
    if known is not None and known is not given:
        raise TypeError(f"the {what} are members of {known.__name__}, not of {given.__name__}")
    return given


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", "")
    return "" if name == "<lambda>" else name


def _free_name(wish: str, kind: str, taken: Mapping[str, Any]) -> str:
    """An identifier made of a wish, such as `must_be_ready` of "Must be ready", that is not taken."""
    name = "_".join("".join(c if c.isalnum() else " " for c in wish).lower().split())
    if not name.isidentifier():
        name = f"{kind}_{len(taken) + 1}"
    return unused(name, taken)
