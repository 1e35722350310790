"""The plain machine: thread-safe, one trigger at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from orkeon_transitions.breaker import BreakerCounts, CircuitBreakerStatus
from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.facts import Fact, Refusal, TransitionResult
from orkeon_transitions.runtime import law, snapshots
from orkeon_transitions.runtime.asking import refuse_inside
from orkeon_transitions.runtime.at_once import making
from orkeon_transitions.runtime.base import E, MachineBase, S
from orkeon_transitions.runtime.callbacks import refuse_awaitable
from orkeon_transitions.runtime.event import TriggerEvent
from orkeon_transitions.runtime.firing import Firing
from orkeon_transitions.runtime.spending import check_spending
from orkeon_transitions.runtime.steps import Steps, T, run
from orkeon_transitions.runtime.writing import prepared, write

if TYPE_CHECKING:
    from orkeon_transitions.runtime.moving import MoveEvent
    from orkeon_transitions.runtime.plan import Move, Plan

log = logging.getLogger("orkeon_transitions")


class StateMachine(MachineBase[S, E]):
    """A machine that runs a definition, guarded by its circuit breaker.

    It may be shared by threads. A subclass names guards and actions as methods that take one event; its
    triggers are methods too (`fsm.begin()` is `fsm.fire("begin")`).

    Args:
        definition: A `MachineDefinition`, or what `load_definition` takes.
        policy: The limits; otherwise the definition's `circuit_breaker`, otherwise the preset `default`.
        guards: Guards by name: functions of one event.
        actions: Actions by name: functions of one event.
        clock: Monotonic seconds.
        machine_id: The machine's own name in journals; otherwise a random one.
        lock_timeout: Seconds that a trigger waits for another thread's; None: without a limit.
        commit: Called with each fact and the snapshot as it will be, before the state becomes visible; if it
            raises, nothing has happened.
        engine: `auto` or `stock`; both run the trigger through a `transitions` machine.
        snapshot: A snapshot to go on from.
        states: The Enum of the states, if they are to be members.
        triggers: The Enum of the triggers, if they are to be members.

    Raises:
        DefinitionError: The definition is not valid, or a guard or action is missing.
    """

    def _new_lock(self) -> Any:
        return threading.RLock()

    @classmethod
    def _engine_for(cls, definition: MachineDefinition) -> Any:
        from orkeon_transitions.runtime.engine import engine_for  # noqa: PLC0415 (the engine imports the law)

        return engine_for(definition)

    def fire(self, trigger: E | str, context: Any = None, /, **payload: Any) -> TransitionResult:
        """Makes the transition, or raises.

        Args:
            trigger: The trigger: its name or its Enum member.
            context: The object that the guards judge.
            payload: What guards and actions get as `event.payload`.

        Returns:
            The result. It is falsy if the breaker moved the machine to its degraded state instead.

        Raises:
            InvalidTransitionError: There is no such transition here, or the machine has ended.
            GuardRejectedError: A guard said no, or raised.
            CircuitBrokenError: The circuit breaker tripped, or had tripped.
            MachineBusyError: Another thread holds the machine for too long; or it is fired inside of a guard,
                `before` or `on_exit`.
        """
        # As in `try_fire`: one more call would cost each trigger as much as a limit does.
        record = self._record
        lock = record.lock
        if lock.acquire(False):
            try:
                try:
                    make = record.moves.get(trigger)
                except TypeError:  # it has no hash, so it is no trigger either, as the law will say
                    make = None
                result: TransitionResult | None = (
                    None if make is None else make(self, record, context, payload, True)
                )
            except BaseException:
                self._let_go()
                raise
            if result is not None:
                if record.is_quiet:
                    lock.release()
                else:
                    self._let_go()
                return result
            # The law holds it next, and tells what waits when it is done.
            lock.release()
        request = self._request(trigger, context, payload)
        return self._run(request.trigger, partial(law.demand, self, request))

    def try_fire(self, trigger: E | str, context: Any = None, /, **payload: Any) -> TransitionResult:
        """Makes the transition; a refusal or a trip is a falsy result that says why."""
        record = self._record
        lock = record.lock
        if lock.acquire(False):
            try:
                try:
                    make = record.moves.get(trigger)
                except TypeError:  # it has no hash, so it is no trigger either, as the law will say
                    make = None
                result: TransitionResult | None = (
                    None if make is None else make(self, record, context, payload, False)
                )
            except BaseException:
                self._let_go()
                raise
            if result is not None:
                if record.is_quiet:
                    lock.release()
                else:
                    self._let_go()
                return result
            # The law holds it next, and tells what waits when it is done.
            lock.release()
        request = self._request(trigger, context, payload)
        return self._run(request.trigger, partial(law.attempt, self, request))

    def can_fire(self, trigger: E | str, context: Any = None, /, **payload: Any) -> bool:
        """Whether `fire` would make the transition now. Runs guards and nothing else."""
        return self.why_not(trigger, context, **payload) is None

    def why_not(self, trigger: E | str, context: Any = None, /, **payload: Any) -> Refusal | None:
        """What `fire` would be refused for now, or None. Runs guards and nothing else."""
        return run(law.why_not(self, self._request(trigger, context, payload)))

    def permitted_triggers(self, context: Any = None, /, **payload: Any) -> list[E]:
        """The triggers that `fire` would accept now, in file order."""
        if self.is_terminal:
            return []
        names = self.definition.triggers_from(self._record.state)
        return [self._trigger_member(name) for name in names if self.can_fire(name, context, **payload)]

    def fire_later(self, trigger: E | str, context: Any = None, /, **payload: Any) -> None:
        """Fires after the transition under way, or now if there is none.

        A refusal goes to `on_refused`; what a callback raises is logged; neither stops the next one.
        """
        self._record.ask_later(partial(law.attempt, self, self._request(trigger, context, payload)))
        self._work_off_if_free()

    def check_circuit(self) -> CircuitBreakerStatus:
        """Trips if a clock has run out (or takes the state's `on_timeout`); gives the status.

        Raises:
            CircuitBrokenError: It tripped, or had tripped, and did not move to a degraded state.
        """
        self._run("check_circuit", partial(law.demand_clocks, self))
        return self.circuit_status

    def spend(self, /, **meters: float) -> None:
        """Reports what was spent, by meter; over a meter of the policy, the next trigger trips.

        Raises:
            TypeError: An amount is no number.
            ValueError: It is negative or infinite, or its meter is nearly one of the policy's.
        """
        check_spending(self.policy, meters)
        self._acquire()
        try:
            self._counts = self._counts.spending(meters)
        finally:
            self._let_go()

    def reset_circuit_breaker(self) -> None:
        """Clears the trip and all counts and starts the clocks anew; the state stays."""
        self._run("reset_circuit_breaker", partial(law.reset, self))

    # ------------------------------------------------------------------------------------------ one at a time
    @classmethod
    def _making(cls, plan: Plan, move: Move) -> Any:
        return making(plan, move)

    def _acquire(self) -> None:
        limit = -1 if self._lock_timeout is None else min(self._lock_timeout, threading.TIMEOUT_MAX)
        if not self._record.lock.acquire(timeout=limit):
            raise self._busy()

    def _run(self, what: str, begin: Callable[[], Steps[T]]) -> T:
        refuse_inside(self, what)
        self._acquire()
        try:
            law.refuse_too_early(self, what)
            record = self._record
            outer = record.depth
            # A move that is made at once does not count itself, which every trigger would pay for.
            record.depth = outer + 1 if outer or record.firing is None else 2
            try:
                return run(begin())
            finally:
                record.depth = outer
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Lets go of the machine; who held it as the first makes what was asked for later, and tells."""
        record = self._record
        is_free = record.is_free
        try:
            if is_free:
                self._work_off()
        finally:
            record.lock.release()
            if is_free:
                record.tell()
                self._work_off_if_free()

    def _work_off(self) -> None:
        """Makes what was asked for later, while the machine is held."""
        while begin := self._record.next_asked():
            self._record.depth = 1
            try:
                run(begin())
            except Exception:
                # Nobody waits for it, and the next one must have its turn.
                log.exception("a trigger that machine '%s' fired later failed", self.machine_id)
            finally:
                self._record.depth = 0

    def _work_off_if_free(self) -> None:
        """Whoever holds the machine works the queue off; if nobody does, it is done here."""
        while self._record.later and self._record.lock.acquire(blocking=False):
            is_free = self._record.is_free
            try:
                if is_free:
                    self._work_off()
            finally:
                self._record.lock.release()
            if not is_free:
                return
            self._record.tell()

    # ------------------------------------------------------------------------------ for the law and engine
    def _answer(self, guard: str, event: TriggerEvent) -> Any:
        return refuse_awaitable(super()._answer(guard, event), f"the guard '{guard}'")

    def _commit(self, fact: Fact, counts: BreakerCounts, changed: Mapping[str, Any] | None = None) -> None:
        hook = self._commit_hook
        if hook is not None:
            answer = hook(fact, snapshots.take(self, counts, changed))
            self._last_committed = fact
            try:
                refuse_awaitable(answer, "the commit hook")
            except TypeError:
                self._last_committed = None  # nobody has run it
                raise

    def _settle(self, firing: Firing | MoveEvent, dest: str | None) -> None:
        """Commits a transition and writes it; None as the state: an internal one."""
        counts, result, fields = prepared(self, firing, dest)
        try:
            self._commit(result, counts, fields)
            write(self, firing, counts, result, fields)
        except BaseException:
            if firing.result is None and self._has_committed(result):
                # An interrupt came after the hook had written: what is written has happened.
                write(self, firing, counts, result, fields)
            raise
