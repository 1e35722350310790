"""What a page may ask a session to do: messages, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter, ValidationError

MOST_ROWS = 200
Text = Annotated[StrictStr, Field(max_length=10_000)]
Count = Annotated[StrictInt, Field(ge=0, le=2**53)]


class Order(BaseModel):
    """What a page asks for.

    Attributes:
        allowed_by: The name in the trait `can` that must be true for it, or None.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    allowed_by: ClassVar[str | None] = None


class Fire(Order):
    """Try a trigger. `context` are values of the form that count for this once."""

    allowed_by: ClassVar[str | None] = "fire"
    do: Literal["fire"]
    trigger: Text
    context: dict[str, Any] | None = None


class SetField(Order):
    """Give a field of the form a value; what is permitted is judged anew."""

    allowed_by: ClassVar[str | None] = "edit"
    do: Literal["set"]
    field: Text
    value: Any = None


class Undo(Order):
    """Take the last step back."""

    allowed_by: ClassVar[str | None] = "undo"
    do: Literal["undo"]


class Reset(Order):
    """Begin again with a fresh machine; one that hangs is left alone."""

    allowed_by: ClassVar[str | None] = "reset"
    do: Literal["reset"]


class ResetBreaker(Order):
    """Give the machine a fresh budget."""

    allowed_by: ClassVar[str | None] = "reset_breaker"
    do: Literal["reset_breaker"]


class Seek(Order):
    """Show how things stood after so many steps."""

    allowed_by: ClassVar[str | None] = "seek"
    do: Literal["seek"]
    at: Count


class Rows(Order):
    """Show another part of the log."""

    do: Literal["rows"]
    first: Count
    count: Annotated[StrictInt, Field(ge=1, le=MOST_ROWS)] = MOST_ROWS


class Select(Order):
    """Show another machine."""

    do: Literal["select"]
    machine: Text


class Export(Order):
    """Take along a picture or the log."""

    do: Literal["export"]
    format: Text


class Reload(Order):
    """Read the file again."""

    do: Literal["reload"]


_ORDERS: tuple[type[Order], ...] = (
    Fire,
    SetField,
    Undo,
    Reset,
    ResetBreaker,
    Seek,
    Rows,
    Select,
    Export,
    Reload,
)
_BY_NAME = {kind.model_fields["do"].annotation.__args__[0]: TypeAdapter(kind) for kind in _ORDERS}  # type: ignore[union-attr]  # each is a Literal


class BadOrderError(ValueError):
    """A message that is no order; its text says why."""


def read_order(message: object) -> Order:
    """Reads a message.

    Raises:
        BadOrderError: It is none that a session knows.
    """
    if not isinstance(message, Mapping) or not isinstance(message.get("do"), str):
        raise BadOrderError('a message is a mapping with "do", a text')
    name = message["do"]
    if name not in _BY_NAME:
        raise BadOrderError(f"there is no '{name[:40]}' to do: it can be {', '.join(_BY_NAME)}")
    try:
        order: Order = _BY_NAME[name].validate_python(dict(message))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadOrderError(f"{name}: {f'{where}: ' if where else ''}{first['msg']}") from None
    return order
