"""What the packaged crews find outside of themselves: plain functions, made anew for each crew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

_HERE = Path(__file__).parent


def functions_of(example: str) -> list[Callable[..., str]]:
    """The functions that the agents of a packaged crew may call besides the built-in tools."""
    if example == "102-graph-orchestration":
        return [_unsteady_feed(_HERE / example / "feed")]
    return []


def _unsteady_feed(folder: Path) -> Callable[..., str]:
    """A feed that drops its first connection, as feeds do: the work that needed it is to be tried again."""
    connections: list[str] = []

    def counter_feed(counter: Literal["harbour-bridge", "old-mill"]) -> str:
        """Fetches what a bicycle counter has counted, hour by hour, as CSV."""
        connections.append(counter)
        if len(connections) == 1:
            raise ConnectionError(f"the feed of '{counter}' dropped the connection")
        return (folder / f"{counter}.csv").read_text(encoding="utf-8")

    return counter_feed
