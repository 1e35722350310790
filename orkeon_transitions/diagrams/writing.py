"""Puts a finished picture where it belongs: whole, or not at all."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

from orkeon_transitions.errors import OrkeonError


def write_whole(path: Path, content: bytes) -> Path:
    """Writes a file beside its target and moves it there in one step.

    Raises:
        OrkeonError: The folder is missing or cannot be written, or the disk is full; the target is untouched.
    """
    target = _resolved(path)
    draft = target.with_name(f".{secrets.token_hex(6)}.draft")
    try:
        if target.is_dir():
            raise IsADirectoryError(None, "Is a directory")
        if target.exists() and not target.is_file():
            # A device or a pipe is written to: a file in its place would take it from everybody.
            target.write_bytes(content)
            return path
        with draft.open("xb") as file:
            file.write(content)
        draft.replace(target)
    except OSError as error:
        raise OrkeonError(f"cannot write '{path}': {_reason(target, error)}") from error
    finally:
        with suppress(OSError):
            draft.unlink()
    return path


def _resolved(path: Path) -> Path:
    """Where a path leads: a link stays one, what it names is written."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # a link that names itself; a current folder that is gone
        raise OrkeonError(f"cannot write '{path}': {getattr(error, 'strerror', None) or error}") from error


def _reason(target: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and not target.parent.exists():
        return f"the folder '{target.parent}' does not exist"
    return error.strerror or str(error)
