"""Machines whose definition has changed since they were saved, and snapshots that are none."""

import json
import warnings
from collections import Counter

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import DefinitionError, JournalError, OrkeonError, StaleMachineError
from orkeon_transitions.machines import HermesAgentFSM, TaskExecution
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import MachineStore, replay
from tests.store.stored_machines import DIMMED, LAMP, RENAMED, Lamp

OLD, NEW = load_definition(LAMP).content_hash, load_definition(RENAMED).content_hash


@pytest.fixture
def store(tmp_path):
    with MachineStore(f"sqlite:///{tmp_path / 'machines.db'}") as store:
        store.create(StateMachine, LAMP, machine_id="l1").fire("switch_on")
        yield store


def row(store):
    return store.machines()[0]


# ------------------------------------------------------------------------------------------ it has changed
def test_a_changed_definition_is_told_with_both_hashes_and_what_to_do(store):
    now = load_definition(DIMMED).content_hash
    with pytest.warns(
        UserWarning, match=rf"'lamp' has changed .*{OLD[:12]}, now {now[:12]}.*migrate="
    ) as told:
        lamp = store.load(StateMachine, DIMMED, "l1")
    assert len(told) == 1
    assert told[0].filename == __file__
    lamp.fire("dim")
    assert row(store).definition_hash == now
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.load(StateMachine, DIMMED, "l1")


def test_a_state_that_is_gone_is_an_error_that_says_how_to_go_on(store):
    with pytest.raises(
        DefinitionError, match=r"no state 'on' any more: load\(..., migrate=\{'on': "
    ) as error:
        store.load(StateMachine, RENAMED, "l1")
    assert error.value.problems[0].path == "state"
    assert (row(store).version, row(store).definition_hash) == (1, OLD)


def test_states_are_renamed_with_their_counts(store):
    lamp = store.load(StateMachine, RENAMED, "l1", migrate={"on": "bright", "off": "dark"})
    assert (lamp.state, lamp.transition_count) == ("bright", 1)
    assert lamp.circuit_status.state_visit_histogram == {"dark": 1, "bright": 1}
    assert (row(store).version, row(store).state, row(store).definition_hash) == (2, "bright", NEW)
    assert [record.fact for record in store.journal("l1")] == ["transition", "recording"]
    lamp.fire("switch_off")
    assert store.load(StateMachine, RENAMED, "l1", migrate={"dark": "bright"}).state == "dark"


def test_two_states_that_become_one_share_their_visits(store):
    policy = CircuitBreakerPolicy(max_state_visits=2)
    one = {**LAMP, "initial": "off", "states": ["off", "broken"], "transitions": [["drop", "off", "broken"]]}
    lamp = store.load(StateMachine, one, "l1", migrate={"on": "off"}, policy=policy)
    assert lamp.circuit_status.state_visit_histogram == {"off": 2}


def test_nothing_to_rename_is_said_by_an_empty_mapping(store):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lamp = store.load(StateMachine, DIMMED, "l1", migrate={})
    assert (lamp.state, row(store).version) == ("on", 2)


def test_a_function_may_change_anything_but_the_name(store):
    def migrate(snapshot):
        assert snapshot.definition_hash == OLD
        visits = Counter(snapshot.visits)
        return snapshot.model_copy(
            update={"state": "dark", "visits": {"dark": visits.total()}, "machine_id": "other"}
        )

    lamp = store.load(StateMachine, RENAMED, "l1", migrate=migrate)
    assert (lamp.state, lamp.machine_id) == ("dark", "l1")
    assert lamp.circuit_status.state_visit_histogram == {"dark": 2}
    store.load(StateMachine, RENAMED, "l1", migrate=lambda snapshot: pytest.fail("it was migrated already"))


def test_a_migration_is_not_asked_where_nothing_has_changed(store):
    store.load(StateMachine, LAMP, "l1", migrate=lambda snapshot: pytest.fail("nothing has changed"))
    assert row(store).version == 1


@pytest.mark.parametrize("migrate", [{"on": "brigth"}, {}, {"off": "dark"}])
def test_a_migration_to_nowhere_is_refused_and_nothing_is_written(store, migrate):
    with pytest.raises(DefinitionError, match="migrate: the definition of 'lamp' has no state"):
        store.load(StateMachine, RENAMED, "l1", migrate=migrate)
    assert (row(store).version, row(store).state) == (1, "on")


def test_a_migration_that_gives_no_snapshot_is_refused(store):
    with pytest.raises(TypeError, match="must give a Snapshot, not NoneType"):
        store.load(StateMachine, RENAMED, "l1", migrate=lambda snapshot: None)


@pytest.mark.parametrize(
    "changes",
    [
        {"transition_count": -5},
        {"transition_count": "many"},
        {"visits": {"bright": None}},
        {"time_in_state": float("nan")},
        {"fields": {"colour": object()}},
        {"policy": None},
        {"version": 2},
        {"taken_at": "yesterday"},
    ],
)
def test_a_migration_to_a_damaged_snapshot_is_refused_and_nothing_is_written(store, changes):
    with pytest.raises(
        DefinitionError, match="migrate: the snapshot that the function made for 'lamp' is"
    ) as kept:
        store.load(
            StateMachine,
            RENAMED,
            "l1",
            migrate=lambda snapshot: snapshot.model_copy(update={"state": "bright"} | changes),
        )
    assert str(kept.value).count("migrate:") == 1
    assert store.load(StateMachine, LAMP, "l1").state == "on"
    assert row(store).version == 1


def test_a_migration_does_not_move_a_machine_in_its_journal(store):
    def migrate(snapshot):
        return snapshot.model_copy(update={"state": "bright", "ordinal": 0, "machine_id": "other"})

    lamp = store.load(StateMachine, RENAMED, "l1", migrate=migrate)
    lamp.fire("switch_off")
    assert [record.ordinal for record in store.journal("l1")] == [1, 1, 2]


@pytest.mark.parametrize("migrate", ["on", 5])
def test_a_migration_that_is_none_is_refused(store, migrate):
    with pytest.raises(TypeError, match="migrate must be a mapping or a function"):
        store.load(StateMachine, RENAMED, "l1", migrate=migrate)


def test_a_migration_loses_against_another_writer(store):
    other = store.load(StateMachine, LAMP, "l1")

    def migrate(snapshot):
        other.fire("switch_off")
        return snapshot.model_copy(update={"state": "bright"})

    with pytest.raises(StaleMachineError):
        store.load(StateMachine, RENAMED, "l1", migrate=migrate)
    assert row(store).state == "off"


class Bright(StateMachine):
    """A class that names its new definition itself."""

    persisted = ("size",)

    def __init__(self, size, **options):
        self.size = size
        super().__init__(RENAMED, **options)


def test_a_class_that_has_a_definition_of_its_own_is_migrated_once(store):
    lamp = store.load(Bright, "l1", migrate={"on": "bright", "off": "dark"}, size=3)
    assert (lamp.state, lamp.size) == ("bright", 3)
    back = store.load(Bright, "l1", migrate=lambda snapshot: pytest.fail("it was migrated already"))
    assert (back.state, back.size) == ("bright", 3)


def test_a_class_that_has_a_definition_of_its_own_tells_of_a_change(store):
    class Dimmed(StateMachine):
        def __init__(self, **options):
            super().__init__(DIMMED, **options)

    with pytest.warns(UserWarning, match="has changed since"):
        assert store.load(Dimmed, "l1").state == "on"


def test_another_kind_of_machine_is_refused(store):
    store.create(HermesAgentFSM, "s1", machine_id="s1")
    with pytest.raises(
        OrkeonError, match=r"'s1' is a 'hermes_agent', and TaskExecution runs 'task_execution'"
    ):
        store.load(TaskExecution, "s1")


def test_another_kind_of_machine_with_the_same_states_is_refused(store):
    class Torch(StateMachine):
        def __init__(self, **options):
            super().__init__({**LAMP, "name": "torch"}, **options)

    with (
        pytest.warns(UserWarning, match="has changed"),
        pytest.raises(OrkeonError, match="Torch runs 'torch'"),
    ):
        store.load(Torch, "l1")
    assert store.load(Torch, "l1", migrate={}).definition.name == "torch"
    assert row(store).machine == "torch"


def test_replay_tells_of_the_change(store, tmp_path):
    store.load(StateMachine, DIMMED, "l1", migrate={}).fire("dim")
    store.export_journal("l1", tmp_path / "l1.jsonl")
    codes = [anomaly.code for anomaly in replay(tmp_path / "l1.jsonl", load_definition(LAMP)).anomalies]
    assert "definition-changed" in codes


def test_a_migration_is_no_gap(store, tmp_path):
    lamp = store.load(StateMachine, RENAMED, "l1", migrate={"on": "bright", "off": "dark"})
    lamp.fire("switch_off")
    store.export_journal("l1", tmp_path / "l1.jsonl")
    told = replay(tmp_path / "l1.jsonl", load_definition(RENAMED))
    assert [anomaly.code for anomaly in told.anomalies if anomaly.line > 1] == []
    assert (told.final_state, told.histogram) == ("dark", {"dark": 2, "bright": 1})


# -------------------------------------------------------------------------------------------------- damaged
@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"version": 9}', '{"state": 1}'])
def test_a_damaged_snapshot_is_told_and_the_rest_goes_on(store, damage):
    store.create(Lamp, machine_id="l2")
    with store._database.writing("test") as connection:
        connection.exec_driver_sql(
            "UPDATE orkeon_machines SET snapshot = ? WHERE machine_id = 'l1'", (damage,)
        )
    with pytest.raises(JournalError, match=r"the snapshot of machine 'l1' in sqlite.* is damaged \("):
        store.load(StateMachine, LAMP, "l1")
    assert len(store.journal("l1")) == 1
    assert store.load(Lamp, "l2").state == "off"


def test_a_snapshot_of_another_machine_is_told(store):
    store.create(Lamp, machine_id="l2")
    with store._database.writing("test") as connection:
        connection.exec_driver_sql(
            "UPDATE orkeon_machines SET snapshot = ("
            "SELECT snapshot FROM orkeon_machines WHERE machine_id = 'l2')"
        )
    with pytest.raises(JournalError, match=r"'l1' .* is damaged: it is that of 'l2'"):
        store.load(StateMachine, LAMP, "l1")


@pytest.mark.parametrize(
    "line", ["", "{", "[]", '{"fact": "transition"}', json.dumps({"state_when_error": "on"})]
)
def test_a_damaged_line_is_told_with_its_version(store, line):
    with store._database.writing("test") as connection:
        connection.exec_driver_sql("UPDATE orkeon_journal SET line = ?", (line,))
    with pytest.raises(JournalError, match="machine 'l1':1: "):
        store.journal("l1")
