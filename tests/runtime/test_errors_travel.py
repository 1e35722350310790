"""Errors go from a worker process to the one that waits for it, and are copied, as they are."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

from orkeon_transitions import errors
from orkeon_transitions.definition import load_definition
from orkeon_transitions.runtime import StateMachine
from tests.runtime.samples import RING, limits


def refused():
    StateMachine(RING, policy=limits()).fire("fly")


def guarded():
    guarded = (
        "name: g\ninitial: a\nstates: [a]\ntransitions: [{trigger: go, source: a, dest: a, conditions: ok}]\n"
    )
    StateMachine(guarded, policy=limits(), guards={"ok": lambda e: False}).fire("go")


def broken():
    machine = StateMachine(RING, policy=limits(max_transitions=1))
    machine.fire("next")
    machine.fire("next")


def misread():
    load_definition("name: n\ninitial: nowhere\nstates: [a]\n")


def missing_extra():
    raise errors.MissingExtraError("Pictures need a part.", extra="diagrams")


def stale():
    raise errors.StaleMachineError("moved on")


def error_of(call):
    with pytest.raises(errors.OrkeonError) as raised:
        call()
    return raised.value


@pytest.mark.parametrize("way", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("call", [refused, guarded, broken, misread, missing_extra, stale])
def test_an_error_stays_what_it_is(call, way):
    error = error_of(call)
    error.add_note("said later")
    other = way(error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert other.args == error.args
    assert other.__notes__ == ["said later"]
    for name in ("refusal", "machine", "state", "trigger", "status", "problems", "extra", "result"):
        assert getattr(other, name, None) == getattr(error, name, None)


def test_every_kind_of_error_can_be_pickled():
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    for kind in (each for each in kinds if issubclass(each, errors.OrkeonError)):
        error = kind.__new__(kind, "what it says")
        assert str(pickle.loads(pickle.dumps(error))) == "what it says"


def test_a_program_may_derive_an_error_of_its_own():
    class Own(errors.CircuitBrokenError):
        def __init__(self, message, status, *, run):
            super().__init__(message, status)
            self.run = run

    status = error_of(broken).status
    other = copy.copy(Own("over", status, run=7))
    assert (str(other), other.run, other.status) == ("over", 7, status)


def test_a_worker_process_passes_it_on():
    with ProcessPoolExecutor(1) as pool:
        error = pool.submit(broken).exception(30)
    assert isinstance(error, errors.CircuitBrokenError)
    assert error.status.is_broken
