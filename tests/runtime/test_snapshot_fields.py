"""What a class names in `persisted`: kept as JSON data, and given back to a new machine."""

import warnings

import pytest

from orkeon_transitions.errors import DefinitionError
from orkeon_transitions.machines import AsyncTaskExecution, HermesAgentFSM, TaskExecution
from orkeon_transitions.runtime import StateMachine
from tests.runtime.samples import RING, quiet
from tests.runtime.test_snapshot import through_json


def note_class(kind):
    class Noting(kind.machine_class):
        persisted = ("label", "notes", "tags")

        def __init__(self, label, *, notes=(), **options):
            self.label = label
            self.notes = list(notes)
            self.tags = set()
            super().__init__(RING, **options)

    return Noting


def test_fields_that_the_class_names_are_kept(kind):
    noting = note_class(kind)
    machine = noting("x", **quiet())
    machine.notes.append("first")
    machine.tags |= {"b", "a"}
    snapshot = machine.snapshot()
    assert snapshot.fields == {"label": "x", "notes": ["first"], "tags": ["a", "b"]}
    machine.notes.append("second")
    assert snapshot.fields["notes"] == ["first"]
    for saved in through_json(snapshot):
        again = noting.restore(saved)
        assert (again.label, again.notes, again.tags) == ("x", ["first"], {"a", "b"})
        again.notes.append("mine")
    assert snapshot.fields["notes"] == ["first"]


def test_a_class_with_a_definition_of_its_own_is_restored_from_the_snapshot_alone(kind):
    noting = note_class(kind)
    machine = noting("x", **quiet())
    kind.fire(machine, "next")
    again = noting.restore(machine.snapshot(), label="y")
    assert again.state == "b"
    assert type(again) is noting


def test_shipped_machines_are_restored_with_their_counters():
    for machine_class in (TaskExecution, AsyncTaskExecution):
        machine = machine_class(max_retries=7, machine_id="t1")
        machine.retry_count = 2
        again = machine_class.restore(machine.snapshot().model_dump_json())
        assert (again.max_retries, again.retry_count, again.machine_id) == (7, 2, "t1")
        assert again.policy == machine.policy


@pytest.mark.parametrize(
    "value", [object(), {1, object()}, float("nan"), float("inf"), {"a": object()}, lambda: None]
)
def test_a_value_that_is_no_json_is_null_with_one_warning(kind, value):
    machine = note_class(kind)("x", **quiet())
    machine.notes = value
    with pytest.warns(UserWarning, match=r"'notes' of '.*' is a .*, no JSON.*: saved as null"):
        assert machine.snapshot().fields["notes"] is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert machine.snapshot().fields["notes"] is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([1, {"a": [2, b"x"]}], r"is a list, no JSON \(notes\[1\]\['a'\]\[1\] is a bytes\)"),
        (("a", {1}), r"is a tuple, no JSON \(notes\[1\] is a set\)"),
        ({"a": float("nan")}, r"is a dict, no JSON \(notes\['a'\] is nan\)"),
        ([{(1, 2): 3}], r"is a list, no JSON \(a key of notes\[0\] is a tuple\)"),
        ({1, 2, 1j}, r"is a set, no JSON \(notes\[\d\] is a complex\)"),
        (1j, r"is a complex, no JSON: saved"),
    ],
)
def test_the_warning_names_the_part_that_is_no_json(kind, value, told):
    machine = note_class(kind)("x", **quiet())
    machine.notes = value
    with pytest.warns(UserWarning, match=told):
        assert machine.snapshot().fields["notes"] is None


def test_what_json_has_not_comes_back_as_what_it_has(kind):
    machine = note_class(kind)("x", **quiet())
    machine.notes = {1: ("a", "b")}
    assert machine.snapshot().fields["notes"] == {"1": ["a", "b"]}


def test_a_list_that_holds_itself_is_no_json(kind):
    machine = note_class(kind)("x", **quiet())
    machine.notes = []
    machine.notes.append(machine.notes)
    with pytest.warns(UserWarning, match="no JSON"):
        assert machine.snapshot().fields["notes"] is None


def test_no_field_sets_what_the_class_does_not_name(kind):
    machine = kind.make(RING, **quiet())
    saved = machine.snapshot().model_dump(mode="json") | {
        "fields": {"machine_id": "stolen", "engine": "none"}
    }
    assert kind.machine_class.restore(RING, saved).machine_id == machine.machine_id


def test_fields_that_a_class_no_longer_names_are_left(kind):
    machine = note_class(kind)("x", **quiet())
    saved = machine.snapshot().model_dump(mode="json")
    saved["fields"]["machine_id"] = "stolen"
    saved["fields"]["_counts"] = None
    again = note_class(kind).restore(saved)
    assert again.machine_id == machine.machine_id
    assert again.state == "a"


def test_a_snapshot_that_lacks_what_the_class_needs_says_so():
    snapshot = TaskExecution().snapshot()
    with pytest.raises(DefinitionError, match="'task_execution': HermesAgentFSM needs session_id"):
        HermesAgentFSM.restore(snapshot)
    with pytest.raises(DefinitionError, match="StateMachine needs definition"):
        StateMachine.restore(snapshot)


@pytest.mark.parametrize("policy", ["strict", {"max_transitions": 3}, 3])
def test_a_policy_of_another_type_is_refused_at_once(policy):
    with pytest.raises(TypeError, match=r"policy must be a CircuitBreakerPolicy, not .*preset\('strict'\)"):
        TaskExecution(policy=policy)
