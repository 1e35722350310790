"""Draws the pictures of the README: `python -m tests.diagrams.make_pictures [FOLDER]`.

Run it after a change of a shipped machine or of how machines look, and look at what comes out. It always
draws with graphviz-pure, so that everybody gets the same bytes.
"""

import os
import sys
from pathlib import Path

from orkeon_transitions import CircuitBreakerPolicy, TaskExecution, TransitionResult, render
from orkeon_transitions.machines import machine_definition

FOLDER = Path(__file__).parents[2] / "orkeon_transitions" / "examples" / "pictures"
TOOL_CALL = ("request_tool_call", "tool_call_completed")
WHOLE_RUN = (
    *(
        "begin_execution",
        *TOOL_CALL,
        *TOOL_CALL,
        *TOOL_CALL,
        "request_tool_call",
        "tool_call_failed",
        "retry",
    ),
    *("submit_for_validation", "validation_failed", "submit_for_validation", "validation_passed"),
)
RUNAWAY = ("begin_execution", *TOOL_CALL, *TOOL_CALL, *TOOL_CALL, "request_tool_call")


def make_pictures(folder: Path) -> list[Path]:
    """Draw all of them into a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [
        render(machine_definition(name), folder / f"{name}.png")
        for name in ("task_execution", "hermes_agent", "graph_router")
    ]
    for name, triggers, limit in (("task_run", WHOLE_RUN, 100), ("task_degraded", RUNAWAY, 7)):
        task = TaskExecution(policy=CircuitBreakerPolicy(max_transitions=limit, use_degraded_mode=True))
        made.append(render(task, folder / f"{name}.png", trace=run(task, triggers)))
    return made


def run(task: TaskExecution, triggers: tuple[str, ...]) -> list[TransitionResult]:
    """Fire the triggers one after another; what was done."""
    trace: list[TransitionResult] = []
    task.on_transition(trace.append)
    for number, trigger in enumerate(triggers):
        task.try_fire(trigger, attempt=number)
    return trace


if __name__ == "__main__":
    os.environ["PATH"] = ""  # hides a system Graphviz, whose fonts differ from one system to the next
    for picture in make_pictures(Path(sys.argv[1]) if sys.argv[1:] else FOLDER):
        print(f"{picture.name}: {picture.stat().st_size / 1000:.0f} kB")
