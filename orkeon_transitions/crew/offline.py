"""A model that is none: deterministic, without a key or a network, for any crew.

It explores the folders that the task's message names, calls every tool once with arguments made from the
tool's schema, writes the deliverable, and answers with what it saw. Where JSON is asked for, it makes the
value from the schema, and ranks answers by their length. It understands nothing and says so in every text
that it gives. All that it knows is in the conversation: it keeps no state of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orkeon_transitions.crew import prompts
from orkeon_transitions.crew.chat import Message, ModelReply, ToolCall, ToolSpec
from orkeon_transitions.crew.json_answers import schema_asked_for
from orkeon_transitions.crew.judging import ACCEPTED, JUDGE
from orkeon_transitions.crew.planning import ASKED_FOR
from orkeon_transitions.crew.quotations import labelled_in
from orkeon_transitions.crew.results import Usage
from orkeon_transitions.crew.schema_values import arguments_for, value_for
from orkeon_transitions.crew.spawning import WORK

NOTICE = "[offline model]"

# Together with the deliverable they fit into the 10 tool calls that a task has when nothing is configured.
MOST_DIRECTORIES = 4
MOST_LOOKS = 9
MOST_CALLS = 1_000

PATH = re.compile(r"(?<![\w.:/])/[\w.@+-]+(?:/[\w.@+-]+)*")
SAMPLES = {
    "date": "2000-01-01",
    "date-time": "2000-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "PT1S",
    "email": "nobody@example.invalid",
    "uri": "https://example.invalid/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


class OfflineModel:
    """Answers without a language model; see the module."""

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        """Gives the next tool calls, or the answer when there is nothing left to call."""
        if messages and messages[0].content == JUDGE:
            return _reply(messages, f"{ACCEPTED}: {NOTICE} nobody has judged it")
        seen = _Seen.of(messages, tools)
        if messages and messages[-1].content.startswith(ASKED_FOR):
            return _reply(messages, _plan(seen))
        planned = list(_next_calls(seen, tools))
        if not planned:
            return _reply(messages, _answer(seen))
        calls = tuple(
            ToolCall(f"call-{len(seen.calls) + n}", name, arguments)
            for n, (name, arguments) in enumerate(planned, start=1)
        )
        return _reply(messages, f"{NOTICE} calling {', '.join(call.name for call in calls)}", calls)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the conversation holds so far."""

    task: str
    expected: str
    format: str
    deliverable: str
    earlier: str
    calls: tuple[tuple[ToolCall, str], ...]
    calls_left: int
    directories: tuple[str, ...]
    files: tuple[str, ...]

    @classmethod
    def of(cls, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> _Seen:
        prompt = next((message.content for message in messages if message.role == "user"), "")
        task = prompts.section(prompt, prompts.TASK) or prompt
        answers = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
        calls = tuple((call, answers.get(call.id, "")) for message in messages for call in message.tool_calls)
        listers = {tool.name for tool in tools if _has_parameter(tool, "directory-path")}
        named = _paths_in(prompts.section(prompt, prompts.FOLDERS) + "\n" + task)
        found = [path for call, answer in calls if call.name in listers for path in _listed(call, answer)]
        deliverable = prompts.section(prompt, prompts.DELIVERABLE)
        # What an earlier run has written there is no source of this one.
        everything = dict.fromkeys(path for path in [*named, *found] if path != deliverable)
        return cls(
            task=task,
            expected=prompts.section(prompt, prompts.EXPECTED),
            format=prompts.section(prompt, prompts.FORMAT),
            deliverable=deliverable,
            earlier=prompts.section(prompt, prompts.EARLIER),
            calls=calls,
            calls_left=_calls_left(messages) - len(calls),
            directories=tuple(
                dict.fromkeys(path.rstrip("/") or "/" for path in everything if not _is_file(path))
            ),
            files=tuple(sorted(filter(_is_file, everything), key=lambda path: -_relevance(path, task))),
        )

    @property
    def subject(self) -> str:
        """The task in its first line, shortened."""
        return _first_line(self.task, 200)

    def called(self, tool: str) -> list[ToolCall]:
        return [call for call, _ in self.calls if call.name == tool]


def _next_calls(seen: _Seen, tools: Sequence[ToolSpec]) -> Iterator[tuple[str, dict[str, Any]]]:
    """One round of calls: first what lists and what needs no file, then what reads, at last what writes."""
    readers = [tool for tool in tools if _has_parameter(tool, "file-path")]
    writers = [tool for tool in tools if _has_parameter(tool, "output-path")]
    listers = [tool for tool in tools if _has_parameter(tool, "directory-path")]
    # It would only have a helper do what it does itself.
    makers = [tool for tool in tools if _has_parameter(tool, WORK)]
    others = [tool for tool in tools if tool not in readers + writers + listers + makers]

    writes = [tool for tool in writers if seen.deliverable and not seen.called(tool.name)]
    room = max(0, seen.calls_left - len(writes))
    looking = [call for tool in listers for call in _visits(seen, tool, seen.directories, MOST_DIRECTORIES)]
    asking = [(tool.name, _arguments(seen, tool)) for tool in others if not seen.called(tool.name)]
    if found := [*looking, *asking][:room]:
        yield from found
        return
    most_files = max(1, MOST_LOOKS - MOST_DIRECTORIES - len(others))
    reading = [call for tool in readers for call in _visits(seen, tool, seen.files, most_files)]
    if found := reading[:room]:
        yield from found
        return
    for tool in writes[: max(0, seen.calls_left)]:
        yield tool.name, _arguments(seen, tool, whole=_answer(seen))


def _calls_left(messages: Sequence[Message]) -> int:
    """How many calls it may make in this conversation: as many as it likes, unless it was interrupted."""
    left = prompts.calls_left(message.content for message in messages if message.role == "user")
    return MOST_CALLS if left is None else left


def _visits(
    seen: _Seen, tool: ToolSpec, paths: Sequence[str], most: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of a tool for paths that it was not called for yet; one guess where no path is known."""
    before = seen.called(tool.name)
    if not paths and not before:
        yield tool.name, _arguments(seen, tool)
    known = {_path_argument(call) for call in before}
    fresh = [path for path in paths if path not in known]
    for path in fresh[: max(0, most - len(before))]:
        yield tool.name, _arguments(seen, tool, path=path)


def _arguments(
    seen: _Seen, tool: ToolSpec, *, path: str | None = None, whole: str | None = None
) -> dict[str, Any]:
    def text_for(schema: Mapping[str, Any]) -> str:
        match schema.get("format"):
            case "file-path":
                return path or next(iter(seen.files), "/")
            case "directory-path":
                return path or next(iter(seen.directories), "/")
            case "output-path":
                return seen.deliverable
            case "json":
                return json.dumps({"task": seen.subject}, ensure_ascii=False)
            case str(other) if other in SAMPLES:
                return SAMPLES[other]
        return whole or seen.subject

    return arguments_for(tool.parameters, seen.task, text_for)


def _plan(seen: _Seen) -> str:
    """What it does with any task."""
    steps = ["Call each tool with what the task names", "Answer with what they said"]
    if seen.deliverable:
        steps.insert(1, f"Write {seen.deliverable}")
    return "\n".join([f"{NOTICE} The plan:", *(f"{n}. {step}" for n, step in enumerate(steps, start=1))])


def _answer(seen: _Seen) -> str:
    """What was seen, plainly; or a value, where one is asked for."""
    if seen.format and seen.format != prompts.MARKDOWN:
        return _formatted(seen)
    if (schema := schema_asked_for(seen.expected)) is not None:
        return json.dumps(_value(schema, seen.task), ensure_ascii=False)
    lines = [
        f"{NOTICE} No language model was asked: this only shows what the tools answered.",
        "",
        f"Task: {seen.subject}",
    ]
    if seen.expected:
        lines.append(f"Expected: {_first_line(seen.expected, 200)}")
    if seen.calls:
        lines += ["", "Tools:"]
        lines += [f"- {_shown(call)}: {_in_short(answer)}" for call, answer in seen.calls]
    if seen.earlier:
        lines += ["", "Earlier tasks:"]
        lines += [f"- {title}" for title in prompts.earlier_tasks(seen.earlier)]
    return "\n".join(lines)


def _value(schema: Mapping[str, Any], task: str) -> dict[str, Any]:
    """What fits the schema: the longest answers come first, where answers are to be ranked."""
    shown = labelled_in(task)
    value = arguments_for(schema, "", lambda _: f"{NOTICE} No language model was asked.")
    best_first = sorted(shown, key=lambda label: (-len(shown[label]), shown[label], label))
    for key, found in value.items():
        if isinstance(found, str) and found in shown:
            value[key] = best_first[0]
        elif isinstance(found, list) and best_first and sorted(map(str, found)) == sorted(best_first):
            value[key] = best_first
    return value


def _formatted(seen: _Seen) -> str:
    """JSON that fits the schema that stands in the task's message, if one does."""
    try:
        schema = json.loads(seen.format.partition("\n")[2] or "{}")
    except ValueError:  # the section is not ours
        schema = {}
    if schema.get("type", "object") == "object" and not {"properties", "$ref", "anyOf"} & schema.keys():
        texts: dict[str, Any] = {key: {} for key in (*schema.get("required", ()), "note")}
        schema = {**schema, "properties": texts, "required": list(texts)}
    made = value_for(schema, seen.task, lambda _: f"{NOTICE} {seen.subject}")
    return json.dumps(made, ensure_ascii=False)


def _shown(call: ToolCall) -> str:
    return f"{call.name}({_first_line(_path_argument(call) or json.dumps(call.arguments, default=str), 60)})"


def _in_short(answer: str) -> str:
    lines = answer.splitlines()
    return f"{len(lines)} line{'' if len(lines) == 1 else 's'}, the first: {_first_line(answer, 80)}"


def _reply(messages: Sequence[Message], text: str, calls: tuple[ToolCall, ...] = ()) -> ModelReply:
    """A reply that counts words as tokens."""
    words_in = sum(len(message.content.split()) for message in messages)
    usage = Usage(requests=1, input_tokens=words_in, output_tokens=len(text.split()))
    return ModelReply(text, calls, usage)


def _has_parameter(tool: ToolSpec, kind: str) -> bool:
    properties = tool.parameters.get("properties", {})
    return any(isinstance(schema, Mapping) and schema.get("format") == kind for schema in properties.values())


def _path_argument(call: ToolCall) -> str:
    """The path that a call is about: its first argument that is one."""
    values = call.arguments.values() if isinstance(call.arguments, Mapping) else ()
    return next((value for value in values if isinstance(value, str) and value.startswith("/")), "")


def _listed(call: ToolCall, answer: str) -> list[str]:
    root = _path_argument(call).rstrip("/")
    names = [line.strip() for line in answer.splitlines()]
    return [f"{root}/{name}" for name in names if re.fullmatch(r"[^\s/\[\]:]+/?", name)]


def _paths_in(text: str) -> list[str]:
    return [found.rstrip(".") for found in PATH.findall(text)]


def _is_file(path: str) -> bool:
    return not path.endswith("/") and "." in path.rpartition("/")[2]


def _relevance(path: str, task: str) -> int:
    """How many words of a path the task speaks of."""
    words = {word for word in re.split(r"\W+", path.lower()) if len(word) > 2}
    return len(words & set(re.split(r"\W+", task.lower())))


def _first_line(text: str, most: int) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= most else line[: most - 1] + "…"
