"""What happened, frozen.

A fact is told to the commit hook before it becomes visible, and to the listeners after. It carries no
payload, so that secrets stay out of journals. This room holds values and their words only, never who tells or
hears them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt

from orkeon_transitions.breaker import BreakerLimit, CircuitBreakerPolicy, CircuitBreakerStatus

RefusalKind = Literal["invalid", "terminal", "guard", "circuit", "error"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a trigger was not made.

    Attributes:
        kind: `invalid` (no such transition here), `terminal` (the machine has ended), `guard` (a guard said
            no), `circuit` (the breaker), `error` (a guard raised).
        trigger: What was tried; None when a clock ran out by itself.
        state: Where.
        guard: The name of the guard that said no or raised, or None.
        description: That guard's description, or None.
        message: The whole sentence.
        permitted: Triggers that have a transition here; their guards were not run.
    """

    kind: RefusalKind
    trigger: Any
    state: Any
    guard: str | None
    description: str | None
    message: str
    permitted: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What every making of one row has in common, shared by its results; see `TransitionResult`."""

    from_state: Any
    to_state: Any
    trigger: Any
    accepted: bool = True
    state_changed: bool = True
    degraded: bool = False
    refusal: Refusal | None = None
    internal: bool = False


def _refuse(result: TransitionResult, value: Any) -> NoReturn:  # noqa: ARG001 (a property's setter)
    raise FrozenInstanceError("a result is a fact, and cannot be changed")


def _moment(result: TransitionResult) -> datetime:
    at = result._at
    return at if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)


# Not `frozen`, which would cost a trigger as much as its guard: see what is set to its class below.
@dataclass(init=False, unsafe_hash=True)
class TransitionResult:
    """The outcome of a trigger: truthy if, and only if, the transition that was asked for was made.

    Attributes:
        from_state: The state before.
        to_state: The state after; the same where nothing moved.
        trigger: What was fired; None when a clock degraded the machine by itself.
        ordinal: Numbers the machine's transitions for life; the last one's where nothing moved.
        timestamp: Wall time in UTC, for people.
        accepted: Whether the trigger was accepted.
        state_changed: Whether the machine is in another state than before.
        degraded: Whether the breaker moved the machine to its degraded state instead.
        refusal: Why not, or None.
        error: What a callback raised after the state had been written, or None.
        internal: Whether the transition kept its state without leaving it.
        transition_count: What the budget had used after this; 1 begins a new budget.
    """

    # Each trigger makes one, so it holds what differs from those of the same row and no more.
    __slots__ = ("_at", "_error", "_ordinal", "_outcome", "_transition_count")

    from_state: Any
    to_state: Any
    trigger: Any
    ordinal: int
    timestamp: datetime
    accepted: bool
    state_changed: bool
    degraded: bool
    refusal: Refusal | None
    error: BaseException | None
    internal: bool
    transition_count: int

    def __init__(
        self,
        from_state: Any,
        to_state: Any,
        trigger: Any,
        ordinal: int,
        timestamp: datetime,
        *,
        accepted: bool = True,
        state_changed: bool = True,
        degraded: bool = False,
        refusal: Refusal | None = None,
        error: BaseException | None = None,
        internal: bool = False,
        transition_count: int = 0,
    ) -> None:
        self._outcome = Outcome(
            from_state, to_state, trigger, accepted, state_changed, degraded, refusal, internal
        )
        self._at: datetime | float = timestamp
        self._error = error
        self._ordinal = ordinal
        self._transition_count = transition_count

    def __bool__(self) -> bool:
        return self.accepted


for _name in Outcome.__slots__:
    setattr(TransitionResult, _name, property(attrgetter(f"_outcome.{_name}"), _refuse))
for _name in ("ordinal", "error", "transition_count"):
    setattr(TransitionResult, _name, property(attrgetter(f"_{_name}"), _refuse))
TransitionResult.timestamp = property(_moment, _refuse)  # type: ignore[assignment]  # read as a moment


def result_of(outcome: Outcome, ordinal: int, at: float, transition_count: int) -> TransitionResult:
    """The result of a row that was made: a fraction of what the constructor costs.

    Args:
        outcome: What all results of the row have in common.
        ordinal: The transition's number.
        at: Wall time, in seconds since the epoch.
        transition_count: What the budget had used after it.
    """
    result = object.__new__(TransitionResult)
    result._outcome = outcome
    result._at = at
    result._error = None
    result._ordinal = ordinal
    result._transition_count = transition_count
    return result


@dataclass(frozen=True, slots=True)
class TransitionFailed:
    """A callback raised after the state had been written: the transition stands, its work does not.

    Attributes:
        ordinal: The transition's number.
        error: What was raised.
        timestamp: Wall time in UTC.
    """

    ordinal: int
    error: BaseException
    timestamp: datetime


@dataclass(frozen=True, slots=True)
class CircuitBroken:
    """The breaker tripped.

    Attributes:
        state: The state in which it tripped.
        trigger: What was tried; None when a clock ran out by itself.
        limit: Which limit.
        reason: The sentence, with both figures.
        status: Everything that the breaker knew.
        timestamp: Wall time in UTC.
    """

    state: Any
    trigger: Any
    limit: BreakerLimit
    reason: str
    status: CircuitBreakerStatus
    timestamp: datetime


@dataclass(frozen=True, slots=True)
class BreakerReset:
    """A person or a program gave the machine a fresh budget.

    Attributes:
        state: The state in which it was reset; it stays.
        ordinal: The last transition's number.
        timestamp: Wall time in UTC.
    """

    state: Any
    ordinal: int
    timestamp: datetime


Fact = TransitionResult | TransitionFailed | CircuitBroken | BreakerReset


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class TripRecord(BaseModel):
    """What broke the circuit, in a snapshot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limit: BreakerLimit
    reason: str


class RepetitionRecord(BaseModel):
    """How often in a row a marked row was taken with one payload, in a snapshot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    times: int = Field(ge=0)


class Snapshot(BaseModel):
    """A machine at rest: plain JSON data (`model_dump(mode="json")`, `model_dump_json()`).

    Times are seconds already spent, so that downtime is not counted and a restart hands out no fresh budget.

    Attributes:
        version: The format's version.
        machine: The name of the definition.
        machine_id: The machine's own name.
        definition_hash: The content hash of the definition.
        state: The state's name.
        ordinal: The last transition's number.
        transition_count: What the budget has used.
        visits: Entries by state name.
        time_in_state: Seconds in the state.
        active_time: Running seconds since the first transition.
        clock_running: Whether the total clock runs.
        spent: By meter.
        repeats: By state.
        trip: What broke the circuit, or None.
        policy: The limits in force.
        fields: What the machine's class names in `persisted`.
        taken_at: Wall time in UTC.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    machine: str
    machine_id: str
    definition_hash: str
    state: str
    ordinal: int = Field(ge=0)
    transition_count: int = Field(ge=0)
    visits: Mapping[str, NonNegativeInt]
    time_in_state: Amount
    active_time: Amount
    clock_running: bool
    spent: Mapping[str, Amount] = Field(default_factory=dict)
    repeats: Mapping[str, RepetitionRecord] = Field(default_factory=dict)
    trip: TripRecord | None = None
    policy: CircuitBreakerPolicy
    fields: Mapping[str, JsonValue] = Field(default_factory=dict)
    taken_at: AwareDatetime


def error_text(error: BaseException) -> str:
    """An error in one text: its type, and what it says."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (a foreign error's own text may fail; the fact must still be told)
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
