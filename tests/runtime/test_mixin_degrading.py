"""The move to the degraded state, and who hears of a trip, on every machine class of `transitions`."""

import logging

import pytest

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerStatus
from orkeon_transitions.errors import CircuitBrokenError
from tests.runtime.mixin_kinds import ASYNC, KINDS, SYNC, fire, machine

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@every_kind
def test_the_degraded_move_runs_the_callbacks_with_the_arguments_of_the_trigger(kind):
    heard = []
    states = [
        {"name": "a", "on_exit": lambda tool: heard.append(("exit", tool))},
        {"name": "degraded", "on_enter": lambda tool: heard.append(("enter", tool))},
        "b",
        "done",
    ]
    _, model = machine(
        kind,
        limits={"max_state_visits": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        states=states,
        before_state_change=lambda tool: heard.append(("before", tool)),
        after_state_change=lambda tool: heard.append(("after", tool)),
    )
    assert fire(model.again, tool="search") is False
    assert heard == [("before", "search"), ("exit", "search"), ("enter", "search"), ("after", "search")]


@every_kind
def test_the_degraded_move_tells_the_trigger_in_whose_place_it_is_made(kind):
    heard = []
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        send_event=True,
        after_state_change=lambda event: heard.append((event.event.name, event.transition.dest)),
    )
    fire(model.next)
    fire(model.end)
    assert heard == [("next", "b"), ("end", "degraded")]


@every_kind
def test_a_trigger_fired_on_entering_the_degraded_state_raises(kind):
    outcome = []

    async def awaited():
        try:
            await model.next()
        except CircuitBrokenError as error:
            outcome.append(error)

    def called():
        try:
            model.next()
        except CircuitBrokenError as error:
            outcome.append(error)

    states = ["a", "b", "done", {"name": "degraded", "on_enter": awaited if kind in ASYNC else called}]
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        states=states,
    )
    fire(model.next)
    fire(model.next)
    assert len(outcome) == 1
    assert model.state == "degraded"


@every_kind
def test_the_listener_hears_of_a_trip_before_the_model_moves(kind):
    heard = []
    _, model = machine(
        kind,
        limits={"max_transitions": 1, "use_degraded_mode": True},
        degraded_state="degraded",
        on_circuit_broken=lambda status: heard.append((status, model.state)),
    )
    fire(model.next)
    fire(model.next)
    [(status, state)] = heard
    assert isinstance(status, CircuitBreakerStatus)
    assert (status.is_broken, status.total_transitions, state) == (True, 1, "b")


@every_kind
def test_a_listener_that_raises_is_logged_and_stops_nothing(kind, caplog):
    _, model = machine(kind, limits={"max_transitions": 1}, on_circuit_broken=lambda status: 1 / 0)
    fire(model.next)
    with (
        caplog.at_level(logging.ERROR, "orkeon_transitions.runtime.mixin"),
        pytest.raises(CircuitBrokenError),
    ):
        fire(model.next)
    assert "on_circuit_broken" in caplog.text


@pytest.mark.parametrize("kind", ASYNC, ids=lambda kind: kind.__name__)
def test_an_async_machine_awaits_its_listener(kind, caplog):
    heard = []

    async def listener(status):
        heard.append(status.limit)
        raise ValueError("listener")

    _, model = machine(kind, limits={"max_transitions": 1}, on_circuit_broken=listener)
    fire(model.next)
    with pytest.raises(CircuitBrokenError):
        fire(model.next)
    assert heard == [BreakerLimit.MAX_TRANSITIONS]
    assert "on_circuit_broken" in caplog.text


@pytest.mark.parametrize("kind", SYNC, ids=lambda kind: kind.__name__)
def test_a_plain_machine_refuses_a_coroutine_as_listener(kind):
    async def listener(status): ...

    with pytest.raises(TypeError, match="coroutine"):
        machine(kind, on_circuit_broken=listener)
