"""Values of a row that other hands may have changed: SQLite puts any kind of value into any column."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from orkeon_transitions.errors import JournalError


@contextmanager
def reading_row(what: str, place: str) -> Iterator[None]:
    """Turns what a damaged row leads to into a `JournalError`.

    Args:
        what: Whose row it is, such as `machine 't1'`.
        place: The database, as it may be shown.
    """
    try:
        yield
    except (AttributeError, TypeError, ValueError, OverflowError, OSError) as error:
        raise JournalError(
            f"the row of {what} in {place} is damaged ({error}): restore the database from a copy"
        ) from None


def whole(value: Any) -> int:
    """A whole number."""
    if not isinstance(value, int):
        raise TypeError(f"{value!r:.40} is no whole number")
    return value


def words(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def moment(value: Any) -> datetime:
    """A wall time in UTC, from seconds since the epoch."""
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r:.40} is no time")
    return datetime.fromtimestamp(value, UTC)
