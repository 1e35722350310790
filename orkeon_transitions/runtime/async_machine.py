"""The async machine: awaited, first come first served, its clocks watched while nothing fires."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Any, ClassVar

from orkeon_transitions.breaker import BreakerCounts, CircuitBreakerPolicy, CircuitBreakerStatus
from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.facts import Fact, Refusal, Snapshot, TransitionResult
from orkeon_transitions.runtime import law, snapshots
from orkeon_transitions.runtime.asking import inside_of_commit
from orkeon_transitions.runtime.async_turns import AsyncTurns
from orkeon_transitions.runtime.base import E, S
from orkeon_transitions.runtime.callbacks import is_async, refuse_awaitable
from orkeon_transitions.runtime.committing import outcome_of
from orkeon_transitions.runtime.firing import Firing
from orkeon_transitions.runtime.moving import MoveEvent
from orkeon_transitions.runtime.spending import check_spending
from orkeon_transitions.runtime.steps import T, run, run_async
from orkeon_transitions.runtime.writing import prepared, write


class AsyncStateMachine(AsyncTurns[S, E]):
    """A machine as `StateMachine`, awaited: guards, actions and the commit hook may be coroutine functions.

    Its clocks are watched by one timer: when a limit passes while nothing fires, the machine trips, or fires
    the state's `on_timeout`, by itself. Work is bound to the visit of a state with `during`. A second trigger
    waits for the first; cancelling a caller cancels that call and nothing else. A machine lives in one loop.

    The constructor's arguments are those of `StateMachine`.
    """

    _is_plain: ClassVar[bool] = False

    def _begin(
        self, snapshot: Snapshot | None, policy: CircuitBreakerPolicy | None, machine_id: str | None
    ) -> None:
        super()._begin(snapshot, policy, machine_id)
        self._watch.arm_soon()

    @classmethod
    def _engine_for(cls, definition: MachineDefinition) -> Any:
        from orkeon_transitions.runtime.engine import async_engine_for  # noqa: PLC0415 (it imports the law)

        return async_engine_for(definition)

    async def fire(self, trigger: E | str, context: Any = None, /, **payload: Any) -> TransitionResult:
        """Makes the transition, or raises: see `StateMachine.fire`.

        Raises:
            InvalidTransitionError: There is no such transition here, or the machine has ended.
            GuardRejectedError: A guard said no, or raised.
            CircuitBrokenError: The circuit breaker tripped, or had tripped.
            MachineBusyError: Another task holds the machine for too long; or it is fired inside of a guard,
                `before` or `on_exit`.
            StateLeftError: A clock ran out during a callback, and the state's `on_timeout` was made.
        """
        move = self._free_move(trigger)
        if move is not None:
            return await self._make_at_once(move, context, payload, raises=True)
        request = self._request(trigger, context, payload)
        return await self._run(request.trigger, partial(law.demand, self, request))

    async def try_fire(self, trigger: E | str, context: Any = None, /, **payload: Any) -> TransitionResult:
        """Makes the transition; a refusal or a trip is a falsy result that says why."""
        move = self._free_move(trigger)
        if move is not None:
            return await self._make_at_once(move, context, payload, raises=False)
        request = self._request(trigger, context, payload)
        return await self._run(request.trigger, partial(law.attempt, self, request), after=law.check_clocks)

    async def can_fire(self, trigger: E | str, context: Any = None, /, **payload: Any) -> bool:
        """Whether `fire` would make the transition now. Runs guards and nothing else."""
        return await self.why_not(trigger, context, **payload) is None

    async def why_not(self, trigger: E | str, context: Any = None, /, **payload: Any) -> Refusal | None:
        """What `fire` would be refused for now, or None. Runs guards and nothing else."""
        return await run_async(law.why_not(self, self._request(trigger, context, payload)))

    async def permitted_triggers(self, context: Any = None, /, **payload: Any) -> list[E]:
        """The triggers that `fire` would accept now, in file order."""
        if self.is_terminal:
            return []
        names = self.definition.triggers_from(self._record.state)
        return [self._trigger_member(name) for name in names if await self.can_fire(name, context, **payload)]

    def fire_later(self, trigger: E | str, context: Any = None, /, **payload: Any) -> None:
        """Fires after the transition under way, or now if there is none, in a task that the machine holds.

        A refusal goes to `on_refused`; what a callback raises is logged; neither stops the next one.
        """
        self._do_later(partial(law.attempt, self, self._request(trigger, context, payload)))

    async def during(
        self, awaitable: Awaitable[T], *, done: E | str | None = None, failed: E | str | None = None
    ) -> T:
        """Awaits work that is bound to this visit of the state.

        Success fires `done(result=...)` and gives the result; an error fires `failed(error=...)` and is
        raised. If the visit ends otherwise, the work is cancelled. A reflexive transition ends the visit, an
        internal one does not; of two works the first to end wins.

        Args:
            awaitable: The work.
            done: The trigger for success, or None.
            failed: The trigger for an error, or None.

        Raises:
            CircuitBrokenError: The breaker tripped while the work ran; the work's result, if it had one by
                then, is in `result`.
            StateLeftError: The visit ended while the work ran, or the machine has ended; `result` likewise.
            InvalidTransitionError: `done` was refused; the error's `result` is what the work gave.
            MachineBusyError: The machine did not become free to be told; `result` likewise.
            TypeError: `done` or `failed` is no trigger.
        """
        return await self._work.run(self, awaitable, done, failed)

    async def check_circuit(self) -> CircuitBreakerStatus:
        """Trips if a clock has run out (or takes the state's `on_timeout`); gives the status.

        Raises:
            CircuitBrokenError: It tripped, or had tripped, and did not move to a degraded state.
        """
        await self._run("check_circuit", partial(law.demand_clocks, self))
        return self.circuit_status

    def spend(self, /, **meters: float) -> None:
        """Reports what was spent, by meter; over a meter of the policy, the next trigger trips.

        Raises:
            TypeError: An amount is no number.
            ValueError: It is negative or infinite, or its meter is nearly one of the policy's.
        """
        check_spending(self.policy, meters)
        self._counts = self._counts.spending(meters)

    def reset_circuit_breaker(self) -> None:
        """Clears the trip and all counts and starts the clocks anew; the state stays.

        While a transition is under way, or if the commit hook is a coroutine function, it happens in its
        turn: before the next trigger that is fired.
        """
        if self._holder is None and not is_async(self._commit_hook):
            law.refuse_too_early(self, "reset_circuit_breaker")
            run(law.reset(self))
            return
        self._do_later(partial(law.reset, self))

    # ------------------------------------------------------------------------------ for the law and engine
    def _commit(
        self, fact: Fact, counts: BreakerCounts, changed: Mapping[str, Any] | None = None
    ) -> Awaitable[asyncio.CancelledError | None] | None:
        """Asks the commit hook; what is to be awaited gives a cancellation that came meanwhile."""
        hook = self._commit_hook
        if hook is None:
            return None
        answer = hook(fact, snapshots.take(self, counts, changed))
        if not inspect.isawaitable(answer):
            return None
        if self._holder is None:
            refuse_awaitable(answer, "the commit hook, a plain function whose answer must be awaited,")
        return self._committed(answer)

    async def _committed(self, answer: Awaitable[Any]) -> asyncio.CancelledError | None:
        self._is_committing = True
        inside, context = inside_of_commit(self)
        try:
            return await outcome_of(context.run(asyncio.ensure_future, answer))
        finally:
            inside.is_open = False
            self._is_committing = False

    async def _settle(self, firing: Firing | MoveEvent, dest: str | None) -> asyncio.CancelledError | None:
        """Commits a transition and writes it; None as the state: an internal one."""
        counts, result, fields = prepared(self, firing, dest)
        commit = self._commit(result, counts, fields)
        stopped = None if commit is None else await commit
        write(self, firing, counts, result, fields)
        return stopped
