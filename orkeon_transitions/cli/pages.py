"""A page of the explorer, served while a command needs it: `orkeon explore`, and `orkeon run --watch`."""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from orkeon_transitions.cli.app import Command
from orkeon_transitions.cli.screen import Mistake, Screen
from orkeon_transitions.errors import MissingExtraError

if TYPE_CHECKING:
    from orkeon_transitions.explorer import Session
    from orkeon_transitions.explorer.serving import Served

HOST = "127.0.0.1"
LAST_PORT = 65535
NEEDED = ("starlette", "uvicorn", "websockets")
# Without one of these there is no desktop on which a browser could open.
DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a page is wanted.

    Attributes:
        host: The address to listen on.
        port: The port that must be taken; None: the usual one or the next that is free.
        opens: Whether the browser is opened.
    """

    host: str
    port: int | None
    opens: bool


class Page:
    """A page that is being served.

    Attributes:
        url: Its address, token included.
    """

    def __init__(self, url: str, served: Served, *, opens: bool) -> None:
        self.url = url
        self._served = served
        self._opens = opens

    def open(self) -> None:
        """Opens it in the browser, the first time, where that is wanted and there is a desktop."""
        opens, self._opens = self._opens, False
        if opens and _has_desktop():
            # Some browsers run in the foreground until they are closed.
            threading.Thread(target=_open, args=(self.url,), daemon=True).start()

    def is_there(self) -> bool:
        """Whether it still answers."""
        return self._served.is_running


def page_options(command: Command) -> Command:
    """Adds `--port`, `--host` and `--no-open`."""
    command = click.option("--no-open", is_flag=True, help="Print the page's address, and open no browser.")(
        command
    )
    command = click.option(
        "--host",
        metavar="HOST",
        help=f"Where to listen; others in the network can reach anything but {HOST}.",
    )(command)
    return click.option(
        "--port",
        type=click.IntRange(0, LAST_PORT),
        metavar="N",
        help="The page's port, 0: any; left out: 8421, or the next that is free.",
    )(command)


def check_extra() -> None:
    """Makes sure that a page can be served.

    Raises:
        MissingExtraError: What it takes is not installed.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"The explorer's page needs {', '.join(missing)}.", extra="explore")


@contextmanager
def served_page(
    screen: Screen,
    wanted: Wanted,
    make_session: Callable[[], Session],
) -> Iterator[Page]:
    """Serves a page while this is entered.

    Args:
        screen: For what there is to say.
        wanted: Where.
        make_session: Opens the session of one tab.

    Raises:
        Mistake: The port or the host cannot be taken.
    """
    from orkeon_transitions.explorer import server, serving

    listener = _listener(screen, wanted)
    token = serving.new_token()
    hosts = serving.names_of(wanted.host)
    application = server.application(make_session, token=token, hosts=hosts)
    with serving.Served(application, listener) as served:
        url = serving.address(wanted.host, serving.port_of(listener), token)
        if not serving.is_loopback(wanted.host):
            screen.warn(
                f"the page listens on {wanted.host}: others in the network who have its address can use it, "
                "and nothing that they exchange is encrypted"
            )
        if wanted.host in server.EVERYWHERE:
            elsewhere = serving.address(socket.gethostname(), serving.port_of(listener), token)
            screen.message(f"from elsewhere: {elsewhere}")
        yield Page(url, served, opens=wanted.opens)


def _listener(screen: Screen, wanted: Wanted) -> socket.socket:
    from orkeon_transitions.explorer import serving

    try:
        if wanted.port is not None:
            return serving.listen(wanted.host, wanted.port)
        taken = serving.listen_near(wanted.host, serving.PORT)
    except OSError as error:
        raise Mistake(_words(error, wanted)) from error
    if (port := serving.port_of(taken)) != serving.PORT:
        screen.say("note", f"port {serving.PORT} is in use; taking {port}")
    return taken


def _words(error: OSError, wanted: Wanted) -> str:
    """What is wrong with the port or the host."""
    from orkeon_transitions.explorer import serving

    if wanted.port is not None and error.errno == errno.EADDRINUSE:
        with suppress(OSError), serving.listen_near(wanted.host, wanted.port) as free:
            other = serving.port_of(free)
            return f"port {wanted.port} is in use; {other} is free: --port {other}"
        return f"port {wanted.port} is in use"
    if wanted.port is not None and error.errno == errno.EACCES:
        return f"port {wanted.port} may not be taken by everybody: choose one from 1024"
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return f"--host {wanted.host}: is no name or address of this computer"
    return f"the page cannot be served on {wanted.host}: {error.strerror or error}"


def _has_desktop() -> bool:
    return sys.platform in {"win32", "darwin"} or any(os.environ.get(name) for name in DESKTOP)


def _open(url: str) -> None:
    """Opens the browser; where there is none, the address was printed."""
    with suppress(Exception):
        webbrowser.open(url)
