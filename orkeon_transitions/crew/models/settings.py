"""What a model is asked with: settings that crew, agent and task merge field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from orkeon_transitions.crew.models.names import OFFLINE, full_name, provider_of

Effort = Literal["minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[Effort, ...] = ("minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in US dollars for a million tokens.

    Attributes:
        input: Of what it reads.
        output: Of what it writes.
    """

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost, in US dollars."""
        return (self.input * input_tokens + self.output * output_tokens) / 1_000_000


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """A model and how it is asked. A field that is None says nothing.

    Attributes:
        model: `offline`, `local`, or `provider:model`.
        base_url: Where an OpenAI-compatible server listens.
        temperature: From 0, always the same, upwards.
        max_tokens: How long one answer may be.
        top_p: The share of likely words that is chosen from, from 0 to 1.
        response_format: `text`; `json` for any JSON object; or the JSON Schema that answers must meet.
        thinking: Whether the model thinks before it answers, or how hard.
        timeout: Seconds until a request that is silent is given up; the state's timeout counts besides.
        seed: Makes sampling repeatable, where the provider can.
        stop: Texts at which an answer ends.
        price: What tokens cost, where the model's price is not known or is another one.
        is_trusted: Whether the base URL comes from whoever runs the crew, and not from its file: only such a
            one is told the key.
    """

    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    response_format: Literal["text", "json"] | Mapping[str, Any] | None = None
    thinking: bool | Effort | None = None
    timeout: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] | None = None
    price: Price | None = None
    is_trusted: bool | None = None

    @classmethod
    def of(cls, what: ModelSettings | str) -> ModelSettings:
        """The settings themselves, or those that only name a model.

        Raises:
            ModelNameError: It is no name of a model.
        """
        return cls(model=full_name(what)) if isinstance(what, str) else what

    @property
    def name(self) -> str:
        """The model's name; nobody who says none gets a real one."""
        return self.model or OFFLINE

    def overlaid(self, upper: ModelSettings | None) -> ModelSettings:
        """These settings with those of `upper` that say something in their place.

        A price belongs to its model and a base URL to its provider: where another is named, they stay behind.
        """
        if upper is None:
            return self
        written = {
            field.name: value for field in fields(upper) if (value := getattr(upper, field.name)) is not None
        }
        lower = self
        if upper.model is not None and upper.model != self.name:
            lower = replace(lower, price=None)
            if provider_of(upper.model) != provider_of(self.name):
                lower = replace(lower, base_url=None, is_trusted=None)
        if upper.base_url is not None:
            lower = replace(lower, is_trusted=None)
        return replace(lower, **written)

    def overridden(self, upper: ModelSettings) -> ModelSettings:
        """These settings as whoever runs the crew wants them: a model's name leaves no base URL behind."""
        lower = self if upper.model is None else replace(self, base_url=None, price=None, is_trusted=None)
        return lower.overlaid(replace(upper, is_trusted=True) if upper.base_url is not None else upper)
