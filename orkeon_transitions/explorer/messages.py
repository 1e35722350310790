"""What goes over the socket: texts of JSON, checked on the way in, whole on the way out."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json, to_json

LARGEST = 256 * 1024


class BadMessageError(ValueError):
    """A message from a page that is none."""


def decoded(data: str | bytes | None) -> dict[str, Any]:
    """A message of a page.

    Args:
        data: What arrived; bytes are what a page never sends.

    Raises:
        BadMessageError: It is no JSON object that says what to do.
    """
    if not isinstance(data, str):
        raise BadMessageError("a message is a text")
    if len(data) > LARGEST:
        raise BadMessageError(f"a message has at most {LARGEST // 1024} KiB")
    try:
        message = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise BadMessageError(f"a message is JSON: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        raise BadMessageError('a message is a JSON object with a text "do"')
    return message


def encoded(message: Mapping[str, Any]) -> str:
    """A message for a page; what JSON does not know becomes a text or null."""
    try:
        return to_json(message, inf_nan_mode="null", fallback=str).decode()
    except ValueError:  # half of a pair, as in a file's name that is no text: JSON can escape it
        return json.dumps(message, default=str)


class Outbox:
    """What has changed and was not sent yet; of each trait only the newest value. Filled from any thread.

    A page that reads slowly gets fewer, newer values, and nothing piles up.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._filled = asyncio.Event()
        self._lock = threading.Lock()
        self._changed: dict[str, Any] = {}
        self._is_closed = False

    def put(self, changed: Mapping[str, Any]) -> None:
        """Adds traits; after the end of the connection nobody wants them."""
        with self._lock:
            self._changed.update(changed)
        self._wake()

    def put_below(self, traits: Mapping[str, Any]) -> None:
        """Adds all traits as they were seen a moment ago; what has changed since is newer."""
        with self._lock:
            self._changed = {**traits, **self._changed}
        self._wake()

    def close(self) -> None:
        """Says that the connection is to end, or has ended."""
        with self._lock:
            self._is_closed = True
        self._wake()

    async def take(self) -> dict[str, Any] | None:
        """What has changed, as soon as something has; None: the connection is to end."""
        await self._filled.wait()
        with self._lock:
            self._filled.clear()
            taken, self._changed = self._changed, {}
            return None if self._is_closed else taken

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._filled.set)
