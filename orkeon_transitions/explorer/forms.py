"""What the guards judge, as a form: switches for a definition alone, typed fields for a context's model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

from orkeon_transitions.definition import MachineDefinition, nearest

FieldType = Literal["boolean", "integer", "number", "string", "choice", "json"]


class BadValueError(ValueError):
    """A value that a field does not take."""


class Form(ABC):
    """The fields of a form, and what the guards are given for them."""

    kind: Literal["typed", "switches", "none"] = "none"

    @abstractmethod
    def fields(self) -> list[dict[str, Any]]:
        """The fields as the page shows them."""

    @abstractmethod
    def set(self, name: str, value: Any) -> None:
        """Gives a field a value; one that does not fit is kept with what is wrong with it.

        Raises:
            BadValueError: There is no such field.
        """

    @abstractmethod
    def given(self, values: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """What a trigger is fired with: the context, and the payload.

        Args:
            values: Values that count for this once.

        Raises:
            BadValueError: A field has no value that fits.
        """


class NoForm(Form):
    """A form without a field."""

    def fields(self) -> list[dict[str, Any]]:
        """None."""
        return []

    def set(self, name: str, value: Any) -> None:  # noqa: ARG002 (there is no field to set)
        """Refuses every name."""
        raise BadValueError(f"there is no field '{name}'")

    def given(self, values: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Nothing."""
        if values:
            raise BadValueError(f"there is no field '{next(iter(values))}'")
        return None, {}


class Switches(Form):
    """A switch for each guard of a definition: what it answers.

    Everything is allowed at first: a guard says yes, one that only forbids says no.
    """

    kind = "switches"

    def __init__(self, definition: MachineDefinition) -> None:
        wanted = {name: True for row in definition.transitions for name in row.conditions}
        forbidding = {name: False for row in definition.transitions for name in row.unless}
        self._defaults = forbidding | wanted
        self._values = dict(self._defaults)
        self._errors: dict[str, str] = {}
        self._words = definition.guards

    def fields(self) -> list[dict[str, Any]]:
        """A boolean field for each guard."""
        return [
            {
                "name": name,
                "label": self._words.get(name) or name.replace("_", " "),
                "type": "boolean",
                "required": True,
                "value": value,
                "default": self._defaults[name],
                "choices": None,
                "description": f"What the guard '{name}' answers",
                "error": self._errors.get(name),
            }
            for name, value in self._values.items()
        ]

    def set(self, name: str, value: Any) -> None:
        """Turns a switch."""
        self._check(name)
        if isinstance(value, bool):
            self._values[name] = value
            self._errors.pop(name, None)
        else:
            self._errors[name] = "a switch is on or off"

    def given(self, values: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The switches as the context."""
        for name, value in (values or {}).items():
            self._check(name)
            if not isinstance(value, bool):
                raise BadValueError(f"'{name}' is a switch: on or off")
        return {**self._values, **(values or {})}, {}

    def _check(self, name: str) -> None:
        if name not in self._defaults:
            near = nearest(name, self._defaults)
            raise BadValueError(f"there is no guard '{name}'" + (f", did you mean '{near}'?" if near else ""))


class Switch:
    """A guard that answers what its switch says."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, event: Any) -> bool:
        """Looks at the switch."""
        return bool(event.context[self._name])


def form_for(definition: MachineDefinition) -> Form:
    """The switches of a definition; no form if it has no guard."""
    form = Switches(definition)
    return form if form.fields() else NoForm()
