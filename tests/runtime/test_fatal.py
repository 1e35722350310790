"""What ends a program, raised inside of a callback: it goes on, and the machine is left in order."""

import threading

import pytest

from orkeon_transitions.facts import TransitionFailed, TransitionResult
from orkeon_transitions.runtime import StateMachine
from tests.runtime.samples import STAGES, limits, quiet, stage_callbacks

FATAL = [KeyboardInterrupt, SystemExit, GeneratorExit]


def raising(stage, fatal, **options):
    """A machine with a callback that ends the program, and the facts that it committed."""
    callbacks, facts = stage_callbacks([]), []

    def end(event):
        if not survived:
            raise fatal

    survived = []
    callbacks["actions"][stage] = end
    machine = StateMachine(
        STAGES,
        **quiet(**callbacks, commit=lambda fact, snapshot: facts.append(fact), lock_timeout=1, **options),
    )
    return machine, facts, survived


@pytest.mark.parametrize("fatal", FATAL)
@pytest.mark.parametrize("method", ["fire", "try_fire"])
def test_before_the_state_is_written(fatal, method):
    machine, facts, survived = raising("first", fatal)
    with pytest.raises(fatal):
        getattr(machine, method)("go")
    assert (machine.state, machine.transition_count, facts) == ("a", 0, [])
    survived.append(True)
    assert machine.fire("go")


@pytest.mark.parametrize("fatal", [KeyboardInterrupt, SystemExit])
def test_after_the_state_was_written(fatal):
    machine, facts, _ = raising("last", fatal)
    told = []
    machine.on_transition(told.append)
    with pytest.raises(fatal):
        machine.fire("go")
    assert (machine.state, machine.transition_count) == ("b", 1)
    assert [type(fact) for fact in facts] == [TransitionResult, TransitionFailed]
    assert isinstance(facts[1].error, fatal)
    assert isinstance(told[0].error, fatal)


@pytest.mark.parametrize("fatal", FATAL)
@pytest.mark.parametrize("stage", ["first", "leave_a", "enter_b", "last"])
def test_the_machine_is_free_for_other_threads(fatal, stage):
    machine, _, survived = raising(stage, fatal)
    with pytest.raises(fatal):
        machine.fire("go")
    survived.append(True)
    made = []
    thread = threading.Thread(
        target=lambda: made.append(machine.fire("go" if machine.state == "a" else "on"))
    )
    thread.start()
    thread.join(5)
    assert len(made) == 1


@pytest.mark.parametrize("fatal", FATAL)
def test_in_the_commit_hook_nothing_has_happened(fatal):
    def commit(fact, snapshot):
        raise fatal

    machine = StateMachine(STAGES, **quiet(**stage_callbacks([]), commit=commit))
    with pytest.raises(fatal):
        machine.fire("go")
    assert (machine.state, machine.transition_count) == ("a", 0)


def test_in_the_commit_hook_of_a_trip_nothing_has_happened():
    def commit(fact, snapshot):
        if not isinstance(fact, TransitionResult):
            raise KeyboardInterrupt

    machine = StateMachine(STAGES, policy=limits(max_transitions=1), commit=commit, **stage_callbacks([]))
    machine.fire("go")
    with pytest.raises(KeyboardInterrupt):
        machine.fire("on")
    assert not machine.is_circuit_broken
