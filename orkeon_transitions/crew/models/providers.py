"""The door to pydantic-ai: any provider that it knows, as a `ChatModel`.

It is used for single requests, with the provider's own retries off. What goes in and out is translated by
`conversations`, every error by `provider_errors`: one sentence, without a key.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Sequence
from ipaddress import ip_address
from math import ceil
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ModelConnectionError, UserError
from pydantic_ai.messages import ModelResponse, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings as ProviderSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from orkeon_transitions.crew.chat import Message, ModelError, ModelReply, ToolSpec
from orkeon_transitions.crew.models.conversations import text_of, to_provider, tool_calls_of
from orkeon_transitions.crew.models.provider_errors import in_one_sentence
from orkeon_transitions.crew.models.settings import ModelSettings
from orkeon_transitions.crew.results import Usage
from orkeon_transitions.errors import MissingKeyError, OrkeonError

OPENAI = frozenset({"openai", "openai-chat", "openai-responses"})
COMPATIBLE = OPENAI | {
    "alibaba", "deepseek", "fireworks", "github", "heroku", "litellm", "moonshotai", "nebius", "ollama",
    "openrouter", "ovhcloud", "sambanova", "together", "vercel", "vllm",
}  # fmt: skip
"""The providers whose servers speak OpenAI's protocol, wherever they listen."""
OLLAMA = "http://127.0.0.1:11434/v1"
NO_KEY = "none"
# Seconds of silence after which a request is given up where nothing else ends it before.
PATIENCE = 600
# A token is some four characters of text: what a server does not count is counted like this.
CHARACTERS_PER_TOKEN = 4

# A bill that is none is none of a person's business: what it says is not counted, and was said on the screen.
warnings.filterwarnings("ignore", message="Failed to extract usage")

_ANY_OBJECT = {"type": "object", "additionalProperties": True}
_TUNING = ("temperature", "max_tokens", "top_p", "thinking", "timeout", "seed")
_VARIABLE = re.compile(r"`([A-Z][A-Z0-9_]+)`")


class ProviderModel:
    """A provider's model.

    Attributes:
        name: As it was asked for.
        has_price: Whether it is known what it costs.
    """

    def __init__(
        self,
        model: Model,
        settings: ModelSettings,
        secrets: Collection[str] = (),
        client: httpx2.AsyncClient | None = None,
    ) -> None:
        self.name = settings.name
        self._model = model
        self._settings = settings
        self._secrets = secrets
        self._client = client
        self._asked_with = _request_settings(model, settings)
        self.has_price = _price(model, settings, RequestUsage(input_tokens=1, output_tokens=1)) is not None

    async def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.aclose()
        else:
            async with self._model:  # leaving it closes the client that its provider has made
                pass

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        """Makes one request.

        Raises:
            ModelError: It came to nothing.
        """
        try:
            response = await model_request(
                self._model,
                to_provider(messages),
                model_settings=self._asked_with,
                model_request_parameters=self._parameters(tools),
                instrument=False,
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes one sentence
            raise in_one_sentence(self.name, error, self._secrets) from None
        return self._read(response, messages)

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], on_text: Callable[[str], Any]
    ) -> ModelReply:
        """Makes one request and tells the text as it comes; errors as for `reply`."""
        try:
            async with model_request_stream(
                self._model,
                to_provider(messages),
                model_settings=self._asked_with,
                model_request_parameters=self._parameters(tools),
                instrument=False,
            ) as events:
                async for event in events:
                    match event:
                        case PartStartEvent(part=TextPart(content=text)) if text:
                            on_text(text)
                        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                            on_text(text)
                response = events.get()
            if _is_cut(self._model, response):
                raise ModelConnectionError(self.name, "the stream ended too early")
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes one sentence
            raise in_one_sentence(self.name, error, self._secrets) from None
        return self._read(response, messages)

    def _read(self, response: ModelResponse, messages: Sequence[Message]) -> ModelReply:
        known = {call.id for message in messages for call in message.tool_calls}
        text, calls = text_of(response), tuple(tool_calls_of(response, known))
        counted = response.usage
        if not counted.input_tokens and not counted.output_tokens:
            asked = sum(len(message.content) for message in messages)
            answered = len(text) + sum(len(str(call.arguments)) for call in calls)
            counted = RequestUsage(
                input_tokens=ceil(asked / CHARACTERS_PER_TOKEN),
                output_tokens=ceil(answered / CHARACTERS_PER_TOKEN),
            )
        usd = _price(self._model, self._settings, counted) or 0.0
        usage = Usage(1, counted.input_tokens, counted.output_tokens, usd=usd)
        return ModelReply(text, calls, usage, response, is_cut=response.finish_reason == "length")

    def _parameters(self, tools: Sequence[ToolSpec]) -> ModelRequestParameters:
        functions = [
            ToolDefinition(
                name=tool.name,
                parameters_json_schema=dict(tool.parameters),
                description=tool.description,
                strict=False,
            )
            for tool in tools
        ]
        wanted = self._settings.response_format
        if wanted is None or wanted == "text":
            return ModelRequestParameters(function_tools=functions)
        schema = _ANY_OBJECT if wanted == "json" else dict(wanted)
        is_native = wanted != "json" and self._model.profile.get("supports_json_schema_output", False)
        return ModelRequestParameters(
            function_tools=functions,
            output_mode="native" if is_native else "prompted",
            output_object=OutputObjectDefinition(schema, name="answer"),
        )


def provider_model(settings: ModelSettings) -> ProviderModel:
    """Makes a model.

    Raises:
        MissingKeyError: Its provider wants a key, and there is none.
        MissingExtraError: The provider's own library is not installed.
        ModelError: The provider cannot be asked like this.
    """
    provider, _, name = settings.name.partition(":")
    address, is_trusted = _address(provider, settings)
    if address is not None:
        return _compatible(provider, name, address, settings, is_trusted=is_trusted)
    try:
        model = infer_model(settings.name)
    except UserError as error:
        raise _unusable(settings.name, str(error)) from None
    except ImportError as error:
        library = f"pip install 'pydantic-ai-slim[{provider}]'"
        raise ModelError(f"{settings.name} needs the library of its provider: {library}") from error
    return ProviderModel(model, settings, _secrets(_key_of(provider)))


def _address(provider: str, settings: ModelSettings) -> tuple[str | None, bool]:
    """Where an OpenAI-compatible server listens, and whether it may be told the key.

    An address in a crew file may be a stranger's: the key of the environment is only for one that comes from
    whoever runs the crew.
    """
    if settings.base_url is not None:
        return settings.base_url, bool(settings.is_trusted)
    if provider in OPENAI and os.environ.get("OPENAI_BASE_URL"):
        return os.environ["OPENAI_BASE_URL"], True
    if provider == "ollama":
        return os.environ.get("OLLAMA_BASE_URL") or OLLAMA, True
    return None, True


def _compatible(
    provider: str, name: str, address: str, settings: ModelSettings, *, is_trusted: bool
) -> ProviderModel:
    """A model of a server that speaks OpenAI's protocol."""
    if provider not in COMPATIBLE:
        raise ModelError(
            f"{settings.name} has no base URL: only servers that speak OpenAI's protocol do", retry_after=None
        )
    return _of_server(provider, name, address, settings, _key_of(provider) if is_trusted else None)


def server_model(settings: ModelSettings, address: str, key: str) -> ProviderModel:
    """Makes a model of a server that speaks OpenAI's protocol and has one model.

    Args:
        settings: How it is asked.
        address: Its base URL.
        key: What it lets in.
    """
    return _of_server("server", settings.name, address, settings, key)


def _of_server(
    provider: str, name: str, address: str, settings: ModelSettings, key: str | None
) -> ProviderModel:
    # The way to this computer leads through no proxy, whatever the environment says of proxies.
    client = httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) if _is_here(address) else None
    server = OpenAICompatibleProvider(provider, base_url=address, api_key=key or NO_KEY, http_client=client)
    kind = OpenAIResponsesModel if provider == "openai-responses" else OpenAIChatModel
    return ProviderModel(kind(name, provider=server), settings, _secrets(key), client)


def _is_here(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unusable(name: str, words: str) -> OrkeonError:
    """What it takes, from what the library says is missing."""
    variables = _VARIABLE.findall(words)
    keys = [variable for variable in variables if variable.endswith(("_KEY", "_TOKEN"))]
    if keys:
        return MissingKeyError(name, keys[0])
    if variables:
        return ModelError(f"{name} needs to be told more: set {variables[0]}", retry_after=None)
    return in_one_sentence(name, UserError(words))


def _key_of(provider: str) -> str | None:
    stem = "OPENAI" if provider in OPENAI else provider.replace("-", "_").upper()
    return os.environ.get(f"{stem}_API_KEY")


def _secrets(key: str | None) -> tuple[str, ...]:
    """What no message may hold."""
    return (key,) if key and len(key) > 3 else ()


def _is_cut(model: Model, response: ModelResponse) -> bool:
    """Whether a stream has ended without saying so: OpenAI's protocol gives an end its reason."""
    return isinstance(model, OpenAIChatModel) and "finish_reason" not in (response.provider_details or {})


def _request_settings(model: Model, settings: ModelSettings) -> ProviderSettings:
    asked: dict[str, Any] = {name: getattr(settings, name) for name in _TUNING}
    asked |= {"stop_sequences": None if settings.stop is None else list(settings.stop), "max_retries": 0}
    written = {
        name: value
        for name, value in asked.items()
        if value is not None and name not in model.unsupported_settings
    }
    return cast("ProviderSettings", written)


def _price(model: Model, settings: ModelSettings, usage: RequestUsage) -> float | None:
    """What a request costs in US dollars, or None where nobody knows."""
    if settings.price is not None:
        return settings.price.of(usage.input_tokens, usage.output_tokens)
    response = ModelResponse(parts=[], usage=usage, model_name=model.model_name, provider_name=model.system)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
