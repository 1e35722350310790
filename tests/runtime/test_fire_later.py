"""Triggers that are made after the transition under way."""

import asyncio
import logging
import threading

import pytest

from orkeon_transitions.facts import Refusal
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.runtime.samples import RING, limits, quiet

LATER = """
initial: a
states: [{name: a, on_exit: at_exit}, {name: b, on_enter: at_enter}, {name: c, on_enter: at_c}, d]
transitions:
  - {trigger: go, source: a, dest: b, conditions: at_guard, before: at_before, after: at_after}
  - [e1, b, c]
  - [e2, c, d]
  - {trigger: bad, source: "*", dest: null, after: at_bad}
"""
PLACES = ["at_guard", "at_before", "at_exit", "at_enter", "at_after"]


def make(kind, place, ask, **options):
    """A machine that calls `ask(machine)` at a place; what was called, in order."""
    log = []

    def broken(event):
        raise OSError("disk")

    names = ("at_exit", "at_enter", "at_c", "at_before", "at_after")
    actions = {"at_bad": broken} | {name: (lambda e, n=name: log.append(n)) for name in names}
    guards = {"at_guard": lambda e: True}

    def asking(event):
        log.append(place)
        ask(machine)
        return True

    (guards if place == "at_guard" else actions)[place] = asking
    machine = kind.make(LATER, **quiet(guards=guards, actions=actions, **options))
    return machine, log


@pytest.mark.parametrize("place", PLACES)
def test_it_waits_for_the_transition_under_way(kind, place):  # case C03
    facts = []

    def commit(fact, snapshot):
        facts.append((fact.from_state, fact.to_state))

    machine, log = make(kind, place, lambda m: m.fire_later("e1"), commit=commit)
    told = []
    machine.on_transition(told.append)
    result = kind.fire(machine, "go")
    assert result.to_state == "b"
    expected = [name for name in PLACES if name != "at_guard" or place == "at_guard"] + ["at_c"]
    assert log == expected
    assert machine.state == "c"
    assert facts == [("a", "b"), ("b", "c")]
    assert [each.ordinal for each in told] == [1, 2]


def test_several_are_tried_in_order(kind):
    def ask(machine):
        machine.fire_later("e1")
        machine.fire_later("e2")

    machine, _ = make(kind, "at_before", ask)
    kind.fire(machine, "go")
    assert machine.state == "d"


def test_one_that_is_asked_for_later_may_ask_for_another(kind):
    text = "initial: a\nstates: [{name: a, on_enter: more}]\ntransitions: [[go, a, '=']]\n"

    class Machine(kind.machine_class):
        def more(self, event):
            self.fire_later("go")

    machine = Machine(text, policy=limits(max_transitions=200))
    refused = []
    machine.on_refused(refused.append)
    kind.fire(machine, "go")
    assert machine.transition_count == 200  # no nesting: none of them is inside of another
    assert [each.kind for each in refused] == ["circuit"]


def test_without_a_transition_it_is_now(kind):
    machine = kind.make(RING, **quiet())
    assert kind.call(machine.fire_later, "next") is None
    assert machine.state == "b"


def test_context_and_payload_go_with_it(kind):
    seen = []
    text = "initial: a\nstates: [a, b]\ntransitions: [{trigger: go, source: a, dest: b, after: see}]\n"
    machine = kind.make(text, **quiet(actions={"see": lambda e: seen.append((e.context, dict(e.payload)))}))
    kind.call(machine.fire_later, "go", "ctx", n=1)
    assert seen == [("ctx", {"n": 1})]


def test_refusals_go_to_on_refused(kind):
    machine = kind.make(RING, **quiet())
    refused = []
    machine.on_refused(refused.append)
    kind.call(machine.fire_later, "fly")
    [refusal] = refused
    assert isinstance(refusal, Refusal)
    assert (refusal.kind, refusal.trigger) == ("invalid", "fly")
    kind.fire(machine, "finish")
    kind.call(machine.fire_later, "next")
    assert refused[-1].kind == "terminal"


def test_one_that_fails_stops_none_of_the_others(kind, caplog):
    def ask(machine):
        for trigger in ("e1", "bad", "fly", "e2"):
            machine.fire_later(trigger)

    machine, _ = make(kind, "at_before", ask)
    refused = []
    machine.on_refused(refused.append)
    with caplog.at_level(logging.ERROR, "orkeon_transitions"):
        assert kind.fire(machine, "go")
    assert machine.state == "d"
    assert [each.trigger for each in refused] == ["fly"]
    [record] = [each for each in caplog.records if each.name.startswith("orkeon_transitions")]
    assert record.exc_info[0] is OSError


def test_it_is_made_even_if_the_transition_under_way_fails(kind):
    def ask(machine):
        machine.fire_later("bad2")
        raise OSError("disk")

    machine, _ = make(kind, "at_before", ask)
    refused = []
    machine.on_refused(refused.append)
    with pytest.raises(OSError, match="disk"):
        kind.fire(machine, "go")
    kind.call(lambda: None)
    assert [each.trigger for each in refused] == ["bad2"]


def test_a_listener_may_ask_for_one(kind):
    machine = kind.make(RING, **quiet())
    machine.on_transition(lambda result: machine.fire_later("next") if result.to_state != "a" else None)
    kind.fire(machine, "next")
    kind.call(lambda: None)
    assert machine.state == "a"


def test_what_is_no_trigger_is_refused_at_once(kind):
    machine = kind.make(RING, **quiet())
    with pytest.raises(TypeError, match="text or an Enum member"):
        machine.fire_later(3)


def test_another_threads_trigger_is_left_to_whoever_holds_the_machine():
    is_in, may_go = threading.Event(), threading.Event()
    text = "initial: a\nstates: [a, {name: b, on_enter: hold}, c]\ntransitions: [[go, a, b], [on, b, c]]\n"

    def hold(event):
        is_in.set()
        may_go.wait(5)

    machine = StateMachine(text, **quiet(actions={"hold": hold}))
    holder = threading.Thread(target=machine.fire, args=("go",))
    holder.start()
    is_in.wait(5)
    machine.fire_later("on")  # at once: it waits for nobody
    assert machine.state == "b"
    may_go.set()
    holder.join(5)
    assert machine.state == "c"


def test_many_threads_lose_none():
    machine = StateMachine(RING, **quiet())

    def ask():
        for _ in range(50):
            machine.fire_later("tick")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert machine.transition_count == 200


def test_the_machine_holds_the_task_itself():
    async def main():
        machine = AsyncStateMachine(RING, **quiet())
        before = len(asyncio.all_tasks())
        machine.fire_later("next")
        assert machine.state == "a"
        assert len(asyncio.all_tasks()) == before + 1
        for _ in range(5):
            await asyncio.sleep(0)
        assert machine.state == "b"
        assert len(asyncio.all_tasks()) == before

    asyncio.run(main())


def test_without_a_loop_it_waits_for_the_next_trigger():
    machine = AsyncStateMachine(RING, **quiet())
    machine.fire_later("next")
    assert machine.state == "a"
    assert asyncio.run(machine.fire("next")).from_state == "b"
    assert machine.state == "c"


def test_a_task_of_the_machine_that_fails_is_logged(caplog):
    """It cannot get hold of the machine in time: nobody waits for it, so it is said in the log."""

    async def hold(event):
        await asyncio.sleep(0.05)

    async def main():
        text = "initial: a\nstates: [a, {name: b, on_enter: hold}]\ntransitions: [[go, a, b]]\n"
        machine = AsyncStateMachine(text, **quiet(actions={"hold": hold}, lock_timeout=0.01))
        machine.fire_later("go")
        await asyncio.sleep(0)
        with pytest.raises(Exception, match=r"did not become free in 0\.01 s"):
            await machine.fire("go")
        await asyncio.sleep(0.06)
        assert machine.state == "b"

    asyncio.run(main())
