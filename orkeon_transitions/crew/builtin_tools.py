"""The tools that every crew can name: files and directories inside of the crew's mounts, and JSON."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field

from orkeon_transitions.crew.human import ASK_HUMAN
from orkeon_transitions.crew.mounts import MOST_ENTRIES, Mounts
from orkeon_transitions.crew.strict_json import read_json
from orkeon_transitions.crew.tool import Tool, ToolError, tool

BUILTIN_NAMES = ("file_read", "file_write", "directory_read", "json_tool", ASK_HUMAN.name)


def _path(what: str, kind: str) -> Any:
    """A path's schema; its `format` tells a model, and the offline one, what kind of path is meant."""
    return Field(description=what, json_schema_extra={"format": kind})


FilePath = Annotated[str, _path("The file, such as /code/src/index.ts", "file-path")]
DirectoryPath = Annotated[str, _path("The directory, such as /code", "directory-path")]
NewFilePath = Annotated[str, _path("The file to write, such as /output/report.md", "output-path")]
JsonText = Annotated[str, Field(description="The JSON text", json_schema_extra={"format": "json"})]


def builtin_tools(mounts: Mounts) -> dict[str, Tool]:
    """Makes the built-in tools, by name, for one crew's mounts."""

    @tool
    def file_read(path: FilePath) -> str:
        """Reads a text file."""
        return _as_text_file(mounts.read(path), path)

    @tool
    def file_write(path: NewFilePath, content: str) -> str:
        """Writes a text file; what it held before is replaced."""
        try:
            data = content.encode()
        except UnicodeEncodeError as error:
            raise ToolError(f"the content is no text: {error}") from None
        mounts.write(path, data)
        return f"wrote {len(data):,} bytes to {path}"

    @tool
    def directory_read(path: DirectoryPath) -> str:
        """Lists a directory, one name a line; a directory's name ends with '/'."""
        every = mounts.entries(path)
        names = [name for name in every if _is_one_line(name)]
        odd, more = len(every) - len(names), len(names) - MOST_ENTRIES
        notes = [f"[left out: {odd:,} whose name is not one line of text]"] if odd else []
        notes += [f"[cut: {more:,} more]"] if more > 0 else []
        return "\n".join([*names[:MOST_ENTRIES], *notes]) or "[empty]"

    @tool
    def json_tool(text: JsonText, action: Literal["check", "format", "keys"] = "check") -> str:
        """Checks a JSON text, formats it, or lists its top-level keys."""
        return _json(text, action)

    return {made.name: made for made in (file_read, file_write, directory_read, json_tool, ASK_HUMAN)}


def _as_text_file(content: bytes, path: str) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise ToolError(f"{path} is a binary file") from None
    if "\0" in text:
        raise ToolError(f"{path} is a binary file")
    return text


def _is_one_line(name: str) -> bool:
    """Whether a name can stand in a list of lines, and be written down: not bytes that are no UTF-8."""
    return name.splitlines() == [name] and not any("\ud800" <= char <= "\udfff" for char in name)


def _json(text: str, action: str) -> str:
    try:
        value = read_json(text)
    except ValueError as error:  # also for a number with too many digits
        raise ToolError(f"no valid JSON: {error}") from None
    if action == "format":
        return json.dumps(value, indent=2, ensure_ascii=False)
    if action == "keys":
        if not isinstance(value, dict):
            raise ToolError(f"no object but {_kind(value)}: it has no keys")
        return "\n".join(value)
    return f"valid JSON: {_kind(value)}"


def _kind(value: Any) -> str:
    match value:
        case dict():
            return f"an object with {len(value)} keys"
        case list():
            return f"a list of {len(value)}"
        case str():
            return "a text"
        case None:
            return "null"
        case bool():
            return "a boolean"
    return "a number"
