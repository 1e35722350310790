"""Budgets that the program reports against, and rows that may not be taken over and over."""

import pytest

from orkeon_transitions.errors import CircuitBrokenError
from tests.runtime.samples import GUARDED, RING, limits, quiet

TOOLS = """
initial: a
states: [a, b, c]
transitions:
  - {trigger: call, source: [a, b], dest: null, repeatable: false}
  - {trigger: other_call, source: a, dest: null, repeatable: false}
  - {trigger: ask, source: a, dest: b, repeatable: false}
  - [back, b, a]
  - {trigger: tick, source: [a, b], dest: null}
"""


def test_what_was_spent_adds_up_by_meter(kind):
    machine = kind.make(RING, policy=limits(meters={"tokens": 50_000, "usd": 2.0}))
    machine.spend(tokens=812)
    machine.spend(tokens=188, usd=0.25)
    machine.spend(calls=3)
    assert machine.circuit_status.spent == {"tokens": 1000, "usd": 0.25, "calls": 3}
    assert kind.fire(machine, "next")


def test_a_meter_without_a_budget_is_only_counted(kind):
    machine = kind.make(RING, policy=limits())
    machine.spend(tokens=10**12)
    assert kind.fire(machine, "next")


@pytest.mark.parametrize("amount", [-1, -0.001, float("nan")])
def test_nothing_is_given_back(kind, amount):
    machine = kind.make(RING, **quiet())
    with pytest.raises(ValueError, match=r"spend: usd=.* must not be negative"):
        machine.spend(usd=amount)
    assert machine.circuit_status.spent == {}


def test_no_end_of_money_can_be_spent_or_written_down(kind):
    machine = kind.make(RING, **quiet())
    with pytest.raises(ValueError, match="spend: usd=inf must be finite"):
        machine.spend(usd=float("inf"))
    assert machine.circuit_status.spent == {}


def test_a_meter_may_have_any_name(kind):
    machine = kind.make(RING, policy=limits(meters={"self": 1}))
    machine.spend(self=0.5)
    assert machine.circuit_status.spent == {"self": 0.5}


def test_one_bad_amount_spends_nothing(kind):
    machine = kind.make(RING, **quiet())
    with pytest.raises(ValueError, match="usd"):
        machine.spend(tokens=5, usd=-1)
    assert machine.circuit_status.spent == {}


def test_spending_alone_never_trips(kind):
    machine = kind.make(RING, policy=limits(meters={"usd": 1}))
    machine.spend(usd=100)
    assert not machine.is_circuit_broken
    with pytest.raises(CircuitBrokenError, match=r"Budget exhausted: 100 usd spent \(allowed 1\)"):
        kind.fire(machine, "next")


def test_spending_inside_of_a_callback_and_a_commit_is_kept(kind):
    text = "initial: a\nstates: [{name: a, on_exit: pay, on_enter: pay}]\ntransitions: [[go, a, '=']]\n"

    class Paying(kind.machine_class):
        def pay(self, event):
            self.spend(usd=1)

    machine = Paying(text, policy=limits(), commit=lambda fact, snapshot: machine.spend(usd=1))
    kind.fire(machine, "go")
    assert machine.circuit_status.spent == {"usd": 3}


def test_a_marked_row_may_be_taken_n_times_in_a_row_with_an_equal_payload(kind):
    machine = kind.make(TOOLS, policy=limits(max_repeats=3))
    for _ in range(3):
        kind.fire(machine, "call", tool="web_search", arguments={"q": "weather", "n": 5})
    with pytest.raises(CircuitBrokenError) as raised:
        kind.fire(machine, "call", tool="web_search", arguments={"n": 5, "q": "weather"})
    assert str(raised.value).startswith(
        "Repetition: 'call' with (tool='web_search', arguments={'n': 5, 'q': 'weather'})"
    )
    assert "(allowed 3)" in str(raised.value)


def test_the_shown_payload_is_shortened(kind):
    machine = kind.make(TOOLS, policy=limits(max_repeats=1))
    kind.fire(machine, "call", text="x" * 5000)
    message = kind.try_fire(machine, "call", text="x" * 5000).refusal.message
    assert len(message) < 400
    assert "…" in message


def test_without_a_payload_it_says_so(kind):
    machine = kind.make(TOOLS, policy=limits(max_repeats=1))
    kind.fire(machine, "call")
    assert "Repetition: 'call' without a payload" in kind.try_fire(machine, "call").refusal.message


def test_another_payload_begins_anew(kind):
    machine = kind.make(TOOLS, policy=limits(max_repeats=2))
    for query in ("x", "x", "y", "y", "x", "x"):
        assert kind.fire(machine, "call", q=query)
    assert not kind.try_fire(machine, "call", q="x")


def test_another_marked_row_from_the_same_state_begins_anew(kind):
    machine = kind.make(TOOLS, policy=limits(max_repeats=2))
    for trigger in ("call", "call", "other_call", "call", "call"):
        assert kind.fire(machine, trigger, q=1)
    assert not kind.try_fire(machine, "call", q=1)


def test_unmarked_rows_between_are_overlooked(kind):
    machine = kind.make(TOOLS, policy=limits(max_repeats=2))
    for trigger in ("call", "tick", "call", "tick"):
        assert kind.fire(machine, trigger)
    assert kind.try_fire(machine, "call").refusal.message.startswith("Repetition")


def test_it_is_counted_per_state(kind):
    """What another state's rows do in between does not interrupt the row of this one."""
    machine = kind.make(TOOLS, policy=limits(max_repeats=2))
    for trigger, payload in (("ask", 1), ("call", 2), ("back", 0), ("ask", 1), ("call", 2), ("back", 0)):
        assert kind.fire(machine, trigger, q=payload)
    assert kind.wait(machine.can_fire("call", q=2))
    assert not kind.try_fire(machine, "ask", q=1)


def test_unmarked_rows_may_be_taken_for_ever(kind):
    machine = kind.make(TOOLS, policy=limits(max_repeats=1))
    for _ in range(20):
        assert kind.fire(machine, "tick", q=1)


def test_zero_repeats_are_any(kind):
    machine = kind.make(TOOLS, policy=limits(max_repeats=0))
    for _ in range(20):
        assert kind.fire(machine, "call", q=1)


def test_a_refused_attempt_is_no_repetition(kind):
    row = "{trigger: call, source: a, dest: null, conditions: ok, repeatable: false}"
    text = f"initial: a\nstates: [a]\ntransitions: [{row}]\n"
    machine = kind.make(text, policy=limits(max_repeats=2), guards={"ok": lambda e: e.context})
    for context in (True, False, False, False, True):
        kind.try_fire(machine, "call", context, q=1)
    assert not machine.is_circuit_broken
    assert kind.try_fire(machine, "call", True, q=1).refusal.kind == "circuit"


class Point:
    """Equal to another of its kind, and says so."""

    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Point({self.x})"


UNUSUAL = [
    {"a": {1: "x", "b": "y"}},
    {"a": {(1, 2): "x"}},
    {"a": {None: 1, "": 2, 3.5: 3}},
    {"a": b"bytes", "b": float("nan"), "c": "\ud800"},
    {"a": Point(1), "b": [Point(2)]},
    {"a": {"x", "y"}, "b": frozenset({1})},
    {"a": (1, 2), "b": 1 + 2j},
]


@pytest.mark.parametrize("payload", UNUSUAL)
def test_any_payload_can_be_counted(kind, payload):
    machine = kind.make(GUARDED, policy=limits(max_repeats=2))
    for _ in range(2):
        assert kind.fire(machine, "call", **payload)
    assert kind.try_fire(machine, "call", **payload).refusal.message.startswith("Repetition")


def test_a_payload_that_holds_itself_can_be_counted(kind):
    endless = []
    endless.append(endless)
    machine = kind.make(GUARDED, policy=limits(max_repeats=2))
    for _ in range(2):
        assert kind.fire(machine, "call", a=endless)
    assert not kind.try_fire(machine, "call", a=endless)


class Nameless:
    """It cannot even say what it is."""

    def __repr__(self):
        raise RuntimeError


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [Nameless(), [Nameless()], nested(5000)], ids=["no repr", "inside", "deep"])
def test_a_payload_that_cannot_be_put_into_text_is_equal_to_no_other(kind, value):
    machine = kind.make(GUARDED, policy=limits(max_repeats=1))
    for _ in range(3):
        assert kind.fire(machine, "call", a=value)


def test_equal_sets_are_equal_payloads_whatever_their_order(kind):
    machine = kind.make(GUARDED, policy=limits(max_repeats=2))
    first, second = {0, 8}, {8, 0}  # both fall into one place of a small set: the order is that of insertion
    assert repr(first) != repr(second)
    assert kind.fire(machine, "call", a=first)
    assert kind.fire(machine, "call", a=second)
    assert not kind.try_fire(machine, "call", a=first)


def test_different_keys_are_different_payloads(kind):
    machine = kind.make(GUARDED, policy=limits(max_repeats=1))
    assert kind.fire(machine, "call", a={1: "x"})
    assert kind.fire(machine, "call", a={"1": "x"})


def test_the_payload_is_kept_as_a_digest(kind):
    machine = kind.make(GUARDED, policy=limits(max_repeats=5))
    kind.fire(machine, "call", password="hunter2")
    text = machine.snapshot().model_dump_json()
    assert "hunter2" not in text
    assert machine.snapshot().repeats["work"].times == 1


def test_a_meter_that_is_nearly_a_limits_name_is_a_slip(kind):
    machine = kind.make(RING, policy=limits(meters={"tokens": 10}))
    with pytest.raises(ValueError, match="no meter 'token', did you mean 'tokens'"):
        machine.spend(token=5)
    machine.spend(requests=1)
    assert machine.circuit_status.spent == {"requests": 1}


@pytest.mark.parametrize("amount", ["5", None, True])
def test_an_amount_that_is_no_number_is_refused(kind, amount):
    with pytest.raises(TypeError, match="spend: tokens must be a number, not"):
        kind.make(RING).spend(tokens=amount)


def test_objects_that_tell_only_their_address_are_like_nothing_else(kind):
    machine = kind.make(TOOLS, policy=limits(max_repeats=1))
    for _ in range(10):
        assert kind.fire(machine, "call", arguments={"handle": object()})
