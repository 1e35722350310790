"""`can_fire`, `why_not`, `permitted_triggers`: looking never touches."""

import pytest

from orkeon_transitions.breaker import BreakerLimit
from tests.runtime.samples import GUARDED, OFF, RING, STAGE_ACTIONS, STAGES, limits, quiet, stage_callbacks


def look(kind, machine, trigger, *arguments, **payload):
    """Whether a trigger can be fired; all three ways of asking agree."""
    answer = kind.wait(machine.can_fire(trigger, *arguments, **payload))
    assert (kind.wait(machine.why_not(trigger, *arguments, **payload)) is None) is answer
    assert (trigger in kind.wait(machine.permitted_triggers(*arguments, **payload))) is answer
    return answer


def test_an_internal_row_can_be_fired(kind):  # case B01
    machine = kind.make(RING, **quiet())
    assert look(kind, machine, "tick")
    assert kind.fire(machine, "tick")


def test_only_the_rows_of_the_current_state_count(kind):  # case B02
    text = """
initial: b
states: [a, b, c]
transitions:
  - {trigger: go, source: b, dest: a, conditions: no_way}
  - {trigger: go, source: c, dest: a, conditions: sure}
  - {trigger: move, source: b, dest: c}
"""
    machine = kind.make(text, **quiet(guards={"no_way": lambda e: False, "sure": lambda e: True}))
    assert kind.wait(machine.permitted_triggers()) == ["move"]
    assert not look(kind, machine, "go")
    assert kind.wait(machine.why_not("go")).guard == "no_way"
    kind.fire(machine, "move")
    assert kind.wait(machine.permitted_triggers()) == ["go"]


def test_triggers_come_once_and_in_file_order(kind):
    text = """
initial: a
states: [a, b]
transitions: [[z, a, b], [m, a, b], [z, a, a], {trigger: c, source: "*", dest: null}, [m, b, a]]
"""
    assert kind.wait(kind.make(text, **quiet()).permitted_triggers()) == ["z", "m", "c"]


def test_context_and_payload_reach_the_guards(kind):
    text = "initial: a\nstates: [a, b]\ntransitions: [{trigger: go, source: a, dest: b, conditions: fits}]\n"
    machine = kind.make(
        text, **quiet(guards={"fits": lambda e: e.context == 1 and e.payload == {"n": 2} == e.kwargs})
    )
    assert look(kind, machine, "go", 1, n=2)
    assert not look(kind, machine, "go", 1, n=3)
    assert not look(kind, machine, "go", 2, n=2)
    assert not look(kind, machine, "go")


def test_no_callback_but_guards_is_run(kind):
    log = []
    machine = kind.make(STAGES, **quiet(**stage_callbacks(log)))
    for trigger in ("go", "stay", "again"):
        assert kind.wait(machine.can_fire(trigger))
        kind.wait(machine.why_not(trigger))
    kind.wait(machine.permitted_triggers())
    assert set(log) == {"may", "forbidden"}
    assert not set(log) & set(STAGE_ACTIONS)


def test_nothing_is_counted_or_heard(kind):
    facts = []
    machine = kind.make(RING, **quiet(commit=lambda fact, snapshot: facts.append(fact)))
    for subscribe in (machine.on_transition, machine.on_refused, machine.on_circuit_broken):
        subscribe(facts.append)
    before = machine.snapshot().model_dump(exclude={"taken_at", "time_in_state"})
    for trigger in ("next", "tick", "again", "fly"):
        kind.wait(machine.can_fire(trigger))
        kind.wait(machine.why_not(trigger))
    kind.wait(machine.permitted_triggers())
    assert facts == []
    assert machine.snapshot().model_dump(exclude={"taken_at", "time_in_state"}) == before


def test_a_guard_that_raises_means_no(kind):
    def may(event):
        raise RuntimeError("no idea")

    callbacks = stage_callbacks([])
    machine = kind.make(
        STAGES, **quiet(guards=callbacks["guards"] | {"may": may}, actions=callbacks["actions"])
    )
    assert not look(kind, machine, "go")
    refusal = kind.wait(machine.why_not("go"))
    assert (refusal.kind, refusal.guard) == ("error", "may")
    assert "RuntimeError: no idea" in refusal.message


def test_a_machine_that_has_ended_permits_nothing(kind):
    machine = kind.make(RING, **quiet())
    kind.fire(machine, "finish")
    assert kind.wait(machine.permitted_triggers()) == []
    assert kind.wait(machine.why_not("next")).kind == "terminal"
    assert not kind.wait(machine.can_fire("next"))


TRIPS = {
    BreakerLimit.MAX_TRANSITIONS: {"max_transitions": 1},
    BreakerLimit.STATE_TIMEOUT: {"state_timeout": 5},
    BreakerLimit.MAX_STATE_VISITS: {"max_state_visits": 1},
    BreakerLimit.MAX_TOTAL_DURATION: {"max_total_duration": 5},
    BreakerLimit.METERS: {"meters": {"usd": 1}},
}


@pytest.mark.parametrize("limit", TRIPS)
def test_asking_sees_a_limit_and_never_trips(kind, clock, limit):
    machine = kind.make(GUARDED, policy=limits(**TRIPS[limit], use_degraded_mode=True), clock=clock)
    kind.fire(machine, "go")
    clock.advance(6)
    machine.spend(usd=2)
    for _ in range(3):
        refusal = kind.wait(machine.why_not("go"))
        assert refusal.kind == "circuit"
        assert not look(kind, machine, "go")
        assert look(kind, machine, "cancel")
    assert not machine.is_circuit_broken
    assert machine.state == "other"
    assert kind.try_fire(machine, "go").degraded
    assert machine.circuit_status.limit is limit
    assert refusal.message.startswith(machine.circuit_status.broken_reason)


def test_asking_sees_a_repetition(kind):
    machine = kind.make(GUARDED, policy=limits(max_repeats=2))
    for _ in range(2):
        kind.fire(machine, "call", q=1)
    for _ in range(5):
        assert not look(kind, machine, "call", q=1)
        assert look(kind, machine, "call", q=2)
    assert not machine.is_circuit_broken


def test_a_broken_machine_permits_what_always_passes(kind):
    machine = kind.make(GUARDED, policy=limits(max_transitions=1))
    kind.fire(machine, "go")
    kind.try_fire(machine, "go")
    assert machine.is_circuit_broken
    assert kind.wait(machine.permitted_triggers()) == ["cancel"]


def test_a_limit_stands_before_the_question_whether_there_is_such_a_row(kind):
    """The order of `fire`: a trip happens whether or not the trigger is valid."""
    machine = kind.make(GUARDED, policy=limits(max_transitions=1))
    kind.fire(machine, "go")
    assert kind.wait(machine.why_not("no_such_trigger")).kind == "circuit"


def test_guards_may_ask(kind):
    """Asking is not firing: it may be done anywhere."""
    rows = "[{trigger: go, source: a, dest: b, conditions: ask}, [other, a, b]]"
    text = f"initial: a\nstates: [a, b]\ntransitions: {rows}\n"
    if kind.is_async:

        class Asking(kind.machine_class):
            async def ask(self, event):
                return await self.can_fire("other")
    else:

        class Asking(kind.machine_class):
            def ask(self, event):
                return self.can_fire("other")

    assert kind.fire(Asking(text, policy=limits(**OFF)), "go")
