"""Work that is bound to the visit of a state: it ends with the visit."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any

from orkeon_transitions.errors import (
    CircuitBrokenError,
    InvalidTransitionError,
    MachineBusyError,
    StateLeftError,
)
from orkeon_transitions.runtime import law

if TYPE_CHECKING:
    from orkeon_transitions.breaker import BreakerCounts
    from orkeon_transitions.runtime.async_machine import AsyncStateMachine
    from orkeon_transitions.runtime.base import MachineBase
    from orkeon_transitions.runtime.steps import T

    Machine = AsyncStateMachine[Any, Any]

# Work that ignores its cancellation is left behind after this many seconds, so that nothing hangs on it.
PATIENCE = 5.0


class _Bound:
    """One work and whoever waits for it: woken by its end, or by that of the visit."""

    __slots__ = ("ended", "task", "woken")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.woken: asyncio.Future[None] = loop.create_future()
        self.task: asyncio.Future[Any] | None = None
        # The record with which the visit ended, if it did.
        self.ended: BreakerCounts | None = None

    def wake(self, _work: object = None) -> None:
        """Wakes whoever waits; a loop that is closed has nobody left."""
        if not self.woken.done() and not self.woken.get_loop().is_closed():
            self.woken.set_result(None)

    def begin(self, loop: asyncio.AbstractEventLoop, awaitable: Awaitable[T]) -> asyncio.Future[T]:
        """Starts work in a task of its own; what has one already keeps it."""
        work: asyncio.Future[T]
        if inspect.iscoroutine(awaitable):
            work = loop.create_task(self.watched(awaitable))
        else:
            work = asyncio.ensure_future(awaitable)
        work.add_done_callback(self.wake)
        self.task = work
        return work

    async def watched(self, work: Awaitable[T]) -> T:
        """The work, which tells its end itself: the callback of its task would cost a turn of the loop.

        It is there for a task that is cancelled before it has begun.
        """
        if self.task is not None:
            self.task.remove_done_callback(self.wake)
        try:
            return await work
        finally:
            self.wake()


class VisitWork:
    """The works of one machine's current visit."""

    __slots__ = ("_bound",)

    def __init__(self) -> None:
        self._bound: dict[_Bound, None] | None = None  # most machines never have any

    @property
    def is_any(self) -> bool:
        """Whether some work is bound to the visit."""
        return bool(self._bound)

    def end_visit(self, counts: BreakerCounts) -> None:
        """Tells all works of the visit that it is over, and how: a listener may reset the breaker at once."""
        if self._bound:
            bound, self._bound = self._bound, None
            for each in bound:
                each.ended = counts
                each.wake()

    async def run(self, machine: Machine, awaitable: Awaitable[T], done: Any, failed: Any) -> T:
        """Awaits work; see `AsyncStateMachine.during`."""
        if done is not None or failed is not None:
            _check_triggers(machine, awaitable, (done, failed))
        if machine.is_circuit_broken or machine.is_terminal:
            _close(awaitable)
            raise gone(machine)
        if not machine._watch.is_armed:
            machine._watch.arm()
        visit = machine._record.visit
        loop = asyncio.get_running_loop()
        bound = _Bound(loop)
        work = bound.begin(loop, awaitable)
        if self._bound is None:
            self._bound = {}
        self._bound[bound] = None
        try:
            if bound.woken.done():
                # Its task was an eager one; others have their turn all the same.
                await asyncio.sleep(0)
            await bound.woken
        except asyncio.CancelledError:
            await _cancel(work, awaitable)
            raise
        finally:
            if self._bound:
                self._bound.pop(bound, None)
        record = machine._record
        if bound.ended is not None or record.visit != visit or record.trip is not None:
            await _cancel(work, awaitable)
            raise gone(machine, _result_of(work), bound.ended)
        if work.cancelled():
            _close(awaitable)  # it may not even have begun
            raise asyncio.CancelledError
        if done is None and failed is None:
            return work.result()
        return await _reported(machine, visit, work, done, failed)


async def _reported(machine: Machine, visit: int, work: asyncio.Future[T], done: Any, failed: Any) -> T:
    """Fires what was asked for after work that has ended; gives its result."""
    try:
        result = work.result()
    except BaseException as error:
        if failed is not None:
            await _report_failure(machine, visit, failed, error)
        raise
    if done is not None:
        await _report_success(machine, visit, done, result)
    return result


def _check_triggers(machine: Machine, awaitable: Awaitable[Any], triggers: tuple[Any, ...]) -> None:
    """Says what is no trigger at all before the work begins, not when its result would be lost."""
    try:
        for trigger in triggers:
            machine._request(trigger)
    except TypeError:
        _close(awaitable)
        raise


async def _report_success(machine: Machine, visit: int, done: Any, result: Any) -> None:
    try:
        made = await _fire(machine, visit, done, {"result": result})
    except (InvalidTransitionError, CircuitBrokenError, MachineBusyError, StateLeftError) as error:
        error.result = result
        raise
    if made.degraded:
        raise gone(machine, result)


async def _report_failure(machine: Machine, visit: int, failed: Any, error: BaseException) -> None:
    try:
        made = await _fire(machine, visit, failed, {"error": error})
    except InvalidTransitionError as refusal:
        error.add_note(f"and the machine refused to take note of it: {refusal}")
        return
    except (CircuitBrokenError, MachineBusyError, StateLeftError) as stronger:
        raise stronger from error
    if made.degraded:
        raise gone(machine) from error


async def _fire(machine: Machine, visit: int, trigger: Any, payload: dict[str, Any]) -> Any:
    request = machine._request(trigger, None, payload)
    return await machine._run(request.trigger, partial(law.demand, machine, request), visit=visit)


def _close(awaitable: Awaitable[Any]) -> None:
    """Ends work that nobody will await; what has begun by itself is cancelled."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()
    elif isinstance(awaitable, asyncio.Future):
        awaitable.cancel()


def gone(
    machine: MachineBase[Any, Any], result: Any = None, ended: BreakerCounts | None = None
) -> CircuitBrokenError | StateLeftError:
    """Why the visit is over; `ended` is the record with which it ended, where that is known."""
    name, state, counts = machine.definition.name, machine._counts.state, machine._counts
    if counts.trip is None and ended is not None:
        counts = ended
    trip = counts.trip
    error: CircuitBrokenError | StateLeftError
    if trip is None:
        error = StateLeftError(
            f"machine '{name}' has gone on to '{state}', and the work of its last state ended"
        )
    else:
        error = CircuitBrokenError(
            f"{trip.reason}; machine '{name}' is in '{state}'", machine._status_of(counts)
        )
    error.result = result
    return error


def _result_of(work: asyncio.Future[Any]) -> Any:
    return work.result() if work.done() and not work.cancelled() and work.exception() is None else None


async def _cancel(work: asyncio.Future[Any], awaitable: Awaitable[Any]) -> None:
    """Cancels work and lets it tidy up, but not for ever."""
    work.cancel()
    work.add_done_callback(_seen)
    await asyncio.wait({work}, timeout=PATIENCE)
    if work.done():
        _close(awaitable)  # it may not even have begun


def _seen(work: asyncio.Future[Any]) -> None:
    """Takes note of an error that nobody will ask for, so that asyncio does not complain of it."""
    if not work.cancelled():
        work.exception()
