"""An awaited commit hook: its outcome counts, whatever becomes of the caller."""

from __future__ import annotations

import asyncio
from typing import Any


async def outcome_of(commit: asyncio.Future[Any]) -> asyncio.CancelledError | None:
    """Waits for a commit whatever happens; a cancellation of the caller is kept, not swallowed.

    Returns:
        The cancellation that came meanwhile, or None.
    """
    stopped = None
    while not commit.done():
        try:
            await asyncio.shield(commit)
        except asyncio.CancelledError as cancellation:
            if commit.cancelled():
                raise
            stopped = cancellation
        except Exception:  # noqa: BLE001, S112 (read from the commit below)
            continue
    error = commit.exception()
    if error is None:
        return stopped
    if stopped is not None:
        raise stopped from error
    raise error
