"""The commit hook: every fact with the snapshot as it will be, before it becomes visible; it may say no."""

import asyncio

import pytest

from orkeon_transitions.errors import CircuitBrokenError, MachineBusyError, OrkeonError
from orkeon_transitions.facts import (
    BreakerReset,
    CircuitBroken,
    Snapshot,
    TransitionFailed,
    TransitionResult,
)
from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.runtime.samples import GUARDED, RING, STAGES, limits, quiet, stage_callbacks


class Hook:
    """Keeps what it is told, with what the machine showed at that moment; may be told to raise."""

    def __init__(self):
        self.told = []
        self.seen = []
        self.machine = None
        self.refuses = ()

    def __call__(self, fact, snapshot):
        assert isinstance(snapshot, Snapshot)
        self.told.append((fact, snapshot))
        self.seen.append((self.machine.state, self.machine.transition_count, self.machine.is_circuit_broken))
        if isinstance(fact, self.refuses):
            raise OSError("disk full")

    @property
    def kinds(self):
        return [type(fact) for fact, _ in self.told]


def hooked(kind, text=RING, **options):
    hook = Hook()
    machine = kind.make(text, **{**quiet(), "commit": hook, **options})
    hook.machine = machine
    return machine, hook


def test_a_transition_is_committed_before_it_is_visible(kind):
    machine, hook = hooked(kind)
    result = kind.fire(machine, "next")
    [(fact, snapshot)] = hook.told
    assert fact == result
    assert (snapshot.state, snapshot.ordinal, snapshot.transition_count) == ("b", 1, 1)
    assert snapshot.visits == {"a": 1, "b": 1}
    assert hook.seen == [("a", 0, False)]


def test_an_internal_and_a_reflexive_transition_are_committed(kind):  # case A07
    machine, hook = hooked(kind)
    kind.fire(machine, "tick")
    kind.fire(machine, "again")
    assert [(fact.internal, snapshot.visits["a"]) for fact, snapshot in hook.told] == [(True, 1), (False, 2)]
    assert [fact.ordinal for fact, _ in hook.told] == [1, 2]


def test_a_trip_is_committed_before_it_is_visible(kind):
    machine, hook = hooked(kind, policy=limits(max_transitions=1))
    kind.fire(machine, "next")
    kind.try_fire(machine, "next")
    fact, snapshot = hook.told[-1]
    assert isinstance(fact, CircuitBroken)
    assert (snapshot.state, snapshot.trip.limit, snapshot.trip.reason) == ("b", fact.limit, fact.reason)
    assert hook.seen[-1] == ("b", 1, False)
    kind.try_fire(machine, "next")
    assert len(hook.told) == 2


def test_a_reset_is_committed_before_it_is_visible(kind):
    machine, hook = hooked(kind, policy=limits(max_transitions=1))
    kind.fire(machine, "next")
    kind.try_fire(machine, "next")
    kind.call(machine.reset_circuit_breaker)
    fact, snapshot = hook.told[-1]
    assert isinstance(fact, BreakerReset)
    assert (fact.state, fact.ordinal) == ("b", 1)
    assert fact.timestamp.utcoffset().total_seconds() == 0
    assert (snapshot.trip, snapshot.transition_count, snapshot.ordinal, snapshot.visits) == (
        None,
        0,
        1,
        {"b": 1},
    )
    assert hook.seen[-1] == ("b", 1, True)


def test_a_failure_is_committed_after_its_transition(kind):
    callbacks = stage_callbacks([])

    def broken(event):
        raise ValueError("bad")

    callbacks["actions"]["last"] = broken
    machine, hook = hooked(kind, STAGES, **callbacks)
    with pytest.raises(ValueError, match="bad") as raised:
        kind.fire(machine, "go")
    assert hook.kinds == [TransitionResult, TransitionFailed]
    fact, snapshot = hook.told[-1]
    assert (fact.ordinal, fact.error) == (1, raised.value)
    assert snapshot.state == "b"


def test_refusals_and_spending_are_no_facts(kind):
    machine, hook = hooked(kind)
    kind.try_fire(machine, "fly")
    machine.spend(usd=1)
    kind.fire(machine, "finish")
    kind.try_fire(machine, "next")
    assert hook.kinds == [TransitionResult]


def test_a_commit_comes_between_exit_and_enter(kind):
    log = []
    callbacks = stage_callbacks(log)
    machine = kind.make(STAGES, **quiet(**callbacks, commit=lambda fact, snapshot: log.append("commit")))
    kind.fire(machine, "go")
    assert log == ["may", "forbidden", "first", "leave_a", "commit", "enter_b", "last"]
    del log[:]
    machine = kind.make(STAGES, **quiet(**callbacks, commit=lambda fact, snapshot: log.append("commit")))
    kind.fire(machine, "stay")
    assert log == ["may", "forbidden", "first", "commit", "last"]


@pytest.mark.parametrize("method", ["fire", "try_fire"])
@pytest.mark.parametrize("trigger", ["go", "stay", "again"])
def test_a_hook_that_raises_leaves_state_and_counts_alone(kind, trigger, method):
    log = []
    machine, hook = hooked(kind, STAGES, **stage_callbacks(log))
    hook.refuses = TransitionResult
    heard = []
    machine.on_transition(heard.append)
    before = machine.snapshot().model_dump(exclude={"taken_at", "time_in_state"})
    with pytest.raises(OSError, match="disk full"):
        kind.wait(getattr(machine, method)(trigger))
    assert machine.snapshot().model_dump(exclude={"taken_at", "time_in_state"}) == before
    assert heard == []
    assert log == ["may", "forbidden", "first"] + ([] if trigger == "stay" else ["leave_a"])
    hook.refuses = ()
    assert kind.fire(machine, trigger).ordinal == 1


def test_a_trip_that_cannot_be_committed_has_not_happened(kind):
    machine, hook = hooked(kind, policy=limits(max_transitions=1))
    told = []
    machine.on_circuit_broken(told.append)
    kind.fire(machine, "next")
    hook.refuses = CircuitBroken
    for _ in range(2):
        with pytest.raises(OSError, match="disk full"):
            kind.fire(machine, "next")
        assert not machine.is_circuit_broken
    assert told == []
    hook.refuses = ()
    with pytest.raises(CircuitBrokenError):
        kind.fire(machine, "next")
    assert len(told) == 1


def test_a_reset_that_cannot_be_committed_has_not_happened():
    hook = Hook()
    machine = hook.machine = StateMachine(RING, policy=limits(max_transitions=1), commit=hook)
    machine.fire("next")
    machine.try_fire("next")
    hook.refuses = BreakerReset
    with pytest.raises(OSError, match="disk full"):
        machine.reset_circuit_breaker()
    assert machine.is_circuit_broken
    assert machine.transition_count == 1


def test_a_degrading_move_that_cannot_be_committed_leaves_the_machine_tripped(kind):
    machine, hook = hooked(kind, GUARDED, policy=limits(max_transitions=1, use_degraded_mode=True))
    kind.fire(machine, "go")
    hook.refuses = TransitionResult
    with pytest.raises(OSError, match="disk full"):
        kind.fire(machine, "go")
    assert (machine.state, machine.is_circuit_broken, machine.transition_count) == ("other", True, 1)
    hook.refuses = ()
    with pytest.raises(CircuitBrokenError):
        kind.fire(machine, "go")


def test_a_repetition_that_was_not_committed_is_none(kind):
    machine, hook = hooked(kind, GUARDED, policy=limits(max_repeats=1))
    hook.refuses = TransitionResult
    for _ in range(3):
        with pytest.raises(OSError):
            kind.fire(machine, "call", q=1)
    hook.refuses = ()
    assert kind.fire(machine, "call", q=1)
    assert hook.told[-1][1].repeats["work"].times == 1


def fields_class(kind):
    class Counting(kind.machine_class):
        persisted = ("made", "label")

        def __init__(self, *arguments, **options):
            self.made = 0
            self.label = "x"
            super().__init__(*arguments, **options)

        def _fields_after(self, event):
            return {"made": self.made + 1}

    return Counting


def test_fields_that_change_are_in_the_committed_snapshot_and_set_with_the_state(kind):
    hook = Hook()
    machine = hook.machine = fields_class(kind)(RING, **quiet(commit=hook))
    kind.fire(machine, "next")
    assert hook.told[0][1].fields == {"made": 1, "label": "x"}
    assert machine.made == 1
    hook.refuses = TransitionResult
    with pytest.raises(OSError):
        kind.fire(machine, "next")
    assert hook.told[1][1].fields["made"] == 2
    assert machine.made == 1


def test_a_machine_has_one_hook(kind):
    machine, hook = hooked(kind, machine_id="t1")
    with pytest.raises(OrkeonError, match="machine 't1' has a commit hook already: a second is not possible"):
        machine.attach_commit(lambda fact, snapshot: None)
    hook.closed = False
    with pytest.raises(OrkeonError):
        machine.attach_commit(lambda fact, snapshot: None)
    hook.closed = True
    second = Hook()
    second.machine = machine
    machine.attach_commit(second)
    kind.fire(machine, "next")
    assert (len(hook.told), len(second.told)) == (0, 1)


def test_a_hook_may_be_attached_later(kind):
    machine = kind.make(RING, **quiet())
    kind.fire(machine, "next")
    hook = Hook()
    hook.machine = machine
    machine.attach_commit(hook)
    kind.fire(machine, "next")
    assert [fact.ordinal for fact, _ in hook.told] == [2]


@pytest.mark.parametrize("method", ["fire", "reset_circuit_breaker"])
@pytest.mark.parametrize("fact", [TransitionResult, CircuitBroken, BreakerReset])
def test_a_hook_that_fires_is_refused(method, fact):
    """The state is not written yet: what the hook does would be overwritten, or go on for ever."""
    errors = []

    def commit(told, snapshot):
        if not isinstance(told, fact):
            return
        try:
            machine.fire("again") if method == "fire" else machine.reset_circuit_breaker()
        except MachineBusyError as error:
            errors.append(error)

    machine = StateMachine(RING, policy=limits(max_transitions=1), commit=commit)
    machine.fire("next")
    machine.try_fire("next")
    machine.reset_circuit_breaker()
    assert len(errors) == 1
    assert "fire_later" in str(errors[0])
    assert (machine.state, machine.transition_count, machine.is_circuit_broken) == ("b", 0, False)


def test_a_plain_hook_of_an_idle_async_machine_that_resets_is_refused():
    errors = []

    def commit(fact, snapshot):
        try:
            machine.reset_circuit_breaker()
        except MachineBusyError as error:
            errors.append(error)

    machine = AsyncStateMachine(RING, **quiet(commit=commit))
    machine.reset_circuit_breaker()
    assert len(errors) == 1


def test_an_async_hook_is_awaited():
    told = []

    async def commit(fact, snapshot):
        await asyncio.sleep(0.001)
        told.append((type(fact), machine.state, machine.is_circuit_broken))

    machine = AsyncStateMachine(RING, policy=limits(max_transitions=1), commit=commit)

    async def main():
        await machine.fire("next")
        await machine.try_fire("next")
        machine.reset_circuit_breaker()
        await machine.fire("next")

    asyncio.run(main())
    assert told == [
        (TransitionResult, "a", False),
        (CircuitBroken, "b", False),
        (BreakerReset, "b", True),
        (TransitionResult, "b", False),
    ]


def test_an_async_hook_that_raises_leaves_everything_alone():
    async def commit(fact, snapshot):
        await asyncio.sleep(0)
        raise OSError("disk full")

    async def main():
        machine = AsyncStateMachine(RING, **quiet(commit=commit))
        for trigger in ("next", "tick"):
            with pytest.raises(OSError, match="disk full"):
                await machine.fire(trigger)
        assert (machine.state, machine.transition_count) == ("a", 0)

    asyncio.run(main())


def test_a_reset_with_an_async_hook_comes_before_the_next_trigger():
    async def commit(fact, snapshot):
        await asyncio.sleep(0)

    async def main():
        machine = AsyncStateMachine(RING, policy=limits(max_transitions=1), commit=commit)
        await machine.fire("next")
        assert not await machine.try_fire("next")
        machine.reset_circuit_breaker()
        assert await machine.fire("next")
        assert machine.transition_count == 1

    asyncio.run(main())


@pytest.mark.parametrize("is_degrading", [False, True])
def test_a_repeated_payload_is_told_to_who_fired_and_never_committed(kind, is_degrading):
    text = (
        "initial: a\ndegraded: z\nstates: [a, {name: z, final: true}]\n"
        "transitions: [{trigger: login, source: a, dest: null, repeatable: false}]\n"
    )
    committed = []
    machine = kind.make(
        text,
        policy=limits(max_repeats=1, use_degraded_mode=is_degrading),
        commit=lambda fact, snapshot: committed.append(f"{fact!r} {snapshot!r}"),
    )
    kind.fire(machine, "login", password="hunter2")
    kind.try_fire(machine, "login", password="hunter2")
    assert "hunter2" in machine.circuit_status.broken_reason
    assert "Repetition: 'login' with an equal payload, 2 times in a row (allowed 1)" in committed[1]
    assert not any("hunter2" in told for told in [*committed, repr(machine.snapshot())])
