"""Random crews: whatever they are called and whatever their tools ask for, the offline model gets through."""

import enum
import inspect
import itertools
import json
import keyword
from typing import Annotated, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from orkeon_transitions.crew import Tool, load_crew, tool
from orkeon_transitions.crew.ordering import find_cycles, in_order
from orkeon_transitions.crew.placeholders import fill, names_in
from tests.strategies import any_names


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


HINTS = st.sampled_from(
    [
        str,
        int,
        float,
        bool,
        Size,
        list[int],
        dict[str, str],
        int | None,
        Annotated[int, Field(ge=3, le=4)],
        Annotated[str, Field(min_length=5, max_length=9)],
        Annotated[str, Field(json_schema_extra={"format": "file-path"})],
        Annotated[str, Field(json_schema_extra={"format": "directory-path"})],
    ]
)
PARAMETERS = st.text("abcxyz_", min_size=1, max_size=6).filter(
    lambda name: name.isidentifier() and not keyword.iskeyword(name)
)
ANSWERS = st.text(max_size=40) | st.just("a.txt\nb/\nc")


def made(name: str, hints: dict[str, Any], answer: str, ran: list[str]) -> Tool:
    """A tool with a name and parameters that no source text has."""

    def function(**_given: Any) -> str:
        ran.append(name)
        return answer

    async def at_once(**given_arguments: Any) -> str:
        return function(**given_arguments)

    kind = inspect.Parameter.KEYWORD_ONLY
    at_once.__annotations__ = hints
    at_once.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in hints])  # type: ignore[attr-defined]  # functions take it, stubs do not know
    return tool(name=name)(at_once)


TOOLS = st.dictionaries(
    any_names(), st.tuples(st.dictionaries(PARAMETERS, HINTS, max_size=3), ANSWERS), min_size=1, max_size=4
)

TASKS = st.lists(any_names(), min_size=1, max_size=4, unique=True)


@settings(deadline=None, max_examples=60)
@given(TOOLS, any_names(), TASKS, st.text(min_size=1).filter(str.strip))
def test_a_random_crew_completes_on_the_offline_model(described, agent, tasks, description):
    ran: list[str] = []
    tools = [made(name, hints, answer, ran) for name, (hints, answer) in described.items()]
    crew = {
        "agents": {agent: {"tools": list(described)}},
        "tasks": {task: {"description": "Read " + json.dumps(description)} for task in tasks},
    }
    inputs = dict.fromkeys(names_in(json.dumps(description)), "filled")
    # A byte order mark inside of a text must be written as an escape.
    text = json.dumps(crew, ensure_ascii=False).replace("\ufeff", "\\ufeff")
    result = load_crew(text, tools=tools).run_sync(inputs)
    assert result.success, result.error
    assert set(ran) == set(described)
    for task in result.tasks.values():
        assert "[offline model]" in task.output
        assert task.usage.tool_calls == sum(step.to_state == "tool_calling" for step in task.history)


GRAPHS = st.integers(1, 7).flatmap(
    lambda size: st.fixed_dictionaries(
        {str(n): st.lists(st.integers(0, size - 1).map(str), max_size=3) for n in range(size)}
    )
)


@given(GRAPHS)
def test_either_there_is_an_order_or_a_cycle_is_found(graph):
    cycles = find_cycles(graph)
    for cycle in cycles:
        assert cycle[0] == cycle[-1]
        assert all(after in graph[before] for before, after in itertools.pairwise(cycle))
    order = in_order(graph)
    assert (not cycles) == (sorted(order) == sorted(graph))
    for place, name in enumerate(order):
        assert set(graph[name]) <= set(order[:place])


@given(st.text(), st.text())
def test_filling_leaves_no_placeholder_that_was_asked_for(text, value):
    inputs = dict.fromkeys(names_in(text), value)
    assert isinstance(fill(text, inputs), str)
