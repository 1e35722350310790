"""Degraded mode, rows that always pass, resets, nesting."""

import pytest

from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.errors import CircuitBrokenError, GuardRejectedError
from orkeon_transitions.facts import BreakerReset, CircuitBroken, TransitionResult
from tests.runtime.samples import GUARDED, RING, limits, stack_of

CALLBACKS = """
initial: work
degraded: limp
states: [{name: work, on_exit: leave}, {name: limp, on_enter: arrive}]
transitions:
  - {trigger: tick, source: "*", dest: null, before: first, after: last}
  - {trigger: recover, source: limp, dest: work}
"""


def test_the_degrading_move_runs_exit_and_enter_callbacks(kind):
    log = []
    actions = {
        name: (lambda e, n=name: log.append((n, e.trigger, e.from_state, e.to_state)))
        for name in ("leave", "arrive", "first", "last")
    }
    machine = kind.make(CALLBACKS, policy=limits(max_transitions=1, use_degraded_mode=True), actions=actions)
    kind.fire(machine, "tick")
    del log[:]
    kind.fire(machine, "tick")
    assert log == [("leave", "tick", "work", "limp"), ("arrive", "tick", "work", "limp")]


def test_no_budget_can_refuse_the_degrading_move(kind, clock):
    policy = limits(
        max_transitions=1,
        max_state_visits=1,
        state_timeout=1,
        max_total_duration=1,
        meters={"usd": 1},
        use_degraded_mode=True,
    )
    text = GUARDED.replace("initial: work", "initial: other")
    machine = kind.make(text, policy=policy, clock=clock)
    kind.fire(machine, "tick")
    machine.spend(usd=5)
    clock.advance(50)
    assert kind.fire(machine, "go").degraded
    assert machine.state == "limp"


def test_the_degraded_state_is_entered_however_often_it_was_visited(kind):
    policy = limits(max_transitions=1, max_state_visits=1, use_degraded_mode=True)
    actions = dict.fromkeys(("leave", "arrive", "first", "last"), lambda e: None)
    machine = kind.make(CALLBACKS.replace("initial: work", "initial: limp"), policy=policy, actions=actions)
    kind.fire(machine, "recover")
    assert kind.try_fire(machine, "tick").degraded
    assert machine.circuit_status.state_visit_histogram == {"limp": 2, "work": 1}


def test_a_machine_that_trips_in_its_degraded_state_stays_and_raises(kind):
    actions = dict.fromkeys(("leave", "arrive", "first", "last"), lambda e: None)
    text = CALLBACKS.replace("initial: work", "initial: limp")
    machine = kind.make(text, policy=limits(max_transitions=1, use_degraded_mode=True), actions=actions)
    kind.fire(machine, "tick")
    with pytest.raises(CircuitBrokenError):
        kind.fire(machine, "tick")
    assert (machine.state, machine.transition_count) == ("limp", 1)


def test_degraded_mode_without_a_degraded_state_raises(kind):
    machine = kind.make(RING, policy=limits(max_transitions=1, use_degraded_mode=True))
    kind.fire(machine, "next")
    with pytest.raises(CircuitBrokenError):
        kind.fire(machine, "next")
    assert machine.state == "b"


def test_a_degraded_state_without_degraded_mode_raises(kind):
    machine = kind.make(GUARDED, policy=limits(max_transitions=1))
    kind.fire(machine, "go")
    with pytest.raises(CircuitBrokenError):
        kind.fire(machine, "go")
    assert machine.state == "other"


def test_a_degraded_machine_that_goes_on_stays_broken(kind):
    actions = dict.fromkeys(("leave", "arrive", "first", "last"), lambda e: None)
    machine = kind.make(CALLBACKS, policy=limits(max_transitions=1, use_degraded_mode=True), actions=actions)
    kind.fire(machine, "tick")
    assert kind.try_fire(machine, "tick").degraded
    for trigger in ("tick", "recover"):
        with pytest.raises(CircuitBrokenError):
            kind.fire(machine, trigger)
    assert machine.state == "limp"
    machine.reset_circuit_breaker()
    assert kind.fire(machine, "recover").ordinal == 3


def test_a_degrading_move_into_a_final_state_ends_the_machine(kind):
    machine = kind.make(GUARDED, policy=limits(max_transitions=1, use_degraded_mode=True))
    kind.fire(machine, "go")
    kind.fire(machine, "go")
    assert machine.is_terminal
    assert kind.try_fire(machine, "cancel").refusal.kind == "terminal"


def test_what_is_committed_on_a_trip_in_degraded_mode(kind):
    facts = []
    machine = kind.make(
        GUARDED,
        policy=limits(max_transitions=1, use_degraded_mode=True),
        commit=lambda fact, snapshot: facts.append((type(fact), snapshot.state, snapshot.trip is not None)),
    )
    kind.fire(machine, "go")
    kind.fire(machine, "go")
    assert facts == [
        (TransitionResult, "other", False),
        (CircuitBroken, "other", True),
        (TransitionResult, "limp", True),
    ]


@pytest.mark.parametrize(
    "limit", ["max_transitions", "state_timeout", "max_total_duration", "meters", "max_state_visits"]
)
def test_always_rows_pass_any_limit(kind, clock, limit):
    given = {"meters": {"usd": 1}} if limit == "meters" else {limit: 1}
    text = GUARDED.replace("dest: cancelled, always", "dest: '=', always")
    machine = kind.make(text, policy=limits(**given), clock=clock)
    kind.fire(machine, "cancel") if limit != "max_state_visits" else None
    clock.advance(10)
    machine.spend(usd=10)
    for count in range(3):
        assert kind.fire(machine, "cancel"), count
    assert not machine.is_circuit_broken


def test_always_rows_pass_a_broken_machine_count_and_leave_it_broken(kind):
    text = GUARDED.replace("dest: cancelled, always", "dest: other, always")
    machine = kind.make(text, policy=limits(max_transitions=1))
    kind.fire(machine, "tick")
    kind.try_fire(machine, "tick")
    result = kind.fire(machine, "cancel")
    assert result
    assert (machine.state, machine.transition_count, result.transition_count) == ("other", 2, 2)
    assert machine.is_circuit_broken
    with pytest.raises(CircuitBrokenError):
        kind.fire(machine, "tick")


def test_guards_apply_to_always_rows(kind):
    text = """
initial: a
states: [a, b]
transitions:
  - {trigger: stop, source: a, dest: b, conditions: sure, always: true}
  - {trigger: tick, source: a, dest: null}
"""
    machine = kind.make(
        text, policy=limits(max_transitions=1), guards={"sure": lambda e: e.context == "sure"}
    )
    kind.fire(machine, "tick")
    kind.try_fire(machine, "tick")
    with pytest.raises(GuardRejectedError, match="'sure'"):
        kind.fire(machine, "stop")
    assert kind.wait(machine.permitted_triggers()) == []
    assert kind.wait(machine.permitted_triggers("sure")) == ["stop"]
    assert kind.fire(machine, "stop", "sure")


def test_of_one_trigger_only_the_always_row_passes(kind):
    """The row that is chosen decides, not the trigger's name."""
    text = """
initial: a
states: [a, b, c]
transitions:
  - {trigger: stop, source: a, dest: b, conditions: gently}
  - {trigger: stop, source: a, dest: c, always: true}
  - {trigger: tick, source: a, dest: null}
"""
    machine = kind.make(text, policy=limits(max_transitions=1), guards={"gently": lambda e: e.context})
    kind.fire(machine, "tick")
    assert kind.try_fire(machine, "stop", True).refusal.kind == "circuit"
    assert machine.is_circuit_broken
    assert not kind.wait(machine.can_fire("stop", True))
    assert kind.wait(machine.can_fire("stop"))
    assert kind.fire(machine, "stop").to_state == "c"


def test_a_reset_clears_the_trip_and_all_counts_and_keeps_the_state(kind, clock):
    facts = []
    machine = kind.make(
        GUARDED,
        policy=limits(max_transitions=4, max_repeats=2, state_timeout=60, meters={"usd": 1}),
        clock=clock,
    )
    for _ in range(2):
        kind.fire(machine, "call")
        kind.fire(machine, "go")
    machine.spend(usd=3)
    clock.advance(30)
    kind.try_fire(machine, "go")
    assert machine.is_circuit_broken
    machine.attach_commit(lambda fact, snapshot: facts.append((fact, snapshot)))
    state = machine.state
    machine.reset_circuit_breaker()
    status = machine.circuit_status
    assert machine.state == state
    assert (status.is_broken, status.broken_reason, status.limit) == (False, None, None)
    assert (status.total_transitions, machine.transition_count) == (0, 0)
    assert status.state_visit_histogram == {state: 1}
    assert status.spent == {}
    assert status.time_in_current_state.total_seconds() == 0
    assert status.total_elapsed.total_seconds() == 0
    assert status.remaining.total_seconds() == 60
    [(fact, snapshot)] = facts
    assert isinstance(fact, BreakerReset)
    assert (fact.state, fact.ordinal) == (state, 4)
    assert (snapshot.trip, snapshot.transition_count, snapshot.visits, snapshot.repeats) == (
        None,
        0,
        {state: 1},
        {},
    )
    for _ in range(2):
        assert kind.fire(machine, "call")


def test_ordinals_number_a_life_and_survive_resets(kind):
    machine = kind.make(RING, policy=limits(max_transitions=2))
    ordinals = []
    for _ in range(3):
        ordinals += [kind.fire(machine, "next").ordinal for _ in range(2)]
        assert not kind.try_fire(machine, "next")
        machine.reset_circuit_breaker()
    assert ordinals == [1, 2, 3, 4, 5, 6]
    assert kind.fire(machine, "next").transition_count == 1


def test_it_never_heals_by_itself(kind, clock):
    machine = kind.make(RING, policy=limits(state_timeout=1), clock=clock)
    kind.fire(machine, "next")
    clock.advance(2)
    kind.try_fire(machine, "next")
    clock.advance(1e6)
    assert kind.try_fire(machine, "next").refusal.kind == "circuit"


NEST = """
initial: a
states: [{name: a, on_enter: more}, {name: z, final: true}]
transitions: [[go, a, "="], [end, a, z]]
"""


def test_fifty_deep_it_trips_and_nothing_switches_that_off(kind):
    depths = []
    if kind.is_async:

        class Nesting(kind.machine_class):
            async def more(self, event):
                depths.append(self.transition_count)
                await self.fire("go")
    else:

        class Nesting(kind.machine_class):
            def more(self, event):
                depths.append(self.transition_count)
                self.fire("go")

    machine = Nesting(NEST, policy=limits())
    told = []
    machine.on_circuit_broken(told.append)
    with stack_of(1000), pytest.raises(CircuitBrokenError, match="Nesting: callbacks fired triggers 50 deep"):
        kind.fire(machine, "go")
    assert len(depths) == machine.transition_count == 50
    assert machine.circuit_status.limit is BreakerLimit.NESTING
    assert len(told) == 1
    machine.reset_circuit_breaker()
    assert kind.fire(machine, "end")


def test_fifty_in_a_row_are_no_nesting(kind):
    machine = kind.make(RING, policy=limits())
    for _ in range(120):
        kind.fire(machine, "next")
    assert not machine.is_circuit_broken
