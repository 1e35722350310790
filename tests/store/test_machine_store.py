"""Machines in a database: made, loaded, recorded, saved, listed, deleted."""

import copy
import gc
import multiprocessing
import os
import pickle
import threading
import weakref
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import JournalError, OrkeonError, StaleMachineError
from orkeon_transitions.machines import HermesAgentFSM, TaskExecution, TaskState
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import MachineStore, StoredMachine
from tests.store.stored_machines import LAMP, Lamp

UNLIMITED = CircuitBreakerPolicy(max_transitions=0, max_state_visits=0)


@pytest.fixture(params=["memory", "file", "postgres"])
def store(request, tmp_path):
    match request.param:
        case "memory":
            url = "sqlite://"
        case "file":
            url = f"sqlite:///{tmp_path / 'machines.db'}"
        case "postgres":
            url = request.getfixturevalue("postgres_url")
    with MachineStore(url) as store:
        yield store


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'machines.db'}"


def triggers(store, machine_id):
    return [record.trigger for record in store.journal(machine_id)]


# ------------------------------------------------------------------------------------------------- making
def test_a_machine_comes_back_where_it_was(store):
    lamp = store.create(StateMachine, LAMP, machine_id="l1")
    lamp.fire("switch_on")
    back = store.load(StateMachine, LAMP, "l1")
    assert back is not lamp
    assert (back.state, back.transition_count, back.machine_id) == ("on", 1, "l1")
    back.fire("switch_off")
    assert triggers(store, "l1") == ["switch_on", "switch_off"]


def test_a_machine_that_never_moved_comes_back(store):
    store.create(Lamp, machine_id="l1")
    assert store.load(Lamp, "l1").state == "off"
    assert store.journal("l1") == []


def test_a_machine_without_a_name_gets_one(store):
    lamp = store.create(Lamp)
    assert store.load(Lamp, lamp.machine_id).machine_id == lamp.machine_id


def test_options_reach_the_constructor(store):
    policy = CircuitBreakerPolicy(max_transitions=7)
    store.create(Lamp, "red", machine_id="l1", policy=policy)
    assert store.load(Lamp, "l1").policy == policy
    other = CircuitBreakerPolicy(max_transitions=8)
    back = store.load(Lamp, "l1", policy=other)
    assert (back.policy, back.colour) == (other, "red")


def test_time_spent_is_kept_and_time_in_between_is_not(store):
    moments = [100.0]
    lamp = store.create(StateMachine, LAMP, machine_id="l1", clock=lambda: moments[0])
    lamp.fire("switch_on")
    moments[0] += 40
    store.save(lamp)
    later = [5_000.0]
    back = store.load(StateMachine, LAMP, "l1", clock=lambda: later[0])
    assert back.circuit_status.time_in_current_state == timedelta(seconds=40)
    later[0] += 2
    assert back.circuit_status.total_elapsed == timedelta(seconds=42)


def test_a_tripped_machine_comes_back_tripped(store):
    lamp = store.create(Lamp, machine_id="l1", policy=CircuitBreakerPolicy(max_transitions=1))
    lamp.fire("switch_on")
    assert not lamp.try_fire("switch_off")
    (row,) = store.machines()
    assert (row.is_broken, row.version) == (True, 2)
    assert store.load(Lamp, "l1").is_circuit_broken
    lamp.reset_circuit_breaker()
    assert not store.load(Lamp, "l1").is_circuit_broken


def test_a_name_that_is_taken_is_refused_and_nothing_is_lost(store):
    store.create(Lamp, machine_id="l1").fire("switch_on")
    with pytest.raises(OrkeonError, match=r"has a machine 'l1' already.*store\.load\(Lamp"):
        store.create(Lamp, machine_id="l1")
    assert store.load(Lamp, "l1").state == "on"


@pytest.mark.parametrize("name", ["", "a\0b", "a\nb", "\ud800"])
def test_a_name_that_not_every_database_can_hold_is_refused(store, name):
    lamp = Lamp()
    lamp.machine_id = name
    for ask in (
        lambda: store.record(lamp),
        lambda: store.load(Lamp, name),
        lambda: store.journal(name),
        lambda: store.delete(name),
    ):
        with pytest.raises(OrkeonError, match="name must be a text that can be printed"):
            ask()
    with pytest.raises(TypeError, match="name is a text"):
        store.journal(7)


def test_names_of_all_kinds_are_kept_apart(store):
    names = ["ä", "a", "A", "a'--", "%", "a/b", "ключ", "x" * 500]
    for name in names:
        store.create(Lamp, name, machine_id=name)
    assert [store.load(Lamp, name).colour for name in names] == names


def test_an_unknown_name_is_told_with_the_nearest(store):
    store.create(Lamp, machine_id="lamp-1")
    for ask in (
        lambda: store.load(Lamp, "lamp-l"),
        lambda: store.journal("lamp-l"),
        lambda: store.delete("lamp-l"),
    ):
        with pytest.raises(JournalError, match=r"no machine 'lamp-l' \(did you mean 'lamp-1'\?\)"):
            ask()


def test_what_is_no_class_of_machines_is_refused(store):
    for kind in (int, Lamp(), LAMP):
        with pytest.raises(TypeError, match="makes machines of a class"):
            store.create(kind)
        with pytest.raises(TypeError, match="makes machines of a class"):
            store.load(kind, "l1")


def test_load_needs_a_name(store):
    for args in ((), (LAMP,)):
        with pytest.raises(TypeError, match="name last"):
            store.load(StateMachine, *args)


@pytest.mark.parametrize("option", ["commit", "snapshot", "machine_id"])
def test_what_the_store_gives_itself_cannot_be_given(store, option):
    with pytest.raises(TypeError, match=f"'{option}' is what the store itself gives"):
        store.load(Lamp, "l1", **{option: None})


def test_another_hook_cannot_be_given(store):
    with pytest.raises(TypeError, match="'commit' is what the store itself gives"):
        store.create(Lamp, commit=lambda fact, snapshot: None)


# ----------------------------------------------------------------------------------------------- recording
def test_an_existing_machine_is_recorded_from_where_it_is(store):
    lamp = Lamp(machine_id="l1")
    lamp.fire("switch_on")
    store.record(lamp)
    lamp.fire("switch_off")
    assert [record.fact for record in store.journal("l1")] == ["recording", "transition"]
    (row,) = store.machines()
    assert row.version == 2
    assert store.load(Lamp, "l1").transition_count == 2


def test_a_machine_outlives_its_store(url):
    with MachineStore(url) as store:
        lamp = store.create(Lamp, machine_id="l1")
        lamp.fire("switch_on")
    with pytest.raises(JournalError, match="is closed"):
        lamp.fire("switch_off")
    assert lamp.state == "on"
    with MachineStore(url) as store:
        store.record(lamp)
        lamp.fire("switch_off")
        assert store.load(Lamp, "l1").state == "off"


def test_a_machine_that_is_elsewhere_in_the_store_is_not_taken_over(store):
    store.create(Lamp, machine_id="l1").fire("switch_on")
    lamp = Lamp(machine_id="l1")
    with pytest.raises(StaleMachineError, match=r"'l1' is elsewhere .*in 'on' after 1 .*in 'off' after 0"):
        store.record(lamp)
    assert lamp.fire("switch_on")  # it has no hook of the store
    assert store.load(Lamp, "l1").transition_count == 1


def test_a_machine_with_another_hook_is_refused(store):
    lamp = Lamp(machine_id="l1", commit=lambda fact, snapshot: None)
    with pytest.raises(OrkeonError, match="commit hook already"):
        store.record(lamp)
    assert store.machines() == []


@pytest.mark.parametrize("value", [None, Lamp, 3])
def test_what_is_no_machine_is_not_recorded(store, value):
    with pytest.raises(TypeError, match="is neither"):
        store.record(value)


# -------------------------------------------------------------------------------------------------- saving
def test_fields_are_saved_between_transitions(store):
    lamp = store.create(Lamp, machine_id="l1")
    lamp.fire("switch_on")
    lamp.colour, lamp.places = "blue", {"hall", "attic"}
    store.save(lamp)
    back = store.load(Lamp, "l1")
    assert (back.colour, back.places) == ("blue", {"hall", "attic"})
    lamp.fire("switch_off")
    (row,) = store.machines()
    assert (row.version, row.ordinal) == (3, 2)
    assert [record.line for record in store.journal("l1")] == [1, 3]


def test_saving_loses_against_another_writer(store):
    one = store.create(Lamp, machine_id="l1")
    two = store.load(Lamp, "l1")
    two.fire("switch_on")
    one.colour = "blue"
    with pytest.raises(StaleMachineError, match=r"moved on by another writer: it is at version 1"):
        store.save(one)
    assert store.load(Lamp, "l1").colour == "white"


def test_only_machines_of_the_store_are_saved(store):
    lamp = Lamp(machine_id="l1")
    with pytest.raises(OrkeonError, match=r"not saved in .*store\.record"):
        store.save(lamp)


def test_a_machine_can_be_saved_by_its_own_callbacks(store):
    class Own(StateMachine):
        persisted = ("colour",)
        colour = "dim"

        def glow(self, event):
            self.colour = "bright"
            store.save(self)

    definition = {**LAMP, "states": ["off", {"name": "on", "on_enter": "glow"}, "broken"]}
    fsm = store.create(Own, definition, machine_id="l1")
    fsm.fire("switch_on")
    assert store.load(Own, definition, "l1").colour == "bright"


# ------------------------------------------------------------------------------------------- stale writers
def test_of_two_writers_one_wins_and_the_other_can_reload(store):
    one = store.create(Lamp, machine_id="l1")
    two = store.load(Lamp, "l1")
    one.fire("switch_on")
    with pytest.raises(StaleMachineError, match=r"'l1'.*version 1.*knows version 0; load it again"):
        two.fire("drop")
    assert two.state == "off"
    with pytest.raises(StaleMachineError):
        two.fire("drop")
    two = store.load(Lamp, "l1")
    two.fire("drop")
    assert triggers(store, "l1") == ["switch_on", "drop"]


def test_a_deleted_machine_does_not_move(store):
    lamp = store.create(Lamp, machine_id="l1")
    store.delete("l1")
    with pytest.raises(StaleMachineError, match="'l1' was deleted"):
        lamp.fire("switch_on")
    assert lamp.state == "off"
    assert store.machines() == []


def test_a_key_that_is_taken_in_the_journal_is_a_lost_race(store):
    lamp = store.create(Lamp, machine_id="l1")
    with store._database.writing("test") as connection:
        connection.exec_driver_sql("INSERT INTO orkeon_journal VALUES ('l1', 1, '{}')")
    with pytest.raises(StaleMachineError):
        lamp.fire("switch_on")
    assert lamp.state == "off"
    (row,) = store.machines()
    assert (row.version, row.state) == (0, "off")


def test_threads_that_fire_different_machines_of_one_store(store):
    lamps = [store.create(Lamp, machine_id=f"l{number}") for number in range(6)]
    errors = []

    def flicker(lamp):
        try:
            for _ in range(8):
                lamp.fire("switch_on")
                lamp.fire("switch_off")
                assert store.load(Lamp, lamp.machine_id).state == "off"
        except BaseException as error:
            errors.append(error)

    run_threads(partial(flicker, lamp) for lamp in lamps)
    assert errors == []
    assert [row.version for row in store.machines()] == [16] * 6


def test_threads_that_save_a_machine_while_it_fires(store):
    lamp = store.create(Lamp, machine_id="l1", policy=UNLIMITED)
    errors, over = [], threading.Event()

    def save():
        try:
            while not over.is_set():
                store.save(lamp)
        except BaseException as error:
            errors.append(error)

    def flicker():
        try:
            for _ in range(25):
                lamp.fire("switch_on")
                lamp.fire("switch_off")
        except BaseException as error:
            errors.append(error)
        finally:
            over.set()

    run_threads([save, flicker])
    assert errors == []
    assert triggers(store, "l1") == ["switch_on", "switch_off"] * 25
    assert store.load(Lamp, "l1").transition_count == 50


def run_threads(works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# ------------------------------------------------------------------------------------------------- looking
def test_machines_are_listed_the_last_written_first(store):
    before = datetime.now(UTC)
    for number in range(3):
        store.create(Lamp, machine_id=f"l{number}")
    store.load(Lamp, "l0").fire("drop")
    rows = store.machines()
    assert [row.machine_id for row in rows] == ["l0", "l2", "l1"]
    first = rows[0]
    assert first == StoredMachine(
        machine_id="l0",
        machine="lamp",
        definition_hash=Lamp().definition.content_hash,
        state="broken",
        version=1,
        ordinal=1,
        is_terminal=True,
        is_broken=False,
        created_at=first.created_at,
        updated_at=first.updated_at,
    )
    assert before <= first.created_at < first.updated_at <= datetime.now(UTC)


def test_machines_are_searched(store):
    store.create(Lamp, machine_id="l1").fire("switch_on")
    store.create(Lamp, machine_id="l2")
    store.create(Lamp, machine_id="l3").fire("drop")
    store.create(TaskExecution, machine_id="t1")

    def found(**wanted):
        return sorted(row.machine_id for row in store.machines(**wanted))

    assert found(state="on") == ["l1"]
    assert found(state=TaskState.ASSIGNED) == ["t1"]
    assert found(machine="lamp") == ["l1", "l2", "l3"]
    assert found(machine="lamp", is_terminal=False) == ["l1", "l2"]
    assert found(is_terminal=True) == ["l3"]
    assert found(idle_for=60) == []
    assert len(found(idle_for=timedelta(0))) == 4
    assert len(found(limit=2)) == 2
    assert found(limit=0) == []


@pytest.mark.parametrize("wanted", [{"idle_for": -1}, {"idle_for": float("nan")}, {"limit": -1}])
def test_a_search_that_makes_no_sense_is_refused(store, wanted):
    with pytest.raises(ValueError, match="must not be negative"):
        store.machines(**wanted)


def aged(store, *names):
    with store._database.writing("test") as connection:
        for name in names:
            connection.exec_driver_sql(
                f"UPDATE orkeon_machines SET updated_at = updated_at - 86400 WHERE machine_id = '{name}'"
            )


def test_pruning_takes_what_has_ended_long_ago(store):
    for name in ("old", "new", "waiting"):
        store.create(Lamp, machine_id=name)
    for name in ("old", "new"):
        store.load(Lamp, name).fire("drop")
    aged(store, "old", "waiting")
    assert store.prune(idle_for=timedelta(hours=1)) == 1
    assert sorted(row.machine_id for row in store.machines()) == ["new", "waiting"]
    with pytest.raises(JournalError, match="no machine 'old'"):
        store.journal("old")
    assert store.prune(idle_for=3600, ended_only=False, machine="other") == 0
    assert store.prune(idle_for=3600, ended_only=False, state="off") == 1
    assert [row.machine_id for row in store.machines()] == ["new"]
    assert store.prune(idle_for=0) == 1


def test_many_machines_are_pruned_with_their_journals(store):
    for number in range(3):
        store.create(Lamp, machine_id=f"l{number}").fire("drop")
    assert store.prune(idle_for=0) == 3
    store.create(Lamp, machine_id="l1")
    assert store.journal("l1") == []


def test_a_machine_can_be_made_anew_after_it_was_deleted(store):
    store.create(Lamp, machine_id="l1").fire("switch_on")
    store.delete("l1")
    store.create(Lamp, machine_id="l1")
    assert store.journal("l1") == []


# ------------------------------------------------------------------------------------------ the store itself
def test_a_closed_store_says_so(store):
    lamp = store.create(Lamp, machine_id="l1")
    assert (store.closed, repr(store)) == (False, f"MachineStore('{store.url}')")
    store.close()
    store.close()
    assert (store.closed, repr(store)) == (True, f"MachineStore('{store.url}', closed)")
    for ask in (
        store.machines,
        lambda: store.create(Lamp),
        lambda: store.load(Lamp, "l1"),
        lambda: store.save(lamp),
        lambda: store.prune(idle_for=0),
        lambda: lamp.fire("switch_on"),
    ):
        with pytest.raises(JournalError, match=r"is closed: open it again"):
            ask()
    assert lamp.state == "off"


def test_a_store_is_neither_copied_nor_pickled(store):
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"open another one with MachineStore\(url\)"):
            attempt(store)


def test_neither_store_nor_hook_keeps_a_machine_alive(store):
    lamp = store.create(Lamp, machine_id="l1")
    seen = weakref.ref(lamp)
    del lamp
    gc.collect()
    assert seen() is None


def test_two_stores_share_a_file(url):
    with MachineStore(url) as one, MachineStore(url, synchronous="FULL") as two:
        one.create(Lamp, machine_id="l1").fire("switch_on")
        two.load(Lamp, "l1").fire("switch_off")
        assert triggers(one, "l1") == ["switch_on", "switch_off"]


def test_stores_in_memory_know_nothing_of_each_other():
    with MachineStore("sqlite://") as one, MachineStore("sqlite:///:memory:") as two:
        one.create(Lamp, machine_id="l1")
        assert two.machines() == []


def test_a_hermes_session_comes_back_whole(store):
    agent = store.create(HermesAgentFSM, "s1", machine_id="m1")
    agent.receive_task(task="compare")
    agent.plan_steps = ["one", "two"]
    agent.register_tool("search")
    store.save(agent)
    back = store.load(HermesAgentFSM, "m1")
    assert (back.session_id, back.plan_steps, back.registered_tools) == ("s1", ["one", "two"], {"search"})
    with pytest.raises(OrkeonError, match="not saved in"):
        store.save(HermesAgentFSM("s2"))


# -------------------------------------------------------------------------------------------------- forking
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_goes_on_with_connections_of_its_own(url):
    with MachineStore(url) as store:
        lamp = store.create(Lamp, machine_id="l1")
        lamp.fire("switch_on")
        assert in_child(lambda: lamp.fire("switch_off")) == "None"
        with pytest.raises(StaleMachineError):
            lamp.fire("switch_off")
        assert in_child(lambda: store.load(Lamp, "l1").fire("switch_on")) == "None"
        assert triggers(store, "l1") == ["switch_on", "switch_off", "switch_on"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_has_no_share_in_a_memory():
    with MachineStore("sqlite://") as store:
        lamp = store.create(Lamp, machine_id="l1")
        told = in_child(lambda: lamp.fire("switch_on"))
        assert "is the memory of the process that opened it" in told
        lamp.fire("switch_on")


def in_child(work):
    """What a forked process says of its work: its error, or None."""
    context = multiprocessing.get_context("fork")
    said = context.SimpleQueue()

    def tell():
        error = None
        try:
            work()
        except Exception as raised:
            error = raised
        said.put(str(error))

    child = context.Process(target=tell)
    child.start()
    answer = said.get()
    child.join(20)
    assert child.exitcode == 0
    return answer
