"""Where a person's own tools come from: packages that offer them, and modules named on the command line.

Code is imported because it was installed or because somebody has typed its name, never because a crew file
says so: of what is installed, a file only chooses by name.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from typing_extensions import override

from orkeon_transitions.crew.tool import Tool, as_tool
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.facts import error_text

GROUP = "orkeon_transitions.tools"


class KnownNames(Collection[str]):
    """The names of all tools that a crew may name.

    What installed packages offer is looked up, and not imported, when a name is asked for that is not here.

    Attributes:
        here: The names of the tools that are there anyway.
    """

    def __init__(self, here: Iterable[str]) -> None:
        self.here = tuple(here)

    @cached_property
    def _offered(self) -> tuple[str, ...]:
        names = {point.name for point in entry_points(group=GROUP)}
        return tuple(sorted(names.difference(self.here)))

    @override
    def __contains__(self, name: object) -> bool:
        return name in self.here or name in self._offered

    @override
    def __iter__(self) -> Iterator[str]:
        yield from self.here
        yield from self._offered

    @override
    def __len__(self) -> int:
        return len(self.here) + len(self._offered)


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Tools by their names.

    Raises:
        ValueError: Two have the same.
    """
    named: dict[str, Tool] = {}
    for one in tools:
        if one.name in named:
            raise ValueError(f"two tools are called '{one.name}'")
        named[one.name] = one
    return named


def offered_tools(names: Collection[str]) -> dict[str, Tool]:
    """Imports tools that installed packages offer.

    Args:
        names: Which; those that nobody offers are left out.

    Raises:
        OrkeonError: A package's tool cannot be imported, is none, or is offered by two packages.
    """
    wanted = [point for point in entry_points(group=GROUP) if point.name in names] if names else []
    found: dict[str, Tool] = {}
    for name in dict.fromkeys(point.name for point in wanted):
        first, *others = {point.value: point for point in wanted if point.name == name}.values()
        if others:
            both = " and ".join(_whose(point) for point in (first, *others))
            raise OrkeonError(f"the tool '{name}' is offered by {both}: uninstall one")
        found[name] = _imported(first)
    return found


def module_tools(named: str) -> list[Tool]:
    """Imports the tools of a module: whatever in it was made with `@tool`.

    Args:
        named: A module's dotted name, looked for beside the current directory too, or a file `*.py`. To be
            given by a person, never by a file.

    Raises:
        OrkeonError: There is no such module, it cannot be imported, or it has no tools.
    """
    module = _module(named)
    public = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    values = [getattr(module, name, None) for name in public]
    tools = list({id(value): value for value in values if isinstance(value, Tool)}.values())
    if not tools:
        raise OrkeonError(f"{named} has no tools: a tool is a function with the decorator @tool")
    return tools


def tools_of_modules(names: Iterable[str]) -> list[Tool]:
    """Imports the tools of several modules.

    Raises:
        OrkeonError: As for one, or two of the tools have one name.
    """
    found: dict[str, Tool] = {}
    for named in names:
        for one in module_tools(named):
            if found.setdefault(one.name, one) is not one:
                raise OrkeonError(f"{named} has a tool '{one.name}', and so has another module")
    return list(found.values())


def _whose(point: EntryPoint) -> str:
    return f"'{point.dist.name}'" if point.dist is not None else f"'{point.value}'"


def _imported(point: EntryPoint) -> Tool:
    try:
        made = as_tool(point.load())
    except Exception as error:
        raise OrkeonError(
            f"the tool '{point.name}' of {_whose(point)} cannot be used: {error_text(error)}"
        ) from error
    # Crew files call it by the name under which it is offered.
    return replace(made, name=point.name)


def _module(named: str) -> ModuleType:
    is_file = named.endswith(".py")
    try:
        if is_file:
            return _from_file(Path(named))
        with_here = str(Path.cwd())
        if with_here not in sys.path:
            sys.path.insert(0, with_here)
        return importlib.import_module(named)
    except ModuleNotFoundError as error:
        if not is_file and error.name and (named == error.name or named.startswith(f"{error.name}.")):
            raise OrkeonError(f"there is no module '{named}', here or installed") from None
        raise OrkeonError(f"{named} cannot be imported: {error}") from error
    except OrkeonError:
        raise
    except (Exception, SystemExit) as error:
        raise OrkeonError(f"{named} cannot be imported: {error_text(error)}") from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise OrkeonError(f"there is no file '{path}'")
    spec = importlib.util.spec_from_file_location(f"_orkeon_tools_{path.stem}", path.resolve())
    if spec is None or spec.loader is None:
        raise OrkeonError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Where type hints are looked for.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(spec.name, None)
        raise
    return module
