"""An async machine is one at a time: who holds it, who waits, and what was asked for later."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from orkeon_transitions.errors import MachineBusyError, StaleMachineError, StateLeftError
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.runtime import law
from orkeon_transitions.runtime.asking import outside, refuse_inside
from orkeon_transitions.runtime.awaited_at_once import make_awaited
from orkeon_transitions.runtime.base import E, MachineBase, S
from orkeon_transitions.runtime.moving import is_open
from orkeon_transitions.runtime.plan import Move
from orkeon_transitions.runtime.steps import Steps, T, nothing, run_async
from orkeon_transitions.runtime.watch import LOOK_AGAIN, TRY_AGAIN, Watch
from orkeon_transitions.runtime.work import VisitWork, gone

log = logging.getLogger("orkeon_transitions")


class AsyncTurns(MachineBase[S, E]):
    """The part of an async machine that lets one trigger after another have its turn."""

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
        """The row to make at once, if nobody holds the machine or waits for it; None: ask the law."""
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
        """Holds the machine, which is free, and makes a move; a clock that cuts it short has its say then."""
        record = self._record
        lock = record.lock
        await lock.acquire()
        try:
            self._take_hold()
            if not self._watch.is_armed:
                self._watch.arm(LOOK_AGAIN)
            try:
                result = await make_awaited(self, move, context, payload, raises)
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
            await self._run("fire_later", nothing)

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
        error = None if task.cancelled() else task.exception()
        if isinstance(error, StaleMachineError):
            # Somebody else has moved it on: its clocks are theirs now, and a trigger here would say the same.
            log.warning("machine '%s' is watched no more: %s", self.machine_id, error)
            self._watch.disarm()
        elif error is not None:
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
