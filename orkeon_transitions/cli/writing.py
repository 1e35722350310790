"""Files that a command will write: tried before the work begins, and kept elsewhere if they fail after it."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from orkeon_transitions.cli.screen import Screen


def named(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Refuses an empty name, as a variable of a script gives it that was never set."""
    if value is not None and not value.strip():
        raise click.BadParameter("an empty name names nothing")
    return value


def try_file(path: Path) -> None:
    """Opens a file for writing and changes nothing; one that was not there is not there afterwards.

    Raises:
        OSError: It cannot be written.
    """
    place = Path(os.path.realpath(path))
    is_new = not place.exists()
    with place.open("ab"):
        pass
    if is_new:
        place.unlink()


def try_folder(path: Path) -> None:
    """Makes a folder, if it is not there, and a file in it that is gone at once.

    Raises:
        OSError: Nothing can be written there.
    """
    path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path):
        pass


def keep(screen: Screen, path: Path, text: str) -> Path | None:
    """Writes the text of a report that was paid for: where it belongs, else among the temporary files.

    Args:
        screen: Where it is said what went wrong; the text itself goes there if it can be written nowhere.
        path: Where it belongs.
        text: The report.

    Returns:
        Where it is, or None.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        screen.say("error", f"{path}: the report cannot be written there: {error.strerror}")
    else:
        return path
    with suppress(OSError):
        number, name = tempfile.mkstemp(prefix="orkeon-report-", suffix=path.suffix, text=True)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        screen.say("error", f"the report is in {name} instead")
        return None
    screen.say("error", "nor among the temporary files; this is the report:")
    screen.message(text)
    return None
