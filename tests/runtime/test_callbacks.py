"""Guards and actions: found by name when the machine is made, called in order, what happens if they raise."""

import logging

import pytest

from orkeon_transitions.errors import DefinitionError, GuardRejectedError, MachineBusyError
from orkeon_transitions.facts import TransitionFailed, TransitionResult
from tests.runtime.samples import RING, STAGE_ACTIONS, STAGES, limits, quiet, stage_callbacks

ROW = "initial: a\nstates: [a, b]\ntransitions: [{{trigger: go, source: a, dest: b, {}}}]\n"


MISSING = """name: door
initial: a
states: [a,
  {name: b, onEnter: notee}]
transitions:
  - trigger: go
    source: a
    conditions: is_redy
    unless: nope
    after: [x1,
      x2]
    dest: b
"""


def problems_of(kind, text, **options):
    with pytest.raises(DefinitionError) as raised:
        kind.make(text, **options)
    return raised.value.problems


def test_callbacks_run_in_the_order_of_transitions(kind):
    log = []
    machine = kind.make(STAGES, **quiet(**stage_callbacks(log)))
    kind.fire(machine, "go")
    assert log == ["may", "forbidden", "first", "leave_a", "enter_b", "last"]


def test_the_state_is_written_between_exit_and_enter(kind):
    seen = []
    actions = {name: (lambda e, n=name: seen.append((n, machine.state))) for name in STAGE_ACTIONS}
    guards = {"may": lambda e: True, "forbidden": lambda e: False}
    machine = kind.make(STAGES, **quiet(guards=guards, actions=actions))
    kind.fire(machine, "go")
    assert seen == [("first", "a"), ("leave_a", "a"), ("enter_b", "b"), ("last", "b")]


def test_callbacks_take_one_event(kind):
    events = []
    guards = {"may": lambda e: events.append(e) or True, "forbidden": lambda e: False}
    actions = dict.fromkeys(STAGE_ACTIONS, events.append)
    machine = kind.make(STAGES, **quiet(guards=guards, actions=actions))
    context = object()
    kind.fire(machine, "go", context, n=1)
    assert len(events) == 5
    for event in events:
        assert event.context is context
        assert event.payload == event.kwargs == {"n": 1}
        assert (event.trigger, event.from_state, event.to_state) == ("go", "a", "b")
    assert repr(events[0]) == "TriggerEvent('go', 'a' -> 'b')"


def test_methods_of_the_class_are_callbacks(kind):
    class Door(kind.machine_class):
        def may(self, event):
            return event.context is self

        def note(self, event):
            self.noted = event.payload

    machine = Door(ROW.format("conditions: may, after: note"), **quiet())
    assert not kind.try_fire(machine, "go")
    kind.fire(machine, "go", machine, n=1)
    assert machine.noted == {"n": 1}


def test_what_is_given_stands_before_a_method(kind):
    class Door(kind.machine_class):
        def may(self, event):
            raise AssertionError

    assert kind.fire(Door(ROW.format("conditions: may"), **quiet(guards={"may": lambda e: True})), "go")


def test_a_callable_that_is_false_is_a_callable(kind):
    class Empty(list):
        def __call__(self, event):
            return True

    machine = kind.make(
        ROW.format("conditions: may, after: note"),
        **quiet(guards={"may": Empty()}, actions={"note": Empty()}),
    )
    assert kind.fire(machine, "go")


def test_a_name_that_exists_nowhere_is_an_error_when_the_machine_is_made(kind):  # case B06
    problems = problems_of(kind, MISSING, guards={"is_ready": bool}, actions={"note": bool})
    name = kind.machine_class.__name__
    assert [(problem.file, problem.line, problem.path) for problem in problems] == [
        ("<text>", 8, "transitions[0].conditions"),
        ("<text>", 9, "transitions[0].unless"),
        ("<text>", 4, "states[1].on_enter"),
        ("<text>", 10, "transitions[0].after"),
        ("<text>", 11, "transitions[0].after"),
    ]
    assert problems[0].column == 17
    assert (
        problems[0].message
        == f"'door' names the guard 'is_redy', which is neither given nor a method of {name}: "
        "guards={'is_redy': ...} gives it"
    )
    assert problems[0].hint == "is_ready"
    assert problems[2].message.startswith("'door' names the action 'notee', which is neither")
    assert problems[2].message.endswith("actions={'notee': ...} gives it")
    assert problems[2].hint == "note"
    assert "did you mean 'is_ready'?" in str(problems[0])


def test_equal_definitions_from_two_files_have_places_of_their_own(kind):
    for moved in (0, 2, 5):
        problems = problems_of(
            kind, "\n" * moved + MISSING, guards={"is_ready": bool}, actions={"note": bool}
        )
        assert problems[0].line == 8 + moved


def test_a_definition_without_a_text_has_no_lines(kind):
    row = {"trigger": "go", "source": "a", "dest": "a", "conditions": "nope"}
    [problem] = problems_of(kind, {"initial": "a", "states": ["a"], "transitions": [row]})
    assert (problem.file, problem.line, problem.path) == (None, None, "transitions[0].conditions")


def test_the_nearest_name_may_be_a_method(kind):  # case B06
    class Door(kind.machine_class):
        def is_ready(self, event):
            return True

    with pytest.raises(DefinitionError, match=r"'is_redy'.*did you mean 'is_ready'\?"):
        Door(ROW.format("conditions: is_redy"))


def test_an_attribute_that_is_no_method_is_no_callback(kind):  # case B06
    class Door(kind.machine_class):
        size = 3

    with pytest.raises(DefinitionError, match="'size', which is neither given nor a method of Door"):
        Door(ROW.format("after: size"))


@pytest.mark.parametrize(
    "name", ["fire", "reset_circuit_breaker", "spend", "snapshot", "__init__", "_write", "is_terminal"]
)
@pytest.mark.parametrize("where", ["conditions", "after"])
def test_the_machines_own_methods_are_no_callbacks(kind, name, where):
    """A file must not be able to name what a program never gave it."""
    with pytest.raises(DefinitionError, match=f"'{name}', which is neither given nor a method"):
        kind.make(ROW.format(f"{where}: {name}"))


@pytest.mark.parametrize("what", ["guards", "actions"])
def test_what_is_given_must_be_callable(kind, what):
    [problem] = problems_of(kind, RING, **{what: {"may": 3}})
    assert problem.message == f"the {what[:-1]} 'may' is not callable"


def raising(kind, stage, method="fire", **policy):
    """A machine whose callback at a stage raises; everything that it told."""
    callbacks = stage_callbacks([])
    error = OSError("disk")

    def broken(event):
        raise error

    facts, told, refused = [], [], []
    callbacks["actions"][stage] = broken
    machine = kind.make(
        STAGES,
        policy=limits(**policy),
        commit=lambda fact, snapshot: facts.append((fact, snapshot)),
        **callbacks,
    )
    machine.on_transition(told.append)
    machine.on_refused(refused.append)
    with pytest.raises(OSError, match="disk") as raised:
        kind.wait(getattr(machine, method)("go"))
    assert raised.value is error
    assert refused == []
    return machine, error, facts, told


@pytest.mark.parametrize("method", ["fire", "try_fire"])
@pytest.mark.parametrize("stage", ["first", "leave_a"])
def test_before_the_state_is_written_an_error_leaves_everything_alone(kind, stage, method):  # case C01
    machine, _, facts, told = raising(kind, stage, method)
    assert machine.state == "a"
    assert machine.transition_count == 0
    assert machine.circuit_status.state_visit_histogram == {"a": 1}
    assert (facts, told) == ([], [])


@pytest.mark.parametrize("method", ["fire", "try_fire"])
@pytest.mark.parametrize("stage", ["enter_b", "last"])
def test_after_the_state_was_written_it_stands_and_is_counted_once(kind, stage, method):  # case C01
    machine, error, facts, told = raising(kind, stage, method)
    assert machine.state == "b"
    assert machine.transition_count == 1
    assert machine.circuit_status.state_visit_histogram == {"a": 1, "b": 1}
    (moved, at_move), (failed, at_failure) = facts
    assert isinstance(moved, TransitionResult)
    assert (moved.from_state, moved.to_state, moved.ordinal, moved.error) == ("a", "b", 1, None)
    assert failed == TransitionFailed(1, error, failed.timestamp)
    assert failed.timestamp.utcoffset().total_seconds() == 0
    assert at_move.state == at_failure.state == "b"
    [result] = told
    assert result.accepted
    assert result.error is error
    assert (result.from_state, result.to_state, result.ordinal) == ("a", "b", 1)
    assert kind.fire(machine, "on")


def test_an_on_enter_that_raises_stops_the_after_callbacks(kind):
    log = []
    callbacks = stage_callbacks(log)

    def broken(event):
        raise OSError

    machine = kind.make(
        STAGES, **quiet(guards=callbacks["guards"], actions=callbacks["actions"] | {"enter_b": broken})
    )
    with pytest.raises(OSError):
        kind.fire(machine, "go")
    assert log == ["may", "forbidden", "first", "leave_a"]


def test_an_internal_rows_after_that_raises_was_counted(kind):  # case C01
    callbacks = stage_callbacks([])

    def broken(event):
        raise OSError

    told = []
    machine = kind.make(
        STAGES, **quiet(guards=callbacks["guards"], actions=callbacks["actions"] | {"last": broken})
    )
    machine.on_transition(told.append)
    with pytest.raises(OSError):
        kind.fire(machine, "stay")
    assert machine.transition_count == 1
    assert isinstance(told[0].error, OSError)


def test_a_failure_that_cannot_be_recorded_keeps_its_own_error(kind, caplog):
    def broken(event):
        raise OSError("disk")

    def commit(fact, snapshot):
        if isinstance(fact, TransitionFailed):
            raise PermissionError("full")

    callbacks = stage_callbacks([])
    machine = kind.make(
        STAGES,
        **quiet(guards=callbacks["guards"], actions=callbacks["actions"] | {"last": broken}, commit=commit),
    )
    with caplog.at_level(logging.ERROR, "orkeon_transitions"), pytest.raises(OSError, match="disk") as raised:
        kind.fire(machine, "go")
    assert raised.value.__notes__ == ["and this failure could not be recorded: full"]
    assert "could not be recorded" in caplog.text


NESTED = """
initial: a
states: [{name: a, on_exit: at_exit}, {name: b, on_enter: at_enter}, {name: c, on_enter: at_c}]
transitions:
  - {trigger: go, source: a, dest: b, conditions: at_guard, before: at_before, after: at_after}
  - [e1, [a, b], c]
"""


def nested(kind, where, firing):
    """A machine that fires `e1` inside of the callback `where`; its log."""
    log = []
    actions = {
        name: (lambda e, n=name: log.append(n))
        for name in ("at_exit", "at_enter", "at_c", "at_before", "at_after")
    }
    guards = {"at_guard": lambda e: True}
    if kind.is_async:

        async def inside(event):
            log.append(where)
            await firing(machine)
            return True
    else:

        def inside(event):
            log.append(where)
            firing(machine)
            return True

    (guards if where == "at_guard" else actions)[where] = inside
    facts = []
    machine = kind.make(
        NESTED, **quiet(guards=guards, actions=actions, commit=lambda fact, snapshot: facts.append(fact))
    )
    told = []
    machine.on_transition(told.append)
    return machine, log, facts, told


@pytest.mark.parametrize(
    ("where", "order"),
    [
        ("at_enter", ["at_before", "at_exit", "at_enter", "at_c", "at_after"]),
        ("at_after", ["at_before", "at_exit", "at_enter", "at_after", "at_c"]),
    ],
)
def test_a_trigger_inside_of_on_enter_or_after_runs_at_once(kind, where, order):  # case C03
    machine, log, facts, told = nested(kind, where, lambda m: m.fire("e1"))
    outer = kind.fire(machine, "go")
    assert log == order
    assert machine.state == "c"
    assert [(f.from_state, f.to_state, f.ordinal) for f in facts] == [("a", "b", 1), ("b", "c", 2)]
    assert told == facts
    assert (outer.to_state, outer.ordinal) == ("b", 1)


@pytest.mark.parametrize("where", ["at_before", "at_exit"])
def test_a_trigger_before_the_state_is_written_is_refused(kind, where):
    machine, _, facts, _ = nested(kind, where, lambda m: m.fire("e1"))
    with pytest.raises(
        MachineBusyError,
        match=r"'e1' came inside of a guard, before, on_exit or the commit hook of 'go'.*fire_later",
    ):
        kind.fire(machine, "go")
    assert (machine.state, facts) == ("a", [])
    assert kind.wait(machine.can_fire("e1"))


def test_a_trigger_inside_of_a_guard_is_refused(kind):
    machine, _, _, _ = nested(kind, "at_guard", lambda m: m.fire("e1"))
    with pytest.raises(GuardRejectedError, match="fire_later") as raised:
        kind.fire(machine, "go")
    assert isinstance(raised.value.__cause__, MachineBusyError)


def test_asking_runs_guards_that_fire_no_better(kind):
    """A guard that fires is a mistake; asking must not move the machine all the same."""
    machine, _, facts, _ = nested(kind, "at_guard", lambda m: m.fire("e1"))
    assert not kind.wait(machine.can_fire("go"))
    assert (machine.state, facts) == ("a", [])
