"""A server that is a program of ours: started, talked to line by line, and surely ended."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from asyncio import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

MOST_LINE = 16 * 1024 * 1024
MOST_WORDS = 8_000
_SPACE = re.compile(r"\s+")
# How long a server may take to end by itself once its input is closed, and once it has been told to.
GRACE = 2.0
# What a program needs to find itself and its own files; nothing else of our environment reaches it.
INHERITED = (
    *("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"),
    *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT"),
    *("TEMP", "TMP", "USERNAME", "USERPROFILE"),
)


@dataclass(slots=True)
class LastWords:
    """What a program said before it ended, as far as it is worth telling.

    Attributes:
        fault: What was wrong with it, or empty.
        text: The end of what it wrote to its error stream.
        is_over: Whether it says no more.
    """

    fault: str = ""
    text: str = ""
    is_over: bool = False
    _said: bytearray = field(default_factory=bytearray)
    _is_cut: bool = False

    def heard(self, data: bytes) -> None:
        """Keeps the end of it all, from the beginning of a word: half a secret would not be known as one."""
        self._said += data
        self._is_cut = self._is_cut or len(self._said) > MOST_WORDS
        del self._said[:-MOST_WORDS]
        text = self._said.decode(errors="replace")
        if self._is_cut:
            text = "".join(_SPACE.split(text, maxsplit=1)[1:])
        self.text = text.strip()


@asynccontextmanager
async def running(
    command: Sequence[str], *, env: Mapping[str, str], folder: Path, words: LastWords
) -> AsyncIterator[Streams]:
    """Starts a program and gives the streams of messages from and to it; ends it, with all that it started.

    Args:
        command: The program and what it is started with.
        env: Variables besides the inherited ones.
        folder: Where it runs.
        words: Told what it says and does wrong.

    Raises:
        OSError: It cannot be started.
    """
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=inherited | dict(env),
        cwd=folder,
        limit=MOST_LINE,
        # A group of its own: an interrupt at the keyboard is for us to handle.
        start_new_session=True,
    )
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    helpers = [
        asyncio.create_task(_listen(process, incoming, words)),
        asyncio.create_task(_speak(process, outgoing, incoming)),
        asyncio.create_task(_overhear(process, words)),
    ]
    try:
        yield read, write
    finally:
        for stream in (read, write, incoming, outgoing):
            stream.close()
        try:
            await _end(process)
        finally:
            _kill(process)
            for helper in helpers:
                helper.cancel()
            await asyncio.wait(helpers)
            await _empty(process, words)


async def _listen(
    process: subprocess.Process,
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    words: LastWords,
) -> None:
    """Passes on what the program says; a line that is no message, such as a greeting, is left out."""
    output = process.stdout
    assert output is not None  # noqa: S101 - it was started with a pipe
    with incoming, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while line := await _line(output, words):
            with suppress(ValueError):
                await incoming.send(
                    SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
                )


async def _line(output: asyncio.StreamReader, words: LastWords) -> bytes:
    """The next line; nothing if that was all, or too much."""
    line = b""
    try:
        line = await output.readline()
    except ValueError:
        words.fault = f"it said more than {MOST_LINE // 1024 // 1024} MB in one message"
    words.is_over = not line
    return line


async def _speak(
    process: subprocess.Process,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    pipe = process.stdin
    assert pipe is not None  # noqa: S101 - it was started with a pipe
    try:
        async with outgoing:
            async for message in outgoing:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                pipe.write(text.encode() + b"\n")
                await pipe.drain()
    except (OSError, anyio.ClosedResourceError):
        # It listens no more: whoever waits for an answer is told so.
        incoming.close()


async def _overhear(process: subprocess.Process, words: LastWords) -> None:
    errors = process.stderr
    assert errors is not None  # noqa: S101 - it was started with a pipe
    while said := await errors.read(65_536):
        words.heard(said)


async def _end(process: subprocess.Process) -> None:
    """Asks it to end, first by closing its input, then in so many words."""
    if process.stdin is not None:
        process.stdin.close()
    if not await _has_ended(process):
        _signal(process, signal.SIGTERM)
        await _has_ended(process)


async def _has_ended(process: subprocess.Process) -> bool:
    """Whether it ends in time; what it has started may well hold its pipes open and does not count."""
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE):
            while process.returncode is None:
                await asyncio.sleep(0.01)
    return process.returncode is not None


async def _empty(process: subprocess.Process, words: LastWords) -> None:
    """Reads its pipes to their end, so that they are closed."""
    output = process.stdout
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE):
            while output is not None and await output.read(65_536):
                pass
            await _overhear(process, words)
            await process.wait()


def _kill(process: subprocess.Process) -> None:
    """Ends what is left of it and of all that it has started."""
    _signal(process, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


def _signal(process: subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.terminate()
        else:
            # Its group may outlive it.
            os.killpg(process.pid, number)
