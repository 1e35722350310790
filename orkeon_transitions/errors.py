"""What can go wrong, as one tree.

This room holds exceptions and the `Problem` that definition errors carry, and nothing else: no I/O, no
import of another room. An error carries objects (a refusal, a status, problems), so that a program never
has to read its text.

::

    OrkeonError
    ├── DefinitionError            problems: list[Problem(file, line, column, path, message, hint)]
    │   ├── CrewDefinitionError
    │   └── GraphDefinitionError
    ├── InvalidTransitionError     refusal, machine, state, trigger
    │   └── GuardRejectedError
    ├── CircuitBrokenError         status
    │   └── GraphCircuitBrokenError    reason, limit, node_name, transition_count, trace, state
    ├── RoutingError, NodeReturnError   node, value; allowed, or expected
    ├── StaleMachineError, JournalError
    ├── MachineBusyError, StateLeftError
    ├── MissingExtraError          extra: the one to install
    └── MissingKeyError            model, variable
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerStatus
    from orkeon_transitions.facts import Refusal, TransitionResult


class OrkeonError(Exception):
    """The root: catch this to catch everything that the package raises on purpose."""

    def __reduce__(self) -> tuple[Callable[..., OrkeonError], tuple[Any, ...], dict[str, Any]]:
        # Exceptions are pickled by their text alone, which few constructors here would understand; a worker
        # process must be able to pass on any of them.
        return _rebuilt, (type(self), self.args), self.__dict__


def _rebuilt(kind: type[OrkeonError], args: tuple[Any, ...]) -> OrkeonError:
    """An error without its attributes, which unpickling puts back; its constructor is not asked."""
    return kind.__new__(kind, *args)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file, a text or a mapping.

    Attributes:
        file: The file's name as it was given, `<text>` for a text, None for what a program gave.
        line: The line, counted from 1, or None where there is none.
        column: The column, counted from 1, or None where there is none.
        path: Where in the data, such as `transitions[2].dest`; empty for the whole.
        message: What is wrong, one sentence without a full stop.
        hint: The nearest valid name, or None.
    """

    file: str | None
    line: int | None
    column: int | None
    path: str
    message: str
    hint: str | None = None

    @property
    def sentence(self) -> str:
        """What is wrong, and what may have been meant."""
        return f"{self.message} (did you mean '{self.hint}'?)" if self.hint else self.message

    def __str__(self) -> str:
        place = place_text(self.file, self.line, self.column)
        return ": ".join(filter(None, (place, self.path, self.sentence)))


def place_text(file: str | None, line: int | None, column: int | None) -> str:
    """`file:line:column`, as far as it is known."""
    return ":".join(str(part) for part in (file, line, column) if part is not None)


class DefinitionError(OrkeonError):
    """A machine definition that cannot be used. All its problems come at once.

    Attributes:
        problems: At least one `Problem`, in the order of the file.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, self.problems)))


class CrewDefinitionError(DefinitionError):
    """A crew file that cannot be used."""


class GraphDefinitionError(DefinitionError):
    """A state graph that cannot be compiled."""


class InvalidTransitionError(OrkeonError):
    """A trigger that was refused: no such transition here, or the machine has ended.

    Attributes:
        refusal: The `Refusal`, with the reason and what would be possible.
        machine: The name of the definition.
        state: The state in which the trigger was refused.
        trigger: The trigger that was tried.
        result: What the work of `during` gave, when the trigger that reports it was refused; else None.
    """

    result: Any = None

    def __init__(self, refusal: Refusal, *, machine: str) -> None:
        self.refusal = refusal
        self.machine = machine
        self.state = refusal.state
        self.trigger = refusal.trigger
        super().__init__(refusal.message)


class GuardRejectedError(InvalidTransitionError):
    """A trigger that a guard refused."""


class CircuitBrokenError(OrkeonError):
    """The circuit breaker stopped the machine.

    Attributes:
        status: The `CircuitBreakerStatus` at that moment: which limit, the counts, the times.
        result: What the work of `during` gave, if the breaker tripped before it was reported; else None.
    """

    result: Any = None

    def __init__(self, message: str, status: CircuitBreakerStatus) -> None:
        self.status = status
        super().__init__(message)


class GraphCircuitBrokenError(CircuitBrokenError):
    """The circuit breaker stopped the run of a state graph. Nothing that was reached is lost.

    Attributes:
        reason: Which limit was passed, with both figures.
        limit: The limit.
        node_name: The node that was not run any more, or that was running when the time was up.
        trace: The nodes that were run, in order; one that was stopped while it ran is the last. A graph that
            was compiled with a `trace_limit` knows the last of them.
        transition_count: How many nodes were run.
        state: The state as the last node left it, partial work of a stopped node included.
        journal: The steps of the run's machine, as `TransitionResult`s: a trace to draw or to compare.
    """

    def __init__(
        self,
        message: str,
        status: CircuitBreakerStatus,
        *,
        node_name: str,
        trace: Sequence[str],
        state: Any,
        journal: Sequence[TransitionResult] = (),
        transition_count: int | None = None,
    ) -> None:
        super().__init__(message, status)
        self.reason: str = status.broken_reason or message
        self.limit: BreakerLimit | None = status.limit
        self.node_name = node_name
        self.trace = tuple(trace)
        self.transition_count = len(self.trace) if transition_count is None else transition_count
        self.state = state
        self.journal = tuple(journal)


class RoutingError(OrkeonError):
    """A router answered a name that its edge does not declare.

    Attributes:
        node: The node whose router it is.
        value: What it answered.
        allowed: The names that its edge declares.
        trace: The nodes that were run until then, in order.
        state: The state as the last node left it.
    """

    def __init__(
        self,
        node: str,
        value: Any,
        allowed: Sequence[str],
        *,
        hint: str | None = None,
        trace: Sequence[str] = (),
        state: Any = None,
    ) -> None:
        self.node = node
        self.value = value
        self.allowed = tuple(allowed)
        self.trace = tuple(trace)
        self.state = state
        meant = f" (did you mean '{hint}'?)" if hint else ""
        super().__init__(
            f"the router of node '{node}' answered {reprlib.repr(value)}{meant}; "
            f"its edge allows {', '.join(map(repr, self.allowed))}"
        )


class NodeReturnError(OrkeonError):
    """A node returned something that is not the state.

    Attributes:
        node: The node.
        value: What it returned.
        expected: The type of the state.
        trace: The nodes that were run until then, this one included, in order.
        state: The state that the node was given.
    """

    def __init__(
        self, node: str, value: Any, expected: type, *, trace: Sequence[str] = (), state: Any = None
    ) -> None:
        self.node = node
        self.value = value
        self.expected = expected
        self.trace = tuple(trace)
        self.state = state
        super().__init__(
            f"node '{node}' returned {reprlib.repr(value)}, of type {type(value).__name__}; a node returns "
            f"the whole state, of type {expected.__name__}, or None when it changed it in place"
        )


class StaleMachineError(OrkeonError):
    """Another writer has moved the stored machine on."""


class JournalError(OrkeonError):
    """A journal that cannot be read or written."""


class MachineBusyError(OrkeonError):
    """The machine is making another transition and did not become free in time.

    Attributes:
        result: What the work of `during` gave, when that could not be reported; else None.
    """

    result: Any = None


class StateLeftError(OrkeonError):
    """The visit of a state to which work was bound has ended.

    Attributes:
        result: What the work of `during` gave, if it had ended by then; else None.
    """

    result: Any = None


class MissingExtraError(OrkeonError):
    """An optional part is not installed.

    Attributes:
        extra: The name of the extra, as in `pip install 'orkeon-transitions[extra]'`.
    """

    def __init__(self, message: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{message} Install it with: pip install 'orkeon-transitions[{extra}]'")


class MissingKeyError(OrkeonError):
    """A model whose provider wants a key, and there is none.

    Attributes:
        model: The model.
        variable: The environment variable in which the key is looked for.
    """

    def __init__(self, model: str, variable: str) -> None:
        self.model = model
        self.variable = variable
        super().__init__(
            f"{model} needs a key: set {variable}, or use the model that needs none (--model offline)"
        )
