"""The server that the other tests use: it is ours alone, and nothing of it stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import postgres as module
from tests.postgres import NoPostgres, running_server


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone(pid, patience=20.0):
    deadline = time.monotonic() + patience
    while is_there(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_there(pid)


def test_each_test_gets_an_empty_database_of_its_own(postgres):
    with postgres.database() as one, postgres.database() as two:
        assert one != two
        name = one.rpartition("/")[2]
        postgres.execute("CREATE TABLE things (id int)", name)
        assert postgres.execute("SELECT count(*) FROM things", name) == [(0,)]
    assert postgres.execute(f"SELECT 1 FROM pg_database WHERE datname = '{name}'") == []


def test_it_listens_on_the_loopback_only_and_asks_for_the_password(postgres):
    import psycopg

    assert postgres.execute("SHOW listen_addresses") == [("127.0.0.1",)]
    assert postgres.execute("SHOW unix_socket_directories") == [("",)]
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(postgres.conninfo().replace(postgres.password, "guessed"))


def test_it_ends_with_the_test_run_even_if_that_is_killed(postgres):
    program = (
        "from tests.postgres import running_server\n"
        "with running_server() as server:\n"
        "    print(server.execute('SHOW data_directory')[0][0], flush=True)\n"
        "    input()\n"
    )
    root = Path(__file__).parent.parent.parent
    run = subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with run:
        data = Path(run.stdout.readline().strip())
        server = int((data / "postmaster.pid").read_text().split()[0])
        assert is_there(server)
        run.send_signal(signal.SIGKILL)
    assert gone(server)
    assert not (data / "postmaster.pid").exists()
    module.shutil.rmtree(data.parent)


def test_where_there_is_no_server_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "DEBIAN", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoPostgres, match="there is no PostgreSQL server on this computer"), running_server():
        pass
