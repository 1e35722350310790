"""A machine at rest: every field, and a new machine that goes on exactly there."""

import json
from datetime import UTC, datetime, timedelta
from enum import Enum

import pytest

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError, DefinitionError
from orkeon_transitions.facts import Snapshot
from tests.runtime.samples import GUARDED, RING, Clock, limits, quiet

POLICY = limits(
    max_transitions=20,
    state_timeout=60,
    max_state_visits=10,
    max_total_duration=600,
    meters={"usd": 2.5},
    max_repeats=3,
)


def travelled(kind, clock, **options):
    """A machine that has been through everything that a snapshot keeps."""
    machine = kind.make(GUARDED, **{"policy": POLICY, "clock": clock, "machine_id": "t1", **options})
    kind.fire(machine, "go")
    clock.advance(5)
    kind.fire(machine, "call", q="secret")
    kind.fire(machine, "call", q="secret")
    kind.fire(machine, "go")
    machine.spend(usd=1.25)
    clock.advance(7)
    return machine


def through_json(snapshot):
    """As it comes back from a file, in each of the forms that `restore` takes."""
    return [
        snapshot,
        snapshot.model_dump(mode="json"),
        json.loads(json.dumps(snapshot.model_dump(mode="json"))),
        snapshot.model_dump_json(),
    ]


def comparable(machine):
    return machine.snapshot().model_dump(exclude={"taken_at"})


def test_every_field(kind, clock):
    machine = travelled(kind, clock)
    snapshot = machine.snapshot()
    assert isinstance(snapshot, Snapshot)
    assert snapshot.version == 1
    assert (snapshot.machine, snapshot.machine_id) == ("guarded", "t1")
    assert snapshot.definition_hash == machine.definition.content_hash
    assert snapshot.state == "work"
    assert (snapshot.ordinal, snapshot.transition_count) == (4, 4)
    assert snapshot.visits == {"work": 2, "other": 1}
    assert (snapshot.time_in_state, snapshot.active_time, snapshot.clock_running) == (7.0, 12.0, True)
    assert snapshot.spent == {"usd": 1.25}
    assert {state: each.times for state, each in snapshot.repeats.items()} == {"other": 2}
    assert snapshot.trip is None
    assert snapshot.policy == POLICY
    assert snapshot.fields == {}
    assert abs(snapshot.taken_at - datetime.now(UTC)) < timedelta(minutes=1)
    assert snapshot.taken_at.utcoffset() == timedelta(0)


def test_it_is_plain_json_data(kind, clock):  # case E04
    machine = travelled(kind, clock, commit=lambda fact, snapshot: None, lock_timeout=3)
    machine.on_transition(print)
    text = machine.snapshot().model_dump_json()
    assert json.loads(text) == machine.snapshot().model_dump(mode="json") | {
        "taken_at": json.loads(text)["taken_at"]
    }
    assert "secret" not in text
    assert "0x" not in text


def test_it_is_frozen_and_stays_as_it_was(kind, clock):
    machine = travelled(kind, clock)
    snapshot = machine.snapshot()
    text = snapshot.model_dump_json()
    kind.fire(machine, "go")
    machine.spend(usd=1)
    assert snapshot.model_dump_json() == text
    with pytest.raises(ValueError, match="frozen"):
        snapshot.state = "other"


def test_restoring_goes_on_where_it_was(kind, clock):  # case E04
    machine = travelled(kind, clock)
    for saved in through_json(machine.snapshot()):
        again = kind.machine_class.restore(machine.definition, saved, clock=Clock(5.0))
        assert comparable(again) == comparable(machine)
        assert again.machine_id == "t1"
        assert again.policy == POLICY
        status, before = again.circuit_status, machine.circuit_status
        assert status == before
    assert kind.fire(again, "go").ordinal == 5


def test_downtime_is_not_counted(kind, clock):
    machine = travelled(kind, clock)
    saved = machine.snapshot().model_dump_json()
    later = Clock(clock.now + 1e6)
    again = kind.machine_class.restore(machine.definition, saved, clock=later)
    assert again.circuit_status.time_in_current_state == timedelta(seconds=7)
    assert again.circuit_status.total_elapsed == timedelta(seconds=12)
    assert again.circuit_status.remaining == timedelta(seconds=53)
    later.advance(54)
    with pytest.raises(CircuitBrokenError, match="State timeout exceeded: 61s"):
        kind.fire(again, "go")


def test_a_restart_hands_out_no_fresh_budget(kind):
    definition, saved = None, None
    for _ in range(3):
        machine = (
            kind.make(RING, policy=limits(max_transitions=3))
            if saved is None
            else kind.machine_class.restore(definition, saved)
        )
        definition = machine.definition
        kind.fire(machine, "next")
        saved = machine.snapshot().model_dump_json()
    machine = kind.machine_class.restore(definition, saved)
    with pytest.raises(CircuitBrokenError, match=r"Max transitions exceeded \(3/3\)"):
        kind.fire(machine, "next")


def test_repeats_and_meters_go_on(kind, clock):
    machine = travelled(kind, clock)
    again = kind.machine_class.restore(machine.definition, machine.snapshot().model_dump_json(), clock=clock)
    kind.fire(again, "go")
    assert kind.fire(again, "call", q="secret")
    assert not kind.try_fire(again, "call", q="secret")
    again = kind.machine_class.restore(machine.definition, machine.snapshot().model_dump_json(), clock=clock)
    again.spend(usd=1.5)
    assert kind.try_fire(again, "go").refusal.message.startswith("Budget exhausted: 2.75 usd")


def test_a_trip_survives(kind):
    machine = kind.make(GUARDED, policy=limits(max_transitions=1))
    kind.fire(machine, "go")
    kind.try_fire(machine, "go")
    for saved in through_json(machine.snapshot()):
        again = kind.machine_class.restore(machine.definition, saved)
        told = []
        again.on_circuit_broken(told.append)
        assert again.is_circuit_broken
        assert again.circuit_status.limit is BreakerLimit.MAX_TRANSITIONS
        assert again.circuit_status.broken_reason == machine.circuit_status.broken_reason
        with pytest.raises(CircuitBrokenError):
            kind.fire(again, "go")
        assert told == []  # it was published by the machine that tripped
        assert kind.wait(again.permitted_triggers()) == ["cancel"]
        again.reset_circuit_breaker()
        assert kind.fire(again, "go").ordinal == 2


def test_a_patient_state_stays_patient(kind, clock):
    text = "initial: a\nstates: [a, {name: b, timeout: 0}]\ntransitions: [[go, a, b], [back, b, a]]\n"
    machine = kind.make(text, policy=limits(max_total_duration=10), clock=clock)
    kind.fire(machine, "go")
    kind.fire(machine, "back")
    clock.advance(4)
    kind.fire(machine, "go")
    saved = machine.snapshot()
    assert (saved.active_time, saved.clock_running) == (4.0, False)
    clock.advance(1e6)
    again = kind.machine_class.restore(machine.definition, saved, clock=clock)
    clock.advance(1e6)
    assert kind.fire(again, "back")
    clock.advance(6)
    assert kind.fire(again, "go")


def test_options_beat_the_snapshot(kind, clock):
    machine = travelled(kind, clock)
    policy = CircuitBreakerPolicy.permissive()
    again = kind.machine_class.restore(machine.definition, machine.snapshot(), policy=policy, machine_id="t2")
    assert (again.policy, again.machine_id) == (policy, "t2")
    assert again.transition_count == 4


def test_enums_and_callbacks_are_given_again(kind):
    class State(Enum):
        WORK = "work"
        OTHER = "other"
        LIMP = "limp"
        DONE = "done"
        CANCELLED = "cancelled"

    machine = kind.make(GUARDED, **quiet(states=State))
    kind.fire(machine, "go")
    saved = machine.snapshot()
    assert kind.machine_class.restore(machine.definition, saved, states=State).state is State.OTHER
    assert kind.machine_class.restore(machine.definition, saved).state == "other"


def test_the_constructor_takes_a_snapshot_too(kind, clock):
    machine = travelled(kind, clock)
    again = kind.make(GUARDED, snapshot=machine.snapshot().model_dump_json(), clock=clock)
    assert comparable(again) == comparable(machine)


def test_the_definition_may_be_given_in_any_form(kind, clock):
    machine = travelled(kind, clock)
    again = kind.machine_class.restore(GUARDED, machine.snapshot())
    assert again.state == "work"


def test_a_changed_definition_is_a_warning(kind, clock):
    machine = travelled(kind, clock)
    changed = GUARDED.replace("[finish, [work, other], done]", "[finish, work, done]")
    with pytest.warns(
        UserWarning, match="the definition of 'guarded' has changed since the snapshot of 't1' was taken"
    ):
        again = kind.machine_class.restore(changed, machine.snapshot())
    assert again.state == "work"


def test_a_state_that_is_not_there_any_more_is_an_error(kind, clock):
    machine = travelled(kind, clock)
    with pytest.raises(
        DefinitionError, match="snapshot of 't1': machine 'ring' has no state 'work'"
    ) as raised:
        kind.machine_class.restore(RING, machine.snapshot())
    assert raised.value.problems[0].path == "state"


DAMAGE = [
    ("version", 2),
    ("version", None),
    ("machine_id", 5),
    ("state", None),
    ("ordinal", -1),
    ("transition_count", "three"),
    ("visits", [1]),
    ("time_in_state", -0.5),
    ("active_time", float("nan")),
    ("clock_running", "maybe"),
    ("repeats", {"a": {"digest": "x", "times": -1}}),
    ("trip", {"limit": "no_such_limit", "reason": "x"}),
    ("policy", {"max_transitions": -1}),
    ("taken_at", "yesterday"),
    ("surprise", 1),
]


@pytest.mark.parametrize(("field", "value"), DAMAGE)
def test_a_damaged_snapshot_is_one_clear_error(kind, clock, field, value):
    machine = travelled(kind, clock)
    damaged = machine.snapshot().model_dump(mode="json") | {field: value}
    with pytest.raises(DefinitionError) as raised:
        kind.machine_class.restore(machine.definition, damaged)
    assert raised.value.problems[0].path.startswith(field)
    assert raised.value.problems[0].message.startswith("snapshot: ")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 1}', "\x00"])
def test_what_is_no_snapshot_at_all(kind, text):
    with pytest.raises(DefinitionError, match="snapshot: "):
        kind.machine_class.restore(RING, text)
    with pytest.raises(DefinitionError, match="snapshot: "):
        kind.machine_class.restore(RING, None)


@pytest.mark.parametrize(
    "stamp", ["2024-01-01T00:00:00+02:00", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5+00:00"]
)
def test_stamps_with_an_offset_are_read(kind, clock, stamp):  # case D02
    machine = travelled(kind, clock)
    saved = machine.snapshot().model_dump(mode="json") | {"taken_at": stamp}
    again = kind.machine_class.restore(machine.definition, saved, clock=clock)
    assert again.circuit_status.total_elapsed == timedelta(seconds=12)


def test_stamps_without_an_offset_are_refused(kind, clock):  # case D02
    machine = travelled(kind, clock)
    saved = machine.snapshot().model_dump(mode="json") | {"taken_at": "2024-01-01T00:00:00"}
    with pytest.raises(DefinitionError, match=r"taken_at: snapshot: .*timezone"):
        kind.machine_class.restore(machine.definition, saved)


def test_written_stamps_carry_an_offset(kind):  # case D02
    machine = kind.make(RING, **quiet())
    result = kind.fire(machine, "next")
    written = machine.snapshot().model_dump(mode="json")["taken_at"]
    for stamp in (written, result.timestamp.isoformat()):
        assert datetime.fromisoformat(stamp).utcoffset() == timedelta(0)
