"""Forms for the machines that ship: what each one's guards judge, and what its triggers carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from orkeon_transitions.explorer.forms import BadValueError, Form, Given, Kind, field, fitting
from orkeon_transitions.explorer.typed_forms import FieldType, TypedForm, shown
from orkeon_transitions.machines import GraphRouterState, TaskExecutionGuardContext


def task_form() -> Form:
    """The guard context of a task's execution; the machine keeps counters of its own."""
    return TypedForm(TaskExecutionGuardContext, lambda machine: machine.guard_context)


@dataclass(frozen=True, slots=True)
class Carried:
    """A value that triggers carry as payload, or that the machine keeps.

    Attributes:
        name: The name of the argument, or of the machine's attribute.
        annotation: Its type.
        first: What it is at first.
        description: What it means.
        triggers: The triggers that carry it; none: it is an attribute of the machine.
    """

    name: str
    annotation: Any
    first: Any
    description: str
    triggers: tuple[str, ...] = ()


class CarryingForm(Form):
    """Fields whose values triggers carry, and fields that are attributes of the machine."""

    kind: ClassVar[Kind] = "typed"

    def __init__(self, *carried: Carried) -> None:
        self._carried = {each.name: each for each in carried}
        self._types = {each.name: FieldType.of(each.annotation) for each in carried}
        self._values = {each.name: each.first for each in carried if each.triggers}
        self._wrong: dict[str, tuple[Any, str]] = {}

    def begin(self, machine: Any) -> None:
        """Sets the machine's attributes."""
        for each in self._carried.values():
            if not each.triggers:
                setattr(machine, each.name, each.first)

    def fields(self, machine: Any) -> list[dict[str, Any]]:
        """A field for each value."""
        made = []
        for name, each in self._carried.items():
            kind = self._types[name]
            value, error = self._wrong.get(name, (self._value(machine, each), None))
            made.append(
                field(
                    name,
                    kind.kind,
                    _shown(value),
                    _shown(each.first),
                    description=each.description,
                    error=error,
                    required=not kind.is_optional,
                    choices=None if kind.choices is None else list(kind.choices),
                )
            )
        return made

    def set(self, machine: Any, name: str, value: Any) -> None:
        """Gives a value; null sets it back."""
        fitting(name, self._carried, "field")
        each, kind = self._carried[name], self._types[name]
        self._wrong.pop(name, None)
        try:
            read = each.first if value is None and not kind.is_optional else kind.read(value)
        except BadValueError as error:
            self._wrong[name] = value, str(error)
            return
        if each.triggers:
            self._values[name] = read
        else:
            setattr(machine, name, read)

    def given(self, machine: Any, trigger: str, values: Mapping[str, Any] | None = None) -> Given:
        """What the trigger carries."""
        del machine
        payload = {
            name: self._values[name] for name, each in self._carried.items() if trigger in each.triggers
        }
        for name, value in (values or {}).items():
            fitting(name, self._values, "field")
            try:
                payload[name] = self._types[name].read(value)
            except BadValueError as error:
                raise BadValueError(f"{name}: {error}") from None
        for name, (_, told) in self._wrong.items():
            if values is not None and name not in values:
                raise BadValueError(f"{name}: {told}")
        return None, {name: value for name, value in payload.items() if value is not None}

    def _value(self, machine: Any, each: Carried) -> Any:
        return self._values[each.name] if each.triggers else getattr(machine, each.name)


def _shown(value: Any) -> Any:
    return sorted(value) if isinstance(value, set) else shown(value)


def hermes_form() -> Form:
    """What an agent's session is given: a task, a plan, tools and their results."""
    return CarryingForm(
        Carried("task", str, "Find the three newest parsers", "The task", ("receive_task",)),
        Carried("plan_steps", list[str], ["search", "summarise"], "The plan, step by step"),
        Carried("registered_tools", set[str], {"web_search"}, "The tools that may be called"),
        Carried("tool_name", str, "web_search", "The tool that is called", ("call_tool",)),
        Carried(
            "result",
            str | None,
            "3 results",
            "What a tool has answered, or the work's result",
            ("tool_result_received", "finish_execution"),
        ),
        Carried(
            "error",
            str | None,
            "connection lost",
            "What went wrong",
            ("planning_failed", "execution_error", "timeout"),
        ),
    )


def router_form() -> Form:
    """What the router answers."""
    return CarryingForm(
        Carried(
            "chosen", GraphRouterState, GraphRouterState.EXECUTE_TASK, "The node that comes next", ("step",)
        )
    )
