"""An application on a port, served by uvicorn in a thread; the one door to uvicorn."""

from __future__ import annotations

import errno
import secrets
import socket
import threading
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Self
from urllib.parse import urlencode

import uvicorn

from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.explorer.messages import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.applications import Starlette

HOST = "127.0.0.1"
PORT = 8421
TRIES = 50
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN_BYTES = 24
LAST_PORT = 65535
STARTED_WITHIN = 30.0
# What a page may still be told after it was asked to go.
FAREWELL = 2


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach a host's address."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def names_of(host: str) -> frozenset[str]:
    """By which names the page may be asked for, served on this host."""
    names = {*LOOPBACK, host.lower()}
    return frozenset(names if is_loopback(host) else names | {socket.gethostname().lower()})


def address(host: str, port: int, token: str) -> str:
    """The page's address; for every address of this computer, that of the loopback."""
    here = {"": HOST, "0.0.0.0": HOST, "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    name = f"[{here}]" if ":" in here else here
    return f"http://{name}:{port}/?{urlencode({'token': token})}"


def listen(host: str, port: int) -> socket.socket:
    """Takes a port.

    Args:
        host: A name or an address of this computer.
        port: 0: any that is free.

    Raises:
        OSError: It is in use (EADDRINUSE), or may not be taken; or the host is none of this computer.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    # A name may stand for both kinds of address; browsers reach the older one under it in any case.
    family, _, _, _, place = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows, where reuse would be taking away
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(place)
        taken.listen()
    except BaseException:
        taken.close()
        raise
    return taken


def listen_near(host: str, port: int) -> socket.socket:
    """Takes a port, or the next one that is free.

    Raises:
        OSError: As for `listen`, for another reason than that one is in use.
    """
    for candidate in _candidates(port):
        try:
            return listen(host, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    return listen(host, 0)


def port_of(taken: socket.socket) -> int:
    """The port that was taken."""
    port: int = taken.getsockname()[1]
    return port


def _candidates(port: int) -> Iterable[int]:
    return range(port, min(port + TRIES, LAST_PORT + 1))


class Served:
    """An application that is served in a thread while it is entered.

    Args:
        application: What answers.
        listener: Where, taken with `listen`; closed at the end.
    """

    def __init__(self, application: Starlette, listener: socket.socket) -> None:
        self._listener = listener
        self._server = _Server(
            uvicorn.Config(
                application,
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="auto",
                ws_max_size=LARGEST,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=FAREWELL,
            )
        )
        # A session's callback that hangs in there must not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name="orkeon-explorer", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._server.settled.wait(STARTED_WITHIN) or not self._server.started:
            self.stop()
            raise OrkeonError("the explorer's server did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def is_running(self) -> bool:
        """Whether somebody still answers."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Says goodbye to the pages and ends."""
        self._server.should_exit = True
        self._thread.join(FAREWELL + 1)
        self._listener.close()

    def _run(self) -> None:
        try:
            # uvicorn leaves a server that cannot start through this.
            with suppress(SystemExit):
                self._server.run(sockets=[self._listener])
        finally:
            self._server.settled.set()


class _Server(uvicorn.Server):
    """uvicorn's server, which says when it answers or has failed to."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.settled = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer."""
        await super().startup(sockets)
        self.settled.set()
