from pathlib import Path

from orkeon_transitions.crew import AgentConfig, Mount, TaskConfig, TaskResult, TaskRunStatus
from orkeon_transitions.crew.prompts import (
    DELIVERABLE,
    EARLIER,
    EXPECTED,
    FOLDERS,
    FORMAT,
    MARKDOWN,
    TASK,
    section,
    system_prompt,
    task_prompt,
)


def test_the_agent_is_told_who_it_is():
    text = system_prompt(AgentConfig("a", role="Cook", goal="Feed all", backstory="Old hand."), "A feast")
    assert all(part in text for part in ("You are Cook.", "Old hand.", "Feed all", "A feast"))
    assert "You are a." in system_prompt(AgentConfig("a"), "")


def test_each_section_can_be_found_again():
    task = TaskConfig("t", "Cook.\n## Salt\nMore.", "Soup", "a", deliverable="/out/x.md")
    earlier = {
        "shop": TaskResult("shop", TaskRunStatus.COMPLETED, "carrots"),
        "wash": TaskResult("wash", TaskRunStatus.DEGRADED, ""),
    }
    prompt = task_prompt(task, [Mount(Path(), "/in"), Mount(Path(), "/out", "rw")], earlier)
    assert section(prompt, TASK) == "Cook.\n## Salt\nMore."
    assert section(prompt, EXPECTED) == "Soup"
    assert section(prompt, FOLDERS) == "/in (read only)\n/out (read and write)"
    assert section(prompt, DELIVERABLE) == "/out/x.md"
    assert "### shop\ncarrots" in section(prompt, EARLIER)
    assert "### wash (incomplete: the task was stopped)\n(nothing)" in section(prompt, EARLIER)


def test_what_is_not_there_has_no_section():
    prompt = task_prompt(TaskConfig("t", "Cook."), [], {})
    assert prompt == "## Task\nCook."
    assert section(prompt, FOLDERS) == ""


def test_folded_text_of_yaml_leaves_no_gaps():
    agent = AgentConfig("a", role="Cook\n", goal="Feed all\n", backstory="Old hand.\n")
    assert system_prompt(agent, "").startswith("You are Cook.\nOld hand.\nYour goal: Feed all\nA tool call")


def test_markdown_is_asked_for_where_no_other_shape_is():
    prompt = task_prompt(TaskConfig("t", "Cook.", markdown=True), [], {})
    assert section(prompt, FORMAT) == MARKDOWN
