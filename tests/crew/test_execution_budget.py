"""The presets, and the `executionBudget` block."""

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.execution_budget import CrewBudget, ExecutionBudget, Spending
from tests.crew.crew_texts import problems_of

CREW = """\
process: autonomous
{block}agents: {{a: {{}}}}
tasks:
  one: {{description: d{task}}}
  two: {{description: d}}
"""


def crew(block="", task=""):
    return load_crew(CREW.format(block=block and f"executionBudget: {block}\n", task=task))


def budgets(config):
    return CrewBudget.of(
        config.execution_budget, {one.id: one.execution_budget for one in config.tasks.values()}
    )


def test_the_presets():
    assert ExecutionBudget.preset("strict") == ExecutionBudget(8, 1, 120, 8_000, 1)
    assert ExecutionBudget() == ExecutionBudget.preset("default") == ExecutionBudget(15, 2, 300, 16_000, 3)
    assert ExecutionBudget.preset("permissive") == ExecutionBudget(50, 4, 900, 64_000, 10)
    with pytest.raises(ValueError, match="unknown preset 'stict'"):
        ExecutionBudget.preset("stict")
    with pytest.raises(ValueError, match="tool calls must be a number, 0 or more, not -1"):
        ExecutionBudget(tool_calls=-1)


@pytest.mark.parametrize("block", ["strict", "{preset: Strict}"])
def test_a_preset_is_for_each_task(block):
    found = budgets(crew(block).config)
    assert found.for_tasks(["one", "two"], Spending(tokens=20_000)) == {
        "one": ExecutionBudget.preset("strict"),
        "two": ExecutionBudget.preset("strict"),
    }


def test_what_is_written_out_is_for_the_whole_run():
    found = budgets(crew("{toolCalls: 5, max_tokens: 100_000, wallTimeSeconds: 60}").config)
    parts = found.for_tasks(["one", "two"], Spending())
    assert [(one.tool_calls, one.tokens, one.wall_time, one.spawns) for one in parts.values()] == [
        (3, 50_000, 60, 3),
        (2, 50_000, 60, 3),
    ]
    (last,) = found.for_tasks(["two"], Spending(tool_calls=1, tokens=99_000, wall_time=50)).values()
    assert (last.tool_calls, last.tokens, last.wall_time) == (4, 1_000, 10)


def test_a_task_may_have_its_own():
    found = budgets(crew("{tokens: 1000}", task=", executionBudget: {tokens: 30, spawns: 0}").config)
    assert found.of_tasks["one"] == ExecutionBudget(15, 2, 300, 30, 0)
    assert found.of_tasks["two"] == ExecutionBudget(15, 2, 300, 1_000, 3)


@pytest.mark.parametrize(
    ("block", "message", "hint"),
    [
        ("strickt", "unknown preset 'strickt': valid are 'strict', 'default', 'permissive'", "strict"),
        ("{preset: x}", "unknown preset 'x': valid are 'strict', 'default', 'permissive'", None),
        ("{toolCall: 1}", "unknown key 'toolCall'", "toolCalls"),
        ("{toolCalls: -1}", "must be a whole number, 0 or more, not -1", None),
        ("{toolCalls: 1.5}", "must be a whole number, not the number 1.5", None),
        ("{tokens: 0}", "must be more than 0: without tokens nothing would ever begin", None),
        ("{wallTime: 0}", "must be more than 0: without wall time nothing would ever begin", None),
        ("[1]", "must be a mapping or a preset's name, not a list", None),
    ],
)
def test_what_is_wrong_has_its_place(block, message, hint):
    (problem,) = problems_of(CREW.format(block=f"executionBudget: {block}\n", task=""))
    assert (problem.message, problem.hint, problem.line) == (message, hint, 2)


def test_elsewhere_it_has_no_effect():
    found = load_crew("executionBudget: strict\nagents: {a: {}}\ntasks: {t: {description: d}}\n").findings
    assert [finding.message for finding in found] == ["carried, not acted on: executionBudget"]
