"""What plain and async machines have in common: the record, reading, listening, snapshots."""

from __future__ import annotations

import inspect
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Self

from typing_extensions import TypeVar

from orkeon_transitions.breaker import BreakerCounts, CircuitBreakerPolicy, CircuitBreakerStatus, StateClock
from orkeon_transitions.definition import MachineDefinition, load_definition, nearest
from orkeon_transitions.errors import MachineBusyError, OrkeonError
from orkeon_transitions.facts import CircuitBroken, Fact, Refusal, Snapshot, TransitionResult
from orkeon_transitions.runtime import snapshots
from orkeon_transitions.runtime.callbacks import check_given, guard_of
from orkeon_transitions.runtime.event import BoundTrigger, TriggerEvent
from orkeon_transitions.runtime.naming import text_of
from orkeon_transitions.runtime.options import check_options
from orkeon_transitions.runtime.plan import Move, Moves, Plan, plan_for
from orkeon_transitions.runtime.record import NOTHING, Record

if TYPE_CHECKING:
    from orkeon_transitions.runtime.engine import Row

S = TypeVar("S", default=Any)
E = TypeVar("E", default=Any)

CommitHook = Callable[[Fact, Snapshot], Any]
_NOTHING_TO_WRITE = nullcontext()


@dataclass(frozen=True, slots=True)
class Request:
    """What a program asks of a machine."""

    trigger: str
    context: Any
    payload: Mapping[str, Any]


class MachineBase(Generic[S, E]):
    """The part of a machine that does not fire. Use `StateMachine` or `AsyncStateMachine`.

    Attributes:
        STATES: The Enum of the states, or None: states are texts.
        TRIGGERS: The Enum of the triggers, or None: triggers are texts.
        persisted: The attributes that snapshots keep.
        budget_starts: Triggers that begin a new budget, once their guards have passed.
    """

    STATES: ClassVar[type[Enum] | None] = None
    TRIGGERS: ClassVar[type[Enum] | None] = None
    persisted: ClassVar[tuple[str, ...]] = ()
    budget_starts: ClassVar[frozenset[str]] = frozenset()
    _is_plain: ClassVar[bool] = True
    # What the commit hook has returned from last.
    _last_committed: Fact | None = None

    def __init__(
        self,
        definition: MachineDefinition | Mapping[str, Any] | str | Path,
        *,
        policy: CircuitBreakerPolicy | None = None,
        guards: Mapping[str, Any] | None = None,
        actions: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        machine_id: str | None = None,
        lock_timeout: float | None = 30.0,
        commit: CommitHook | None = None,
        engine: str = "auto",
        snapshot: Snapshot | Mapping[str, Any] | str | None = None,
        states: type[Enum] | None = None,
        triggers: type[Enum] | None = None,
    ) -> None:
        check_options(engine, policy, lock_timeout, machine_id)
        kind: Any = type(self)
        definition = load_definition(definition)
        self._plan: Plan = plan_for(
            kind, definition, states or self.STATES, triggers or self.TRIGGERS, bool(guards or actions)
        )
        self._is_stock = engine == "stock"
        if guards or actions:
            check_given(definition, kind, guards or {}, actions or {}, plain=self._is_plain)
        self._record = Record(self._new_lock(), clock, guards, actions)
        self._clock = clock
        self._lock_timeout = lock_timeout
        self._commit_hook = commit
        self._unsaved: tuple[str, ...] = ()
        # Held for the moment of writing only, so that no snapshot has fields of another state.
        self._writing: Any = threading.RLock() if self.persisted else _NOTHING_TO_WRITE
        self._set_up()
        self._begin(None if snapshot is None else snapshots.read(snapshot), policy, machine_id)

    def _begin(
        self, snapshot: Snapshot | None, policy: CircuitBreakerPolicy | None, machine_id: str | None
    ) -> None:
        if snapshot is None:
            self._policy = policy or self._default_policy()
            self.machine_id = machine_id or os.urandom(6).hex()
            self._record.begin(self)
            return
        self._policy = policy or snapshot.policy
        self.machine_id = machine_id or snapshot.machine_id
        self._counts = snapshots.counts_of(self, snapshot)
        snapshots.put_fields(self, snapshot)

    # ------------------------------------------------------------------------------------------- reading
    @property
    def definition(self) -> MachineDefinition:
        """What the machine is allowed; shared with others of its kind."""
        return self._plan.definition

    @property
    def state(self) -> S:
        """The current state: the Enum's member if the machine has an Enum, else its name."""
        member: S = self._state_member(self._record.state)
        return member

    @property
    def is_terminal(self) -> bool:
        """Whether the machine has ended."""
        return self._record.state in self._plan.definition.final_states

    @property
    def transition_count(self) -> int:
        """What the budget has used: transitions since the start or the last reset."""
        return self._record.transitions

    @property
    def policy(self) -> CircuitBreakerPolicy:
        """The limits of the circuit breaker."""
        return self._policy

    @policy.setter
    def policy(self, policy: CircuitBreakerPolicy) -> None:
        self._policy = policy
        self._record.disarm(self._policy)
        self._clocks_changed()

    @property
    def is_circuit_broken(self) -> bool:
        """Whether the circuit breaker has tripped."""
        return self._record.trip is not None

    @property
    def circuit_status(self) -> CircuitBreakerStatus:
        """Everything that the circuit breaker knows at this moment."""
        return self._status_of(self._counts)

    def snapshot(self) -> Snapshot:
        """The machine at rest, as plain JSON data: `restore` makes a new machine of it."""
        with self._writing:
            return snapshots.take(self, self._counts)

    @classmethod
    def restore(cls, *source: Any, **options: Any) -> Self:
        """Makes a new machine that goes on where a snapshot was taken; downtime does not count.

        `restore(definition, snapshot, **options)`; for a class whose constructor takes no definition
        `restore(snapshot, **options)`. Options are the constructor's. What the snapshot keeps of the
        constructor's own parameters is passed on; a `policy` that is given replaces the snapshot's.

        Raises:
            DefinitionError: The snapshot is damaged, or the definition has no such state.
        """
        *definition, given = source
        snapshot = snapshots.read(given)
        parameters = inspect.signature(cls).parameters
        kept = {n: value for n, value in snapshot.fields.items() if n in cls.persisted and n in parameters}
        snapshots.check_fields(cls, snapshot, definition, {**kept, **options})
        machine = cls(*definition, **{**kept, **options, "snapshot": snapshot})
        # Once more: a subclass sets its own attributes after the base class has read the snapshot.
        snapshots.put_fields(machine, snapshot)
        return machine

    # ----------------------------------------------------------------------------------------- listening
    def on_transition(self, listener: Callable[[TransitionResult], object]) -> Callable[[], None]:
        """Subscribes to every transition that was made; gives the function that unsubscribes."""
        return self._record.subscribe("transition", listener)

    def on_refused(self, listener: Callable[[Refusal], object]) -> Callable[[], None]:
        """Subscribes to every trigger that was refused; gives the function that unsubscribes."""
        return self._record.subscribe("refused", listener)

    def on_circuit_broken(self, listener: Callable[[CircuitBroken], object]) -> Callable[[], None]:
        """Subscribes to the trip of the breaker; gives the function that unsubscribes."""
        return self._record.subscribe("broken", listener)

    def attach_commit(self, hook: CommitHook) -> None:
        """Makes `hook(fact, snapshot)` the machine's one commit hook.

        It is called with each fact, and the snapshot as it will be, before the new state becomes visible; if
        it raises, nothing has happened. A hook that says it is `closed` may be replaced.

        Raises:
            OrkeonError: The machine has one already.
        """
        if self._commit_hook is not None and not getattr(self._commit_hook, "closed", False):
            raise OrkeonError(
                f"machine '{self.machine_id}' has a commit hook already: a second is not possible"
            )
        self._commit_hook = hook
        # From now on every transition goes by the law, which commits it.
        self._record.disarm(self._policy)

    # ----------------------------------------------------------------------------- for subclasses to answer
    def _default_policy(self) -> CircuitBreakerPolicy:
        """The policy where neither the constructor nor a snapshot gives one."""
        return self._plan.definition.circuit_breaker or CircuitBreakerPolicy.default()

    def _state_clock(self, state: str) -> StateClock:
        """How time counts in a state."""
        return self._plan.definition.clocks[state]

    def _fields_after(self, event: TriggerEvent) -> Mapping[str, Any]:  # noqa: ARG002 (a hook)
        """The persisted attributes that a transition changes: pure, asked before the commit."""
        return {}

    def _written(self, event: TriggerEvent, result: TransitionResult) -> None:
        """Called when the state has been written, before `on_enter`; must not raise."""

    # ------------------------------------------------------------------------------ for the law and engine
    def _new_lock(self) -> Any:
        """What holds the machine for one trigger at a time."""

    def _set_up(self) -> None:
        """Makes what the kind of machine needs before anything else."""

    @classmethod
    def _engine_for(cls, definition: MachineDefinition) -> Any:  # noqa: ARG003 (for subclasses)
        """The engine that all machines of a definition share."""
        raise TypeError(f"{cls.__name__} is no machine of its own: use StateMachine or AsyncStateMachine")

    @classmethod
    def _making(cls, plan: Plan, move: Move) -> Any:  # noqa: ARG003 (for subclasses)
        """What a machine of the class finds in `Record.moves` for a row."""
        return move

    @classmethod
    def _overrides(cls, hook: str) -> bool:
        """Whether the class has an answer of its own."""
        return getattr(cls, hook) is not getattr(MachineBase, hook)

    def _visit_ended(self) -> None:
        """The visit of a state is over, or the circuit is broken."""

    def _clocks_changed(self) -> None:
        """A clock was started, stopped or set back, or has another limit."""

    @property
    def _counts(self) -> BreakerCounts:
        """The record as the law judges it; setting it replaces the record as a whole."""
        return self._record.counts()

    @_counts.setter
    def _counts(self, counts: BreakerCounts) -> None:
        self._record.put(self, counts)

    @property
    def _state_name(self) -> str:
        return self._record.state

    @property
    def _engine(self) -> Any:
        return self._plan.engine

    def _moves_at_once(self, state: str) -> Moves:
        """What may be made without asking the law: nothing where a transition must be committed."""
        if self._is_stock or self._commit_hook is not None:
            return NOTHING
        return self._plan.moves[state]

    def _state_member(self, name: str) -> Any:
        return self._plan.states.get(name, name)

    def _trigger_member(self, name: str) -> Any:
        return self._plan.triggers.get(name, name)

    def _status_of(self, counts: BreakerCounts) -> CircuitBreakerStatus:
        return counts.status(self.policy, self._clock(), self._state_clock(counts.state))

    def _rows(self, trigger: str) -> list[Row]:
        rows: list[Row] = self._engine.rows(self._record.state, trigger)
        return rows

    def _request(
        self, trigger: Any, context: Any = None, payload: Mapping[str, Any] | None = None
    ) -> Request:
        return Request("" if trigger is None else text_of(trigger), context, payload or {})

    def _event(self, request: Request) -> TriggerEvent:
        trigger = self._trigger_member(request.trigger) if request.trigger else None
        return TriggerEvent(trigger, self.state, request.context, request.payload)

    def _answer(self, guard: str, event: TriggerEvent) -> Any:
        return guard_of(self, guard)(event)

    def _now(self) -> datetime:
        return datetime.now(UTC)

    def _busy(self) -> MachineBusyError:
        return MachineBusyError(
            f"machine '{self._plan.definition.name}' is making another transition and did not become free in "
            f"{self._lock_timeout:g} s"
        )

    def _has_committed(self, fact: Fact) -> bool:
        """Whether the commit hook has written a fact, though an interrupt may have come right after that.

        A hook that is a function has written what it has returned from. One that is another object, or is cut
        short by the interrupt, tells by a method `has_written(fact)`; without one, nothing is known, and the
        machine does not move.
        """
        asked = getattr(self._commit_hook, "has_written", None)
        return self._last_committed is fact or (asked is not None and asked(fact) is True)

    def _nothing_moved(self, refusal: Refusal, error: Exception | None = None) -> TransitionResult:
        return TransitionResult(
            from_state=refusal.state,
            to_state=refusal.state,
            trigger=refusal.trigger,
            ordinal=self._counts.ordinal,
            timestamp=self._now(),
            accepted=False,
            state_changed=False,
            refusal=refusal,
            error=error,
            transition_count=self._counts.transitions,
        )

    # ----------------------------------------------------------------------------------------- conveniences
    if TYPE_CHECKING:
        # Each kind of machine has its own way of committing, which the law takes as an effect.
        _commit: Callable[..., Any]
    else:
        # Type checkers see the triggers that a class declares (`submit: Trigger`), and find a slip in others.
        def __getattr__(self, name: str) -> BoundTrigger:
            # A name of our own is missing only while the machine is made.
            is_ours = name.startswith("_")
            if not is_ours and name in self._plan.callable:
                return BoundTrigger(self, name)
            kind, definition = type(self).__name__, None if is_ours else self._plan.definition
            hint = nearest(name, definition.triggers) if definition is not None else None
            meant = f", did you mean '{hint}'?" if hint else ""
            message = f"'{kind}' has no attribute or trigger '{name}'{meant}"
            raise AttributeError(message, name=name, obj=self)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *(name for name in self._plan.definition.triggers if name.isidentifier())]

    def __repr__(self) -> str:
        broken = ", circuit broken" if self.is_circuit_broken else ""
        name, state = self._plan.definition.name, self._record.state
        return f"<{type(self).__name__} '{name}' {self.machine_id} in '{state}'{broken}>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        kind = type(self).__name__
        raise TypeError(
            f"a {kind} cannot be copied or pickled, it holds locks and callbacks: "
            f"take snapshot() and make a new one with {kind}.restore(...)"
        )

    def _repr_mimebundle_(self, **_limits: Any) -> dict[str, Any]:
        from orkeon_transitions.diagrams import mimebundle  # noqa: PLC0415 (drawing is loaded when needed)

        bundle: dict[str, Any] = mimebundle(self)
        return bundle
