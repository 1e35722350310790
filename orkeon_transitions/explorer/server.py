"""The explorer's page and its socket, as a Starlette application; the one door to Starlette.

The page is four files. Who has the token may load it; each tab then talks over a WebSocket to a session of
its own. Requests are judged before anything looks at them: the host must be one of ours, so that no name that
somebody points at the loopback (DNS rebinding) leads here, and an origin must be that same host, so that no
other page that is open in the browser can use the explorer.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from html import escape
from importlib.resources import files
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from orkeon_transitions.crew.threads import call_anything
from orkeon_transitions.explorer.assets import script, style
from orkeon_transitions.explorer.messages import BadMessageError, Outbox, decoded, encoded
from orkeon_transitions.explorer.tabs import MOST_TABS, PATIENCE, Tabs, TooManyTabsError
from orkeon_transitions.facts import error_text

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from orkeon_transitions.explorer.session import Session

log = logging.getLogger(__name__)

EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - recognised here, bound nowhere
TYPES = {"explorer.js": "text/javascript", "explorer.css": "text/css", "page.js": "text/javascript"}
GOING_AWAY, TAKEN_OVER, REFUSED = 1001, 4001, 4002
MOST_WISHES = 64  # of one page, waiting to be carried out
SWEEPS = 10  # in the time that a deserted tab is kept
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "connect-src": "'self'",
    "img-src": "'self' data: blob:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "content-security-policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?")
_PLAIN_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem }}
</style>
<main>
<h1>{title}</h1>
<p>{text}</p>
</main>
</html>
"""


def application(
    make_session: Callable[[], Session],
    *,
    token: str,
    hosts: Collection[str],
    clock: Callable[[], float] = time.monotonic,
    most_tabs: int = MOST_TABS,
    patience: float = PATIENCE,
) -> Starlette:
    """The explorer for a browser.

    Args:
        make_session: Opens the session of one tab; called in a thread.
        token: What the page's address must end with (`/?token=...`).
        hosts: The names and addresses by which it may be called, without a port. "0.0.0.0" or "::" among
            them: any address, but no other name.
        clock: Monotonic seconds.
        most_tabs: How many tabs there may be at once.
        patience: How many seconds a session is kept for a tab that is not connected.
    """
    tabs = Tabs(make_session, most=most_tabs, patience=patience, clock=clock)
    explorer = _Explorer(tabs, token)
    return Starlette(
        routes=[
            Route("/", explorer.page),
            *(Route(f"/{name}", explorer.file) for name in TYPES),
            WebSocketRoute("/socket", explorer.socket),
        ],
        middleware=[Middleware(_Gate, hosts=frozenset(host.lower() for host in hosts))],
        lifespan=explorer.lifespan,
    )


class _Gate:
    """Lets in who calls us by our name from our own page, and adds the headers that protect the page."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on or refuses it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers, must_have_origin=scope["type"] == "websocket")
        if scope["type"] == "websocket":
            if refusal is not None:
                await send({"type": "websocket.close", "code": REFUSED, "reason": ""})
            else:
                await self._app(scope, receive, send)
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._app if refusal is None else _plain_page(403, "Refused", refusal)
        await answer(scope, receive, protected)

    def _refusal(self, headers: Headers, *, must_have_origin: bool) -> str | None:
        host = headers.get("host", "").lower()
        if not self._is_ours(host):
            return "The explorer answers to the address under which it was started, and to no other."
        origin = headers.get("origin")
        if origin is None:
            return "A connection comes from a page." if must_have_origin else None
        if origin.lower() != f"http://{host}":
            return "Another page has no business here."
        return None

    def _is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match[1] or match[2]
        return name in self._hosts or (bool(self._hosts & EVERYWHERE) and _is_address(name))


class _Explorer:
    """Answers the requests that may come in."""

    def __init__(self, tabs: Tabs, token: str) -> None:
        self._tabs = tabs
        self._token = token.encode()
        folder = files("orkeon_transitions.explorer") / "static"
        self._files = {name: (folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.js")}
        self._files |= {"explorer.js": script(), "explorer.css": style()}

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Ends deserted tabs while the application runs, and all of them when it ends."""
        sweeping = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            self._tabs.close()
            await asyncio.sleep(0)

    async def page(self, request: Request) -> Response:
        """The page, for who has the token."""
        if not self._is_known(request.query_params.get("token")):
            return _plain_page(
                403,
                "This address is not complete",
                "Open the whole address that orkeon printed, token included.",
            )
        return HTMLResponse(self._files["page.html"])

    async def file(self, request: Request) -> Response:
        """One of the files that the page consists of."""
        name = request.url.path.removeprefix("/")
        return Response(self._files[name], media_type=TYPES[name])

    async def socket(self, socket: WebSocket) -> None:
        """A page's connection, from its hello to its end."""
        asked = socket.query_params
        if not self._is_known(asked.get("token")):
            await socket.close(REFUSED)
            return
        await socket.accept()
        outbox = Outbox()
        with suppress(WebSocketDisconnect, RuntimeError):  # the page went while something was sent
            try:
                tab, visit, is_loaded_again = await self._tabs.enter(
                    asked.get("tab", ""), asked.get("page", ""), outbox.close
                )
            except TooManyTabsError:
                text = "Too many tabs of the explorer are open. Close one of them, and load this page again."
                await _end(socket, text)
                return
            try:
                await socket.send_text(encoded({"tab": tab.name}))
                try:
                    session = await tab.session()
                except Exception as error:  # whatever opening raises is told on the page
                    log.debug("A session could not be opened", exc_info=True)
                    self._tabs.forget(tab)
                    await _end(socket, error_text(error))
                    return
                if is_loaded_again:
                    await call_anything(_read_again, session)
                await _converse(socket, session, outbox)
            finally:
                outbox.close()
                self._tabs.leave(tab, visit)

    def _is_known(self, token: str | None) -> bool:
        return secrets.compare_digest((token or "").encode(errors="replace"), self._token)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self._tabs.patience / SWEEPS)
            self._tabs.sweep()


async def _converse(socket: WebSocket, session: Session, outbox: Outbox) -> None:
    """Tells a page what its session shows, and the session what its page wants, until one of them goes."""
    unsubscribe = session.subscribe(outbox.put)
    try:
        try:
            outbox.put_below(await call_anything(session.view))
        except Exception as error:  # a page that says so is better than one that stays empty
            log.exception("The explorer's session cannot be shown")
            await _end(socket, error_text(error))
            return
        wishes: asyncio.Queue[str | bytes | None] = asyncio.Queue(MOST_WISHES)
        ways = {
            asyncio.create_task(way)
            for way in (_send(socket, outbox), _listen(socket, wishes), _carry_out(socket, session, wishes))
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            # Waited for, not gathered: a cancellation from outside keeps its words, which anyio looks at.
            await asyncio.wait(ways)
            _check(ways)
    finally:
        unsubscribe()


def _check(ways: Iterable[asyncio.Task[None]]) -> None:
    """Looks at how they ended: that a page has gone is no news, anything else is."""
    for way in ways:
        error = None if way.cancelled() else way.exception()
        if error is not None and not isinstance(error, (WebSocketDisconnect, RuntimeError)):
            log.error("The explorer's connection failed", exc_info=error)


async def _listen(socket: WebSocket, wishes: asyncio.Queue[str | bytes | None]) -> None:
    """Takes down what the page wants, until it goes; that is noticed while something else is carried out."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        await wishes.put(message.get("text", message.get("bytes")))


async def _carry_out(socket: WebSocket, session: Session, wishes: asyncio.Queue[str | bytes | None]) -> None:
    """Tells the session what the page wants, one thing after another, and the page what it is answered."""
    while True:
        answer = await _answer(session, await wishes.get())
        if answer is not None:
            await socket.send_text(encoded({"answer": answer}))


async def _send(socket: WebSocket, outbox: Outbox) -> None:
    """Sends what changes, until the connection is to end."""
    while (changed := await outbox.take()) is not None:
        await socket.send_text(encoded({"traits": changed}))
    await socket.close(TAKEN_OVER)


async def _answer(session: Session, data: str | bytes | None) -> dict[str, Any] | None:
    try:
        message = decoded(data)
    except BadMessageError as error:
        return {"error": str(error)}
    try:
        answer: dict[str, Any] | None = await call_anything(session.act, message)
    except Exception as error:  # a page outlives whatever its session raises
        log.exception("The explorer's session failed on %r", message["do"])
        return {"error": f"that failed: {error_text(error)}"}
    return answer


async def _end(socket: WebSocket, text: str) -> None:
    """Says why there is nothing to see, and ends the connection for good."""
    await socket.send_text(encoded({"notice": text}))
    await socket.close(REFUSED)


def _read_again(session: Session) -> None:
    """Reads a file with problems again when its page is loaded again: that is what people do first."""
    with suppress(Exception):  # a session that fails here says so when it is shown
        if session.view().get("page") == "problems":
            session.act({"do": "reload"})


def _plain_page(status: int, title: str, text: str) -> Response:
    return HTMLResponse(_PLAIN_PAGE.format(title=escape(title), text=escape(text)), status)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
