"""Guards and payloads that a program got wrong: a machine says no, or says so, and is none the worse."""

import time

import pytest

from orkeon_transitions.errors import DefinitionError, GuardRejectedError
from tests.runtime.samples import GUARDED, RING, limits, quiet

ASKED = """
name: asked
initial: a
states: [a, {name: b, final: true}]
transitions:
""" + "".join(f"  - {{trigger: go{number}, source: a, dest: b, conditions: ok}}\n" for number in range(6))


class Undecided:
    def __bool__(self):
        raise ValueError("neither yes nor no")


class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def undecided(event):
    return Undecided()


def wordless(event):
    raise Wordless


def generating(event):
    yield False


async def generating_later(event):
    yield False


class Generating:
    def __call__(self, event):
        yield False


@pytest.mark.parametrize(
    "guard", [undecided, wordless, lambda e: generating(e), lambda e: generating_later(e)]
)
def test_an_answer_that_is_none_means_no(kind, guard):
    machine = kind.make(ASKED, **quiet(guards={"ok": guard}))
    assert not kind.wait(machine.can_fire("go0"))
    assert kind.wait(machine.why_not("go0")).kind == "error"
    with pytest.raises(GuardRejectedError):
        kind.fire(machine, "go0")
    assert not kind.try_fire(machine, "go0")
    assert kind.wait(machine.permitted_triggers()) == []
    assert (machine.state, machine.transition_count) == ("a", 0)


@pytest.mark.parametrize("callback", [generating, generating_later, Generating()])
def test_a_generator_is_no_callback(kind, callback):
    with pytest.raises(DefinitionError, match="the guard 'ok' is a generator: calling it would run nothing"):
        kind.make(ASKED, guards={"ok": callback})
    acting = (
        "name: m\ninitial: a\nstates: [a]\ntransitions: [{trigger: go, source: a, dest: a, after: act}]\n"
    )
    with pytest.raises(DefinitionError, match="the action 'act' is a generator"):
        kind.make(acting, actions={"act": callback})
    with pytest.raises(TypeError, match="a listener is a plain function"):
        kind.make(RING).on_transition(callback)


def test_a_generator_method_is_no_guard(kind):
    fine = type("Fine", (kind.machine_class,), {"ok": lambda self, event: True})
    assert fine(ASKED)
    other = type("Other", (kind.machine_class,), {"ok": generating})
    with pytest.raises(DefinitionError, match="the guard 'ok' is a generator"):
        other(ASKED)


def asking_itself(machines):
    return lambda event: machines[0].can_fire("go0")


def asking_what_is_permitted(machines):
    return lambda event: "go0" in machines[0].permitted_triggers()


@pytest.mark.parametrize("guard_on", [asking_itself, asking_what_is_permitted])
def test_a_guard_that_asks_for_its_own_answer_comes_to_an_end(kind, guard_on):
    machines = []
    machines.append(kind.make(ASKED, **quiet(guards={"ok": asynchronous(kind, guard_on(machines))})))
    begin = time.process_time()
    assert not kind.wait(machines[0].can_fire("go0"))
    assert not kind.try_fire(machines[0], "go0")
    assert time.process_time() - begin < 5


def asynchronous(kind, guard):
    """The guard; on an async machine one that awaits the machine's answer."""
    if not kind.is_async:
        return guard

    async def awaiting(event):
        if guard.__qualname__.startswith("asking_itself"):
            return await guard(event)
        machine = guard.__closure__[0].cell_contents[0]
        return "go0" in await machine.permitted_triggers()

    return awaiting


def test_a_guard_may_ask_for_another_trigger_that_it_guards(kind):
    machines = []

    def ok(event):
        return event.trigger == "go1" or not machines[0].can_fire("go1")

    async def ok_async(event):
        return event.trigger == "go1" or not await machines[0].can_fire("go1")

    machines.append(kind.make(ASKED, **quiet(guards={"ok": ok_async if kind.is_async else ok})))
    assert kind.wait(machines[0].can_fire("go1"))
    assert not kind.wait(machines[0].can_fire("go2"))


class Untold:
    def __repr__(self):
        raise RuntimeError("no words")


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [Untold(), nested(5000), {"deep": Untold()}], ids=["untold", "deep", "inside"]
)
def test_a_payload_that_has_no_text_is_like_no_other(kind, value):
    machine = kind.make(GUARDED, policy=limits(max_repeats=1))
    for _ in range(3):
        assert kind.wait(machine.can_fire("call", value=value))
        assert kind.fire(machine, "call", value=value)
    assert machine.transition_count == 3
