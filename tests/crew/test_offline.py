import asyncio
import json
from typing import Annotated

import pytest
from pydantic import Field

from orkeon_transitions.crew import ChatModel, Message, OfflineModel, ToolCall, load_crew, tool
from orkeon_transitions.crew.builtin_tools import builtin_tools
from orkeon_transitions.crew.mounts import Mount, Mounts
from orkeon_transitions.crew.offline import NOTICE

PROMPT = """## Task
Review the login of the shop.

## Folders
/code (read only)

## Deliverable
/out/report.md"""


def talk(tools, prompt=PROMPT, answer=None):
    """The whole conversation with the offline model: its calls and its last text."""
    messages, calls, model = [Message("user", prompt)], [], OfflineModel()
    for _ in range(30):
        reply = asyncio.run(model.reply(messages, [one.spec for one in tools]))
        assert reply.text.startswith(NOTICE)
        assert reply.usage.requests == 1
        messages.append(Message("assistant", reply.text, reply.tool_calls))
        if not reply.tool_calls:
            return calls, reply.text
        for call in reply.tool_calls:
            calls.append(call)
            given = answer(call) if answer else asyncio.run(_answered(tools, call))
            messages.append(Message("tool", given, tool_call_id=call.id))
    raise AssertionError("it never ended")


async def _answered(tools, call):
    try:
        return await next(one for one in tools if one.name == call.name).answer(call.arguments)
    except Exception as error:
        return f"error: {error}"


@pytest.fixture
def builtins(tmp_path):
    code = tmp_path / "code"
    for name in ("README.md", "src/cart.ts", "src/login.ts", "src/deep/er/most/x.ts", "src/page.ts"):
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        (code / name).write_text(f"// {name}\nmore")
    return builtin_tools(Mounts([Mount(code, "/code"), Mount(tmp_path / "out", "/out", "rw")]))


def paths_of(calls, name):
    return [call.arguments["path"] for call in calls if call.name == name]


def test_it_is_a_chat_model():
    assert isinstance(OfflineModel(), ChatModel)


def test_it_explores_reads_writes_and_answers(builtins, tmp_path):
    calls, text = talk(builtins.values())
    assert paths_of(calls, "directory_read")[:2] == ["/code", "/code/src"]
    files = paths_of(calls, "file_read")
    assert files[0] == "/code/src/login.ts", "what the task speaks of comes first"
    assert paths_of(calls, "file_write") == ["/out/report.md"]
    assert calls[-1].name == "file_write"
    assert "file_read(/code/src/login.ts): 2 lines, the first: // src/login.ts" in text
    written = (tmp_path / "out/report.md").read_text()
    assert written.startswith(NOTICE)
    assert "login.ts" in written
    assert len({call.id for call in calls}) == len(calls) <= 10


def test_the_same_conversation_gives_the_same_words(builtins):
    readers = [builtins[name] for name in ("directory_read", "file_read", "json_tool")]
    assert talk(readers) == talk(readers)


def test_without_a_deliverable_nothing_is_written(builtins):
    calls, _ = talk(builtins.values(), PROMPT.partition("## Deliverable")[0])
    assert "file_write" not in {call.name for call in calls}


def test_every_other_tool_is_called_once_with_what_its_schema_asks_for():
    @tool(name="völlig.anders")
    def odd(question: str, level: Annotated[int, Field(ge=1, le=9)]) -> str:
        return "fine"

    @tool
    def formats(
        day: Annotated[str, Field(json_schema_extra={"format": "date"})],
        data: Annotated[str, Field(json_schema_extra={"format": "json"})],
        unknown: Annotated[str, Field(json_schema_extra={"format": "flavour"})],
    ) -> str:
        return "fine"

    calls, text = talk([odd, formats], "Buy 4 pears.\nThen rest.")
    assert [call.name for call in calls] == ["völlig.anders", "formats"]
    assert calls[0].arguments == {"question": "Buy 4 pears.", "level": 4}
    assert calls[1].arguments["day"] == "2000-01-01"
    assert json.loads(calls[1].arguments["data"]) == {"task": "Buy 4 pears."}
    assert calls[1].arguments["unknown"] == "Buy 4 pears."
    assert "1 line, the first: fine" in text


def test_paths_in_the_task_are_used_and_web_addresses_are_not(builtins):
    readers = [builtins["directory_read"], builtins["file_read"]]
    calls, _ = talk(readers, "See https://example.org/a/b and read /notes/today.md, then /notes.")
    assert paths_of(calls, "directory_read") == ["/notes"]
    assert paths_of(calls, "file_read") == ["/notes/today.md"]


def test_with_no_path_at_all_it_guesses_once(builtins):
    calls, _ = talk(builtins.values(), "Think.")
    assert paths_of(calls, "directory_read")[0] == "/"
    assert "file_write" not in {call.name for call in calls}


def test_refusals_and_errors_do_not_make_it_repeat_itself(builtins):
    calls, text = talk(builtins.values(), answer=lambda call: "refused: no")
    assert len(calls) == len({json.dumps([call.name, call.arguments]) for call in calls})
    assert "refused: no" in text


def test_earlier_tasks_and_expectations_are_named():
    earlier = "### one\nx\n\n### two (incomplete: the task was stopped)\ny"
    prompt = f"## Task\nSum up.\n\n## Expected output\nA page\n\n## Results of earlier tasks\n{earlier}"
    _, text = talk([], prompt)
    assert "Expected: A page" in text
    assert "- one" in text
    assert "- two (incomplete" in text


def test_a_call_with_unreadable_arguments_in_the_history_is_no_matter():
    messages = [
        Message("user", "Go."),
        Message("assistant", "", (ToolCall("1", "x", "{not json"),)),
        Message("tool", "wrong arguments", tool_call_id="1"),
    ]
    reply = asyncio.run(OfflineModel().reply(messages, []))
    assert "not json" in reply.text


def test_markdown_is_asked_for_and_no_json_comes():
    crew = load_crew("agents: {a: {}}\ntasks: {t: {description: Do it, agent: a, markdown: true}}")
    assert crew.run_sync().output.startswith("[offline model]")
