"""What is made at once keeps the law: whatever changes later, whoever reads meanwhile, wherever it stops."""

import dis
import gc
import sys
import threading
import tracemalloc
from enum import IntEnum

import pytest

from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.runtime import StateMachine
from tests.runtime.samples import limits

DOOR = {
    "name": "door",
    "initial": "open",
    "states": ["open", "shut"],
    "transitions": [
        {"trigger": "turn", "source": "open", "dest": "shut", "conditions": "may", "before": "squeak"},
        {"trigger": "turn", "source": "shut", "dest": "open", "conditions": "may", "after": "bang"},
    ],
}


class Door(StateMachine):
    def may(self, event):
        return True

    def squeak(self, event):
        pass

    def bang(self, event):
        pass


def door(**options):
    """A door that has moved once: the first transition, which starts the clocks, is the law's."""
    made = Door(DOOR, **{"policy": limits(), **options})
    made.fire("turn")
    return made


def test_a_guard_that_the_class_is_given_later_is_asked(monkeypatch):
    machine = door()
    monkeypatch.setattr(Door, "may", lambda self, event: False)
    assert not machine.try_fire("turn")
    monkeypatch.undo()
    assert machine.try_fire("turn")


@pytest.mark.parametrize("name", ["squeak", "bang"])
def test_an_action_that_the_machine_is_given_later_is_performed(name):
    machine, events = door(), []
    setattr(machine, name, events.append)
    machine.fire("turn")
    machine.fire("turn")
    assert [event.trigger for event in events] == ["turn"]


@pytest.mark.parametrize("trigger", [[], {}, [{}]])
def test_what_has_no_hash_is_no_trigger(trigger):
    machine = door()
    with pytest.raises(TypeError, match="a text or an Enum member"):
        machine.fire(trigger)
    assert machine.fire("turn")


@pytest.mark.parametrize("change", [{"max_transitions": 2}, {"max_state_visits": 1}])
def test_a_policy_that_is_given_later_holds_at_once(change):
    machine = door()
    machine.fire("turn")
    machine.policy = limits(**change)
    with pytest.raises(CircuitBrokenError):
        machine.fire("turn")


@pytest.mark.parametrize("change", [{"state_timeout": 5}, {"max_total_duration": 5}])
def test_a_clock_that_has_run_out_is_seen(change):
    now = [100.0]
    machine = door(policy=limits(**change), clock=lambda: now[0])
    machine.fire("turn")
    now[0] += 5.01
    with pytest.raises(CircuitBrokenError):
        machine.fire("turn")


def test_the_whole_run_ends_though_each_state_has_time_left():
    now = [100.0]
    machine = door(policy=limits(state_timeout=4, max_total_duration=5), clock=lambda: now[0])
    for seconds in (3, 1.9):
        now[0] += seconds
        assert machine.fire("turn")
    now[0] += 0.2
    with pytest.raises(CircuitBrokenError, match="Max total duration"):
        machine.fire("turn")


def test_a_commit_hook_that_is_attached_later_hears_of_each_transition():
    machine, facts = door(), []
    machine.attach_commit(lambda fact, snapshot: facts.append((fact.ordinal, snapshot.state)))
    machine.fire("turn")
    machine.fire("turn")
    assert facts == [(2, "open"), (3, "shut")]


def test_no_reader_sees_half_of_a_transition():
    machine, stop, seen = door(), threading.Event(), []

    def read():
        while not stop.is_set():
            counts = machine.snapshot()
            if counts.visits.get("open", 0) + counts.visits.get("shut", 0) != counts.ordinal + 1:
                seen.append(counts)
            if (counts.state == "shut") is not (counts.ordinal % 2 == 1):
                seen.append(counts)

    reader = threading.Thread(target=read)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        reader.start()
        for _ in range(3000):
            machine.fire("turn")
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        reader.join()
    assert seen == []


def lines_of_moving(machine):
    """How many lines a trigger runs through in the modules that make it."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line" and "runtime" in frame.f_code.co_filename
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        machine.fire("turn")
    finally:
        sys.settrace(before)
    return count


@pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer is at work already")
@pytest.mark.parametrize("state", ["open", "shut"])
def test_an_interrupt_at_any_line_leaves_the_record_whole(state):
    def fresh():
        machine = door()
        if machine.state != state:
            machine.fire("turn")
        return machine

    for place in range(lines_of_moving(fresh())):
        machine, left = fresh(), [place]

        def trace(frame, event, argument, left=left):
            if event == "line" and "runtime" in frame.f_code.co_filename:
                left[0] -= 1
                in_the_stores = frame.f_lineno in STORES.get(frame.f_code.co_name, ())
                if left[0] < 0 and not in_the_stores:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            machine.fire("turn")
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        found = machine.snapshot()
        assert sum(found.visits.values()) == found.ordinal + 1
        assert found.transition_count == found.ordinal


def stores():
    """The lines between which no signal can come, as nothing is called and nothing repeated there."""
    from orkeon_transitions.runtime import at_once, record

    parts = at_once._common.__code__.co_consts
    make = next(each for each in parts if getattr(each, "co_name", "") == "make")
    put = record.Record.put.__code__
    return {
        "make": range(stored_at(make, "deadline")[0], stored_at(make, "settled")[-1] + 1),
        "put": range(stored_at(put, "_epoch")[0], stored_at(put, "_epoch")[-1] + 1),
    }


def stored_at(code, attribute):
    """The lines that store an attribute of that name."""
    found, number = [], code.co_firstlineno
    for step in dis.get_instructions(code):
        number = step.starts_line or number
        if step.opname == "STORE_ATTR" and step.argval == attribute:
            found.append(number)
    return found


STORES = stores()


def test_a_machine_keeps_its_size_however_often_it_has_moved():
    machine = door()

    def held():
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        for _ in range(100):
            machine.fire("turn")
        before = held()
        for _ in range(10_000):
            machine.fire("turn")
        assert held() - before < 1_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("place", ["may", "squeak", "bang"])
def test_what_is_spent_in_a_callback_counts(place):
    machine = door(policy=limits(meters={"tokens": 10}))
    setattr(machine, place, lambda event: machine.spend(tokens=11) is None)
    if place == "squeak":
        machine.fire("turn")
    machine.fire("turn")
    with pytest.raises(CircuitBrokenError, match="Budget exhausted"):
        machine.fire("turn")


@pytest.mark.parametrize("place", ["may", "squeak"])
def test_a_hook_that_a_callback_attaches_hears_of_its_transition_and_all_after(place):
    machine, heard = door(), []
    machine.fire("turn")

    def attach(event):
        if not heard and machine._commit_hook is None:
            machine.attach_commit(lambda fact, snapshot: heard.append((fact.ordinal, snapshot.state)))
        return place == "may" or None

    setattr(machine, place, attach)
    for _ in range(3):
        machine.fire("turn")
    assert heard == [(3, "shut"), (4, "open"), (5, "shut")]


def test_a_policy_that_a_callback_sets_holds_for_the_next_one():
    machine = door()
    machine.fire("turn")

    def spend_all(event):
        machine.policy = limits(max_transitions=3)

    machine.squeak = spend_all
    assert machine.fire("turn")
    with pytest.raises(CircuitBrokenError, match=r"\(3/3\)"):
        machine.fire("turn")


class Number(IntEnum):
    turn = 1


@pytest.mark.parametrize("trigger", [1, True, 1.0])
def test_a_number_is_no_trigger_though_a_member_is_equal_to_it(trigger):
    machine = Door(DOOR, policy=limits(), triggers=Number)
    assert machine.fire(Number.turn)
    with pytest.raises(TypeError, match="a text or an Enum member"):
        machine.fire(trigger)
    assert machine.fire(Number.turn).trigger is Number.turn


def test_policies_from_another_thread_leave_each_state_its_own_rows():
    machine, stop = door(), threading.Event()

    def change():
        while not stop.is_set():
            machine.policy = limits(max_transitions=10**9)

    switching, other = sys.getswitchinterval(), threading.Thread(target=change)
    sys.setswitchinterval(1e-6)
    other.start()
    try:
        for _ in range(3000):
            before = machine.state
            result = machine.fire("turn")
            assert (result.from_state, result.to_state) == (before, machine.state)
            assert before != machine.state
    finally:
        stop.set()
        other.join()
        sys.setswitchinterval(switching)
