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
    from orkeon_transitions.runtime.steps import T

    Machine = AsyncStateMachine[Any, Any]

# Work that ignores its cancellation is left behind after this many seconds, so that nothing hangs on it.
PATIENCE = 5.0


class _Bound:
    """One work and whoever waits for it: woken by its end, or by that of the visit."""

    __slots__ = ("ended", "woken")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.woken: asyncio.Future[None] = loop.create_future()
        # The record with which the visit ended, if it did.
        self.ended: BreakerCounts | None = None

    def wake(self, _work: object = None) -> None:
        """Wakes whoever waits; a loop that is closed has nobody left."""
        if not self.woken.done() and not self.woken.get_loop().is_closed():
            self.woken.set_result(None)

    async def watched(self, work: Awaitable[T]) -> T:
        """The work, which tells its end itself: a callback of its task would cost a turn of the loop."""
        try:
            return await work
        finally:
            self.wake()


class VisitWork:
    """The works of one machine's current visit."""

    __slots__ = ("_bound",)

    def __init__(self) -> None:
        self._bound: tuple[_Bound, ...] = ()

    def end_visit(self, counts: BreakerCounts) -> None:
        """Tells all works of the visit that it is over, and how: a listener may reset the breaker at once."""
        if self._bound:
            bound, self._bound = self._bound, ()
            for each in bound:
                each.ended = counts
                each.wake()

    async def run(self, machine: Machine, awaitable: Awaitable[T], done: Any, failed: Any) -> T:
        """Awaits work; see `AsyncStateMachine.during`."""
        if done is not None or failed is not None:
            _check_triggers(machine, awaitable, (done, failed))
        counts = machine._counts
        if counts.trip is not None or machine.is_terminal:
            _close(awaitable)
            raise gone(machine)
        if not machine._watch.is_armed:
            machine._watch.arm()
        visit = counts.visit
        bound = _Bound(asyncio.get_running_loop())
        work = _begun(awaitable, bound)
        self._bound += (bound,)
        try:
            if bound.woken.done():
                # Its task was an eager one; others have their turn all the same.
                await asyncio.sleep(0)
            await bound.woken
        except asyncio.CancelledError:
            await _cancel(work, awaitable)
            raise
        finally:
            self._forget(bound)
        if bound.ended is not None or _is_over(machine, visit):
            await _cancel(work, awaitable)
            raise gone(machine, _result_of(work), bound.ended)
        if work.cancelled():
            raise asyncio.CancelledError
        try:
            result = work.result()
        except BaseException as error:
            if failed is not None:
                await _report_failure(machine, visit, failed, error)
            raise
        if done is not None:
            await _report_success(machine, visit, done, result)
        return result

    def _forget(self, bound: _Bound) -> None:
        if self._bound:
            self._bound = tuple(each for each in self._bound if each is not bound)


def _check_triggers(machine: Machine, awaitable: Awaitable[Any], triggers: tuple[Any, ...]) -> None:
    """Says what is no trigger at all before the work begins, not when its result would be lost."""
    try:
        for trigger in triggers:
            machine._request(trigger)
    except TypeError:
        _close(awaitable)
        raise


def _begun(awaitable: Awaitable[T], bound: _Bound) -> asyncio.Future[T]:
    """Starts work in a task of its own; what has one already keeps it."""
    if inspect.iscoroutine(awaitable):
        return asyncio.get_running_loop().create_task(bound.watched(awaitable))
    work = asyncio.ensure_future(awaitable)
    work.add_done_callback(bound.wake)
    return work


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


def _is_over(machine: Machine, visit: int) -> bool:
    return machine._counts.visit != visit or machine.is_circuit_broken


def gone(
    machine: Machine, result: Any = None, ended: BreakerCounts | None = None
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
    if work.done() and inspect.iscoroutine(awaitable):
        awaitable.close()  # it may not even have begun


def _seen(work: asyncio.Future[Any]) -> None:
    """Takes note of an error that nobody will ask for, so that asyncio does not complain of it."""
    if not work.cancelled():
        work.exception()
