"""A replay at the end of a notebook's cell."""

from dataclasses import replace

from orkeon_transitions.machines import TaskExecution
from orkeon_transitions.store import JsonlJournal, replay


def test_a_replay_shows_the_path_that_the_machine_took(tmp_path):
    with JsonlJournal(tmp_path / "run.jsonl") as journal:
        task = TaskExecution()
        journal.record(task)
        task.begin_execution()
        task.request_tool_call()
    told = replay(tmp_path / "run.jsonl", task.definition)
    shown = told._repr_mimebundle_(include=None, exclude=None)
    assert shown["text/plain"] == repr(told)
    assert 'id="arrow-executing-tool_calling" class="edge arrow row taken last"' in shown["image/svg+xml"]
    assert replace(told, _definition=None)._repr_mimebundle_() == {"text/plain": repr(told)}
