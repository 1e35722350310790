"""Names of models: `offline`, `local`, `provider:model`, and how else people write the last."""

from __future__ import annotations

import re

from orkeon_transitions.definition.names import nearest

OFFLINE = "offline"
LOCAL = "local"

PROVIDERS = (
    "alibaba", "anthropic", "azure", "azure-responses", "bedrock", "bedrock-mantle", "cerebras", "cohere",
    "crusoe", "deepseek", "fireworks", "github", "github-copilot", "google", "google-cloud", "groq", "heroku",
    "huggingface", "litellm", "meta", "mistral", "moonshotai", "nebius", "ollama", "openai", "openai-chat",
    "openai-responses", "openrouter", "ovhcloud", "sambanova", "snowflake", "together", "vercel", "vllm",
    "xai", "zai",
)  # fmt: skip
"""The providers that answer with text and tool calls, as pydantic-ai calls them."""

OTHER_NAMES = {
    "azure_openai": "azure",
    "bedrock_converse": "bedrock",
    "chatgpt": "openai",
    "claude": "anthropic",
    "gemini": "google",
    "google-gla": "google",
    "google-vertex": "google-cloud",
    "hosted_vllm": "vllm",
    "moonshot": "moonshotai",
    "ollama_chat": "ollama",
    "together_ai": "together",
    "vertex_ai": "google-cloud",
}
"""What other libraries call some of them."""

FAMILIES = {
    "gpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude-": "anthropic",
    "gemini-": "google",
    "deepseek-": "deepseek",
    "mistral-": "mistral",
}
"""What a name without a provider begins with, and whose model it is."""


class ModelNameError(ValueError):
    """A name that is none of a model.

    Attributes:
        hint: The nearest valid name, or None.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.hint = hint
        super().__init__(message)

    @property
    def sentence(self) -> str:
        """What is wrong, and what may have been meant."""
        return f"{self} (did you mean '{self.hint}'?)" if self.hint else str(self)


def full_name(written: str, provider: str | None = None) -> str:
    """Reads the name of a model.

    Args:
        written: `offline`, `local`, `openai:gpt-5`; also `openai/gpt-5`, and `gpt-5`, since it is plain whose
            that is.
        provider: The provider, where it is written beside the name.

    Returns:
        The name as `provider:model`, or `offline`, or `local`.

    Raises:
        ModelNameError: It is none.
    """
    name = written.strip()
    if not name:
        raise ModelNameError("must be the name of a model, not an empty text")
    if provider is not None:
        return _of_provider(provider, name)
    if name.lower() in {OFFLINE, LOCAL}:
        return name.lower()
    first, mark, rest = _parts(name)
    # A slash is a part of many names: only a provider before it makes it one of ours.
    if mark == ":" or _known(first) is not None:
        if mark and not rest:
            raise ModelNameError(f"'{written}' names a provider and no model")
        if rest:
            return f"{_provider(first)}:{rest}"
    for beginning, whose in FAMILIES.items():
        if name.lower().startswith(beginning):
            return f"{whose}:{name}"
    near = nearest(name, [OFFLINE, LOCAL])
    raise ModelNameError(
        f"'{written}' names no provider: models are called 'offline', 'local' or 'provider:model', such as "
        "'openai:gpt-5'",
        near,
    )


def provider_of(name: str) -> str:
    """The provider of a full name; `offline` and `local` are their own."""
    return name.partition(":")[0]


def _of_provider(provider: str, name: str) -> str:
    """Both are written, and the name may have the provider, too."""
    if provider.strip().lower() in {OFFLINE, LOCAL}:
        return provider.strip().lower()
    known = _provider(provider)
    first, _, rest = _parts(name)
    return f"{known}:{rest if rest and _known(first) == known else name}"


def _parts(name: str) -> tuple[str, str, str]:
    """What stands before the first colon or slash, that mark, and the rest."""
    found = re.search("[:/]", name)
    if found is None:
        return name, "", ""
    return name[: found.start()].strip(), found[0], name[found.end() :].strip()


def _provider(written: str) -> str:
    known = _known(written)
    if known is None:
        near = nearest(written, [*PROVIDERS, *OTHER_NAMES])
        raise ModelNameError(f"there is no provider '{written}' of models", near)
    return known


def _known(written: str) -> str | None:
    folded = written.strip().lower()
    folded = OTHER_NAMES.get(folded, folded)
    return folded if folded in PROVIDERS else None
