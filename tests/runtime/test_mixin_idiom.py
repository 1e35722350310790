"""What users of `transitions` do with their machines works on guarded ones, and is guarded."""

import asyncio
import pickle
import random
import threading

import pytest
from transitions import Machine
from transitions.extensions import LockedMachine
from transitions.extensions.asyncio import AsyncMachine, AsyncTimeout
from transitions.extensions.states import Tags, Timeout, add_state_features

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.errors import CircuitBrokenError
from orkeon_transitions.runtime.mixin import CircuitBreakerMixin
from tests.runtime.mixin_kinds import KINDS, NO_LIMITS, Model, fire, machine, policy

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@every_kind
def test_ordered_transitions(kind):
    _, model = machine(kind, limits={"max_transitions": 2}, transitions=[], ordered_transitions=True)
    fire(model.next_state)
    fire(model.next_state)
    with pytest.raises(CircuitBrokenError):
        fire(model.next_state)
    assert model.state == "degraded"


@every_kind
def test_dispatch_is_judged_for_each_model(kind):
    models = [Model(), Model()]
    made, _ = machine(kind, models, limits={"max_transitions": 1})
    assert fire(made.dispatch, "next") is True
    assert [model.state for model in models] == ["b", "b"]
    with pytest.raises(CircuitBrokenError):
        fire(made.dispatch, "next")


@every_kind
def test_states_and_rows_that_are_added_later_are_guarded(kind):
    made, model = machine(kind, limits={"max_state_visits": 1})
    made.add_states(["late"])
    made.add_transition("hurry", "*", "late")
    fire(model.hurry)
    with pytest.raises(CircuitBrokenError, match="'late'"):
        fire(model.hurry)


@every_kind
def test_callbacks_by_name_and_those_that_are_added_later(kind):
    heard = []

    class Named(Model):
        def on_enter_b(self):
            heard.append("enter")

        def late(self):
            heard.append("late")

    made, model = machine(kind, Named(), limits={"max_transitions": 1})
    made.events["next"].add_callback("before", "late")
    fire(model.next)
    assert heard == ["late", "enter"]
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert heard == ["late", "enter"]


@every_kind
def test_the_events_of_a_guarded_machine_show_what_stock_ones_show(kind):
    seen = []
    _, model = machine(
        kind,
        send_event=True,
        after_state_change=lambda event: seen.append(
            (event.event.name, event.transition.source, event.transition.dest, event.args, event.kwargs)
        ),
    )
    fire(model.next, 1, tool="x")
    fire(model.tick)
    assert seen == [("next", "a", "b", (1,), {"tool": "x"}), ("tick", "b", None, (), {})]


@add_state_features(Timeout, Tags)
class Timed(CircuitBreakerMixin, Machine):
    """Stock state features; the timer's trigger is a trigger like any other."""


def test_the_trigger_of_a_timeout_state_is_counted():
    fired = threading.Event()

    class Waiting(Model):
        def expired(self):
            self.next()
            fired.set()

    model = Waiting()
    Timed(
        model,
        states=["b", {"name": "a", "timeout": 0.01, "on_timeout": "expired", "tags": ["slow"]}],
        initial="b",
        transitions=[["next", "b", "a"], ["next", "a", "b"]],
        circuit_breaker=policy(max_transitions=2),
    )
    model.next()
    assert fired.wait(10)
    assert model.circuit_status.total_transitions == 2
    with pytest.raises(CircuitBrokenError):
        model.next()


@add_state_features(AsyncTimeout)
class TimedAsync(CircuitBreakerMixin, AsyncMachine):
    """The same, awaited."""


def test_the_trigger_of_an_async_timeout_state_is_counted():
    async def main():
        fired = asyncio.Event()

        class Waiting(Model):
            async def expired(self):
                await self.next()
                fired.set()

        model = Waiting()
        TimedAsync(
            model,
            states=["b", {"name": "a", "timeout": 0.01, "on_timeout": "expired"}],
            initial="b",
            transitions=[["next", "b", "a"], ["next", "a", "b"]],
            circuit_breaker=policy(max_transitions=2),
        )
        await model.next()
        await asyncio.wait_for(fired.wait(), 10)
        with pytest.raises(CircuitBrokenError):
            await model.next()

    asyncio.run(main())


class Metered(CircuitBreakerMixin, LockedMachine):
    """Pickled with what `spend` is bound to."""


def test_meters_survive_pickling():
    model = Model()
    limits = CircuitBreakerPolicy(**NO_LIMITS, meters={"tokens": 10})
    Metered(model, states=["a"], initial="a", transitions=[["again", "a", "="]], circuit_breaker=limits)
    model.spend(tokens=8)
    other = pickle.loads(pickle.dumps(model))
    other.spend(tokens=3)
    with pytest.raises(CircuitBrokenError):
        other.again()
    assert model.circuit_status.spent == {"tokens": 8}
    assert model.again() is True


# A random machine behaves the same with the mixin and without.


def random_options(rng, heard):
    states = [f"s{number}" for number in range(rng.randint(2, 5))]

    def noted(name):
        return lambda *args, **kwargs: heard.append(name)

    def answer(name, value):
        return lambda *args, **kwargs: heard.append(name) or value

    def row(number):
        made = {
            "trigger": rng.choice("xyz"),
            "source": rng.choice([*states, "*"]),
            "dest": rng.choice([*states, "=", None]),
        }
        for stage in ("prepare", "before", "after"):
            if rng.random() < 0.5:
                made[stage] = noted(f"{stage}{number}")
        if rng.random() < 0.4:
            made["conditions"] = answer(f"condition{number}", rng.random() < 0.6)
        return made

    return {
        "states": [
            {"name": s, "on_enter": noted(f"enter {s}"), "on_exit": noted(f"exit {s}")} for s in states
        ],
        "initial": states[0],
        "transitions": [row(number) for number in range(rng.randint(1, 8))],
        "auto_transitions": False,
        "ignore_invalid_triggers": True,
        "queued": rng.random() < 0.3,
        **{
            hook: noted(hook)
            for hook in ("prepare_event", "before_state_change", "after_state_change", "finalize_event")
        },
    }


def run(make, seed):
    heard, rng = [], random.Random(seed)
    options = random_options(rng, heard)
    model = Model()
    make(model, options)
    outcome = []
    for _ in range(15):
        trigger = getattr(model, rng.choice("xyz"), None)
        if trigger is not None:
            outcome.append((fire(trigger), model.state))
    return outcome, heard


@every_kind
def test_a_random_machine_behaves_the_same_with_all_limits_off(kind):
    graph = {"graph_engine": "mermaid"} if "Graph" in kind.__name__ else {}
    for seed in range(12):
        stock = run(lambda model, options: kind(model, **graph, **options), seed)
        guarded = run(lambda model, options: machine(kind, model, **options), seed)
        assert guarded == stock


# Whatever callbacks fire, no budget is overrun.


def firing_options(rng, fires):
    states = ["s0", "s1", "s2"]

    def row():
        made = {"trigger": rng.choice("xyz"), "source": "*", "dest": rng.choice([*states, "=", None])}
        for stage in ("prepare", "conditions", "before", "after"):
            if rng.random() < 0.3:
                made[stage] = fires
        return made

    def state(name):
        return {"name": name, **{stage: fires for stage in ("on_enter", "on_exit") if rng.random() < 0.3}}

    return {
        "states": [*(state(name) for name in states), "lost"],
        "initial": "s0",
        "transitions": [row() for _ in range(5)],
        "ignore_invalid_triggers": True,
    }


def stress(kind, seed):
    rng = random.Random(seed)
    most, visits, depth = rng.randint(1, 6), rng.randint(1, 4), 0
    degraded = rng.random() < 0.5

    def trigger():
        return getattr(model, rng.choice("xyz"), model.to_s1)

    def called():
        nonlocal depth
        if depth > 3:
            return True
        depth += 1
        try:
            trigger()()
        except CircuitBrokenError:
            if rng.random() < 0.5:
                raise
        finally:
            depth -= 1
        return True

    async def awaited():
        nonlocal depth
        if depth > 3:
            return True
        depth += 1
        try:
            await trigger()()
        except CircuitBrokenError:
            if rng.random() < 0.5:
                raise
        finally:
            depth -= 1
        return True

    _, model = machine(
        kind,
        limits={"max_transitions": most, "max_state_visits": visits, "use_degraded_mode": degraded},
        degraded_state="lost",
        auto_transitions=True,
        **firing_options(rng, awaited if issubclass(kind, AsyncMachine) else called),
    )
    for _ in range(12):
        try:
            fire(trigger())
        except CircuitBrokenError:
            continue
    status = model.circuit_status
    histogram = dict(status.state_visit_histogram)
    was_degraded = histogram.pop("lost", 0)
    assert status.total_transitions <= most + was_degraded
    assert max(histogram.values()) <= visits
    assert was_degraded <= 1
    assert status.is_broken or not was_degraded


@every_kind
@pytest.mark.parametrize("seed", range(25))
def test_no_budget_is_overrun_by_triggers_inside_of_callbacks(kind, seed):
    stress(kind, seed)
