"""Ctrl-C at a bad moment: the machine is where its facts say, and goes on."""

import dis
import sys
import threading
from contextlib import contextmanager

import pytest

from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.runtime.steps import run
from tests.runtime.samples import STAGE_ACTIONS, STAGES, quiet

PLACES = ["may", "forbidden", "first", "leave_a", "enter_b", "last", "commit", "listener"]


@pytest.mark.parametrize("place", PLACES)
def test_an_interrupt_in_any_callback(place):
    facts, places = [], [place]

    def at(name):
        if name in places:
            places.remove(name)
            raise KeyboardInterrupt
        return name == "may"

    def commit(fact, snapshot):
        at("commit")
        facts.append(fact)

    callbacks = {name: lambda event, name=name: at(name) for name in (*STAGE_ACTIONS, "may", "forbidden")}
    guards = {name: callbacks.pop(name) for name in ("may", "forbidden")}
    machine = StateMachine(STAGES, **quiet(guards=guards, actions=callbacks, commit=commit))
    machine.on_transition(lambda fact: at("listener"))
    with pytest.raises(KeyboardInterrupt) as kept:
        machine.fire("go")
    made = [fact for fact in facts if isinstance(fact, TransitionResult)]
    assert machine.transition_count == len(made)
    assert machine.state == (made[-1].to_state if made else "a")
    another = threading.Thread(target=machine.fire, args=("on" if made else "go",))
    another.start()
    another.join(5)
    assert machine.transition_count == len(made) + 1
    assert kept.type is KeyboardInterrupt


@contextmanager
def interrupt_when_jumping_back(code):
    """Raises where the interpreter looks for signals: at the end of a loop's body."""

    def trace(frame, event, argument):
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes = True
        return interrupt

    def interrupt(frame, event, argument):
        if event == "opcode" and dis.opname[code.co_code[frame.f_lasti]].startswith("JUMP_BACKWARD"):
            sys.settrace(None)
            raise KeyboardInterrupt
        return interrupt

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def test_an_interrupt_between_two_steps_does_not_leave_the_machine_busy():
    machine = StateMachine(
        STAGES, **quiet(guards={"may": lambda e: False, "forbidden": bool}, actions=_none())
    )
    with pytest.raises(KeyboardInterrupt) as kept, interrupt_when_jumping_back(run.__code__):
        machine.fire("go")
    assert not machine.try_fire("go")
    with pytest.raises(KeyboardInterrupt), interrupt_when_jumping_back(run.__code__):
        machine.can_fire("go")
    assert not machine.try_fire("go")
    assert kept.tb is not None


def _none():
    return {name: lambda event: None for name in STAGE_ACTIONS}
