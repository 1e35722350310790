"""A PostgreSQL server in trouble: one clear error without the password, and all goes on afterwards."""

import contextlib
import threading

import pytest

from orkeon_transitions.errors import JournalError, OrkeonError
from orkeon_transitions.store import MachineStore
from tests.conformance.troubled import assert_plain, assert_whole
from tests.conformance.worker import WORK, AsyncWork, Work

KINDS = pytest.mark.parametrize("kind", [Work, AsyncWork])


@pytest.fixture
def database(postgres_url):
    return postgres_url.rpartition("/")[2]


@pytest.fixture
def execute(postgres, database):
    """Runs one statement behind the store's back."""
    return lambda statement: postgres.execute(statement, database)


def end_sessions(execute):
    execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


@KINDS
def test_sessions_that_the_server_ends_cost_one_error_at_most(postgres_url, execute, kind, run):
    with MachineStore(postgres_url) as store:
        fsm = store.create(kind, WORK, machine_id="w")
        run(fsm.fire("begin"))
        for turn in range(3):
            end_sessions(execute)
            with contextlib.suppress(JournalError):
                run(fsm.fire("again"))
            if fsm.transition_count == 1 + turn:
                run(fsm.fire("again"))
            assert (fsm.state, fsm.transition_count) == ("working", 2 + turn)
            end_sessions(execute)
            with contextlib.suppress(JournalError):
                store.machines()
            assert [each.version for each in store.machines()] == [2 + turn]
        assert assert_whole(store) == 4


def test_a_server_that_is_not_there_is_one_clear_error(postgres):
    url = postgres.url().replace(f":{postgres.port}/", ":1/")
    with pytest.raises(JournalError, match="cannot open the store") as error:
        MachineStore(url)
    assert_plain(error)
    assert postgres.password not in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda url, server: url.replace(server.password, "guessed"), "authentication failed"),
        (lambda url, server: url.replace("//orkeon:", "//nobody:"), "authentication failed"),
        (lambda url, server: url + "_missing", "does not exist"),
    ],
    ids=["password", "user", "database"],
)
def test_what_is_wrong_with_a_url_is_said(postgres, postgres_url, wrong, words):
    with pytest.raises(JournalError, match=words) as error:
        MachineStore(wrong(postgres_url, postgres))
    assert_plain(error)
    assert postgres.password not in str(error.value)
    assert "guessed" not in str(error.value)


def test_the_password_is_shown_nowhere(postgres, postgres_url):
    with MachineStore(postgres_url) as store:
        fsm = store.create(Work, WORK, machine_id="w")
        with pytest.raises(OrkeonError) as error:
            store.load(Work, WORK, "v")
        told = [repr(store), str(store), store.url, str(error.value)]
    with pytest.raises(JournalError) as error:
        fsm.fire("begin")
    assert postgres.password not in "".join([*told, str(error.value)])


@KINDS
def test_a_database_that_is_read_only_can_be_read(postgres_url, execute, database, kind, run):
    with MachineStore(postgres_url) as store:
        run(store.create(kind, WORK, machine_id="w").fire("begin"))
    execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    with MachineStore(postgres_url) as store:
        fsm = store.load(kind, WORK, "w")
        with pytest.raises(JournalError, match="read-only") as error:
            run(fsm.fire("pause"))
        assert_plain(error)
        assert (fsm.state, fsm.transition_count) == ("working", 1)
        assert assert_whole(store) == 1


@KINDS
def test_a_row_that_somebody_holds_is_waited_for_and_then_told(postgres, postgres_url, database, kind, run):
    import psycopg

    with MachineStore(postgres_url, busy_timeout=0.2) as store:
        fsm = store.create(kind, WORK, machine_id="w")
        run(fsm.fire("begin"))
        with psycopg.connect(postgres.conninfo(database)) as other:
            other.execute("SELECT * FROM orkeon_machines WHERE machine_id = 'w' FOR UPDATE")
            with pytest.raises(JournalError, match="locked") as error:
                run(fsm.fire("pause"))
            assert_plain(error)
            assert (fsm.state, fsm.transition_count) == ("working", 1)
            # Other machines are not in the way.
            store.create(Work, WORK, machine_id="v").fire("begin")
        run(fsm.fire("pause"))
        assert assert_whole(store) == 2


def test_a_row_that_is_released_in_time_is_no_trouble(postgres, postgres_url, database):
    import psycopg

    with MachineStore(postgres_url) as store:
        fsm = store.create(Work, WORK, machine_id="w")
        with psycopg.connect(postgres.conninfo(database)) as other:
            other.execute("SELECT * FROM orkeon_machines FOR UPDATE")
            caller = threading.Thread(target=fsm.fire, args=("begin",))
            caller.start()
            caller.join(0.2)
            assert caller.is_alive()
            assert fsm.state == "waiting"
        caller.join(30)
        assert fsm.state == "working"
        assert assert_whole(store) == 1


def test_a_newer_schema_is_left_alone(postgres_url, execute):
    with MachineStore(postgres_url) as store:
        store.create(Work, WORK, machine_id="w").fire("begin")
    ((version,),) = execute("SELECT version FROM orkeon_schema")
    execute("UPDATE orkeon_schema SET version = 99")
    with pytest.raises(JournalError, match=r"schema version 99.*upgrade") as error:
        MachineStore(postgres_url)
    assert_plain(error)
    execute(f"UPDATE orkeon_schema SET version = {version}")
    with MachineStore(postgres_url) as store:
        assert assert_whole(store) == 1


def test_tables_that_were_taken_away_are_told(postgres_url, execute):
    with MachineStore(postgres_url) as store:
        fsm = store.create(Work, WORK, machine_id="w")
        fsm.fire("begin")
        execute("DROP TABLE orkeon_journal")
        with pytest.raises(JournalError, match="orkeon_journal") as error:
            fsm.fire("pause")
        assert_plain(error)
        assert fsm.state == "working"
        assert store.load(Work, WORK, "w").state == "working"


def test_a_user_who_may_not_write_is_told(postgres, postgres_url, execute):
    with MachineStore(postgres_url) as store:
        store.create(Work, WORK, machine_id="w").fire("begin")
    execute("CREATE ROLE reader LOGIN PASSWORD 'only-reads'")
    try:
        execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        url = postgres_url.replace(f"orkeon:{postgres.password}", "reader:only-reads")
        with MachineStore(url) as store:
            fsm = store.load(Work, WORK, "w")
            with pytest.raises(JournalError, match="may not do that") as error:
                fsm.fire("pause")
            assert_plain(error)
            assert fsm.state == "working"
    finally:
        execute("DROP OWNED BY reader")
        execute("DROP ROLE reader")
