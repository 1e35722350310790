"""Tools of servers that a run starts: what they answer, and what becomes of those that do not."""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orkeon_transitions.crew import ModelReply, load_crew
from orkeon_transitions.errors import OrkeonError
from tests.crew.mcp.living import is_alive
from tests.crew.scripted import ScriptedModel, calls, one_answer_each, path_of

SERVER = Path(__file__).parent / "stdio_server.py"


def crew_with(tools, *options, breaker="", server="", process="sequential", tasks="t"):
    """A crew whose agent has tools of the server `s`."""
    listed = ", ".join(f"'{name}'" for name in tools)
    args = ", ".join(f"'{one}'" for one in (SERVER, *options))
    every = "".join(f"  {task}: {{description: Do it, agent: a}}\n" for task in tasks)
    return load_crew(
        f"name: one\nprocess: {process}\ncircuitBreaker: {{{breaker}}}\n"
        f"mcpServers:\n  s: {{command: '{sys.executable}', args: [{args}]{server}}}\n"
        f"agents:\n  a: {{tools: [{listed}]}}\ntasks:\n{every}"
    )


def begun(file):
    return [int(line) for line in file.read_text().splitlines()] if file.exists() else []


def until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


@pytest.fixture
def lives(tmp_path):
    """Where each life of a server is noted; none of them may outlive the test."""
    file = tmp_path / "lives"
    yield file
    until(lambda: not any(map(is_alive, begun(file))))


def test_a_tool_of_a_server_is_called(lives):
    model = ScriptedModel(calls(("s_echo", {"text": "hello"})), "done")
    result = crew_with(["s.echo"], "--lives", lives).run_sync(model=model)
    assert (result.status, result.error) == ("completed", None)
    assert model.answers == ["hello"]
    assert "tool_calling" in path_of(result.tasks["t"])
    assert len(begun(lives)) == 1


def test_a_server_is_started_for_whoever_needs_it_and_once(lives):
    model = ScriptedModel("done")
    crew = load_crew(
        f"process: parallel\nmcpServers: {{s: {{command: '{sys.executable}', "
        f"args: ['{SERVER}', --lives, '{lives}', --slow, 0.2]}}}}\n"
        "agents: {a: {tools: [s.echo]}, b: {}}\n"
        "tasks: {t: {description: d, agent: a}, u: {description: d, agent: a}, v: {description: d, agent: b}}"
    )
    assert crew.run_sync(model=model).success
    assert len(begun(lives)) == 1


def test_a_server_that_nobody_needs_is_never_started(lives):
    crew = load_crew(
        f"mcpServers: {{s: {{command: '{sys.executable}', args: ['{SERVER}', --lives, '{lives}']}}}}\n"
        "agents: {a: {tools: [s.echo]}}\ntasks: {t: {description: d, tools: []}}"
    )
    assert crew.run_sync(model=ScriptedModel("done")).success
    assert begun(lives) == []


def test_names_are_made_fit_for_models_and_kept_apart():
    class Asked(ScriptedModel):
        async def reply(self, messages, tools):
            self.named = [tool.name for tool in tools]
            return await super().reply(messages, tools)

    model = Asked(
        calls(
            ("s_say_it_twice", {"text": "a"}),
            ("s_say_it_twice_2", {"text": "b"}),
            ("s.say it twice", {"text": "c"}),
            ("say it twice", {"text": "d"}),
        ),
        "done",
    )
    assert crew_with(["s.say it twice", "s.say_it_twice"]).run_sync(model=model).success
    assert model.named == ["s_say_it_twice", "s_say_it_twice_2"]
    assert model.answers[:3] == ["a, a", "b; b", "c, c"]
    assert model.answers[3].startswith("refused: you have no tool 'say it twice', only: s_say_it_twice")


def test_a_tool_that_the_agent_was_not_given_never_runs(lives):
    model = ScriptedModel(calls(("s_die", {}), ("s.die", {})), "done")
    result = crew_with(["s.echo"], "--lives", lives).run_sync(model=model)
    assert result.success
    assert all("refused" in answer for answer in model.answers)
    assert len(begun(lives)) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("refuse", {}, "error: no such city"),
        ("reject", {}, "error: text is required"),
        (
            "parts",
            {},
            "[left out: image/png, 3 bytes]\nwords of a file\n[left out: resource]\n[link: file:///c]",
        ),
        ("numbers", {}, '{"sum": 3}'),
        ("babble", {}, "done babbling"),
        ("echo", "no json", "error: wrong arguments for s.echo"),
        ("echo", "[1]", "error: wrong arguments for s.echo"),
    ],
)
def test_an_answer_is_an_answer_even_an_error(tool, arguments, answer):
    model = ScriptedModel(calls((f"s_{tool}", arguments)), "done")
    result = crew_with([f"s.{tool}"]).run_sync(model=model)
    assert result.success
    assert path_of(result.tasks["t"])[:3] == ["executing", "tool_calling", "executing"]
    (answered,) = model.answers
    assert answered.startswith(answer)


def test_a_server_that_listens_no_more_is_started_again(lives):
    model = ScriptedModel(
        calls("s_deaf"), calls(("s_echo", {"text": "1"})), calls(("s_echo", {"text": "2"})), "done"
    )
    assert crew_with(["s.deaf", "s.echo"], "--lives", lives).run_sync(model=model).success
    assert model.answers[0] == "I hear no more"
    assert model.answers[-1] == "2"


def test_too_long_an_answer_is_cut():
    model = ScriptedModel(calls("s_flood"), "done")
    assert crew_with(["s.flood"]).run_sync(model=model).success
    (answer,) = model.answers
    assert len(answer) < 51_000
    assert answer.endswith("[cut: 9,950,000 more characters]")


def test_an_error_inside_of_a_server_is_no_answer():
    model = ScriptedModel(calls("s_break"), calls("s_break"), "never")
    result = crew_with(["s.break"], breaker="maxRetries: 1").run_sync(model=model)
    assert (result.status, len(model.asked)) == ("failed", 2)
    assert (
        "tool 's.break' could not be run: ServerError: the MCP server 's': database is locked" in result.error
    )


def test_a_server_that_dies_in_a_call_is_started_again_for_the_retry(lives):
    model = ScriptedModel(calls("s_die_once"), calls("s_die_once"), "done")
    result = crew_with(["s.die_once"], "--lives", lives).run_sync(model=model)
    assert result.success
    assert path_of(result.tasks["t"]) == [
        *["executing", "tool_calling", "failed", "executing", "tool_calling", "executing"],
        *["validating", "completed"],
    ]
    assert result.tasks["t"].attempts == 2
    assert model.answers[-1] == "alive again"
    assert one_answer_each(model.asked[-1])
    assert len(begun(lives)) == 2


def test_tasks_that_share_a_server_that_dies_each_go_on(lives):
    class Persistent(ScriptedModel):
        async def reply(self, messages, tools):
            answers = [message.content for message in messages if message.role == "tool"]
            if answers and answers[-1] == "alive again":
                return ModelReply("done")
            return calls("s_die_once")

    crew = crew_with(["s.die_once"], "--lives", lives, process="parallel", tasks=["t", "u", "v", "w"])
    result = crew.run_sync(model=Persistent())
    assert result.success, result.error
    assert {task.output for task in result.tasks.values()} == {"done"}
    assert len(begun(lives)) == 2


def test_a_server_that_dies_in_each_call_costs_no_more_than_the_retries(lives):
    model = ScriptedModel(calls("s_die"))
    result = crew_with(["s.die"], "--lives", lives, breaker="maxRetries: 2").run_sync(model=model)
    assert result.status == "failed"
    assert (len(model.asked), len(begun(lives))) == (3, 3)
    assert "tool 's.die' could not be run" in result.error


def test_a_server_that_dies_between_calls_costs_nothing(lives):
    def kill():
        os.kill(begun(lives)[0], signal.SIGKILL)
        time.sleep(0.2)
        return calls(("s_echo", {"text": "again"}))

    async def killing():
        return await asyncio.to_thread(kill)

    model = ScriptedModel(calls(("s_echo", {"text": "once"})), killing, "done")
    result = crew_with(["s.echo"], "--lives", lives).run_sync(model=model)
    assert (result.success, model.answers, result.tasks["t"].attempts) == (True, ["once", "again"], 1)
    assert len(begun(lives)) == 2


def test_a_server_that_hangs_is_for_the_clock_of_the_state(lives):
    model = ScriptedModel(calls("s_hang"))
    crew = crew_with(["s.hang"], "--lives", lives, breaker="stateTimeoutSeconds: 1.5, useDegradedMode: false")
    before = time.monotonic()
    result = crew.run_sync(model=model)
    assert time.monotonic() - before < 10
    assert result.status == "failed"
    assert "State timeout exceeded" in result.error
    assert one_answer_each(model.asked[-1])


def test_a_call_may_have_a_limit_of_its_own(lives):
    model = ScriptedModel(calls("s_hang_once"), calls("s_hang_once"), "done")
    crew = crew_with(["s.hang_once"], "--lives", lives, server=", timeoutSeconds: 0.5")
    result = crew.run_sync(model=model)
    assert (result.success, result.tasks["t"].attempts, model.answers[-1]) == (True, 2, "alive again")
    assert "no answer within 0.5 s" in model.answers[0]
    assert len(begun(lives)) == 2


def test_a_server_that_never_ends_its_message_is_stopped(lives):
    model = ScriptedModel(calls("s_endless"))
    result = crew_with(["s.endless"], "--lives", lives, breaker="maxRetries: 0").run_sync(model=model)
    assert result.status == "failed"
    assert "it said more than 16 MB in one message" in result.error


def test_a_server_that_hangs_at_its_start_is_for_the_clock_of_the_state(lives):
    crew = crew_with(["s.echo"], "--lives", lives, "--slow", 60, breaker="stateTimeoutSeconds: 1.5")
    result = crew.run_sync(model=ScriptedModel("never"))
    assert result.status == "degraded"
    assert "State timeout exceeded" in result.error


def test_a_server_that_cannot_be_started_fails_the_task_with_its_last_words(lives):
    model = ScriptedModel("never")
    crew = crew_with(
        ["s.echo"], "--lives", lives, "--fail", "no module named boiler", breaker="maxRetries: 1"
    )
    result = crew.run_sync(model=model)
    assert (result.status, model.asked, len(begun(lives))) == ("failed", [], 2)
    assert "no module named boiler" in result.error


def test_a_tool_that_the_server_has_not_is_named_with_the_nearest():
    result = crew_with(["s.eccho"], breaker="maxRetries: 0").run_sync(model=ScriptedModel("never"))
    assert "the MCP server 's' has no tool 'eccho', did you mean 's.echo'?" in result.error


def test_only_the_tools_that_are_listed_are_offered():
    text = str(SERVER)
    with pytest.raises(
        OrkeonError, match=r"the server 's' may not offer a tool 'die' \(did you mean 's.dies'\?\)"
    ):
        load_crew(
            f"mcpServers: {{s: {{command: x, args: ['{text}'], tools: [echo, dies]}}}}\n"
            "agents: {a: {tools: [s.echo, s.die]}}\ntasks: {t: {description: d}}"
        )
    assert crew_with(["s.echo"], server=", tools: [echo]").run_sync(model=ScriptedModel("done")).success


def test_a_run_that_is_cancelled_ends_its_servers(lives):
    async def scenario():
        model = ScriptedModel(calls("s_hang"))
        crew = crew_with(["s.hang"], "--lives", lives, "--stay")
        run = asyncio.create_task(crew.run(model=model))
        while not model.asked:
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert not any(map(is_alive, begun(lives)))

    asyncio.run(scenario())


def test_a_server_that_is_still_starting_is_ended_too(lives):
    async def scenario():
        crew = crew_with(["s.echo"], "--lives", lives, "--slow", 60)
        run = asyncio.create_task(crew.run(model=ScriptedModel("never")))
        while not begun(lives):
            await asyncio.sleep(0.02)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(scenario())
    assert not any(map(is_alive, begun(lives)))


def test_a_server_that_will_not_end_is_killed_with_all_that_it_has_started(lives):
    model = ScriptedModel(calls("s_child"), "done")
    assert crew_with(["s.child"], "--lives", lives, "--stay").run_sync(model=model).success
    (child,) = map(int, model.answers)
    until(lambda: not is_alive(child))
    assert not any(map(is_alive, begun(lives)))


def test_a_run_that_is_killed_leaves_no_server(lives, tmp_path):
    program = tmp_path / "run.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n"
        "from tests.crew.mcp.test_stdio_servers import crew_with\n"
        "from tests.crew.scripted import ScriptedModel, hang\n"
        f"crew_with(['s.echo'], '--lives', {str(lives)!r}).run_sync(model=ScriptedModel(hang))\n"
    )
    with subprocess.Popen([sys.executable, program]) as process:
        until(lambda: begun(lives))
        process.kill()
    until(lambda: not any(map(is_alive, begun(lives))))


def test_a_server_gets_what_is_declared_and_no_more(monkeypatch):
    monkeypatch.setenv("MY_NAME", "somebody-else")
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-servers")
    monkeypatch.delenv("UNSET_ONE", raising=False)
    given = ", env: {NAME: 'x-${MY_NAME}', REGION: '${UNSET_ONE:-eu}', PLAIN: as it is}"
    model = ScriptedModel(calls("s_environment"), "done")
    assert crew_with(["s.environment"], server=given).run_sync(model=model).success
    environment = json.loads(model.answers[0])
    assert (environment["NAME"], environment["REGION"], environment["PLAIN"]) == (
        "x-somebody-else",
        "eu",
        "as it is",
    )
    assert environment["PATH"] == os.environ["PATH"]
    assert not {"OPENAI_API_KEY", "MY_NAME"} & environment.keys()


def test_what_a_server_was_given_is_told_to_nobody(monkeypatch, caplog):
    monkeypatch.setenv("MY_TOKEN", "s3cret-token")
    caplog.set_level(logging.DEBUG)
    model = ScriptedModel(calls("s_reveal"), calls("s_die"), "done")
    crew = crew_with(
        ["s.reveal", "s.die"], server=", env: {SERVER_KEY: '${MY_TOKEN}'}", breaker="maxRetries: 0"
    )
    result = crew.run_sync(model=model)
    assert model.answers == ["error: my key [hidden] is wrong"]
    assert "s3cret" not in caplog.text + repr(crew.config) + repr(result)


def test_a_variable_that_is_not_set_is_named_before_anything_begins(monkeypatch, lives):
    monkeypatch.delenv("UNSET_ONE", raising=False)
    crew = crew_with(["s.echo"], "--lives", lives, server=", env: {KEY: '${UNSET_ONE}'}")
    with pytest.raises(OrkeonError, match="the MCP server 's' is to be given UNSET_ONE, which is not set"):
        crew.run_sync(model=ScriptedModel("never"))
    assert crew.run_sync(executor=lambda *_: "no server needed").success
    assert begun(lives) == []


@pytest.mark.parametrize(
    ("server", "why"),
    [
        ("command: no-such-program-here", "there is no program 'no-such-program-here'"),
        ("command: ./no/such", "there is no program './no/such'"),
        (f"command: '{sys.executable}', cwd: no-such-folder", "which is no folder"),
    ],
)
def test_a_program_that_is_not_there_is_named_before_anything_begins(server, why):
    crew = load_crew(
        f"mcpServers: {{s: {{{server}}}}}\nagents: {{a: {{tools: [s.x]}}}}\ntasks: {{t: {{description: d}}}}"
    )
    with pytest.raises(OrkeonError, match=why):
        crew.run_sync(model=ScriptedModel("never"))


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("orkeon_transitions.crew.mcp.servers.find_spec", lambda name: None)
    with pytest.raises(OrkeonError, match=r"pip install 'orkeon-transitions\[mcp\]'"):
        crew_with(["s.echo"]).run_sync(model=ScriptedModel("never"))


def test_programs_run_beside_the_crew_file(tmp_path):
    (tmp_path / "crew.yaml").write_text(
        f"mcpServers: {{s: {{command: '{sys.executable}', args: [server.py]}}}}\n"
        "agents: {a: {tools: [s.echo]}}\ntasks: {t: {description: d}}"
    )
    (tmp_path / "server.py").write_text(SERVER.read_text())
    assert load_crew(tmp_path / "crew.yaml").run_sync(model=ScriptedModel("done")).success
