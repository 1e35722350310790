"""The servers of one run: each started when the first of its tools is needed, all ended with the run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from orkeon_transitions.crew.checks.references import schema_problems
from orkeon_transitions.crew.mcp.block import McpServer
from orkeon_transitions.crew.tool import Tool, ToolError
from orkeon_transitions.definition.names import nearest
from orkeon_transitions.errors import MissingExtraError, OrkeonError

if TYPE_CHECKING:
    from orkeon_transitions.crew.mcp.client import Connection

SECONDS_TO_END = 8.0
_ANY = TypeAdapter(dict[str, Any])


class ToolServers:
    """The servers whose tools a run may need.

    Every server lives in a task of its own, so that it can be ended whoever has started it. A server that has
    died, or that did not answer, is started anew when it is needed again; how often that may be is for the
    machines of the tasks to say.

    Args:
        servers: By name.
        folder: Where their relative folders are looked for.
    """

    def __init__(self, servers: Mapping[str, McpServer], folder: Path) -> None:
        self._servers = {name: _Server(server, folder) for name, server in servers.items()}

    def check(self, names: Collection[str]) -> None:
        """Sees to it that the servers of some tools can be started at all, without starting any.

        Raises:
            MissingExtraError: The package for it is not installed.
            OrkeonError: A program or a variable is missing.
        """
        needed = [
            server for name, server in self._servers.items() if any(_server_of(one) == name for one in names)
        ]
        if not needed:
            return
        if find_spec("mcp") is None:
            raise MissingExtraError("The crew names tools of MCP servers.", extra="mcp")
        for server in needed:
            server.check()

    async def tools(self, names: Sequence[str]) -> dict[str, Tool]:
        """Starts what is needed and gives the tools that are named.

        Raises:
            OrkeonError: A server has no such tool.
            Exception: A server cannot be started.
        """
        return {name: await self._servers[_server_of(name)].tool(name) for name in names}

    async def close(self) -> None:
        """Ends every server."""
        await asyncio.gather(*(server.close() for server in self._servers.values()))


class _Server:
    """One server, which may have several lives in a run."""

    def __init__(self, server: McpServer, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._current: _Life | None = None
        self._lives: set[_Life] = set()

    def check(self) -> None:
        from orkeon_transitions.crew.mcp.client import program_of  # noqa: PLC0415 - loads the mcp package

        name = self._server.name
        missing = self._server.missing_variables(os.environ)
        if missing:
            are = "is not set" if len(missing) == 1 else "are not set"
            raise OrkeonError(f"the MCP server '{name}' is to be given {', '.join(missing)}, which {are}")
        where = self._folder / self._server.cwd
        if self._server.command and not where.is_dir():
            raise OrkeonError(f"the MCP server '{name}' is to run in '{where}', which is no folder")
        if self._server.command and program_of(self._server, self._folder) is None:
            raise OrkeonError(f"the MCP server '{name}': there is no program '{self._server.command}'")

    async def tool(self, name: str) -> Tool:
        life, own = self._alive(), name.partition(".")[2]
        with life.used():
            listed = (await life.reached()).tools
        only = self._server.tools
        offered = [one for one in listed if only is None or one in only]
        if own not in offered:
            hint = nearest(own, offered)
            meant = f", did you mean '{self._server.name}.{hint}'?" if hint else ""
            raise OrkeonError(f"the MCP server '{self._server.name}' has no tool '{own}'{meant}")
        for problem in schema_problems(listed[own].parameters):
            raise OrkeonError(
                f"the MCP server '{self._server.name}': the schema of its tool '{own}' {problem}"
            )
        return Tool(
            name=name,
            description=listed[own].description,
            parameters=listed[own].parameters,
            function=partial(self._call, own),
            repeatable=False,
            arguments=_ANY,
        )

    async def _call(self, tool: str, /, **arguments: Any) -> str:
        life = self._alive()
        with life.used():
            connection = await life.reached()
            try:
                async with asyncio.timeout(self._server.timeout) as limit:
                    return await connection.call(tool, arguments)
            except TimeoutError:
                if limit.expired():
                    raise TimeoutError(f"no answer within {self._server.timeout:g} s") from None
                raise

    def _alive(self) -> _Life:
        """The life that it is in, or a new one."""
        if self._current is None or self._current.is_over:
            self._current = _Life(self._server, self._folder)
            self._lives.add(self._current)
            self._current.task.add_done_callback(partial(self._forget, self._current))
        return self._current

    def _forget(self, life: _Life, _: asyncio.Task[None]) -> None:
        self._lives.discard(life)

    async def close(self) -> None:
        lives = list(self._lives)
        for life in lives:
            life.end()
        tasks = [life.task for life in lives]
        if not tasks:
            return
        try:
            await asyncio.wait(tasks, timeout=SECONDS_TO_END)
        finally:
            for task in tasks:
                task.cancel()
        await asyncio.wait(tasks)


class _Life:
    """From the start of a server to its end, in a task of its own."""

    def __init__(self, server: McpServer, folder: Path) -> None:
        self._users = 0
        self._is_wanted = True
        self._stop = asyncio.Event()
        self._connection: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        # Somebody may wait for it, or nobody any more: then what went wrong is nobody's concern.
        self._connection.add_done_callback(_heard)
        self.task = asyncio.create_task(self._live(server, folder), name=f"MCP server {server.name}")

    @property
    def is_over(self) -> bool:
        """Whether there is no sense in asking it."""
        if not self._is_wanted or self.task.done():
            return True
        return self._connection.done() and not self._connection.result().is_open

    async def reached(self) -> Connection:
        """The connection, as soon as there is one.

        Raises:
            ServerError: The server cannot be reached.
        """
        return await asyncio.shield(self._connection)

    @contextmanager
    def used(self) -> Iterator[None]:
        """While somebody waits for an answer. If there is none, whatever the reason, nobody asks it again."""
        self._users += 1
        try:
            yield
        except ToolError:
            raise
        except BaseException:
            self._is_wanted = False
            raise
        finally:
            self._users -= 1
            if not self._is_wanted and not self._users:
                self.end()

    def end(self) -> None:
        """Lets it end, now if it has not even begun."""
        self._is_wanted = False
        self._stop.set()
        if not self._connection.done():
            self.task.cancel()

    async def _live(self, server: McpServer, folder: Path) -> None:
        from orkeon_transitions.crew.mcp.client import connected  # noqa: PLC0415 - loads the mcp package

        try:
            async with connected(server, folder) as connection:
                self._connection.set_result(connection)
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001 - told to whoever waits; a late one has no one to tell
            if not self._connection.done():
                self._connection.set_exception(error)
        finally:
            self._connection.cancel()


def _server_of(name: str) -> str:
    return name.partition(".")[0]


def _heard(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
