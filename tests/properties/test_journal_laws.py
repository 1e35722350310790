"""The journal's laws, for random definitions, policies and programs.

What a journal says is what the machine says: state, counts, histogram, trip and ordinals, whatever happened
on the way: refusals, failing callbacks, trips, resets, clocks that run out, restarts.
"""

import contextlib
import json
import tempfile
import warnings
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from orkeon_transitions.definition import load_definition
from orkeon_transitions.errors import JournalError
from orkeon_transitions.facts import TransitionResult
from orkeon_transitions.machines import HermesAgentFSM
from orkeon_transitions.runtime import StateMachine
from orkeon_transitions.store import JsonlJournal, replay
from orkeon_transitions.store.records import parse_line
from tests.strategies import ACTIONS, GUARDS, any_names, machine_configs, policies


def lively(config):
    """Makes sure that a random machine can move, and that one of its states has a way out in time."""
    first, *_ = [state for state in config["states"] if state["name"] == config["initial"]]
    first |= {"final": False, "timeout": 5, "on_timeout": "go0"}
    rows = [
        {"trigger": f"go{number}", "source": "*", "dest": state["name"]}
        for number, state in enumerate(config["states"])
    ]
    return load_definition(config | {"transitions": [*config["transitions"], *rows]})


DEFINITIONS = machine_configs(policy=st.none() | policies()).map(lively)
FIRE = st.tuples(st.just("fire"), st.integers(0, 9), st.booleans(), st.none() | st.sampled_from(ACTIONS))
AGENT_TRIGGERS = sorted(trigger.value for trigger in HermesAgentFSM.TRIGGERS)
STEPS = st.lists(
    st.one_of(
        *[FIRE] * 4,  # a program fires more than it does anything else
        st.tuples(st.just("pass"), st.floats(0, 200)),
        st.tuples(st.just("reset")),
        st.tuples(st.just("spend"), st.floats(0, 1e6)),
        st.tuples(st.just("check")),
        st.tuples(st.just("restart")),
        st.tuples(st.just("reopen")),
    ),
    min_size=1,
    max_size=30,
)


class FailingCallbackError(Exception):
    """Raised on purpose by an action of a random machine."""


class Program:
    """A random program that runs a machine on a journal."""

    def __init__(self, definition, path, kind=JsonlJournal):
        self.now = 0.0
        self.path = path
        self.kind = kind
        self.journal = kind(path)
        self.options = {
            "clock": lambda: self.now,
            "guards": dict.fromkeys(GUARDS, lambda event: event.payload.get("answer")),
            "actions": {name: self.action(name) for name in ACTIONS},
        }
        self.machine = StateMachine(definition, machine_id="m", **self.options)
        self.journal.record(self.machine)

    def action(self, name):
        def act(event):
            if event.payload.get("failing") == name:
                raise FailingCallbackError(name)

        return act

    def run(self, steps):
        for kind, *arguments in steps:
            with contextlib.suppress(FailingCallbackError):
                getattr(self, f"do_{kind}")(*arguments)
        self.journal.close()

    def do_fire(self, number, answer, failing):
        definition, state = self.machine.definition, self.machine.state
        triggers = definition.triggers_from(state) or definition.triggers  # none are left at the end
        self.machine.try_fire(triggers[number % len(triggers)], answer=answer, failing=failing)

    def do_pass(self, seconds):
        self.now += seconds

    def do_reset(self):
        self.machine.reset_circuit_breaker()

    def do_spend(self, amount):
        self.machine.spend(**dict.fromkeys(self.machine.policy.meters, amount))

    def do_check(self):
        try:
            self.machine.check_circuit()
        except FailingCallbackError:
            raise
        except Exception as error:
            assert "ircuit" in type(error).__name__  # noqa: PT017  (it may or may not trip)

    def do_restart(self):
        self.journal.close()
        self.machine = StateMachine.restore(
            self.machine.definition, self.machine.snapshot().model_dump(mode="json"), **self.options
        )
        self.do_reopen()

    def do_reopen(self):
        self.journal.close()
        self.journal = self.kind(self.path)
        self.journal.record(self.machine)


def assert_tells_the_same(back, machine):
    status = machine.circuit_status
    assert back.final_state == machine.state
    assert back.transition_count == machine.transition_count == status.total_transitions
    assert back.histogram == status.state_visit_histogram
    assert back.is_circuit_broken == status.is_broken
    assert back.broken_reason == status.broken_reason
    assert [step.ordinal for step in back.steps] == list(range(1, machine.snapshot().ordinal + 1))
    assert [a for a in back.anomalies if a.code not in ("many-errors", "many-waits", "clock-backwards")] == []


@given(DEFINITIONS, STEPS)
def test_the_journal_says_what_the_machine_says(definition, steps):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        program = Program(definition, path)
        program.run(steps)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_tells_the_same(replay(path, definition), program.machine)


class WatchedJournal(JsonlJournal):
    """A journal that remembers how its machine stood after each transition."""

    stood = {}  # noqa: RUF012 (each test begins with a new one)

    def __call__(self, fact, snapshot):
        super().__call__(fact, snapshot)
        if isinstance(fact, TransitionResult):
            self.stood[fact.ordinal] = snapshot.state, snapshot.transition_count, snapshot.visits


@given(DEFINITIONS, STEPS)
def test_back_at_any_step_the_journal_says_what_the_machine_said_then(definition, steps):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        WatchedJournal.stood = {}
        Program(definition, path, WatchedJournal).run(steps)
        back = replay(path, definition)
        assert [step.ordinal for step in back.steps] == list(WatchedJournal.stood)
        for ordinal, stood in WatchedJournal.stood.items():
            then = back.at(ordinal)
            assert (then.final_state, then.transition_count, then.histogram) == stood
            assert then.steps == back.steps[: len(then.steps)]
            assert then.steps[-1].ordinal == ordinal


@given(DEFINITIONS, STEPS, st.data())
def test_a_journal_cut_anywhere_is_a_journal_of_the_beginning(definition, steps, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        Program(definition, path).run(steps)
        whole = path.read_bytes()
        cut = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:cut])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            before = replay(path, definition)
            told = len(caught)
            JsonlJournal(path).close()
            after = replay(path, definition)
        whole_lines = whole[:cut].count(b"\n") + (whole[cut : cut + 1] == b"\n")
        assert told == (cut > 0 and whole[cut - 1 : cut] != b"\n" and whole[cut : cut + 1] != b"\n")
        assert len(caught) == 2 * told
        assert before == after
        assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:whole_lines])


@given(st.lists(st.tuples(st.sampled_from(AGENT_TRIGGERS), st.floats(0, 40)), max_size=30), any_names())
def test_a_sessions_journal_its_log_and_the_session_agree(steps, name):
    now = [0.0]
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "run.jsonl", Path(folder) / "agent.log"
        agent = HermesAgentFSM(name, clock=lambda: now[0], wait_timeout=30)
        agent.register_tool("t")
        with JsonlJournal(path) as journal:
            journal.record(agent)
            for trigger, passed in steps:
                now[0] += passed
                agent.plan_steps = agent.plan_steps or ["one", "two"]
                agent.try_fire(trigger, task="t", tool_name="t", result=1)
        log.write_text("".join(f"{json.dumps(line)}\n" for line in agent.state_history))
        back = replay(path, agent.definition)
        assert_tells_the_same(back, agent)
        logged = replay(log, agent.definition)
        assert [(s.trigger, s.from_state, s.to_state) for s in logged.steps] == [
            (s.trigger, s.from_state, s.to_state) for s in back.steps
        ]
        assert (logged.histogram, logged.final_state) == (back.histogram, back.final_state)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_clearly(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                replay(path, HermesAgentFSM("s").definition)
            except JournalError as error:
                assert str(path) in str(error)  # noqa: PT017  (most bytes are refused, some are not)
            try:
                JsonlJournal(path).close()
            except JournalError as error:
                assert "is no journal" in str(error)  # noqa: PT017  (as above)
                assert not content.lstrip().startswith(b"{")
                assert path.read_bytes() == content
                return
        assert all(_is_record(line) for line in path.read_bytes().split(b"\n")[-1:])


def _is_record(line):
    return parse_line(line) is not None or not line.strip()
