"""The door to xllamacpp: a small real model that runs on this computer, without a key.

The library is not installed but lies in the user's cache (see `wheels`). It runs its own server on the
loopback, with a password that nobody else knows, for as long as a run lasts.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orkeon_transitions.crew.chat import Message, ModelReply, StreamingModel, ToolSpec
from orkeon_transitions.crew.models.settings import ModelSettings, Price
from orkeon_transitions.crew.models.wheels import MEGABYTES, LocalFiles
from orkeon_transitions.errors import OrkeonError

if TYPE_CHECKING:
    from orkeon_transitions.crew.models.providers import ProviderModel

CONTEXT = 8_192
# So small a model now and then goes on for ever.
LONGEST_ANSWER = 512
THREADS = 1


class LocalServer:
    """The server; started by whoever asks first.

    Args:
        files: The model.

    Raises:
        OrkeonError: The model was not fetched yet.
    """

    def __init__(self, files: LocalFiles | None = None) -> None:
        self._files = files or LocalFiles.here()
        if not self._files.are_there:
            raise OrkeonError(
                f"the local model is not there yet: 'orkeon model pull local' fetches it ({MEGABYTES} MB)"
            )
        self.key = secrets.token_urlsafe()
        self._server: Any = None
        self._turn = asyncio.Lock()

    async def address(self) -> str:
        """Where it listens, once it does.

        Raises:
            OrkeonError: It cannot be started.
        """
        async with self._turn:
            if self._server is None:
                self._server = await asyncio.to_thread(self._start)
        return f"{self._server.listening_address}/v1"

    async def close(self) -> None:
        """Ends the server."""
        async with self._turn:
            server, self._server = self._server, None
            # What it holds is native: it ends with its last reference, which takes a moment.
            await asyncio.to_thread(lambda held: held.clear(), [server])
            del server

    def _start(self) -> Any:
        library = _library(self._files)
        asked = library.CommonParams()
        asked.model.path = str(self._files.weights)
        asked.api_keys = [self.key]
        asked.n_ctx = CONTEXT
        asked.n_parallel = 1
        asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = THREADS
        asked.verbosity = -1
        asked.ui = asked.warmup = False
        try:
            return library.Server(asked)
        except RuntimeError as error:
            raise OrkeonError(f"the local model cannot be started: {error}") from error


class LocalModel:
    """A model of the local server.

    Args:
        settings: How it is asked.
        server: The server.
        connect: Makes a model of an address and a key.
    """

    has_price = True

    def __init__(
        self,
        settings: ModelSettings,
        server: LocalServer,
        connect: Callable[[ModelSettings, str, str], ProviderModel],
    ) -> None:
        self._settings = replace(
            settings, price=Price(0, 0), max_tokens=settings.max_tokens or LONGEST_ANSWER
        )
        self._server = server
        self._connect = connect
        self._model: ProviderModel | None = None

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        """Makes one request, as any provider's model does."""
        return await (await self._connected()).reply(messages, tools)

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], on_text: Callable[[str], Any]
    ) -> ModelReply:
        """Makes one request and tells the text as it comes."""
        return await (await self._connected()).stream(messages, tools, on_text)

    async def close(self) -> None:
        """Closes the connections."""
        if self._model is not None:
            await self._model.close()

    async def _connected(self) -> StreamingModel:
        if self._model is None:
            self._model = self._connect(self._settings, await self._server.address(), self._server.key)
        return self._model


def _library(files: LocalFiles) -> Any:
    """The library, from the cache and from nowhere else."""
    sys.path.insert(0, str(files.folder))
    try:
        import xllamacpp  # noqa: PLC0415 - it lies in the cache, where nobody finds it before
    except ImportError as error:
        raise OrkeonError(f"the local model cannot be run on this computer: {error}") from error
    finally:
        sys.path.remove(str(files.folder))
    return xllamacpp
