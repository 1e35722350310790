"""Every test of the suite runs in all four places."""

import asyncio
import multiprocessing

import pytest

from tests.conformance.places import InDatabase, InFile, InMemory

DATABASES = ("sqlite", "postgres")


@pytest.fixture(params=DATABASES)
def database_url(request, tmp_path):
    """The URL of an empty database, of each kind."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return f"sqlite:///{tmp_path / 'machines.db'}"


def made(kind, request, tmp_path):
    """An empty place of a kind."""
    match kind:
        case "memory":
            return InMemory()
        case "jsonl":
            return InFile(tmp_path / "run.jsonl")
        case "sqlite":
            return InDatabase(f"sqlite:///{tmp_path / 'machines.db'}")
        case "postgres":
            return InDatabase(request.getfixturevalue("postgres_url"))


@pytest.fixture(params=["memory", "jsonl", *DATABASES])
def place(request, tmp_path):
    """An empty place."""
    place = made(request.param, request, tmp_path)
    yield place
    place.close()


@pytest.fixture(params=["memory", *DATABASES])
def remembering(request, tmp_path):
    """An empty place that brings machines back."""
    place = made(request.param, request, tmp_path)
    yield place
    place.close()


@pytest.fixture(scope="session")
def forked():
    """Makes processes out of one that has loaded everything already: fifty starts take no half minute."""
    context = multiprocessing.get_context("forkserver")
    # What is not installed is passed over.
    drivers = ["sqlalchemy.dialects.sqlite.pysqlite", "sqlalchemy.dialects.postgresql.psycopg", "psycopg"]
    context.set_forkserver_preload(["tests.conformance.contenders", *drivers])
    return context


@pytest.fixture
def run():
    """Runs what an async machine's methods give, all on one loop; leaves a plain machine's answers alone."""
    with asyncio.Runner() as runner:

        def get(answer):
            if not asyncio.iscoroutine(answer):
                return answer
            return runner.run(answer)

        runner.get_loop()
        yield get
