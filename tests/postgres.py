"""A PostgreSQL server of the tests' own: made from Debian's package (or any other), used, and thrown away.

It listens on the loopback only, on a free port, with a random password, in a folder of its own, as a user
other than root. It lives as long as the pipe to its keeper is open, so it also ends with a test run that is
killed.
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

DEBIAN = Path("/usr/lib/postgresql")
USER = "orkeon"
PATIENCE = 60.0
# A port that was free may be taken by the time the server asks for it.
TRIES = 5
# Nothing of these tests has to outlive the server.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "autovacuum": "off",
    "log_min_messages": "warning",
}
# Waits for the server, and tells it to stop once the other end of the pipe is closed.
KEEPER = """
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
(cat <&3 >/dev/null; kill -INT $server 2>/dev/null) &
wait $server
status=$?
exit $status
"""


class NoPostgres(Exception):
    """Why there is no server: one plain sentence."""


class PostgresServer:
    """A server that runs.

    Attributes:
        port: Where it listens on 127.0.0.1.
        password: Of its only user.
    """

    def __init__(self, port, password):
        self.port = port
        self.password = password

    def url(self, database="postgres"):
        return f"postgresql+psycopg://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement, database="postgres"):
        """Runs one statement outside of a transaction, and gives its rows if it has any."""
        import psycopg

        with psycopg.connect(self.conninfo(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def conninfo(self, database="postgres"):
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    @contextlib.contextmanager
    def database(self):
        """A fresh, empty database; gives its URL."""
        name = f"t{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextlib.contextmanager
def running_server():
    """Makes a server, and takes it away again.

    Raises:
        NoPostgres: There is no server to be had here.
    """
    programs = _programs()
    account = _account()
    home = Path(tempfile.mkdtemp(prefix="orkeon-postgres-"))
    try:
        if account is not None:
            shutil.chown(home, account)
        password = secrets.token_hex(16)
        _make_cluster(programs, account, home, password)
        with _started(programs, account, home) as port:
            yield PostgresServer(port, password)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _programs():
    """The folder with `initdb` and `postgres`: the newest of Debian's, else that of the PATH."""
    if os.name != "posix":
        raise NoPostgres("a PostgreSQL server is started on Linux and macOS only")
    versions = DEBIAN.glob("*/bin")
    candidates = sorted(versions, key=lambda path: float(path.parent.name), reverse=True)
    found = shutil.which("initdb")
    if found is not None:
        candidates.append(Path(found).resolve().parent)
    for folder in candidates:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise NoPostgres("there is no PostgreSQL server on this computer: Debian's package is named postgresql")


def _account():
    """Who runs the server where these tests are run by root, to whom it would refuse itself."""
    if os.geteuid() != 0:
        return None
    import pwd

    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise NoPostgres("PostgreSQL does not run as root, and there is no user postgres or nobody")


def _as(account, home):
    """How a program is started as that user."""
    environment = {"PATH": os.defpath, "LC_ALL": "C", "HOME": str(home)}
    other = {} if account is None else {"user": account, "group": _group_of(account), "extra_groups": []}
    return {"cwd": home, "env": environment, **other}


def _group_of(account):
    import pwd

    return pwd.getpwnam(account).pw_gid


def _make_cluster(programs, account, home, password):
    secret = home / "password"
    secret.write_text(password)
    secret.chmod(0o600)
    if account is not None:
        shutil.chown(secret, account)
    command = [programs / "initdb", "-D", home / "data", "-U", USER, "--pwfile", secret]
    command += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]
    done = subprocess.run(
        command,
        **_as(account, home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    secret.unlink()
    if done.returncode != 0:
        raise RuntimeError(f"initdb failed: {done.stderr}")


@contextlib.contextmanager
def _started(programs, account, home):
    log = home / "server.log"
    for _ in range(TRIES):
        port = _free_port()
        command = [str(programs / "postgres"), "-D", str(home / "data"), "-p", str(port)]
        command += [f"--{name}={value}" for name, value in SETTINGS.items()]
        with log.open("wb") as output:
            keeper = subprocess.Popen(
                ["/bin/sh", "-c", KEEPER, "keeper", *command],
                **_as(account, home),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # an interrupt of the tests lets them end first
            )
        try:
            if _is_ready(keeper, home):
                yield port
                return
        finally:
            keeper.stdin.close()
            keeper.wait(PATIENCE)
    raise RuntimeError(f"the PostgreSQL server did not start: {log.read_text(errors='replace')}")


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _is_ready(keeper, home):
    """Waits until the server says that it takes connections; no, if it has ended before."""
    status = home / "data" / "postmaster.pid"
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            lines = status.read_text().splitlines()
            if len(lines) > 7 and lines[7].strip() == "ready":
                return True
        if keeper.poll() is not None:
            return False
        time.sleep(0.02)
    return False
