"""Settings that hold for all tests, and the PostgreSQL server that some of them use."""

import os
import signal

import pytest
from hypothesis import settings

from tests.plugins import engine_option
from tests.postgres import NoPostgres, running_server

# A deadline would measure how busy the computer is. On a desk each run looks at new examples; where a change
# is judged (CI is set), the same ones are looked at every time, so that the verdict is the change's own.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("house")


def pytest_addoption(parser):
    engine_option.pytest_addoption(parser)
    parser.addoption(
        "--worlds", type=int, default=800, help="how many random worlds the engines are compared in"
    )


def pytest_configure(config):
    engine_option.pytest_configure(config)
    _hear_signals()


def _hear_signals():
    """What is ignored here would be ignored by each program that a test starts.

    Under `nohup` that is SIGHUP, in a script's background SIGINT, too. One that has a handler is as it is by
    default in a new program.
    """
    for name, handler in (("SIGHUP", _pass_over), ("SIGINT", signal.default_int_handler)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def _pass_over(number, frame):
    """What `nohup` asks for, but for this process alone."""


def pytest_report_header(config):
    return engine_option.pytest_report_header(config)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of this test run's own; where there is none, the tests that need it say so."""
    pytest.importorskip(
        "psycopg", reason="psycopg is not installed: pip install 'orkeon-transitions[postgres]'"
    )
    try:
        server = running_server()
        started = server.__enter__()
    except NoPostgres as reason:
        pytest.skip(str(reason))
    yield started
    server.__exit__(None, None, None)


@pytest.fixture
def postgres_url(postgres):
    """The URL of a fresh, empty database on that server."""
    with postgres.database() as url:
        yield url
