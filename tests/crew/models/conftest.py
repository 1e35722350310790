"""No test of models uses a key of whoever runs the tests."""

import pytest


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for variable in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "ANTHROPIC_API_KEY",
        "OLLAMA_BASE_URL",
        "AZURE_OPENAI_ENDPOINT",
    ):
        monkeypatch.delenv(variable, raising=False)
