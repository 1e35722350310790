"""Settings that hold for all tests, and the PostgreSQL server that some of them use."""

import os

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
