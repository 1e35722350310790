"""`--tools MODULE`: a person's own functions, for the agents of a crew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from orkeon_transitions.cli.screen import Mistake
from orkeon_transitions.errors import OrkeonError

if TYPE_CHECKING:
    from orkeon_transitions.crew import Tool

_Command = TypeVar("_Command", bound=Callable[..., Any])


def tools_option(command: _Command) -> _Command:
    """Adds the option; the command gets the names as `own_tools`.

    A module is imported because its name was typed here: no crew file can ask for one.
    """
    return click.option(
        "--tools",
        "own_tools",
        multiple=True,
        metavar="MODULE",
        help="Let agents use the functions with @tool of a module, or of a file.py; repeatable.",
    )(command)


def imported(names: tuple[str, ...]) -> list[Tool]:
    """Imports the tools of the modules that were named.

    Raises:
        Mistake: There is no such module, or it has no tools.
    """
    from orkeon_transitions.crew.tool_sources import tools_of_modules

    try:
        return tools_of_modules(names)
    except OrkeonError as error:
        raise Mistake(f"--tools: {error}") from error
