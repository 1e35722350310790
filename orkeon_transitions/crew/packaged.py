"""The crews that are installed with the package, named without a path."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from orkeon_transitions.definition.names import nearest
from orkeon_transitions.errors import CrewDefinitionError, Problem
from orkeon_transitions.examples import functions_of

CREW_FILE = "crew.yaml"
OUTPUT_FOLDER = "orkeon-output"


def example_names() -> list[str]:
    """The names under which `load_crew` finds the packaged crews."""
    return sorted(file.parent.name for file in _examples().glob(f"*/{CREW_FILE}"))


def example_file(name: str | os.PathLike[str]) -> Path | None:
    """The crew file of a packaged example, or None if there is no such example."""
    named = os.fspath(name)
    return _examples() / named / CREW_FILE if named in example_names() else None


def example_functions(file: Path) -> list[Callable[..., str]]:
    """What the agents of a packaged crew may call besides the built-in tools; nothing for any other crew."""
    name = _example_of(file)
    return [] if name is None else functions_of(name)


def output_folder(file: Path) -> Path | None:
    """Where a packaged crew may write: below the current directory, never into the installed package.

    Args:
        file: A crew's file or folder.

    Returns:
        `./orkeon-output/<example>`, or None for a crew that is not packaged.
    """
    name = _example_of(file)
    return None if name is None else Path.cwd() / OUTPUT_FOLDER / name


def found_crew(what: str | os.PathLike[str]) -> Path:
    """The file or folder that is named; for the name of a packaged example, its file.

    Raises:
        CrewDefinitionError: There is neither.
    """
    if not os.fspath(what):
        # Such as a variable that is not set: never the folder that we happen to be in.
        raise _refused(what, "an empty name is no crew")
    path = Path(what)
    try:
        is_there = path.exists()
    except OSError:  # such as a name that is too long: whoever reads the file says so
        return path
    if is_there:
        return path
    packaged = example_file(what)
    if packaged is None and path.suffix not in {".yaml", ".yml"}:
        names = example_names()
        message = f"there is no such file, and no packaged crew of that name ({', '.join(names)})"
        raise _refused(what, message, nearest(os.fspath(what), names))
    return packaged or path


def _example_of(file: Path) -> str | None:
    """The packaged example to which a crew's file or folder belongs."""
    root = _examples().resolve()
    try:
        resolved = file.resolve()
    except (OSError, RuntimeError, ValueError):  # such as a link to itself: whoever reads the file says so
        return None
    return resolved.relative_to(root).parts[0] if root in resolved.parents else None


def _examples() -> Path:
    return Path(str(resources.files("orkeon_transitions").joinpath("examples")))


def _refused(what: str | os.PathLike[str], message: str, hint: str | None = None) -> CrewDefinitionError:
    return CrewDefinitionError([Problem(os.fspath(what), None, None, "", message, hint)])
