"""Machines in Jupyter."""

from IPython.core.formatters import DisplayFormatter

from orkeon_transitions.diagrams import mimebundle
from orkeon_transitions.machines import TaskExecution
from tests.diagrams.pictures import Drawn, ticket


def test_a_machine_shows_itself():
    machine = TaskExecution(machine_id="t1")
    shown, _ = DisplayFormatter().format(machine)
    assert "current" in Drawn(shown["image/svg+xml"]).classes("state-assigned")
    assert shown["text/plain"] == repr(machine) == "<TaskExecution 'task_execution' t1 in 'assigned'>"


def test_a_bundle_of_a_definition():
    assert "state-open" in Drawn(mimebundle(ticket())["image/svg+xml"]).ids
