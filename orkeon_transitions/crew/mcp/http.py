"""A server that listens elsewhere: requests to it are bounded where the `mcp` package leaves them open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import httpx2
from typing_extensions import override

SECONDS_TO_CONNECT = 30.0
SECONDS_TO_SAY_GOODBYE = 2.0
MOST_BODY = 16 * 1024 * 1024


def http_client(headers: Mapping[str, str]) -> httpx2.AsyncClient:
    """A client for one server.

    How long an answer may take is for the task's clocks to say; only a goodbye is not waited for.
    """
    timeout = httpx2.Timeout(SECONDS_TO_CONNECT, read=None)
    return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=_Bounded())


class _Bounded(httpx2.AsyncHTTPTransport):
    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE":
            waits = {**request.extensions.get("timeout", {}), "read": SECONDS_TO_SAY_GOODBYE}
            request.extensions = {**request.extensions, "timeout": waits}
        response = await super().handle_async_request(request)
        # Of a stream of events each one is bounded by the package; the stream goes on.
        if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - of an async transport
            response.stream = _BoundedStream(response.stream)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for part in self._stream:
            length += len(part)
            if length > MOST_BODY:
                raise httpx2.ReadError(f"it said more than {MOST_BODY // 1024 // 1024} MB in one message")
            yield part

    @override
    async def aclose(self) -> None:
        await self._stream.aclose()
