"""Who does what may take long or never end: one job after another, away from whoever asks."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from inspect import isawaitable
from typing import Any

Job = Callable[[], Coroutine[Any, Any, None]]


async def settled(answer: Any) -> Any:
    """The answer of a plain or of an async machine."""
    return await answer if isawaitable(answer) else answer


class Worker:
    """A thread that does jobs in their order; plain machines are fired in it.

    A job that never ends keeps the thread, which is then left alone and ends with the process.
    """

    def __init__(self) -> None:
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
        while (entry := self._jobs.get()) is not None:
            job, future = entry
            try:
                run_plain(job())
            except BaseException as error:  # noqa: BLE001 (whoever waits for the job is told)
                future.set_exception(error)
            else:
                future.set_result(None)


def run_plain(steps: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine that awaits nothing but what is already there."""
    try:
        steps.send(None)
    except StopIteration:
        return
    steps.close()
    raise RuntimeError("a plain machine gave something to wait for")
