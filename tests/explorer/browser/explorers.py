"""`orkeon` as a process of its own that serves a page, and a wire between a page and its server."""

import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

ADDRESS = re.compile(rb"http://[0-9.]+:\d+/\?token=\S+")


class Explorer:
    """A process that serves a page.

    Attributes:
        url: The page's address.
        messages: What it has written to standard error so far.
    """

    def __init__(self, process, terminal):
        self._process = process
        self.messages = b""
        self._said = threading.Condition()
        self._ears = [
            threading.Thread(target=self._hear, args=(source,), daemon=True)
            for source in (process.stdout.fileno(), terminal)
        ]
        for ear in self._ears:
            ear.start()
        self.url = self.until(ADDRESS)[0].decode()

    @property
    def base(self):
        return self.url.partition("/?")[0]

    def _hear(self, source):
        with suppress(OSError):  # a terminal whose program has gone
            while piece := os.read(source, 65_536):
                with self._said:
                    self.messages += piece
                    self._said.notify_all()

    def until(self, pattern, seconds=30):
        """Waits until something was said."""
        with self._said:
            self._said.wait_for(lambda: re.search(pattern, self.messages), seconds)
            found = re.search(pattern, self.messages)
        assert found, self.messages.decode()
        return found

    def end(self):
        """Presses Ctrl-C; gives the exit code."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(20)

    def close(self):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for ear in self._ears:
            ear.join(5)
        self._process.stdout.close()


@contextmanager
def serving(command, *arguments, folder):
    """Runs `orkeon COMMAND` at a terminal until its page is there, and until the test is done."""
    terminal, other_end = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "300", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "orkeon_transitions", command, "--no-open", "--port", "0", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=other_end,
        cwd=folder,
        env=environment,
    )
    os.close(other_end)
    explorer = None
    try:
        explorer = Explorer(process, terminal)
        yield explorer
    finally:
        if explorer is not None:
            explorer.close()
        process.kill()
        process.wait()
        os.close(terminal)


class Wire:
    """Passes bytes on to a server's port, until it is cut; when it is mended, it does so again.

    Attributes:
        port: Where it begins.
    """

    def __init__(self, port):
        self._goal = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._ends = []
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        self._is_cut = True
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self):
        self._is_cut = False

    def close(self):
        self.cut()
        self._listener.close()
        for end in self._ends:
            end.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._is_cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._goal))
                self._ends += [near, far]
                for source, goal in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=(source, goal), daemon=True).start()


def _pass_on(source, goal):
    with suppress(OSError):
        while piece := source.recv(65_536):
            goal.sendall(piece)
    with suppress(OSError):
        goal.shutdown(socket.SHUT_WR)
