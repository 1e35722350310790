"""A plain typed function as a tool: type hints give its schema, the docstring its description.

A parameter of the type `IdempotencyKey` is none of the model's: the run fills it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NewType, NotRequired, Required, get_type_hints, overload

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from pydantic.errors import PydanticUserError
from typing_extensions import TypedDict

from orkeon_transitions.crew.chat import ToolSpec
from orkeon_transitions.crew.strict_json import read_json
from orkeon_transitions.crew.threads import call_anything
from orkeon_transitions.errors import OrkeonError

MOST_ANSWER = 50_000

IdempotencyKey = NewType("IdempotencyKey", str)
"""Names one call of a tool: a call that is made again, since nobody knows whether it was done, has the same.

That is a call that could not be run, and one that a run repeats when it is resumed. An equal call that comes
after an answer has another.
"""


class ToolError(OrkeonError):
    """Raised inside of a tool to answer with an error: not found, not allowed, nonsense asked.

    The model is told and goes on. Any other exception means that the tool could not be run.
    """


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a model may call.

    Make one with `tool`.

    Attributes:
        name: What the model and crew files call it.
        description: What it does, for the model.
        parameters: A JSON Schema of type `object`.
        function: The function, plain or async.
        repeatable: Whether it may be called over and over with equal arguments (a poll).
        arguments: Checks a mapping of arguments.
        key_parameter: The parameter that gets the call's `IdempotencyKey`, or None.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]
    repeatable: bool
    arguments: TypeAdapter[dict[str, Any]]
    key_parameter: str | None = None

    @property
    def spec(self) -> ToolSpec:
        """What a model is told."""
        return ToolSpec(self.name, self.description, self.parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, as if it had never been decorated."""
        return self.function(*args, **kwargs)

    async def answer(self, arguments: Mapping[str, Any] | str, *, key: str = "") -> str:
        """Checks the arguments, runs the function and gives its answer as text.

        A plain function runs in a thread of its own, so that a slow one cannot hold up the clocks.

        Args:
            arguments: By parameter, or as JSON text.
            key: The call's `IdempotencyKey`, for a function that asks for it.

        Raises:
            ToolError: The arguments are wrong, or the function says so.
            Exception: Whatever else the function raises.
        """
        checked = self._checked(arguments)
        if self.key_parameter is not None:
            checked[self.key_parameter] = IdempotencyKey(key)
        return as_text(await call_anything(self.function, **checked))

    def _checked(self, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
        try:
            if isinstance(arguments, str):
                read_json(arguments or "{}")
                return self.arguments.validate_json(arguments or "{}")
            return self.arguments.validate_python(dict(arguments))
        except ValidationError as error:
            raise ToolError(f"wrong arguments for {self.name}: {_in_words(error)}") from error
        except ValueError as error:
            raise ToolError(f"wrong arguments for {self.name}: Invalid JSON: {error}") from error


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(*, name: str | None = None, repeatable: bool = False) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, repeatable: bool = False
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Makes a tool of a plain or async function with type hints.

    Args:
        function: The function; left out, a decorator is given back.
        name: What the model calls it; the function's name if left out.
        repeatable: Whether it is meant for polling: calling it again and again with equal arguments is then
            no runaway.

    Raises:
        TypeError: A parameter has no type hint or one without a JSON Schema, is positional-only or collects
            others.

    Example:
        >>> @tool
        ... def word_count(text: str) -> int:
        ...     "Counts the words of a text."
        ...     return len(text.split())
        >>> word_count.parameters["required"]
        ['text']
    """
    if function is None:
        return lambda decorated: _made(decorated, name, repeatable)
    return _made(function, name, repeatable)


def as_tool(thing: Tool | Callable[..., Any]) -> Tool:
    """Gives a tool as it is, and makes one of a function."""
    return thing if isinstance(thing, Tool) else tool(thing)


def as_text(value: Any) -> str:
    """What a tool answered, as the model reads it: a text as it is, all else as JSON, at most 50,000 long."""
    text = value if isinstance(value, str) else TypeAdapter(Any).dump_json(value, fallback=str).decode()
    return cut(text, MOST_ANSWER)


def cut(text: str, most: int) -> str:
    """A text, shortened where it is too long, and saying so."""
    return text if len(text) <= most else f"{text[:most]}\n[cut: {len(text) - most:,} more characters]"


def _made(function: Callable[..., Any], name: str | None, repeatable: bool) -> Tool:
    called = name or getattr(function, "__name__", "").replace("<lambda>", "")
    if not called or not isinstance(called, str):
        raise TypeError("a tool needs a name: use a named function, or name=")
    try:
        adapter = _arguments_of(function)
        parameters = _schema(adapter, function)
        key_parameter = _key_parameter(function)
    except (NameError, PydanticUserError, RecursionError, TypeError, ValueError) as error:  # no signature
        raise TypeError(f"'{called}' cannot be a tool: {error}") from error
    return Tool(
        name=called,
        description=inspect.getdoc(function) or called,
        parameters=parameters,
        function=function,
        repeatable=repeatable,
        arguments=adapter,
        key_parameter=key_parameter,
    )


def _arguments_of(function: Callable[..., Any]) -> TypeAdapter[dict[str, Any]]:
    if inspect.isasyncgenfunction(function):
        raise TypeError("it yields in an async function: return a list")
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise TypeError(f"parameter '{parameter.name}' cannot be given by name")
        if parameter.name not in hints:
            raise TypeError(f"parameter '{parameter.name}' has no type hint")
        wanted = parameter.default is parameter.empty
        hint = hints[parameter.name]
        if hint is IdempotencyKey:
            continue
        fields[parameter.name] = Required[hint] if wanted else NotRequired[hint]
    # A typed dictionary, not a model: parameters may have any name (`schema`, `copy`, `_private`).
    shape = with_config(ConfigDict(extra="forbid", allow_inf_nan=False))(TypedDict("Arguments", fields))  # type: ignore[operator]  # mypy wants the fields written out
    return TypeAdapter(shape)


def _key_parameter(function: Callable[..., Any]) -> str | None:
    names = [name for name, hint in get_type_hints(function).items() if hint is IdempotencyKey]
    if len(names) > 1:
        raise TypeError(f"{' and '.join(names)} both ask for the idempotency key")
    return names[0] if names else None


def _schema(adapter: TypeAdapter[dict[str, Any]], function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments' JSON Schema; defaults are the function's, for the model to know."""
    schema = adapter.json_schema()
    schema.pop("title", None)
    for parameter in inspect.signature(function).parameters.values():
        shown = schema.get("properties", {}).get(parameter.name)
        if isinstance(shown, dict) and _is_json(parameter.default):
            shown.setdefault("default", parameter.default)
    return {"type": "object", "properties": {}, **schema}


def _is_json(default: Any) -> bool:
    return isinstance(default, str | int) or (isinstance(default, float) and math.isfinite(default))


def _in_words(error: ValidationError) -> str:
    return "; ".join(
        ": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"])))
        for one in error.errors(include_url=False, include_context=False, include_input=False)
    )
