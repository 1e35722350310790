"""Snapshots of mad clocks and figures, and snapshots that are taken while another thread fires."""

import sys
import threading
from datetime import timedelta

import pytest

from orkeon_transitions.errors import CircuitBrokenError, DefinitionError
from orkeon_transitions.runtime import StateMachine
from tests.runtime.samples import RING, limits, quiet


def test_a_time_beyond_all_durations_is_no_trouble(kind):
    machine = kind.make(RING, **quiet())
    data = machine.snapshot().model_dump(mode="json") | {"time_in_state": 1e300}
    other = kind.machine_class.restore(machine.definition, data, policy=limits(state_timeout=5))
    assert other.circuit_status.time_in_current_state == timedelta.max
    with pytest.raises(CircuitBrokenError, match="State timeout exceeded"):
        kind.fire(other, "next")


def test_no_snapshot_has_fields_of_another_state():
    class Counting(StateMachine):
        persisted = ("one", "two")
        one = two = 0

        def _fields_after(self, event):
            return {"one": self.one + 1, "two": self.two + 1}

    machine, torn, done = Counting(RING, **quiet()), [], threading.Event()

    def reading():
        while not done.is_set():
            seen = machine.snapshot()
            if not seen.fields["one"] == seen.fields["two"] == seen.ordinal:
                torn.append(seen)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=reading)
    thread.start()
    try:
        for _ in range(1500):
            machine.fire("next")
    finally:
        done.set()
        thread.join(10)
        sys.setswitchinterval(before)
    assert torn == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("visits", {"a": -1}),
        ("time_in_state", float("inf")),
        ("active_time", float("nan")),
        ("spent", {"usd": -5}),
        ("spent", {"usd": float("nan")}),
    ],
)
def test_figures_that_nobody_can_count_with_are_damage(kind, field, value):
    data = kind.make(RING, **quiet()).snapshot().model_dump(mode="json") | {field: value}
    with pytest.raises(DefinitionError) as raised:
        kind.machine_class.restore(RING, data)
    assert raised.value.problems[0].path.split(".")[0] == field
