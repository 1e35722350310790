"""A form for a context of a class: a dataclass, a pydantic model, or anything with typed arguments."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined, to_jsonable_python

from orkeon_transitions.explorer.forms import BadValueError, Form, Given, Kind, field, fitting

_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string"}
_ATTRIBUTE = re.compile(r"^ {4}(?P<name>\w+): (?P<text>.+(?:\n {8}.+)*)", re.MULTILINE)
NOTHING_GIVEN: Any = object()


@dataclass(frozen=True, slots=True)
class FieldType:
    """What a field takes.

    Attributes:
        kind: As the page knows it: `boolean`, `integer`, `number`, `string`, `choice`, `json`.
        choices: What can be chosen, as it is shown, and what is meant by each.
        is_optional: Whether it may be left empty.
        adapter: Reads a value; None: everything is taken as it is.
    """

    kind: str
    choices: Mapping[Any, Any] | None
    is_optional: bool
    adapter: TypeAdapter[Any] | None

    @classmethod
    def of(cls, annotation: Any) -> FieldType:
        """What an annotation asks for."""
        optional, bare = _without_none(annotation)
        choices = _choices_of(bare)
        kind = "choice" if choices is not None else _PLAIN.get(bare, "json")
        return cls(kind, choices, optional, _adapter_of(annotation))

    def read(self, value: Any) -> Any:
        """The value that is meant.

        Raises:
            BadValueError: It is none of this type.
        """
        if self.choices is not None and value in self.choices:
            return self.choices[value]
        if self.adapter is None:
            return value
        if self.kind == "boolean" and not isinstance(value, bool | None):
            raise BadValueError("must be yes or no")
        try:
            return self.adapter.validate_python(value)
        except ValidationError as error:
            told = error.errors(include_url=False, include_input=False, include_context=False)[0]
            raise BadValueError(told["msg"]) from None


def _without_none(annotation: Any) -> tuple[bool, Any]:
    if typing.get_origin(annotation) is typing.Annotated:
        return _without_none(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (Union, UnionType):
        parts = [part for part in typing.get_args(annotation) if part is not NoneType]
        return len(parts) < len(typing.get_args(annotation)), parts[0] if len(parts) == 1 else annotation
    return False, annotation


def _choices_of(annotation: Any) -> dict[Any, Any] | None:
    if typing.get_origin(annotation) is Literal:
        return {value: value for value in typing.get_args(annotation)}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {shown(member): member for member in annotation}
    return None


def _adapter_of(annotation: Any) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(annotation)
    except PydanticUserError:  # a class that pydantic knows nothing of
        return None


def shown(value: Any) -> Any:
    """A value as JSON has it; what JSON does not know, in words."""
    try:
        return to_jsonable_python(value, inf_nan_mode="null", fallback=repr)
    except ValueError:  # it holds itself
        return repr(value)


class TypedForm(Form):
    """Typed fields of the context's class.

    A field that nobody has filled in has the machine's own value, and follows it. As long as nothing is
    filled in, triggers are fired without a context where the machine judges its own.

    Args:
        model: The class of the context.
        own: Gives the context that the machine itself judges; None: it has none, so that one is always given.
    """

    kind: ClassVar[Kind] = "typed"

    def __init__(self, model: type, own: Callable[[Any], Any] | None = None) -> None:
        self._model = model
        self._own = own
        self._parameters = parameters_of(model)
        self._types = {name: FieldType.of(annotation) for name, (annotation, _) in self._parameters.items()}
        self._words = descriptions_of(model)
        self._values: dict[str, Any] = {}
        self._wrong: dict[str, tuple[Any, str]] = {}

    def fields(self, machine: Any) -> list[dict[str, Any]]:
        """A field for each argument of the class."""
        defaults = self._defaults(machine)
        made = []
        for name, kind in self._types.items():
            default = defaults.get(name, NOTHING_GIVEN)
            value, error = self._values.get(name, default), None
            if name in self._wrong:
                value, error = self._wrong[name]
            required = default is NOTHING_GIVEN and not kind.is_optional
            if value is NOTHING_GIVEN:
                value, error = None, "is needed" if required else None
            made.append(
                field(
                    name,
                    kind.kind,
                    shown(value),
                    None if default is NOTHING_GIVEN else shown(default),
                    description=self._words.get(name),
                    error=error,
                    required=required,
                    choices=None if kind.choices is None else [shown(choice) for choice in kind.choices],
                )
            )
        return made

    def set(self, machine: Any, name: str, value: Any) -> None:
        """Fills a field in; null empties it, so that it has the machine's own value again."""
        fitting(name, self._types, "field")
        self._wrong.pop(name, None)
        self._values.pop(name, None)
        if value is None and (name in self._defaults(machine) or not self._types[name].is_optional):
            return
        try:
            self._values[name] = self._types[name].read(value)
        except BadValueError as error:
            self._wrong[name] = value, str(error)

    def given(self, machine: Any, trigger: str, values: Mapping[str, Any] | None = None) -> Given:
        """An object of the class, or nothing where the machine judges its own."""
        del trigger
        filled = dict(self._values)
        for name, value in (values or {}).items():
            fitting(name, self._types, "field")
            filled[name] = self._read(name, value)
        if values is not None and (wrong := self._wrong.keys() - values.keys()):
            name = min(wrong)
            raise BadValueError(f"{name}: {self._wrong[name][1]}")
        if not filled and self._own is not None:
            return None, {}
        try:
            return self._model(**{**self._defaults(machine), **filled}), {}
        except Exception as error:
            if values is None:
                return None, {}
            raise BadValueError(_sentence(error)) from error

    def _read(self, name: str, value: Any) -> Any:
        try:
            return self._types[name].read(value)
        except BadValueError as error:
            raise BadValueError(f"{name}: {error}") from None

    def _defaults(self, machine: Any) -> dict[str, Any]:
        own = None if self._own is None else self._own(machine)
        known = {
            name: default for name, (_, default) in self._parameters.items() if default is not NOTHING_GIVEN
        }
        return known | {name: getattr(own, name) for name in self._parameters if hasattr(own, name)}


def _sentence(error: Exception) -> str:
    if isinstance(error, ValidationError):
        told = error.errors(include_url=False, include_input=False, include_context=False)[0]
        return f"{'.'.join(map(str, told['loc']))}: {told['msg']}"
    return str(error) or type(error).__name__


def parameters_of(model: type) -> dict[str, tuple[Any, Any]]:
    """The arguments that make an object of a class: annotation and default, or `NOTHING_GIVEN`, by name."""
    hints = _hints_of(model)
    if is_dataclass(model):
        return {
            each.name: (hints.get(each.name, Any), _default_of(each.default, each.default_factory))
            for each in fields(model)
            if each.init
        }
    if issubclass(model, BaseModel):
        return {
            name: (each.annotation, _default_of(each.default, each.default_factory))
            for name, each in model.model_fields.items()
        }
    found = inspect.signature(model).parameters.values()
    return {
        each.name: (
            hints.get(each.name, Any),
            NOTHING_GIVEN if each.default is each.empty else each.default,
        )
        for each in found
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    }


def _default_of(default: Any, factory: Any) -> Any:
    if default is not MISSING and default is not PydanticUndefined:
        return default
    return NOTHING_GIVEN if factory in (MISSING, None) else factory()


def _hints_of(model: type) -> dict[str, Any]:
    try:
        if is_dataclass(model) or issubclass(model, BaseModel):
            return typing.get_type_hints(model, include_extras=True)
        arguments = inspect.signature(model, eval_str=True).parameters.values()
    except (NameError, TypeError):  # a name that is not there at run time
        return {}
    return {each.name: each.annotation for each in arguments if each.annotation is not each.empty}


def descriptions_of(model: type) -> dict[str, str]:
    """What a class says of its fields: pydantic's descriptions, or the `Attributes:` of its docstring."""
    written = inspect.cleandoc(model.__doc__ or "")
    told = {found["name"]: " ".join(found["text"].split()) for found in _ATTRIBUTE.finditer(written)}
    if issubclass(model, BaseModel):
        told |= {name: each.description for name, each in model.model_fields.items() if each.description}
    return told
