"""The limits of a circuit breaker, and the three presets (seed 000)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    field_validator,
    model_validator,
)

NOT_NEGATIVE = "must not be negative (0 switches the limit off)"


def _seconds(value: Any) -> Any:
    """Reads a number as seconds; everything else is left to pydantic."""
    if isinstance(value, bool):
        raise ValueError("must be a number of seconds, not a boolean")
    if isinstance(value, int | float):
        try:
            duration = timedelta(seconds=value)
        except OverflowError:
            raise ValueError("is more than can be counted (0 switches the limit off)") from None
        # What would be rounded to nothing must not switch the limit off.
        return timedelta.resolution if value > 0 and not duration else duration
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a whole number, not a boolean")
    return value


Duration = Annotated[timedelta, BeforeValidator(_seconds)]
Count = Annotated[int, BeforeValidator(_whole)]


class CircuitBreakerPolicy(BaseModel):
    """What a machine is allowed before its circuit breaker stops it. Frozen.

    `CircuitBreakerPolicy()` is the preset `default`. Durations are `timedelta`; a number means seconds.
    0 switches a limit off.

    Attributes:
        max_transitions: How many transitions may be made in all.
        state_timeout: How long the machine may stay in one state.
        max_state_visits: How often one state may be entered; the start counts as the first visit of the
            initial state.
        max_total_duration: How long the machine may run, from its first transition.
        use_degraded_mode: True moves a tripped machine to its degraded state, if it has one; False raises.
        meters: Budgets that the program reports against with `spend`, such as `{"tokens": 50_000}`.
        max_repeats: How often in a row a row marked `repeatable: false` may be taken with an equal payload.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_transitions: Count = 100
    state_timeout: Duration = timedelta(minutes=5)
    max_state_visits: Count = 10
    max_total_duration: Duration = timedelta(minutes=30)
    use_degraded_mode: StrictBool = False
    meters: dict[str, float] = Field(default_factory=dict)
    max_repeats: Count = 0

    if TYPE_CHECKING:
        # What the validators accept, for type checkers: a number is seconds.
        def __init__(
            self,
            *,
            max_transitions: int = ...,
            state_timeout: timedelta | float = ...,
            max_state_visits: int = ...,
            max_total_duration: timedelta | float = ...,
            use_degraded_mode: bool = ...,
            meters: Mapping[str, float] = ...,
            max_repeats: int = ...,
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.keys() <= cls.model_fields.keys():
            return given
        for name in given.keys() - cls.model_fields.keys():
            if near := get_close_matches(str(name), cls.model_fields, 1):
                raise ValueError(f"there is no limit '{name}', did you mean '{near[0]}'?")
        return given

    @field_validator("max_transitions", "max_state_visits", "max_repeats")
    @classmethod
    def _count_not_negative(cls, value: int) -> int:
        if value < 0:
            raise ValueError(NOT_NEGATIVE)
        return value

    @field_validator("state_timeout", "max_total_duration")
    @classmethod
    def _duration_not_negative(cls, value: timedelta) -> timedelta:
        if value < timedelta(0):
            raise ValueError(NOT_NEGATIVE)
        return value

    @field_validator("meters")
    @classmethod
    def _meters_not_negative(cls, value: dict[str, float]) -> dict[str, float]:
        for name, most in value.items():
            if not most >= 0:
                raise ValueError(f"meter '{name}' must not be negative")
            if most == math.inf:
                raise ValueError(f"meter '{name}' must be finite (without a limit it needs no entry)")
        return value

    def __hash__(self) -> int:
        return hash(
            (self.max_transitions, self.state_timeout, self.max_state_visits, self.max_total_duration)
        )

    @classmethod
    def strict(cls) -> CircuitBreakerPolicy:
        """The preset for production LLM work: 50 transitions, 2 min, 5 visits, 10 min, degraded mode."""
        return cls(
            max_transitions=50,
            state_timeout=timedelta(minutes=2),
            max_state_visits=5,
            max_total_duration=timedelta(minutes=10),
            use_degraded_mode=True,
        )

    @classmethod
    def default(cls) -> CircuitBreakerPolicy:
        """The preset of a bare policy: 100 transitions, 5 min, 10 visits, 30 min, raising."""
        return cls()

    @classmethod
    def permissive(cls) -> CircuitBreakerPolicy:
        """The preset for long, watched work: 1000 transitions, 30 min, 50 visits, 2 h, raising."""
        return cls(
            max_transitions=1000,
            state_timeout=timedelta(minutes=30),
            max_state_visits=50,
            max_total_duration=timedelta(hours=2),
        )

    @classmethod
    def preset_names(cls) -> tuple[str, ...]:
        """The names that `preset` knows."""
        return ("strict", "default", "permissive")

    @classmethod
    def preset(cls, name: str) -> CircuitBreakerPolicy:
        """Gives a preset by its name, in any case.

        Raises:
            ValueError: There is no such preset; the message lists the valid names.
        """
        key = str(name).strip().lower()
        if key not in cls.preset_names():
            raise ValueError(f"unknown preset '{name}': valid are {', '.join(cls.preset_names())}")
        made: CircuitBreakerPolicy = getattr(cls, key)()
        return made
