"""Machines in Jupyter."""

from IPython.core.formatters import DisplayFormatter

from orkeon_transitions.diagrams import load_ipython_extension, mimebundle
from orkeon_transitions.machines import TaskExecution
from tests.diagrams.pictures import Drawn, ticket


def test_a_machine_shows_itself():
    shown, _ = DisplayFormatter().format(TaskExecution())
    assert "current" in Drawn(shown["image/svg+xml"]).classes("state-assigned")
    assert shown["text/plain"] == "<TaskExecution>"


def test_a_bundle_of_a_definition():
    assert "state-open" in Drawn(mimebundle(ticket())["image/svg+xml"]).ids


def test_definitions_show_themselves_when_the_extension_is_loaded():
    class Shell:
        display_formatter = DisplayFormatter()

    load_ipython_extension(Shell)
    shown, _ = Shell.display_formatter.format(ticket())
    assert "state-open" in Drawn(shown["image/svg+xml"]).ids
