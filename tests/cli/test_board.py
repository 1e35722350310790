"""What the board knows of a task that several machines work on."""

from orkeon_transitions.cli.board import Board
from orkeon_transitions.crew import TaskResult, TaskRunStatus, TaskStarted
from orkeon_transitions.machines import TaskExecution


def test_a_task_ends_with_the_machine_and_the_agent_of_its_answer():
    board = Board.of("council", [("t", "")])
    machines = {agent: TaskExecution(machine_id=f"r/t/{agent}") for agent in "abc"}
    for agent, machine in machines.items():
        board.observer().task_started(TaskStarted("t", agent, machine))
    assert board.lines["t"].agent == "c"
    board.observer().task_finished(TaskResult("t", TaskRunStatus.COMPLETED, agent="b", machine_id="r/t/b"))
    line = board.lines["t"]
    assert (line.agent, line.machine) == ("b", machines["b"])
    assert not line.machines
