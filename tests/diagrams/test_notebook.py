"""Machines in Jupyter."""

from IPython.core.formatters import DisplayFormatter

from orkeon_transitions.diagrams import mimebundle
from orkeon_transitions.machines import TaskExecution
from tests.diagrams.pictures import Drawn, steps, ticket


def test_a_machine_shows_itself():
    machine = TaskExecution(machine_id="t1")
    shown, _ = DisplayFormatter().format(machine)
    assert "current" in Drawn(shown["image/svg+xml"]).classes("state-assigned")
    assert shown["text/plain"] == repr(machine) == "<TaskExecution 'task_execution' t1 in 'assigned'>"


def test_a_bundle_of_a_definition():
    assert "state-open" in Drawn(mimebundle(ticket())["image/svg+xml"]).ids


def test_a_bundle_of_a_path_with_words_of_its_own():
    shown = mimebundle(ticket(), trace=iter(steps("open ask waiting")), text="one step")
    assert "taken" in Drawn(shown["image/svg+xml"]).classes("arrow-open-waiting")
    assert shown["text/plain"] == "one step"
