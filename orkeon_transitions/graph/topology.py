"""What a graph consists of: nodes, edges, and where they came from. Plain frozen data, nothing runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import isfinite
from typing import Any, Generic

from typing_extensions import TypeVar

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.definition.models import ANY_STATE, SAME_STATE
from orkeon_transitions.definition.names import unfit_character

START = "__start__"
END = "__end__"
STEP = "step"

S = TypeVar("S", default=Any)

NodeFunction = Callable[[S], S | Awaitable[S | None] | None]
Router = Callable[[S], str | Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Node(Generic[S]):
    """A node: a function of the state.

    Attributes:
        name: Its name, which is also that of its state in the machine.
        function: What it does.
        retry: How many more attempts it gets when one fails.
        timeout: Seconds that one attempt may take, or None.
        retry_wait: Seconds before the second attempt; they double from one attempt to the next.
    """

    name: str
    function: NodeFunction[S]
    retry: int = 0
    timeout: float | None = None
    retry_wait: float = 0.0

    @classmethod
    def checked(
        cls,
        name: str,
        function: NodeFunction[S],
        retry: int = 0,
        timeout: float | timedelta | None = None,
        retry_wait: float | timedelta = 0.0,
    ) -> Node[S]:
        """Makes a node of what a program gives.

        Raises:
            TypeError: The function cannot be called.
            ValueError: `retry`, `timeout` or `retry_wait` is out of range.
        """
        if not callable(function):
            raise TypeError(f"node '{name}' must be a function of the state, not {type(function).__name__}")
        if isinstance(retry, bool) or not isinstance(retry, int) or retry < 0:
            raise ValueError(
                f"node '{name}': retry is a whole number of further attempts, 0 or more, not {retry!r}"
            )
        allowed = None if timeout is None else _seconds(name, "timeout", timeout)
        if allowed == 0:
            raise ValueError(f"node '{name}': timeout must be more than 0 seconds (None: no limit)")
        return cls(name, function, retry, allowed, _seconds(name, "retry_wait", retry_wait))


@dataclass(frozen=True, slots=True)
class Edge(Generic[S]):
    """The ways out of a node.

    Attributes:
        targets: Where they lead.
        router: What chooses among them; None: there is one way, and it is always taken.
    """

    targets: tuple[str, ...]
    router: Router[S] | None = None

    def target_of(self, answer: Any, *, end: str = END) -> str | None:
        """The target that a router's answer names, or None.

        Args:
            answer: What the router returned.
            end: The name by which the machine's definition knows `END`; a router may use it as well.
        """
        if not isinstance(answer, str):
            return None
        wanted = END if answer == end else answer
        for target in self.targets:
            if target == wanted:
                return target
        return None


@dataclass(frozen=True, slots=True)
class Topology(Generic[S]):
    """A whole graph at one moment.

    Attributes:
        name: The name of its machine.
        policy: The limits of a run.
        nodes: By name, in the order in which they were added; without the degraded one.
        edges: By the node that they leave, or `START`.
        degraded: The node that runs once when a limit was passed, or None.
        origin: The definition from which the graph was read, or None.
    """

    name: str
    policy: CircuitBreakerPolicy
    nodes: Mapping[str, Node[S]]
    edges: Mapping[str, Edge[S]]
    degraded: Node[S] | None = None
    origin: MachineDefinition | None = None

    def ways(self) -> Iterator[tuple[str, str, Edge[S]]]:
        """Every way as source, target and edge, in order."""
        for source in (START, *self.nodes):
            if (edge := self.edges.get(source)) is not None:
                for target in edge.targets:
                    yield source, target, edge

    def state_name(self, name: str) -> str:
        """The name of a node's state in the machine: `START` and `END` go by those of the origin."""
        if self.origin is None or name not in (START, END):
            return name
        return self.origin.initial if name == START else end_state(self.origin)

    def node_at(self, state: str) -> str:
        """The node of a state of the machine, or `START` or `END`."""
        return next((name for name in (START, END) if self.state_name(name) == state), state)


def end_state(definition: MachineDefinition) -> str:
    """The state in which a run ends well: the final one that is not the degraded one."""
    return next(
        state.name for state in definition.states if state.final and state.name != definition.degraded
    )


def node_name(given: Any) -> str:
    """Reads a name; a member of a text Enum goes by its value.

    Raises:
        ValueError: It can be no name.
    """
    if not isinstance(given, str):
        raise ValueError(f"the name of a node is text, not {given!r}")
    name = str.__str__(given)
    if not name.strip():
        raise ValueError("the name of a node must not be empty")
    if name in (ANY_STATE, SAME_STATE):
        raise ValueError(f"'{name}' has a meaning of its own and is no name for a node")
    if (unfit := unfit_character(name)) is not None:
        raise ValueError(f"the name of a node must not contain the control character U+{ord(unfit):04X}")
    return name


def _seconds(node: str, what: str, given: Any) -> float:
    seconds = given.total_seconds() if isinstance(given, timedelta) else given
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ValueError(f"node '{node}': {what} is a number of seconds or a timedelta, not {given!r}")
    if not isfinite(seconds) or seconds < 0:
        raise ValueError(f"node '{node}': {what} must be a number of seconds that is not negative")
    return float(seconds)
