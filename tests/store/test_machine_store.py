"""Machines in a database: made, loaded, recorded, saved, listed, deleted."""

import threading
from datetime import timedelta
from functools import partial

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import JournalError, OrkeonError, StaleMachineError
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import MachineStore
from tests.store.stored_machines import LAMP, Lamp

UNLIMITED = CircuitBreakerPolicy(max_transitions=0, max_state_visits=0)


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
