"""Settings of crew, agent and task, merged field by field."""

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.models import ChosenModels, ModelSettings, Price
from tests.crew.crew_texts import HEAD, TASKS, problems_of

URL = "http://127.0.0.1:1/v1"


def merged(crew="", agent="", task="", over=None):
    loaded = load_crew(
        f"llm: {{{crew}}}\nagents:\n  a: {{{agent}}}\ntasks:\n  t: {{description: d, agent: a{task}}}\n",
        strict=True,
    )
    models = ChosenModels.of(loaded.config, over)
    return models.settings_for(loaded.agents["a"], loaded.tasks["t"])


def test_each_level_says_what_it_says_and_leaves_the_rest():
    settings = merged(
        "model: openai:gpt-5, temperature: 0.1, maxTokens: 100, topP: 0.9",
        "llm: {temperature: 0.2, thinking: high}",
        ", llmOverride: {temperature: 0.3, responseFormat: json}",
    )
    assert settings == ModelSettings(
        model="openai:gpt-5",
        temperature=0.3,
        max_tokens=100,
        top_p=0.9,
        thinking="high",
        response_format="json",
    )


def test_a_task_s_name_alone_changes_the_model_alone():
    settings = merged("model: openai:gpt-5, temperature: 0.1", task=", llm_override: openai:gpt-5-mini")
    assert settings == ModelSettings(model="openai:gpt-5-mini", temperature=0.1)


def test_settings_without_a_name_are_those_of_the_model_above():
    assert merged("temperature: 0.4") == ModelSettings(temperature=0.4)
    assert merged("temperature: 0.4").name == "offline"
    assert merged("model: local", "llm: {temperature: 0.4}").name == "local"


def test_an_agent_says_its_settings_beside_its_model_too():
    settings = merged(
        "model: openai:gpt-5, temperature: 1",
        "temperature: 0.5, topP: 0.4, maxTokens: 7, responseFormat: json, thinking: true,"
        " llm: {temperature: 0}",
    )
    assert (settings.temperature, settings.top_p, settings.max_tokens) == (0.5, 0.4, 7)
    assert (settings.response_format, settings.thinking, settings.name) == ("json", True, "openai:gpt-5")


def test_zero_and_false_say_something():
    settings = merged(
        "model: openai:gpt-5, temperature: 1, thinking: true", "temperature: 0, thinking: false"
    )
    assert (settings.temperature, settings.thinking) == (0, False)


def test_a_base_url_belongs_to_its_provider():
    at_home = f"model: openai:gpt-5, baseUrl: '{URL}'"
    assert merged(at_home, "llm: openai:gpt-5-mini").base_url == URL
    assert merged(at_home, "llm: anthropic:claude-x").base_url is None, "nor is its key sent there"
    assert merged(at_home, task=", llmOverride: {temperature: 0}").base_url == URL


def test_a_price_belongs_to_its_model():
    priced = "model: openai:x, price: {input: 1, output: 2}"
    assert merged(priced, "temperature: 0").price == Price(1, 2)
    assert merged(priced, "llm: openai:y").price is None
    assert Price(1, 2).of(1_000_000, 500_000) == 2


def test_whoever_runs_the_crew_has_the_last_word():
    written = f"model: openai:x, baseUrl: '{URL}', temperature: 0.3, price: {{input: 1, output: 2}}"
    settings = merged(written, "llm: openai:y", ", llmOverride: openai:z", ModelSettings(model="openai:mine"))
    assert settings == ModelSettings(model="openai:mine", temperature=0.3)
    moved = merged(written, over=ModelSettings(base_url="http://127.0.0.1:2/v1"))
    assert (moved.name, moved.base_url, moved.is_trusted) == ("openai:x", "http://127.0.0.1:2/v1", True)


def test_only_an_address_of_whoever_runs_the_crew_is_trusted():
    assert merged(f"model: openai:x, baseUrl: '{URL}'").is_trusted is None
    over = ModelSettings("openai:x", base_url=URL)
    models = ChosenModels(ModelSettings("openai:y"), over)
    assert models.crew.overridden(over).is_trusted is True
    assert models.crew.overridden(over).overlaid(ModelSettings(base_url="http://other/v1")).is_trusted is None


# case G07
@pytest.mark.parametrize(
    "key", ["topP: 0.1, top_p: 0.2", "maxTokens: 1, max_tokens: 2", "baseUrl: a, base_url: b"]
)
def test_both_spellings_are_one_key(key):
    assert any(
        "are the same key" in problem.message for problem in problems_of(f"llm: {{{key}}}\n{HEAD}{TASKS}")
    )


@pytest.mark.parametrize(
    ("llm", "needle"),
    [
        ("7", "llm: must be the name of a model or a mapping, not the number 7"),
        ("[offline]", "llm: must be the name of a model or a mapping, not a list"),
        ("llama", "llm: 'llama' names no provider"),
        ("''", "llm: must be a name, not an empty text"),
        ("{model: 7}", "llm.model: must be a name"),
        ("{model: opnai:x}", "llm.model: there is no provider 'opnai' of models (did you mean 'openai'?)"),
        ("{provider: opnai, model: x}", "llm.model: there is no provider 'opnai'"),
        ("{provider: openai}", "llm.provider: provider 'openai' is named without a 'model'"),
        ("{temprature: 1}", "llm.temprature: unknown key 'temprature' (did you mean 'temperature'?)"),
        ("{temperature: hot}", "llm.temperature: must be a number"),
        ("{temperature: 3}", "llm.temperature: must be a number from 0 to 2, not 3"),
        ("{topP: 1.5}", "llm.topP: must be a number from 0 to 1"),
        ("{maxTokens: 0}", "llm.maxTokens: must be a whole number, 1 or more"),
        ("{maxTokens: 1.5}", "llm.maxTokens: must be a whole number"),
        ("{thinking: very}", "llm.thinking: must be true, false or one of minimal"),
        ("{responseFormat: xml}", "llm.responseFormat: must be 'text', 'json' or a JSON Schema"),
        ("{baseUrl: localhost}", "llm.baseUrl: a base URL begins with http:// or https://"),
        ("{baseUrl: 'http://me:pw@host/v1'}", "llm.baseUrl: a base URL holds no name and no password"),
        ("{apiKey: sk-123}", "llm.apiKey: a key does not belong into a crew file"),
        ("{maxRetries: 3}", "llm.maxRetries: a request is never repeated behind the machine's back"),
        ("{timeout: soon}", "llm.timeout: must be a number of seconds"),
        ("{stop: {a: b}}", "llm.stop: must be a name or a list of names"),
        ("{price: 3}", "llm.price: must be a mapping"),
        ("{price: {input: 3}}", "llm.price: 'output' is missing"),
        ("{price: {input: -3, output: 1}}", "llm.price.input: must be a number, 0 or more"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(llm, needle):
    (problem,) = problems_of(f"name: x\nllm: {llm}\n{HEAD}{TASKS}")
    assert needle in f"{problem.path}: {problem.sentence}"
    assert problem.line == 2
    assert "sk-123" not in str(problem)


def test_all_levels_have_their_places():
    text = "agents:\n  a: {llm: x}\ntasks:\n  t: {description: d, llmOverride: {temperature: 9}}\n"
    places = [(problem.path, problem.line) for problem in problems_of(text)]
    assert places == [("agents.a.llm", 2), ("tasks.t.llmOverride.temperature", 4)]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("text", "text"),
        ("JSON", "json"),
        ("json_object", "json"),
        ("{type: json_object}", "json"),
        ("{type: object, required: [a]}", {"type": "object", "required": ["a"]}),
        ("{type: json_schema, json_schema: {name: n, schema: {type: object}}}", {"type": "object"}),
    ],
)
def test_formats_of_answers_in_the_words_of_others(written, read):
    assert merged(f"responseFormat: {written}").response_format == read


@pytest.mark.parametrize(
    "llm", ["offline", "Offline", "{model: offline}", "{provider: offline}", "{}", "null"]
)
def test_the_offline_model_is_there(llm):
    crew = load_crew(f"llm: {llm}\n{HEAD}{TASKS}", strict=True)
    assert crew.findings == ()
    assert "offline model" in crew.run_sync().output


def test_other_words_for_settings_are_understood():
    settings = merged(
        "name: openai:x, apiBase: 'http://h/v1', reasoningEffort: low, stopSequences: [a], timeout: 4"
    )
    assert settings == ModelSettings("openai:x", "http://h/v1", thinking="low", stop=("a",), timeout=4)
