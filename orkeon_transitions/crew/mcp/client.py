"""The one door to the `mcp` package: a connection to a server, its tools, a call.

What a server or that package throws comes out as one of two: `ToolError`, which is an answer, or
`ServerError`, which says that there was none.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from pydantic import ValidationError

from orkeon_transitions.crew.mcp.block import McpServer, expanded, given_to, keys_of
from orkeon_transitions.crew.mcp.http import http_client
from orkeon_transitions.crew.mcp.process import LastWords, running
from orkeon_transitions.crew.secrets import Secrets
from orkeon_transitions.crew.tool import MOST_ANSWER, ToolError
from orkeon_transitions.facts import error_text

MOST_PAGES = 50
MOST_TOOLS = 1_000
MOST_DESCRIPTION = 4_000
# With these codes a server answers that the question was wrong.
_ANSWERS = frozenset({types.INVALID_PARAMS, types.METHOD_NOT_FOUND, types.INVALID_REQUEST})


# What the package says of a message that it cannot read: pages about each kind that it could have been.
_FOREIGN = re.compile(r"\bvalidation errors? for\b")
_KINDS = {
    "CallToolResult": "a result",
    "InitializeResult": "a greeting",
    "ListToolsResult": "a list of its tools",
}
# Whoever wants to read that package's log can; without anybody, Python would print it over a person's screen.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class ServerError(Exception):
    """A server could not be started, asked or understood."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as its server describes it."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Connection:
    """A server that has been reached, and its tools by name."""

    tools: Mapping[str, Listed]
    _name: str
    _client: Client
    _words: LastWords
    _hidden: Callable[[str], str]
    _keys: Secrets

    @property
    def is_open(self) -> bool:
        """Whether the server is still there, as far as that can be told without asking."""
        return not self._words.is_over

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Calls a tool.

        Raises:
            ToolError: The server answers with an error.
            ServerError: There was no answer.
        """
        try:
            result = await self._client.call_tool(tool, dict(arguments))
        except MCPError as error:
            if error.code in _ANSWERS:
                raise ToolError(self._hidden(error.message)) from error
            raise self._failed(error) from None
        except Exception as error:  # noqa: BLE001 - whatever that package raises, told in words
            raise self._failed(error) from None
        text = _text_of(result)
        if result.is_error:
            raise ToolError(self._hidden(text)[:MOST_ANSWER] or "the tool says no more than that it failed")
        # Only what is a key for certain: a folder that a server was given is a part of many answers.
        return self._keys.hidden(text)

    def _failed(self, error: Exception) -> ServerError:
        return ServerError(f"the MCP server '{self._name}': {_said(error, self._words, self._hidden)}")


@asynccontextmanager
async def connected(server: McpServer, folder: Path) -> AsyncIterator[Connection]:
    """Starts or reaches a server, and leaves it again. To be entered and left in one task.

    Args:
        server: Which.
        folder: Where relative folders are looked for.

    Raises:
        ServerError: It cannot be reached, or does not list its tools.
    """
    words = LastWords()
    hidden = Secrets(given_to(server, os.environ).values()).hidden
    keys = Secrets(keys_of(server, os.environ))
    try:
        async with _client(server, folder, words) as client:
            yield Connection(await _listed(client), server.name, client, words, hidden, keys)
    except Exception as error:  # noqa: BLE001 - groups of errors of several packages, told in words
        raise ServerError(f"the MCP server '{server.name}': {_said(error, words, hidden)}") from None


@asynccontextmanager
async def _client(server: McpServer, folder: Path, words: LastWords) -> AsyncIterator[Client]:
    if server.command:
        program = program_of(server, folder)
        where = folder / server.cwd
        streams: AbstractAsyncContextManager[Any] = running(
            [program or server.command, *server.args],
            env=expanded(server.env, os.environ),
            folder=where,
            words=words,
        )
        async with Client(streams) as client:
            yield client
        return
    async with (
        http_client(expanded(server.headers, os.environ)) as http,
        Client(streamable_http_client(server.url, http_client=http)) as client,
    ):
        yield client


def program_of(server: McpServer, folder: Path) -> str | None:
    """The program that is started, with its place on this computer; None: there is none."""
    command = server.command
    is_path = os.sep in command or (os.altsep is not None and os.altsep in command)
    return shutil.which(folder / server.cwd / command if is_path else command)


async def _listed(client: Client) -> dict[str, Listed]:
    found: dict[str, Listed] = {}
    cursor: str | None = None
    known: set[str | None] = set()
    for _ in range(MOST_PAGES):
        known.add(cursor)
        page = await client.list_tools(cursor=cursor)
        for one in page.tools:
            found.setdefault(one.name, _described(one))
        cursor = page.next_cursor
        if not cursor or cursor in known or len(found) >= MOST_TOOLS:
            break
    return found


def _described(one: types.Tool) -> Listed:
    description = one.description or one.title or one.name
    if len(description) > MOST_DESCRIPTION:
        description = f"{description[:MOST_DESCRIPTION]} [cut]"
    return Listed(one.name, description, {"type": "object", "properties": {}, **one.input_schema})


def _text_of(result: types.CallToolResult) -> str:
    parts = [_part(block) for block in result.content]
    if not parts and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(parts)


def _part(block: types.ContentBlock) -> str:
    """One part of an answer, as text; what is none is only named."""
    match block:
        case types.TextContent():
            return block.text
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return resource.text
        case types.ResourceLink():
            return f"[link: {block.uri}]"
        case types.ImageContent() | types.AudioContent():
            return f"[left out: {block.mime_type}, {len(block.data) * 3 // 4:,} bytes]"
    return f"[left out: {block.type}]"


def _said(error: BaseException, words: LastWords, hidden: Callable[[str], str]) -> str:
    """What went wrong, from the innermost error and what the program itself had to say.

    Secrets are hidden before anything is cut: half of one would not be known again.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    parts = [hidden(words.fault or _in_words(error))]
    if words.text:
        parts.append(f"its last words: {hidden(words.text)[-400:]}")
    return "; ".join(parts)


def _in_words(error: BaseException) -> str:
    """An error in one sentence; what is of the wrong shape is named in place of all that is wrong with it."""
    if isinstance(error, ValidationError):
        kind = _KINDS.get(error.title, "an answer")
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "its beginning"
        return f"it gave {kind} of the wrong shape: at {place}: {first['msg']}"
    text = str(error) or error_text(error)
    if _FOREIGN.search(text):
        return "it said something that is no message of the protocol"
    return " ".join(text.split())


__all__ = ["Connection", "Listed", "ServerError", "connected", "program_of"]
