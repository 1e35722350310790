"""What the guards judge, as a form: switches for a definition alone, typed fields for a context's class.

A form belongs to one run. It is asked with the machine as it is then, whose own values it shows where a
person has given none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from orkeon_transitions.definition import MachineDefinition, nearest
from orkeon_transitions.runtime import TriggerEvent

Kind = Literal["typed", "switches", "none"]
Given = tuple[Any, dict[str, Any]]
NOTHING: Given = (None, {})


class BadValueError(ValueError):
    """A value that a field does not take, or a field that there is not."""


class Form:
    """The fields of a form, and what a trigger is fired with for them. This one has no field."""

    kind: ClassVar[Kind] = "none"

    def begin(self, machine: Any) -> None:
        """Gives a fresh machine what the form holds for it."""

    def fields(self, machine: Any) -> list[dict[str, Any]]:  # noqa: ARG002 (for those that have fields)
        """The fields as the page shows them."""
        return []

    def set(self, machine: Any, name: str, value: Any) -> None:  # noqa: ARG002 (for those that have fields)
        """Gives a field a value; one that does not fit is shown with what is wrong with it.

        Raises:
            BadValueError: There is no such field.
        """
        raise BadValueError(f"there is no field '{name}'")

    def given(self, machine: Any, trigger: str, values: Mapping[str, Any] | None = None) -> Given:
        """The context and the payload of a trigger.

        Args:
            machine: The machine.
            trigger: What is to be fired.
            values: Values of fields that count for this once; None: the trigger is only asked about, so what
                does not fit is passed over.

        Raises:
            BadValueError: A value does not fit, or there is no such field.
        """
        del machine, trigger
        for name in values or {}:
            raise BadValueError(f"there is no field '{name}'")
        return NOTHING


class Switches(Form):
    """A switch for each guard of a definition: what it answers.

    Everything is allowed at first: a guard says yes, one that only forbids says no.
    """

    kind: ClassVar[Kind] = "switches"

    def __init__(self, definition: MachineDefinition) -> None:
        wanted = {name: True for row in definition.transitions for name in row.conditions}
        forbidding = {name: False for row in definition.transitions for name in row.unless}
        self._defaults = forbidding | wanted
        self._values = dict(self._defaults)
        self._errors: dict[str, str] = {}
        self._words = definition.guards

    def fields(self, machine: Any) -> list[dict[str, Any]]:  # noqa: ARG002 (a switch stands for itself)
        """A boolean field for each guard."""
        return [
            field(
                name,
                "boolean",
                value,
                self._defaults[name],
                label=self._words.get(name),
                description=f"What the guard '{name}' answers",
                error=self._errors.get(name),
            )
            for name, value in self._values.items()
        ]

    def set(self, machine: Any, name: str, value: Any) -> None:  # noqa: ARG002 (a switch stands for itself)
        """Turns a switch; null sets it back."""
        self._check(name)
        self._errors.pop(name, None)
        if value is None:
            self._values[name] = self._defaults[name]
        elif isinstance(value, bool):
            self._values[name] = value
        else:
            self._errors[name] = "a switch is on or off"

    def given(self, machine: Any, trigger: str, values: Mapping[str, Any] | None = None) -> Given:
        """The switches as the context."""
        del machine, trigger
        for name, value in (values or {}).items():
            self._check(name)
            if not isinstance(value, bool):
                raise BadValueError(f"'{name}' is a switch: it is on or off")
        return {**self._values, **(values or {})}, {}

    def _check(self, name: str) -> None:
        fitting(name, self._defaults, "guard")


class Switch:
    """A guard that answers what its switch says."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, event: TriggerEvent) -> bool:
        """Looks at the switch."""
        return bool(event.context[self._name])


def fitting(name: str, names: Mapping[str, Any], what: str) -> None:
    """Refuses a name that there is not.

    Raises:
        BadValueError: With the nearest name.
    """
    if name not in names:
        near = nearest(name, names)
        meant = f", did you mean '{near}'?" if near else ""
        raise BadValueError(f"there is no {what} '{name}'{meant}")


def field(
    name: str,
    kind: str,
    value: Any,
    default: Any,
    *,
    label: str | None = None,
    description: str | None = None,
    error: str | None = None,
    required: bool = True,
    choices: list[Any] | None = None,
) -> dict[str, Any]:
    """A field as the page shows it."""
    return {
        "name": name,
        "label": label or words_of(name),
        "type": kind,
        "required": required,
        "value": value,
        "default": default,
        "choices": choices,
        "description": description,
        "error": error,
    }


def words_of(name: str) -> str:
    """A name in words: `Max retries` of `max_retries`."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
