"""Models that a program chooses, and what is looked at before a run."""

import json
import subprocess
import sys

import pytest

from orkeon_transitions.crew import ModelChooser, ModelNameError, ModelSettings, crew_schema, load_crew
from orkeon_transitions.crew.chat import ModelError
from orkeon_transitions.crew.models.conversations import arguments_of
from orkeon_transitions.crew.models.providers import provider_model
from orkeon_transitions.crew.models.reading import ALIASES, FIELDS
from orkeon_transitions.definition.names import camel_case
from orkeon_transitions.errors import MissingKeyError
from tests.crew.scripted import ScriptedModel, crew_of_one

AGENTS = "agents:\n  a: {}\n  b: {}\n"
TWO = f"{AGENTS}tasks:\n  one: {{description: d, agent: a}}\n  two: {{description: d, agent: b}}\n"


def test_a_program_chooses_for_each_agent_and_task():
    asked = []

    class Chooser:
        def model_for(self, agent, task):
            asked.append((agent.id, task.id))
            return ScriptedModel(f"from {agent.id}")

    assert isinstance(Chooser(), ModelChooser)
    result = load_crew(TWO).run_sync(model=Chooser())
    assert [task.output for task in result.tasks.values()] == ["from a", "from b"]
    assert asked == [("a", "one"), ("b", "two")]


def test_a_chooser_that_fails_fails_the_task_and_not_the_program():
    class Chooser:
        def model_for(self, agent, task):
            if agent.id == "a":
                raise LookupError("nobody is free")
            return ScriptedModel("fine")

    result = load_crew(TWO).run_sync(model=Chooser())
    assert result.status == "failed"
    assert result.tasks["one"].error == "LookupError: nobody is free"
    assert result.tasks["two"].output == "fine"


def test_a_chooser_that_fails_ends_planning_too():
    class Chooser:
        def model_for(self, agent, task):
            raise LookupError("nobody is free")

    crew = load_crew(f"planning: true\ncircuitBreaker: {{maxRetries: 1}}\n{TWO}")
    result = crew.run_sync(model=Chooser())
    assert result.status == "failed"
    assert "LookupError: nobody is free" in result.tasks["one"].error


@pytest.mark.parametrize("process", ["hierarchical", "consensual"])
def test_where_the_process_decides_who_works_every_model_is_looked_at(process):
    head = f"process: {process}\nmanagerAgent: c\nagents:\n  a: {{}}\n  b: {{}}\n  c: {{llm: openai:gpt-5}}\n"
    with pytest.raises(MissingKeyError):
        load_crew(f"{head}tasks:\n  t: {{description: d, agent: a}}\n").run_sync()


def test_a_model_of_the_program_beats_the_file():
    crew = load_crew(f"llm: openai:gpt-5\n{TWO}")
    assert crew.run_sync(model=ScriptedModel("mine")).output == "mine"


def test_a_name_that_is_none_is_said_at_once():
    with pytest.raises(ModelNameError, match="names no provider"):
        crew_of_one().run_sync(model="oflin")


def test_a_task_without_an_agent_may_go_to_any():
    crew = load_crew("agents:\n  a: {}\n  b: {llm: openai:gpt-5}\ntasks:\n  t: {description: d}\n")
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY"):
        crew.run_sync()
    assert crew.run_sync(model=ModelSettings("offline")).success


def test_a_provider_that_must_be_told_more_says_what():
    with pytest.raises(ModelError) as raised:
        provider_model(ModelSettings("azure:gpt-5"))
    assert str(raised.value).startswith("azure:gpt-5 needs to be told more: set AZURE_")


@pytest.mark.parametrize("written", [None, {}, "", {"a": 1}, '{"a": 1}'])
def test_arguments_come_in_many_shapes(written):
    read = arguments_of(written)
    assert read == (json.loads(written) if written and isinstance(written, str) else written or {})


def test_the_schema_knows_every_setting_in_both_spellings():
    mapping = crew_schema()["$defs"]["model"]["anyOf"][-1]
    for name in (*FIELDS, *ALIASES):
        assert {name, camel_case(name)} <= set(mapping["properties"])
    assert mapping["additionalProperties"] is False


def test_no_library_of_models_is_loaded_for_the_offline_one():
    code = (
        "import sys; from orkeon_transitions.crew import load_crew\n"
        f"assert load_crew({TWO!r}).run_sync().success\n"
        "heavy = {'pydantic_ai', 'openai', 'httpx2', 'xllamacpp'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
