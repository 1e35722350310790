"""Names of models, as people write them."""

import pytest

from orkeon_transitions.crew.models import PROVIDERS, ModelNameError, full_name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("offline", "offline"),
        (" Offline ", "offline"),
        ("LOCAL", "local"),
        ("openai:gpt-5", "openai:gpt-5"),
        ("OpenAI:gpt-5", "openai:gpt-5"),
        ("openai/gpt-4o-mini", "openai:gpt-4o-mini"),
        ("gemini/gemini-2.5-pro", "google:gemini-2.5-pro"),
        ("openrouter/anthropic/claude-sonnet-4", "openrouter:anthropic/claude-sonnet-4"),
        ("openrouter:qwen/qwen3:free", "openrouter:qwen/qwen3:free"),
        ("ollama:qwen2.5:7b", "ollama:qwen2.5:7b"),
        ("ollama/llama3:8b", "ollama:llama3:8b"),
        ("gpt-5", "openai:gpt-5"),
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("gemini-2.5-pro", "google:gemini-2.5-pro"),
        ("o3-mini", "openai:o3-mini"),
    ],
)
def test_many_ways_to_write_a_name_are_one(written, name):
    assert full_name(written) == name


@pytest.mark.parametrize(
    ("written", "words", "hint"),
    [
        ("", "not an empty text", None),
        ("  ", "not an empty text", None),
        ("offlin", "names no provider", "offline"),
        ("llama3", "names no provider", None),
        ("opnai:gpt-5", "there is no provider 'opnai'", "openai"),
        ("anthropci:claude", "there is no provider 'anthropci'", "anthropic"),
        ("qwen2:7b", "there is no provider 'qwen2'", None),
        ("openai:", "names a provider and no model", None),
        ("openai/ ", "names a provider and no model", None),
    ],
)
def test_what_is_no_name_is_said_with_the_nearest(written, words, hint):
    with pytest.raises(ModelNameError) as raised:
        full_name(written)
    assert words in str(raised.value)
    assert raised.value.hint == hint
    assert ("did you mean" in raised.value.sentence) == (hint is not None)


@pytest.mark.parametrize(
    ("provider", "written", "name"),
    [
        ("openai", "gpt-5", "openai:gpt-5"),
        ("openai", "openai:gpt-5", "openai:gpt-5"),
        ("OpenAI", "openai/gpt-5", "openai:gpt-5"),
        ("ollama", "qwen2:7b", "ollama:qwen2:7b"),
        ("openrouter", "openai/gpt-5", "openrouter:openai/gpt-5"),
        ("offline", "offline", "offline"),
    ],
)
def test_a_provider_may_stand_beside_the_name(provider, written, name):
    assert full_name(written, provider) == name


def test_the_providers_are_those_of_the_library():
    from pydantic_ai.providers import infer_provider_class

    for provider in PROVIDERS:
        try:
            infer_provider_class(provider)
        except ImportError:  # known, and its own library is not here
            continue
