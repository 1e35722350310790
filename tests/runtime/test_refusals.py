"""A refusal says what was tried, where, why not, and what would be possible."""

import dataclasses
import pickle

import pytest

from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.errors import (
    CircuitBrokenError,
    GuardRejectedError,
    InvalidTransitionError,
    OrkeonError,
)
from tests.runtime.samples import GUARDED, RING, STAGES, limits, quiet, stage_callbacks

DOOR = """
name: door
initial: shut
guards: {has_key: The key is in the pocket, alarmed: The alarm is armed, plain_no: null, plain_yes: null}
states: [shut, open, {name: gone, final: true}]
transitions:
  - {trigger: open, source: shut, dest: open, conditions: has_key, unless: alarmed}
  - {trigger: push, source: shut, dest: open, conditions: plain_no}
  - {trigger: kick, source: shut, dest: open, unless: plain_yes}
  - {trigger: shut, source: open, dest: shut}
  - {trigger: burn, source: "*", dest: gone}
"""


def door(kind, **answers):
    given = {"has_key": True, "alarmed": False, "plain_no": False, "plain_yes": True} | answers
    return kind.make(DOOR, **quiet(guards={name: (lambda e, a=answer: a) for name, answer in given.items()}))


def refused(kind, machine, trigger, *arguments, **payload):
    """What `fire`, `try_fire`, `why_not` and the listeners say of a trigger: one refusal."""
    heard = []
    machine.on_refused(heard.append)
    with pytest.raises(InvalidTransitionError) as raised:
        kind.fire(machine, trigger, *arguments, **payload)
    result = kind.try_fire(machine, trigger, *arguments, **payload)
    asked = kind.wait(machine.why_not(trigger, *arguments, **payload))
    assert raised.value.refusal == result.refusal == asked
    assert heard == [asked, asked]
    assert str(raised.value) == asked.message
    assert not result
    assert machine.transition_count == 0
    assert machine.circuit_status.state_visit_histogram == {machine.state: 1}
    return raised.value


def test_no_such_transition_here(kind):
    error = refused(kind, door(kind), "shut")
    assert type(error) is InvalidTransitionError
    assert isinstance(error, OrkeonError)
    assert (error.machine, error.state, error.trigger) == ("door", "shut", "shut")
    assert error.refusal.kind == "invalid"
    assert (error.refusal.trigger, error.refusal.state) == ("shut", "shut")
    assert (error.refusal.guard, error.refusal.description) == (None, None)
    assert error.refusal.permitted == ("open", "push", "kick", "burn")
    assert error.refusal.message == (
        "'shut' cannot be made from 'shut' of machine 'door': there is no such transition here; "
        "possible here: open, push, kick, burn"
    )


def test_no_such_trigger_names_the_nearest(kind):
    error = refused(kind, door(kind), "opne")
    assert type(error) is InvalidTransitionError
    assert error.refusal.kind == "invalid"
    assert error.refusal.message == (
        "'opne' cannot be made from 'shut' of machine 'door': there is no trigger 'opne', "
        "did you mean 'open'?; possible here: open, push, kick, burn"
    )


def test_no_such_trigger_and_none_that_is_near(kind):
    message = str(refused(kind, door(kind), "xylophone"))
    assert "there is no trigger 'xylophone'; possible here:" in message


def test_a_state_without_a_way_out(kind):
    machine = kind.make("initial: a\nstates: [a, b]\ntransitions: [[go, b, a]]\n", **quiet())
    error = refused(kind, machine, "go")
    assert error.refusal.permitted == ()
    assert str(error).endswith("there is no such transition here; nothing is possible here")


def test_a_machine_that_has_ended(kind):
    machine = kind.make("name: m\ninitial: z\nstates: [{name: z, final: true}]\n", **quiet())
    for trigger in ("go", "whatever"):
        heard = []
        forget = machine.on_refused(heard.append)
        with pytest.raises(InvalidTransitionError) as raised:
            kind.fire(machine, trigger)
        forget()
        assert type(raised.value) is InvalidTransitionError
        assert raised.value.refusal.kind == "terminal"
        assert raised.value.refusal.permitted == ()
        assert (
            str(raised.value) == f"'{trigger}' cannot be made from 'z' of machine 'm': the machine has ended"
        )
        assert heard == [raised.value.refusal] == [kind.wait(machine.why_not(trigger))]


def test_a_guard_that_says_no(kind):
    error = refused(kind, door(kind, has_key=False), "open")
    assert type(error) is GuardRejectedError
    assert error.refusal.kind == "guard"
    assert (error.refusal.guard, error.refusal.description) == ("has_key", "The key is in the pocket")
    assert error.refusal.permitted == ("open", "push", "kick", "burn")
    assert error.refusal.message == (
        "'open' cannot be made from 'shut' of machine 'door': "
        "refused by guard 'has_key' (needed: The key is in the pocket); also possible here: push, kick, burn"
    )


@pytest.mark.parametrize(
    ("others", "possible"), [(["leave"], "also possible here: leave"), ([], "nothing else is possible here")]
)
def test_a_broken_machine_tells_only_of_rows_that_pass_a_broken_circuit(kind, others, possible):
    rows = [
        {"trigger": "go", "source": "a", "dest": "="},
        {"trigger": "cancel", "source": "a", "dest": "z", "always": True, "conditions": "may"},
        *({"trigger": name, "source": "a", "dest": "z", "always": True} for name in others),
    ]
    config = {"initial": "a", "states": ["a", {"name": "z", "final": True}], "transitions": rows}
    machine = kind.make(
        config, policy=limits(max_transitions=1), guards={"may": lambda event: not event.payload}
    )
    kind.fire(machine, "go")
    assert not kind.try_fire(machine, "go")
    with pytest.raises(GuardRejectedError, match=f"refused by guard 'may'; {possible}$"):
        kind.fire(machine, "cancel", late=True)
    assert kind.fire(machine, "cancel")


def test_a_guard_that_must_not_say_yes(kind):
    error = refused(kind, door(kind, alarmed=True), "open")
    assert type(error) is GuardRejectedError
    assert (error.refusal.guard, error.refusal.description) == ("alarmed", "The alarm is armed")
    assert "refused by guard 'alarmed' (must not be: The alarm is armed);" in str(error)


def test_guards_without_a_description(kind):
    error = refused(kind, door(kind), "push")
    assert (error.refusal.guard, error.refusal.description) == ("plain_no", None)
    assert "refused by guard 'plain_no';" in str(error)
    assert "refused by guard not 'plain_yes';" in str(refused(kind, door(kind), "kick"))


def test_every_row_has_its_say_and_the_last_one_is_named(kind):
    text = """
initial: a
states: [a, b]
transitions:
  - {trigger: go, source: a, dest: b, conditions: first}
  - {trigger: go, source: a, dest: b, conditions: [yes, second]}
"""
    guards = {"first": lambda e: False, "yes": lambda e: True, "second": lambda e: False}
    error = refused(kind, kind.make(text, **quiet(guards=guards)), "go")
    assert error.refusal.guard == "second"
    assert "refused by guard 'first'; 'second';" in str(error)


def test_a_guard_that_raises(kind):
    cause = KeyError("pocket")

    def has_key(event):
        raise cause

    others = dict.fromkeys(("alarmed", "plain_no", "plain_yes"), bool)
    machine = kind.make(DOOR, **quiet(guards={"has_key": has_key, **others}))
    error = refused(kind, machine, "open")
    assert type(error) is GuardRejectedError
    assert error.__cause__ is cause
    assert error.refusal.kind == "error"
    assert (error.refusal.guard, error.refusal.description) == ("has_key", "The key is in the pocket")
    assert "'has_key' (needed: The key is in the pocket): it raised KeyError: 'pocket'" in str(error)
    assert kind.try_fire(machine, "open").error is cause
    assert not kind.wait(machine.can_fire("open"))


def test_a_guard_whose_error_cannot_be_told(kind):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("not even that")

    def has_key(event):
        raise Mute

    others = dict.fromkeys(("alarmed", "plain_no", "plain_yes"), bool)
    error = refused(kind, kind.make(DOOR, **quiet(guards={"has_key": has_key, **others})), "open")
    assert "it raised Mute;" in str(error)


def test_after_a_guard_that_raises_no_other_row_is_tried(kind):
    text = """
initial: a
states: [a, b, c]
transitions:
  - {trigger: go, source: a, dest: b, conditions: broken}
  - {trigger: go, source: a, dest: c}
"""

    def broken(event):
        raise OSError

    machine = kind.make(text, **quiet(guards={"broken": broken}))
    assert refused(kind, machine, "go").refusal.kind == "error"
    assert machine.state == "a"


@pytest.mark.parametrize("fatal", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_program_is_no_refusal(kind, fatal):
    def has_key(event):
        raise fatal

    others = dict.fromkeys(("alarmed", "plain_no", "plain_yes"), bool)
    machine = kind.make(DOOR, **quiet(guards={"has_key": has_key, **others}))
    if kind.is_async and fatal is not GeneratorExit:
        pytest.skip("an event loop that meets it stops at once")
    with pytest.raises(fatal):
        kind.fire(machine, "open")
    assert machine.state == "shut"
    assert kind.fire(machine, "burn")


@pytest.mark.parametrize("truthy", [1, "yes", [0], object()])
@pytest.mark.parametrize("falsy", [0, "", None, []])
def test_a_guards_answer_counts_as_a_condition_of_python_does(kind, truthy, falsy):
    """Stock `transitions` would let neither through."""
    assert kind.fire(door(kind, has_key=truthy, alarmed=falsy), "open")
    assert not kind.try_fire(door(kind, has_key=falsy), "open")
    assert not kind.try_fire(door(kind, alarmed=truthy), "open")


def test_guards_are_asked_in_order_until_one_objects(kind):
    log = []
    machine = kind.make(STAGES, **quiet(**stage_callbacks(log, may=False)))
    kind.try_fire(machine, "go")
    assert log == ["may"]
    del log[:]
    machine = kind.make(STAGES, **quiet(**stage_callbacks(log, forbidden=True)))
    kind.try_fire(machine, "go")
    assert log == ["may", "forbidden"]


def test_a_refusal_is_frozen_and_can_be_kept(kind):
    refusal = kind.try_fire(kind.make(RING, **quiet()), "fly").refusal
    with pytest.raises(dataclasses.FrozenInstanceError):
        refusal.kind = "guard"
    assert pickle.loads(pickle.dumps(refusal)) == refusal


def test_a_broken_circuit(kind, clock):
    machine = kind.make(GUARDED, policy=limits(max_transitions=1), clock=clock)
    kind.fire(machine, "tick")
    heard = []
    machine.on_refused(heard.append)
    with pytest.raises(CircuitBrokenError) as raised:
        kind.fire(machine, "go")
    assert raised.value.status.limit is BreakerLimit.MAX_TRANSITIONS
    assert raised.value.status == machine.circuit_status
    refusal = kind.try_fire(machine, "go").refusal
    assert refusal.kind == "circuit"
    assert (refusal.trigger, refusal.state, refusal.guard) == ("go", "work", None)
    assert refusal.permitted == ("go", "tick", "call", "finish", "cancel")
    assert refusal.message == (
        "Max transitions exceeded (1/1); machine 'guarded' in state 'work' did not make 'go'"
    )
    assert str(raised.value) == f"{refusal.message}; reset_circuit_breaker() gives it a fresh budget"
    assert heard == [refusal, refusal]
    assert kind.wait(machine.why_not("go")) == refusal


def test_a_refusing_guard_that_stands_alone(kind):
    machine = kind.make(
        {
            "name": "gate",
            "initial": "shut",
            "states": ["shut", {"name": "open", "final": True}],
            "transitions": [{"trigger": "pass", "source": "shut", "dest": "open", "conditions": "paid"}],
        },
        guards={"paid": lambda event: False},
    )
    assert str(refused(kind, machine, "pass")).endswith("nothing else is possible here")
