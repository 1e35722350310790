"""States and triggers by text and by Enum member."""

from enum import Enum, IntEnum, StrEnum

import pytest

from orkeon_transitions.errors import DefinitionError, InvalidTransitionError
from orkeon_transitions.runtime.naming import members_of, text_of
from tests.runtime.samples import limits, quiet

TEXT = """
name: m
initial: idle
states: [idle, BUSY, {name: done, final: true}]
transitions: [[go, idle, BUSY], [STOP, BUSY, done]]
"""
SEEN = """
initial: idle
states: [idle, BUSY, done]
transitions: [{trigger: go, source: idle, dest: BUSY, conditions: ok, after: see}, [STOP, BUSY, done]]
"""


class State(Enum):
    IDLE = "idle"
    BUSY = 2  # no text: known by its name
    FINISHED = "done"


class Event(Enum):
    GO = "go"
    STOP = 2


class Word(StrEnum):
    GO = "go"
    STOP = "STOP"


class Number(IntEnum):
    idle = 0
    BUSY = 1
    done = 2


def test_a_member_is_known_by_its_value_if_that_is_a_text_else_by_its_name():
    assert [text_of(state) for state in State] == ["idle", "BUSY", "done"]
    assert [text_of(word) for word in Word] == ["go", "STOP"]
    assert [text_of(number) for number in Number] == ["idle", "BUSY", "done"]
    assert text_of("any text") == "any text"


@pytest.mark.parametrize("wrong", [None, 1, b"x", State])
def test_what_is_neither_text_nor_member_is_refused(wrong):
    with pytest.raises(TypeError, match="a state or trigger is a text or an Enum member, not"):
        text_of(wrong)


def test_members_by_text_cannot_be_changed():
    assert members_of(None) == {}
    with pytest.raises(TypeError):
        members_of(State)["idle"] = None


def test_members_come_out_whatever_went_in(kind):
    machine = kind.make(TEXT, **quiet(states=State, triggers=Event))
    assert machine.state is State.IDLE
    assert kind.wait(machine.permitted_triggers()) == [Event.GO]
    for trigger in ("go", Event.GO):
        assert kind.wait(machine.can_fire(trigger))
    result = kind.fire(machine, "go")
    assert (result.from_state, result.to_state, result.trigger) == (State.IDLE, State.BUSY, Event.GO)
    refusal = kind.try_fire(machine, Event.GO).refusal
    assert (refusal.state, refusal.trigger, refusal.permitted) == (State.BUSY, Event.GO, (Event.STOP,))
    assert kind.wait(machine.STOP()).to_state is State.FINISHED
    assert machine.is_terminal


def test_guards_and_actions_see_members(kind):
    seen = []

    def ok(event):
        seen.append((event.trigger, event.from_state, event.to_state))
        return True

    def see(event):
        seen.append((event.trigger, event.from_state, event.to_state))

    machine = kind.make(SEEN, **quiet(states=State, triggers=Event, guards={"ok": ok}, actions={"see": see}))
    kind.fire(machine, "go")
    assert seen == [(Event.GO, State.IDLE, None), (Event.GO, State.IDLE, State.BUSY)]


def test_status_and_snapshot_know_texts(kind):
    machine = kind.make(TEXT, **quiet(states=State, triggers=Event))
    kind.fire(machine, Event.GO)
    assert machine.circuit_status.state_visit_histogram == {"idle": 1, "BUSY": 1}
    assert machine.snapshot().state == "BUSY"
    assert "'BUSY'" in repr(machine)


def test_messages_know_texts(kind):
    machine = kind.make(TEXT, **quiet(states=State, triggers=Event))
    with pytest.raises(
        InvalidTransitionError, match=r"^'STOP' cannot be made from 'idle' .*possible here: go$"
    ):
        kind.fire(machine, Event.STOP)


def test_a_class_may_name_its_enums(kind):
    class Named(kind.machine_class):
        STATES = State
        TRIGGERS = Word

    machine = Named(TEXT, **quiet())
    assert machine.state is State.IDLE
    assert kind.fire(machine, Word.GO).trigger is Word.GO
    assert Named(TEXT, **quiet(states=Number)).state is Number.idle


def test_every_state_and_trigger_needs_its_member(kind):
    class Few(Enum):
        IDLE = "idle"

    with pytest.raises(DefinitionError) as raised:
        kind.make(TEXT, states=Few, triggers=Few)
    assert [problem.message for problem in raised.value.problems] == [
        "the state 'BUSY' of 'm' has no member in Few",
        "the state 'done' of 'm' has no member in Few",
        "the trigger 'go' of 'm' has no member in Few",
        "the trigger 'STOP' of 'm' has no member in Few",
    ]


def test_without_an_enum_members_are_taken_and_texts_given_back(kind):
    machine = kind.make(TEXT, **quiet())
    assert kind.fire(machine, Event.GO).trigger == "go"
    assert machine.state == "BUSY"


def test_a_trip_and_its_limit_speak_in_members(kind):
    machine = kind.make(TEXT, policy=limits(max_transitions=1), states=State, triggers=Event)
    broken = []
    machine.on_circuit_broken(broken.append)
    kind.fire(machine, Event.GO)
    kind.try_fire(machine, Event.STOP)
    assert (broken[0].state, broken[0].trigger) == (State.BUSY, Event.STOP)


def test_two_members_of_one_text_are_told_apart_by_nobody(kind):
    class Twice(Enum):
        IDLE = "idle"
        WORK = "BUSY"
        BUSY = 2
        DONE = "done"

    with pytest.raises(DefinitionError) as raised:
        kind.make(TEXT, states=Twice)
    assert [problem.message for problem in raised.value.problems] == [
        "Twice.WORK and Twice.BUSY are both known as 'BUSY'"
    ]


def test_an_alias_is_its_member(kind):
    class Aliased(Enum):
        IDLE = "idle"
        START = IDLE
        BUSY = 2
        DONE = "done"

    machine = kind.make(TEXT, **quiet(states=Aliased))
    assert machine.state is Aliased.IDLE is Aliased.START
