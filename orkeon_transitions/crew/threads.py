"""Calling what may be plain or async, without ever standing still."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from typing import Any


async def call_anything(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a plain or async function and gives what it answers.

    A plain function runs in a thread of its own, since nothing can interrupt it: whoever waits can be
    cancelled, the late answer is dropped, and the thread does not keep the program from ending.
    """
    if _is_async(function):
        try:
            return await function(*args, **kwargs)
        except SystemExit as left:
            raise _raised(left) from left
    future = _in_thread(function, *args, **kwargs)
    try:
        answer = await future
    except asyncio.CancelledError:
        if future.done() and not future.cancelled() and future.exception() is None:
            _drop(future.result())
        raise
    return await answer if inspect.isawaitable(answer) else answer


def _is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine: an async function, or an object whose call is one."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _raised(left: BaseException) -> RuntimeError:
    """What no future can hold, and what must not end the program from within a function that was called."""
    return RuntimeError(f"the function raised {left!r}")


def _drop(answer: Any) -> None:
    """Lets go of an answer that nobody waits for; a coroutine would complain that it was never awaited."""
    if inspect.iscoroutine(answer):
        answer.close()


def _in_thread(function: Callable[..., Any], *args: Any, **kwargs: Any) -> asyncio.Future[Any]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            _drop(value)
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def work() -> None:
        value: Any = None
        error: BaseException | None = None
        try:
            value = context.run(function, *args, **kwargs)
        except (StopIteration, GeneratorExit, SystemExit) as left:
            error = _raised(left)
        except BaseException as raised:  # noqa: BLE001  # handed to whoever waits, never swallowed
            error = raised
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            # The loop has ended meanwhile: nobody waits any more.
            return

    threading.Thread(target=work, daemon=True, name=getattr(function, "__name__", "call")).start()
    return future
