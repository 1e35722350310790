"""What a run was given is told to nobody: no model, no journal, no store, no result."""

import json
import logging

import pytest

from orkeon_transitions.crew import CrewObserver, MemoryRunLog, TaskOutcome, ToolError, load_crew, tool
from orkeon_transitions.crew.mcp.block import McpServer, told_to_servers
from orkeon_transitions.crew.secrets import HIDDEN, Secrets, names_a_secret
from tests.crew.scripted import ScriptedModel, calls, crew_of_one

KEY = "wiBBle+wobble/0123456789=="


@pytest.fixture(autouse=True)
def _given(monkeypatch):
    monkeypatch.setenv("SEARCH_API_KEY", KEY)


class Everything:
    """Whatever a run tells, in one text."""

    def __init__(self, caplog):
        caplog.set_level(logging.DEBUG)
        self._caplog = caplog
        self.log = MemoryRunLog()

    def run(self, crew, model=None, **options):
        result = crew.run_sync(model=model, run_log=self.log, run_id="r", **options)
        conversations = repr(getattr(model, "asked", ""))
        written, shown = repr(self.log.read("r")), json.dumps(result.to_dict())
        self.told = "".join(
            [conversations, written, shown, repr(result), result.error or "", self._caplog.text]
        )
        return result


@pytest.fixture
def everything(caplog):
    return Everything(caplog)


def raising(error, *, is_async=False):
    def fails() -> str:
        """Fails."""
        raise error

    async def fails_later() -> str:
        """Fails."""
        raise error

    return tool(name="fails")(fails_later if is_async else fails)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    "error",
    [
        OSError(f"GET https://x/?key={KEY} failed"),
        ToolError(f"the key {KEY} is wrong"),
        KeyError(KEY),
        ValueError(b"x", KEY),
        OSError("GET https://x/?key=wiBBle%2Bwobble%2F0123456789%3D%3D failed"),
        OSError("x" * 49_990 + KEY + "y" * 1_000),
        ToolError("x" * 49_990 + KEY + "y" * 100_000),
        SystemExit(KEY),
    ],
    ids=["raised", "answered", "key", "repr", "url", "long", "long-answer", "exit"],
)
def test_what_a_tool_raises(everything, error, is_async):
    model = ScriptedModel(calls("fails"), "done")
    everything.run(crew_of_one(raising(error, is_async=is_async)), model)
    assert HIDDEN in everything.told
    assert not {"wiBBle", "wobble"} & {part for part in ("wiBBle", "wobble") if part in everything.told}


def test_what_a_person_s_function_raises(everything):
    def ask(question):
        raise ConnectionError(f"no line for {KEY}")

    crew = crew_of_one(task=", humanInput: true", breaker="maxRetries: 1")
    result = everything.run(crew, ScriptedModel("one"), ask_human=ask)
    assert result.error.endswith(f"the person could not be asked: ConnectionError: no line for {HIDDEN}")
    assert KEY not in everything.told


@pytest.mark.parametrize("is_raised", [True, False])
def test_what_a_guardrail_says(everything, is_raised):
    def guard(output):
        if is_raised:
            raise OSError(KEY)
        return f"it does not have {KEY}"

    crew = crew_of_one(task=", guardrails: [guard]", breaker="maxRetries: 1, maxValidationRetries: 1")
    result = everything.run(crew, ScriptedModel("one"), guardrails={"guard": guard})
    assert HIDDEN in result.error
    assert KEY not in everything.told


def test_what_a_program_s_model_raises(everything):
    result = everything.run(crew_of_one(), ScriptedModel(OSError(f"401 for {KEY}")))
    assert result.error == f"task 't' failed: OSError: 401 for {HIDDEN}"
    assert KEY not in everything.told


def test_the_key_that_a_program_s_model_has(everything, monkeypatch):
    monkeypatch.delenv("SEARCH_API_KEY")
    model = ScriptedModel(OSError(f"401 for {KEY}"))
    model.api_key = KEY
    everything.run(crew_of_one(), model)
    assert KEY not in everything.told


@pytest.mark.parametrize("is_raised", [True, False])
def test_what_an_executor_says(everything, is_raised):
    def work(agent, task, context):
        if is_raised:
            raise OSError(KEY)
        return TaskOutcome(False, "", f"no {KEY}")

    result = everything.run(crew_of_one(breaker="maxRetries: 1"), executor=work)
    assert HIDDEN in result.error
    assert KEY not in everything.told


@pytest.mark.parametrize(
    "process", ["sequential", "parallel", "graph", "hierarchical", "consensual", "autonomous"]
)
def test_under_every_process(everything, process):
    manager = "managerAgent: m\n" if process == "hierarchical" else ""
    crew = load_crew(
        f"process: {process}\n{manager}agents: {{a: {{tools: [fails]}}, b: {{tools: [fails]}}, m: {{}}}}\n"
        "tasks: {t: {description: Do it, agent: a}}",
        tools=[raising(OSError(KEY))],
    )
    assigned = ['{"agent": "a", "why": "able"}'] if process == "hierarchical" else []
    everything.run(crew, ScriptedModel(*assigned, calls("fails")))
    assert HIDDEN in everything.told
    assert KEY not in everything.told


def test_a_journal_that_breaks_the_run_off():
    class Journal:
        def record(self, machine):
            machine.attach_commit(self.commit)

        def commit(self, fact, snapshot):
            raise OSError(f"cannot write with {KEY}")

    found = []

    with pytest.raises(OSError, match="cannot write"):
        crew_of_one().run_sync(
            model=ScriptedModel("x"), journal=Journal(), observer=CrewObserver(crew_finished=found.append)
        )
    assert HIDDEN in found[0].error
    assert KEY not in repr(found[0].to_dict())


# ---- what is hidden, and what is not
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Bearer abcdefgh-12", HIDDEN),
        ("token abcdefgh-12", f"token {HIDDEN}"),
        ('{"k": "a\\"quoted-one"}', '{"k": "' + HIDDEN + '"}'),
        ("a%22quoted-one", HIDDEN),
        ("short", "short"),
        ("abcdefgh-123 and abcdefgh-12", f"{HIDDEN} and {HIDDEN}"),
    ],
)
def test_each_spelling_is_hidden(text, told):
    secrets = Secrets(["Bearer abcdefgh-12", 'a"quoted-one', "abcdefgh-123", "short", ""])
    assert secrets.hidden(text) == told


def test_too_short_a_value_is_no_key():
    assert Secrets(["1234567", "true", ""]).hidden("1234567 is true") == "1234567 is true"
    assert Secrets(["12345678"]).hidden("12345678") == HIDDEN
    assert Secrets().hidden("anything") == "anything"


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("OPENAI_API_KEY", True), ("HF_TOKEN", True), ("AWS_SECRET_ACCESS_KEY", True), ("x-apikey", True),
        ("DB_PASSWORD", True), ("Authorization", True), ("HOME", False), ("MAX_TOKENS", False),
        ("KEYBOARD", False), ("PATH", False), ("SSH_AUTH_SOCK", False),
    ],
)  # fmt: skip
def test_the_name_tells_what_a_secret_is(name, counts):
    assert names_a_secret(name) is counts


def test_what_servers_are_given_counts():
    server = McpServer("s", "run", env={"ONE": "x-${MINE}", "TWO": "${UNSET:-otherwise}"})
    environment = {"MINE": "my-own-value", "THEIRS": "their-value"}
    other = McpServer("o", url="http://h", headers={"Authorization": "Bearer ${THEIRS}"})
    secrets = Secrets.of_run({}, told_to_servers({"s": server, "o": other}, environment))
    assert (
        secrets.hidden("x-my-own-value otherwise their-value my-own") == f"{HIDDEN} {HIDDEN} {HIDDEN} my-own"
    )
