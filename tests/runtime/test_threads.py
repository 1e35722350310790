"""A plain machine among threads: one at a time, never a hang, reading never waits."""

import itertools
import threading
import time
from contextlib import contextmanager

import pytest

from orkeon_transitions.errors import CircuitBrokenError, MachineBusyError
from orkeon_transitions.runtime import StateMachine
from tests.runtime.samples import GUARDED, RING, limits, quiet

HOLD = """
name: holding
initial: a
states: [a, {name: b, on_enter: hold}, c]
transitions:
  - [go, a, b]
  - {trigger: on, source: b, dest: c, conditions: fine}
"""


@contextmanager
def held(**options):
    """A machine in the middle of a transition that another thread makes."""
    is_in, may_go = threading.Event(), threading.Event()

    def hold(event):
        is_in.set()
        may_go.wait(10)

    machine = StateMachine(
        HOLD, **{**quiet(), "actions": {"hold": hold}, "guards": {"fine": lambda e: True}, **options}
    )
    holder = threading.Thread(target=machine.fire, args=("go",))
    holder.start()
    assert is_in.wait(5)
    try:
        yield machine
    finally:
        may_go.set()
        holder.join(5)
    assert not holder.is_alive()


def test_reading_never_waits():  # case C07
    with held(lock_timeout=None) as machine:
        begin = time.monotonic()
        assert machine.state == "b"
        assert not machine.is_terminal
        assert machine.transition_count == 1
        assert not machine.is_circuit_broken
        assert machine.circuit_status.state_visit_histogram == {"a": 1, "b": 1}
        assert machine.snapshot().state == "b"
        assert machine.can_fire("on")
        assert machine.why_not("on") is None
        assert machine.permitted_triggers() == ["on"]
        assert "in 'b'" in repr(machine)
        assert time.monotonic() - begin < 1


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.fire("on"),
        lambda m: m.try_fire("on"),
        lambda m: m.on(),
        lambda m: m.check_circuit(),
        lambda m: m.reset_circuit_breaker(),
        lambda m: m.spend(usd=1),
    ],
    ids=["fire", "try_fire", "by name", "check_circuit", "reset", "spend"],
)
def test_what_must_wait_has_a_time_limit(call):  # case C07
    with held(lock_timeout=0.05) as machine, pytest.raises(MachineBusyError) as raised:
        call(machine)
    assert (
        str(raised.value)
        == "machine 'holding' is making another transition and did not become free in 0.05 s"
    )


def test_a_limit_of_zero_does_not_wait_at_all():
    with held(lock_timeout=0) as machine:
        begin = time.monotonic()
        with pytest.raises(MachineBusyError, match="in 0 s"):
            machine.fire("on")
        assert time.monotonic() - begin < 0.5


def test_a_trigger_waits_for_the_one_before():
    with held(lock_timeout=5) as machine:
        made = []
        second = threading.Thread(target=lambda: made.append(machine.fire("on")))
        second.start()
        time.sleep(0.02)
        assert made == []
    second.join(5)
    assert made[0].from_state == "b"


def test_a_callback_that_waits_for_another_thread_that_fires_is_told_so():
    errors = []

    def hold(event):
        def other():
            try:
                machine.fire("on")
            except MachineBusyError as error:
                errors.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join(5)

    options = quiet(actions={"hold": hold}, guards={"fine": lambda e: True}, lock_timeout=0.05)
    machine = StateMachine(HOLD, **options)
    assert machine.fire("go")
    assert len(errors) == 1


def run_all(number, function):
    """Runs a function in so many threads that begin together."""
    barrier = threading.Barrier(number)

    def body():
        barrier.wait(5)
        function()

    threads = [threading.Thread(target=body) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("degraded", [False, True])
def test_of_many_that_race_for_the_last_slot_exactly_one_gets_it(degraded):
    for _ in range(20):
        machine = StateMachine(GUARDED, policy=limits(max_transitions=5, use_degraded_mode=degraded))
        for _ in range(4):
            machine.fire("go")
        told, results = [], []
        machine.on_circuit_broken(told.append)
        run_all(6, lambda m=machine, r=results: r.append(m.try_fire("tick")))
        assert len([each for each in results if each.accepted]) == 1
        assert len([each for each in results if each.degraded]) == (1 if degraded else 0)
        assert len(told) == 1
        assert told[0].status.total_transitions == 5
        assert machine.transition_count == (6 if degraded else 5)


def test_no_transition_is_lost_or_made_twice():
    facts = []
    machine = StateMachine(
        RING, **quiet(commit=lambda fact, snapshot: facts.append((fact, snapshot.ordinal)))
    )
    told = []
    machine.on_transition(told.append)
    run_all(4, lambda: [machine.fire("next") for _ in range(50)])
    assert machine.transition_count == 200
    assert [fact.ordinal for fact, _ in facts] == list(range(1, 201))
    assert [ordinal for _, ordinal in facts] == list(range(1, 201))
    assert all(before.to_state == after.from_state for (before, _), (after, _) in itertools.pairwise(facts))
    assert [fact.ordinal for fact in told] == list(range(1, 201))
    assert sum(machine.circuit_status.state_visit_histogram.values()) == 201


def test_nothing_that_is_spent_is_lost():
    machine = StateMachine(RING, **quiet())

    def work():
        for number in range(50):
            machine.spend(tokens=2)
            if number % 5 == 0:
                machine.fire("next")

    run_all(4, work)
    assert machine.circuit_status.spent == {"tokens": 400}


def test_resets_and_triggers_may_race():
    machine = StateMachine(RING, policy=limits(max_transitions=3))
    made = []

    def work():
        for _ in range(30):
            if machine.try_fire("next"):
                made.append(1)
            else:
                machine.reset_circuit_breaker()

    run_all(4, work)
    assert machine.snapshot().ordinal == len(made)
    assert machine.transition_count <= 3


def test_readers_never_see_half_of_a_transition():
    """State, counts and histogram come from one record."""
    machine = StateMachine(RING, **quiet())
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            snapshot = machine.snapshot()
            if sum(snapshot.visits.values()) != snapshot.ordinal + 1 or snapshot.state not in snapshot.visits:
                wrong.append(snapshot)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(300):
        machine.fire("next")
    stop.set()
    reader.join(5)
    assert wrong == []


def test_an_error_gives_the_machine_free_again():
    def hold(event):
        raise OSError

    machine = StateMachine(
        HOLD, **quiet(actions={"hold": hold}, guards={"fine": lambda e: True}, lock_timeout=1)
    )
    with pytest.raises(OSError):
        machine.fire("go")
    made = []
    run_all(1, lambda: made.append(machine.fire("on")))
    assert made[0]


def test_a_trip_in_another_thread_is_raised_there():
    machine = StateMachine(RING, policy=limits(max_transitions=1))
    machine.fire("next")
    errors = []

    def work():
        with pytest.raises(CircuitBrokenError):
            machine.fire("next")
        errors.append(1)

    run_all(3, work)
    assert len(errors) == 3
