"""Who hears what happened: `on_transition`, `on_refused`, `on_circuit_broken`."""

import logging
import sys
import threading

import pytest

from orkeon_transitions.facts import CircuitBroken, Refusal, TransitionResult
from tests.runtime.samples import GUARDED, RING, limits, quiet

SUBSCRIBERS = ["on_transition", "on_refused", "on_circuit_broken"]


def hear(machine):
    """Subscribes to everything; gives the list that fills."""
    heard = []
    for name in SUBSCRIBERS:
        getattr(machine, name)(heard.append)
    return heard


def test_each_kind_gets_its_own_fact(kind):
    machine = kind.make(RING, policy=limits(max_transitions=1))
    by_name = {name: [] for name in SUBSCRIBERS}
    for name, heard in by_name.items():
        getattr(machine, name)(heard.append)
    result = kind.fire(machine, "next")
    kind.try_fire(machine, "fly")
    assert by_name["on_transition"] == [result]
    assert [type(each) for each in by_name["on_circuit_broken"]] == [CircuitBroken]
    assert [type(each) for each in by_name["on_refused"]] == [Refusal]
    assert isinstance(result, TransitionResult)


def test_facts_come_in_the_order_in_which_they_happened(kind):
    machine = kind.make(GUARDED, policy=limits(max_transitions=2, use_degraded_mode=True))
    heard = hear(machine)
    kind.fire(machine, "go")
    kind.try_fire(machine, "fly")
    kind.fire(machine, "tick")
    kind.fire(machine, "go")
    kind.try_fire(machine, "go")
    assert [type(each).__name__ for each in heard] == [
        "TransitionResult",
        "Refusal",
        "TransitionResult",
        "CircuitBroken",
        "TransitionResult",
        "Refusal",
    ]


def test_listeners_are_called_in_the_order_in_which_they_subscribed(kind):
    log = []
    machine = kind.make(RING, **quiet())
    for number in range(4):
        machine.on_transition(lambda result, n=number: log.append(n))
    kind.fire(machine, "next")
    assert log == [0, 1, 2, 3]


def test_they_are_called_after_the_state_is_written_and_the_callbacks_ran(kind):
    log = []
    text = "initial: a\nstates: [a, b]\ntransitions: [{trigger: go, source: a, dest: b, after: note}]\n"
    machine = kind.make(text, **quiet(actions={"note": lambda e: log.append("after")}))
    machine.on_transition(lambda result: log.append((machine.state, machine.transition_count)))
    kind.fire(machine, "go")
    assert log == ["after", ("b", 1)]


@pytest.mark.parametrize("name", SUBSCRIBERS)
def test_unsubscribing(kind, name):
    machine = kind.make(RING, policy=limits(max_transitions=1))
    heard, others = [], []
    forget = getattr(machine, name)(heard.append)
    getattr(machine, name)(others.append)
    forget()
    forget()
    kind.fire(machine, "next")
    kind.try_fire(machine, "next")
    assert heard == []
    assert len(others) == 1


def test_the_same_function_may_subscribe_twice(kind):
    machine = kind.make(RING, **quiet())
    heard = []
    forget = machine.on_transition(heard.append)
    machine.on_transition(heard.append)
    kind.fire(machine, "next")
    assert len(heard) == 2
    forget()
    forget()
    kind.fire(machine, "next")
    assert len(heard) == 3


def test_one_that_raises_is_logged_and_stops_nobody(kind, caplog):
    machine = kind.make(RING, **quiet())
    heard = []

    def broken(result):
        raise OSError("disk")

    machine.on_transition(broken)
    machine.on_transition(heard.append)
    with caplog.at_level(logging.ERROR, "orkeon_transitions"):
        assert kind.fire(machine, "next")
    assert machine.state == "b"
    assert len(heard) == 1
    [record] = caplog.records
    assert record.exc_info[0] is OSError
    assert record.name.startswith("orkeon_transitions")


def test_one_that_subscribes_or_forgets_while_it_hears(kind):
    machine = kind.make(RING, **quiet())
    heard = []

    def once(result):
        heard.append("once")
        forget()
        machine.on_transition(lambda result: heard.append("new"))

    forget = machine.on_transition(once)
    kind.fire(machine, "next")
    assert heard == ["once"]
    kind.fire(machine, "next")
    assert heard == ["once", "new"]


@pytest.mark.parametrize("name", SUBSCRIBERS)
def test_a_listener_is_a_plain_function(kind, name):
    machine = kind.make(RING, **quiet())

    async def listener(fact):
        raise AssertionError

    with pytest.raises(TypeError, match="plain function"):
        getattr(machine, name)(listener)
    with pytest.raises(TypeError, match="plain function"):
        getattr(machine, name)("no function")


def test_a_refusal_is_heard_though_it_is_raised(kind):
    machine = kind.make(RING, **quiet())
    heard = []
    machine.on_refused(heard.append)
    with pytest.raises(Exception, match="cannot be made") as raised:
        kind.fire(machine, "fly")
    assert heard == [raised.value.refusal]


def test_a_listener_may_fire_and_facts_keep_their_order():
    from orkeon_transitions.runtime import StateMachine

    machine = StateMachine(RING, **quiet())
    heard = []

    def go_on(result):
        heard.append(("first", result.ordinal))
        if result.to_state != "a":
            machine.fire("next")

    machine.on_transition(go_on)
    machine.on_transition(lambda result: heard.append(("second", result.ordinal)))
    machine.fire("next")
    assert heard == [(who, ordinal) for ordinal in (1, 2, 3) for who in ("first", "second")]


def test_listeners_are_called_outside_of_the_lock():
    """Another thread can fire while a listener runs, even one that waits for it."""
    from orkeon_transitions.runtime import StateMachine

    machine = StateMachine(RING, **quiet(lock_timeout=2))
    seen = []

    def listener(result):
        if result.ordinal == 1:
            other = threading.Thread(target=lambda: seen.append(machine.fire("next").ordinal))
            other.start()
            other.join(5)

    machine.on_transition(listener)
    machine.fire("next")
    assert seen == [2]
    assert machine.state == "c"


def test_a_slow_listener_does_not_hold_up_another_threads_fire():
    """The other thread's `fire` returns although its fact is still to be delivered."""
    from orkeon_transitions.runtime import StateMachine

    machine = StateMachine(RING, **quiet(lock_timeout=2))
    heard, is_in, may_go = [], threading.Event(), threading.Event()

    def listener(result):
        is_in.set()
        may_go.wait(5)
        heard.append(result.ordinal)

    machine.on_transition(listener)
    first = threading.Thread(target=machine.fire, args=("next",))
    first.start()
    is_in.wait(5)
    assert machine.fire("next").ordinal == 2
    assert heard == []
    may_go.set()
    first.join(5)
    assert heard == [1, 2]


def test_what_ends_the_program_leaves_the_rest_for_the_next_one():
    from orkeon_transitions.runtime import StateMachine

    machine = StateMachine(RING, **quiet())
    heard = []

    def listener(result):
        if result.ordinal == 1:
            raise KeyboardInterrupt
        heard.append(result.ordinal)

    machine.on_transition(listener)
    with pytest.raises(KeyboardInterrupt):
        machine.fire("next")
    assert machine.state == "b"
    machine.fire("next")
    assert heard == [2]


def test_subscribing_from_many_threads_loses_no_listener():
    from orkeon_transitions.runtime import StateMachine

    each, rounds = 25, 40
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(rounds):
            machine, heard, begin = StateMachine(RING, **quiet()), [], threading.Barrier(4)

            def subscribe(machine=machine, heard=heard, begin=begin):
                begin.wait(5)
                kept = [machine.on_transition(heard.append) for _ in range(2 * each)]
                for unsubscribe in kept[::2]:
                    unsubscribe()

            threads = [threading.Thread(target=subscribe) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(10)
            machine.fire("next")
            assert len(heard) == 4 * each
    finally:
        sys.setswitchinterval(before)
