"""Who does what may take long or never end: one job after another, away from whoever asks."""

from __future__ import annotations

import asyncio
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from inspect import isawaitable
from typing import Any

from orkeon_transitions.runtime import AsyncStateMachine

Job = Callable[[], Coroutine[Any, Any, None]]

# A clock that has run out exactly has not passed its limit yet.
SOON = 0.05
LONGEST = 3_600.0


async def settled(answer: Any) -> Any:
    """The answer of a plain or of an async machine."""
    return await answer if isawaitable(answer) else answer


class Worker(ABC):
    """Does jobs. One that never ends keeps its worker, which is then left alone."""

    @abstractmethod
    def submit(self, job: Job) -> Future[None]:
        """Puts a job behind those that wait."""

    @abstractmethod
    def close(self) -> None:
        """Takes no more jobs."""

    @property
    def is_here(self) -> bool:
        """Whether its jobs are done by the thread that asks: then nobody can wait for one."""
        return False


class PlainWorker(Worker):
    """A thread of its own, in which no loop runs: plain machines are fired in it.

    Args:
        patience: Gives the seconds after which `when_idle` is done if nothing else is; None: never.
        when_idle: That job.
    """

    def __init__(self, patience: Callable[[], float | None], when_idle: Job) -> None:
        self._patience = patience
        self._when_idle = when_idle
        self._jobs: queue.SimpleQueue[tuple[Job, Future[None]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="orkeon-explorer", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future[None]:
        """Puts a job behind those that wait."""
        future: Future[None] = Future()
        self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """Lets the thread end after what it has to do."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (entry := self._next()) is not None:
            job, future = entry
            try:
                run_plain(job())
            except BaseException as error:  # noqa: BLE001 (whoever waits for the job is told)
                future.set_exception(error)
            else:
                future.set_result(None)

    def _next(self) -> tuple[Job, Future[None]] | None:
        patience = self._patience()
        try:
            return self._jobs.get(timeout=None if patience is None else min(max(patience, SOON), LONGEST))
        except queue.Empty:
            return self._when_idle, Future()


def run_plain(steps: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine that awaits nothing but what is already there."""
    try:
        steps.send(None)
    except StopIteration:
        return
    steps.close()
    raise RuntimeError("a plain machine gave something to wait for")


class LoopWorker(Worker):
    """An event loop in which async machines are fired: the one that they live in, or one of its own.

    Args:
        loop: The loop that runs already, or None.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._is_ours = loop is None
        self._loop = loop or asyncio.new_event_loop()
        self._tasks: set[Future[None]] = set()
        if self._is_ours:
            self._thread = threading.Thread(target=self._work, name="orkeon-explorer-loop", daemon=True)
            self._thread.start()

    def submit(self, job: Job) -> Future[None]:
        """Begins a job in the loop; the machine itself lets one trigger after another have its turn."""
        future = asyncio.run_coroutine_threadsafe(job(), self._loop)
        self._tasks.add(future)
        future.add_done_callback(self._tasks.discard)
        return future

    def close(self) -> None:
        """Ends what it has begun, and the loop if it is its own."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._is_ours:
            self._loop.call_soon_threadsafe(self._loop.stop)

    @property
    def is_here(self) -> bool:
        """Whether the loop runs in this thread."""
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()


def loop_of(live: Any) -> asyncio.AbstractEventLoop | None:
    """The loop in which a machine of the user's lives: its own, or the one that runs here."""
    if not isinstance(live, AsyncStateMachine):
        return None
    if live._loop is not None and live._loop.is_running():
        return live._loop
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
