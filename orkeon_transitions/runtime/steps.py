"""One order of things for plain and async machines.

The law (`law.py`) is written as generators. What a generator yields is an effect: a call without arguments
that may touch the outside (the engine with its callbacks, a guard, a commit hook). A driver runs it and sends
the outcome back, or throws what it raised. The plain driver calls, the async driver also awaits; nothing else
differs between the two kinds of machine.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")
Effect = Callable[[], Any]
Steps = Generator[Effect, Any, T]


def nothing() -> Steps[None]:
    """Steps that do nothing."""
    yield from ()


def run(steps: Steps[T]) -> T:
    """Drives steps whose effects give plain values."""
    advance: Callable[[], Effect] = partial(next, steps)
    try:
        while True:
            try:
                effect = advance()
            except StopIteration as end:
                outcome: T = end.value
                return outcome
            try:
                advance = partial(steps.send, effect())
            except BaseException as error:  # noqa: BLE001 (it goes on inside of the steps)
                advance = partial(steps.throw, error)
    finally:
        # An interrupt may come between two steps; they end now, not when its traceback is forgotten.
        steps.close()


async def run_async(steps: Steps[T]) -> T:
    """Drives steps whose effects may give awaitables."""
    advance: Callable[[], Effect] = partial(next, steps)
    while True:
        try:
            effect = advance()
        except StopIteration as end:
            outcome: T = end.value
            return outcome
        try:
            value = effect()
            advance = partial(steps.send, await value if inspect.isawaitable(value) else value)
        except BaseException as error:  # noqa: BLE001 (it goes on inside of the steps)
            advance = partial(steps.throw, error)
