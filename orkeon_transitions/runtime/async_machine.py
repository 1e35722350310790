"""The async machine: awaited, first come first served, its clocks watched while nothing fires."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from orkeon_transitions.breaker import BreakerCounts, CircuitBreakerPolicy, CircuitBreakerStatus
from orkeon_transitions.definition import MachineDefinition
from orkeon_transitions.errors import MachineBusyError, StateLeftError
from orkeon_transitions.facts import Fact, Refusal, Snapshot, TransitionResult
from orkeon_transitions.runtime import law, snapshots
from orkeon_transitions.runtime.asking import inside_of_commit, outside, refuse_inside
from orkeon_transitions.runtime.at_once import is_open, make_awaited
from orkeon_transitions.runtime.base import E, MachineBase, S
from orkeon_transitions.runtime.callbacks import is_async, refuse_awaitable
from orkeon_transitions.runtime.committing import outcome_of
from orkeon_transitions.runtime.firing import Firing
from orkeon_transitions.runtime.plan import Move
from orkeon_transitions.runtime.spending import check_spending
from orkeon_transitions.runtime.steps import Steps, T, run, run_async
from orkeon_transitions.runtime.watch import LOOK_AGAIN, TRY_AGAIN, Watch
from orkeon_transitions.runtime.work import VisitWork, gone

log = logging.getLogger("orkeon_transitions")


class AsyncStateMachine(MachineBase[S, E]):
    """A machine as `StateMachine`, awaited: guards, actions and the commit hook may be coroutine functions.

    Its clocks are watched by one timer: when a limit passes while nothing fires, the machine trips, or fires
    the state's `on_timeout`, by itself. Work is bound to the visit of a state with `during`. A second trigger
    waits for the first; cancelling a caller cancels that call and nothing else. A machine lives in one loop.

    The constructor's arguments are those of `StateMachine`.
    """

    _is_plain: ClassVar[bool] = False

    def _new_lock(self) -> Any:
        return asyncio.Lock()

    def _set_up(self) -> None:
        self._waiting = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._holder: asyncio.Task[Any] | None = None
        self._cancelled_before = 0
        self._worker: asyncio.Task[Any] | None = None
        self._is_committing = False
        self._interrupted = False
        self._held_tasks: set[asyncio.Task[Any]] | None = None
        self._work = VisitWork()
        self._watch = Watch(self)

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

    # ------------------------------------------------------------------------------------------ one at a time
    async def _run(
        self,
        what: str,
        begin: Callable[[], Steps[T]],
        *,
        visit: int | None = None,
        after: Callable[[Any], Steps[TransitionResult | None]] = law.demand_clocks,
    ) -> T:
        """Holds the machine and runs steps; `after` are those that follow if a clock cuts them short."""
        refuse_inside(self, what)
        if self._holder is not None and self._holder is asyncio.current_task():
            return await self._run_nested(what, begin)
        if self._record.later and self._is_worker_due():
            # What was asked for later has a task of its own, which comes first: were it made in this one,
            # cancelling this call would cancel that.
            await asyncio.sleep(0)
        await self._acquire()
        try:
            self._take_hold()
            if not self._watch.is_armed:
                self._watch.arm(LOOK_AGAIN)
            await self._work_off()
            if visit is not None and visit != self._record.visit:
                raise gone(self)
            outcome: T = await self._run_interruptible(run_async(begin()), after)
            await self._work_off()
            return outcome
        finally:
            self._holder = None
            self._record.lock.release()
            self._record.tell()
            self._work_off_if_free()

    def _free_move(self, trigger: Any) -> Move | None:
        """The row to make at once, if nobody holds the machine or waits for it; None: the law must be asked."""
        record = self._record
        try:
            move: Move | None = record.moves.get(trigger)
        except TypeError:  # it has no hash, so it is no trigger either, as the law will say
            return None
        if move is None or record.lock.locked() or self._waiting or record.later:
            return None
        if asyncio.get_running_loop() is not self._loop or not is_open(self, record, move):
            return None
        return move

    async def _make_at_once(
        self, move: Move, context: Any, payload: dict[str, Any], *, raises: bool
    ) -> TransitionResult:
        """Holds the machine, which is free, and makes a move; then a clock has its say, if it cut it short."""
        record = self._record
        lock = record.lock
        await lock.acquire()
        try:
            self._take_hold()
            if not self._watch.is_armed:
                self._watch.arm(LOOK_AGAIN)
            try:
                result = await make_awaited(self, record, move, context, payload, raises)
            except asyncio.CancelledError:
                if not self._was_interrupted():
                    raise
                after = law.demand_clocks if raises else law.check_clocks
                result = await self._run_interruptible(self._run_after_interruption(after), after)
            if record.later:
                await self._work_off()
            return result
        finally:
            if self._interrupted and self._was_interrupted():
                # A callback went on in spite of its cancellation.
                self._watch.arm()
            self._holder = None
            lock.release()
            if record.listeners is not None:
                record.listeners.tell()
            if record.later:
                self._work_off_if_free()

    def _take_hold(self) -> None:
        self._holder = holder = asyncio.current_task()
        # A task that tidies up after its own cancellation has been cancelled before.
        self._cancelled_before = 0 if holder is None else holder.cancelling()

    async def _run_nested(self, what: str, begin: Callable[[], Steps[T]]) -> T:
        law.refuse_too_early(self, what)
        self._record.depth += 1
        try:
            return await run_async(begin())
        finally:
            self._record.depth -= 1

    async def _acquire(self) -> None:
        record = self._record
        if (loop := asyncio.get_running_loop()) is not self._loop and not record.lock.locked():
            # A lock keeps to the loop in which it was first waited for.
            record.lock, self._loop = asyncio.Lock(), loop
        self._waiting += 1
        try:
            async with asyncio.timeout(self._lock_timeout):
                await record.lock.acquire()
        except TimeoutError:
            raise self._busy() from None
        finally:
            self._waiting -= 1

    async def _run_interruptible(
        self, work: Awaitable[Any], after: Callable[[Any], Steps[TransitionResult | None]]
    ) -> Any:
        """Awaits work whose callbacks the timer may cancel: then the limit has its say instead."""
        self._record.depth = 1
        try:
            while True:
                try:
                    outcome = await work
                except asyncio.CancelledError:
                    if not self._was_interrupted():
                        raise
                    # The callbacks of the state that is entered now may be cut short by its clock, too.
                    work = self._run_after_interruption(after)
                else:
                    return outcome
        finally:
            self._record.depth = 0
            if self._was_interrupted():
                # A callback went on in spite of its cancellation.
                self._watch.arm()

    async def _run_after_interruption(self, after: Callable[[Any], Steps[TransitionResult | None]]) -> Any:
        result = await run_async(after(self))
        if result is not None and not result.accepted:
            return result
        raise StateLeftError(
            f"a callback of machine '{self.definition.name}' was ended by a clock; "
            f"the machine is in '{self._counts.state}'"
        )

    def _was_interrupted(self) -> bool:
        """Whether the timer, and nobody else, has cancelled the task that holds the machine."""
        if not self._interrupted or self._holder is None:
            return False
        self._interrupted = False
        if self._holder.uncancel() <= self._cancelled_before:
            return True
        # Somebody else has cancelled it too and comes first; the clock has its say afterwards.
        self._watch.arm()
        return False

    async def _work_off(self) -> None:
        """Makes what was asked for later, while the machine is held."""
        while begin := self._record.next_asked():
            try:
                await self._run_interruptible(run_async(begin()), law.check_clocks)
            except Exception:
                # Nobody waits for it, and the next one must have its turn.
                log.exception("a trigger that machine '%s' fired later failed", self.machine_id)

    def _do_later(self, begin: Callable[[], Steps[Any]]) -> None:
        self._record.ask_later(begin)
        self._work_off_if_free()

    def _work_off_if_free(self) -> None:
        """Whoever holds the machine works the queue off; if nobody does, a task of its own does."""
        if not self._record.later or self._holder is not None:
            return
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        if not self._is_worker_due():
            self._worker = self._hold(self._work_off_in_turn())

    def _is_worker_due(self) -> bool:
        """Whether a task that will work the queue off has been started; it may be closing down itself."""
        worker = self._worker
        return worker is not None and not worker.done() and worker is not asyncio.current_task()

    async def _work_off_in_turn(self) -> None:
        with contextlib.suppress(MachineBusyError):  # whoever holds the machine works the queue off
            await self._run("fire_later", _nothing)

    def _hold(self, work: Any) -> asyncio.Task[Any]:
        """Starts a task of the machine's own; the loop holds tasks weakly."""
        task = asyncio.get_running_loop().create_task(work, context=outside())
        if self._held_tasks is None:
            self._held_tasks = set()
        self._held_tasks.add(task)
        task.add_done_callback(self._let_go)
        return task

    def _let_go(self, task: asyncio.Task[Any]) -> None:
        if self._held_tasks:
            self._held_tasks.discard(task)
        if task is self._worker:
            self._worker = None
            self._work_off_if_free()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("machine '%s' failed in a task of its own", self.machine_id, exc_info=error)
            # A trip that could not be recorded has not happened: it is tried again.
            self._watch.arm(TRY_AGAIN)

    # ---------------------------------------------------------------------------------------------- the timer
    def _time_is_up(self) -> bool:
        """Called by the timer. True: it has been dealt with, or will be."""
        if self.is_terminal or self.is_circuit_broken:
            return True
        if self._is_committing or not law.is_overdue(self):
            return False
        if self._holder is None:
            self._hold(self._run("check_circuit", partial(law.check_clocks, self)))
        else:
            self._interrupted = True
            self._holder.cancel()
        return True

    def _visit_ended(self) -> None:
        if self._work.is_any:
            self._work.end_visit(self._counts)

    def _clocks_changed(self) -> None:
        if not self._watch.rings_by(self._record.deadline):
            self._watch.arm()

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

    async def _settle(self, firing: Firing, dest: str | None) -> asyncio.CancelledError | None:
        """Commits a transition and writes it; None as the state: an internal one."""
        counts, result, fields = self._prepared(firing, dest)
        commit = self._commit(result, counts, fields)
        stopped = None if commit is None else await commit
        self._write(firing, counts, result, fields)
        return stopped


def _nothing() -> Steps[None]:
    """Steps that do nothing: the machine is held for the sake of what was asked for later."""
    yield from ()
