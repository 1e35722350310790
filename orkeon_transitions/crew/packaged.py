"""The crews that are installed with the package, named without a path."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

CREW_FILE = "crew.yaml"
OUTPUT_FOLDER = "orkeon-output"


def example_names() -> list[str]:
    """The names under which `load_crew` finds the packaged crews."""
    return sorted(file.parent.name for file in _examples().glob(f"*/{CREW_FILE}"))


def example_file(name: str | os.PathLike[str]) -> Path | None:
    """The crew file of a packaged example, or None if there is no such example."""
    named = os.fspath(name)
    return _examples() / named / CREW_FILE if named in example_names() else None


def output_folder(file: Path) -> Path | None:
    """Where a packaged crew may write: below the current directory, never into the installed package.

    Args:
        file: A crew file.

    Returns:
        `./orkeon-output/<example>`, or None for a crew that is not packaged.
    """
    root = _examples().resolve()
    if not file.resolve().is_relative_to(root):
        return None
    return Path.cwd() / OUTPUT_FOLDER / file.resolve().relative_to(root).parts[0]


def _examples() -> Path:
    return Path(str(resources.files("orkeon_transitions").joinpath("examples")))
