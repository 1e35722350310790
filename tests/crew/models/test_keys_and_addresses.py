"""Whose key is needed, and who is told it."""

import asyncio
import sys

import pytest

from orkeon_transitions.crew import (
    CrewObserver,
    load_crew,
)
from orkeon_transitions.crew.chat import ModelError
from orkeon_transitions.crew.models import ModelSettings
from orkeon_transitions.crew.models.providers import provider_model
from orkeon_transitions.errors import MissingExtraError, MissingKeyError
from tests.crew.model_server import ModelServer, says
from tests.crew.models.asking import KEY, TALK, asked_once


def test_a_missing_key_names_its_variable():
    with pytest.raises(MissingKeyError) as raised:
        provider_model(ModelSettings("openai:gpt-5"))
    assert raised.value.variable == "OPENAI_API_KEY"
    assert str(raised.value) == (
        "openai:gpt-5 needs a key: set OPENAI_API_KEY, or use the model that needs none (--model offline)"
    )


def test_a_missing_key_ends_a_run_before_it_begins():
    started = []
    crew = load_crew("llm: openai:gpt-5\nagents:\n  a: {}\ntasks:\n  t: {description: d}\n")
    with pytest.raises(MissingKeyError):
        crew.run_sync(observer=CrewObserver(task_started=started.append))
    assert started == []
    assert crew.run_sync(model="offline").success


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "anthropic", None)
    for name in [
        name
        for name in sys.modules
        if name.startswith(("pydantic_ai.providers.anthropic", "pydantic_ai.models.anthropic"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ModelError, match=r"pip install 'pydantic-ai-slim\[anthropic\]'"):
        provider_model(ModelSettings("anthropic:claude-x"))


def test_without_the_extra_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "orkeon_transitions.crew.models.providers", None)
    crew = load_crew("llm: openai:gpt-5\nagents:\n  a: {}\ntasks:\n  t: {description: d}\n")
    monkeypatch.delattr("orkeon_transitions.crew.models.providers", raising=False)
    with pytest.raises(MissingExtraError) as raised:
        crew.run_sync()
    assert raised.value.extra == "llm"


def test_an_address_from_a_file_is_told_no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer(says("Done")) as server:
        crew = load_crew(
            f"llm: {{model: openai:x, baseUrl: '{server.url}'}}\n"
            "agents:\n  a: {}\ntasks:\n  t: {description: d}\n"
        )
        assert crew.run_sync().success
        assert KEY not in server.headers[-1]["authorization"]
        assert crew.run_sync(model=ModelSettings(base_url=server.url)).success
        assert server.headers[-1]["authorization"] == f"Bearer {KEY}"


def test_the_address_of_the_environment_is_one_s_own(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer(says("Done")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        crew = load_crew("llm: openai:x\nagents:\n  a: {}\ntasks:\n  t: {description: d}\n")
        assert crew.run_sync().success
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_no_proxy_stands_between_us_and_this_computer(monkeypatch, host):
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    with ModelServer(says("Done")) as server:
        assert asyncio.run(asked_once(server.url.replace("127.0.0.1", host))).text == "Done"


def test_ollama_listens_where_it_always_does(monkeypatch):
    with ModelServer(says("Done")) as server:
        monkeypatch.setenv("OLLAMA_BASE_URL", server.url)
        assert asyncio.run(_asked_by_name("ollama:llama3")).text == "Done"
    assert provider_model(ModelSettings("ollama:llama3")).name == "ollama:llama3"


async def _asked_by_name(name):
    model = provider_model(ModelSettings(name))
    try:
        return await model.reply(TALK, ())
    finally:
        await model.close()


def test_a_base_url_is_for_those_who_speak_that_protocol():
    with pytest.raises(ModelError, match="only servers that speak OpenAI's protocol"):
        provider_model(ModelSettings("anthropic:claude-x", base_url="http://127.0.0.1:1/v1"))
