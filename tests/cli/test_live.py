"""The live table: what it shows of a run, at any size of the terminal."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.cli.board import Board
from orkeon_transitions.cli.live import draw, gauge, progress, seconds
from orkeon_transitions.cli.screen import Screen
from orkeon_transitions.crew import TaskResult, TaskRunStatus, TaskStarted
from orkeon_transitions.machines import TaskExecution


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def shown(board, *, width=80, height=24, encoding="utf-8"):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=width, height=height, force_terminal=True, no_color=True)
    with console.capture() as captured:
        console.print(draw(board, console))
    lines = captured.get().replace("\x1b[2m", "").replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) <= height
    return lines


def row(lines, task):
    [line] = [line for line in lines if f" {task} " in line]
    return [cell.strip() for cell in line.strip("│|").replace("|", "│").split("│")]


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def board(clock):
    made = Board.of("my crew", [("look", "scout"), ("write", "writer")])
    made.clock = clock
    made.began = clock()
    return made


def start(board, task="look", **options):
    machine = TaskExecution(clock=board.clock, machine_id=f"run/{task}", **options)
    board.observer().task_started(TaskStarted(task, "scout", machine))
    return machine


def test_a_task_on_its_way(board, clock):
    assert row(shown(board), "look") == ["look", "waiting", "", "", "", ""]
    machine = start(board, policy=CircuitBreakerPolicy.strict())
    machine.begin_execution()
    machine.request_tool_call()
    clock.now += 30
    lines = shown(board)
    assert "my crew  0 of 2 tasks  30 s" in lines[0]
    assert row(lines, "look") == ["look", "tool calling", "1/10", "0/3", "━─────── 2/50", "1:30 left"]
    machine.tool_call_failed()
    machine.retry()
    assert row(shown(board), "look")[1:5] == ["executing", "0/10", "1/3", "━─────── 4/50"]


def test_a_task_that_has_ended(board, clock):
    machine = start(board)
    machine.begin_execution()
    clock.now += 2.5
    machine.cancel()
    board.observer().task_finished(TaskResult("look", TaskRunStatus.CANCELLED, agent="scout"))
    clock.now += 100
    lines = shown(board)
    assert "1 of 2 tasks" in lines[0]
    assert row(lines, "look")[1] == "cancelled"
    assert row(lines, "look")[-1] == "2.5 s"
    board.observer().task_finished(TaskResult("write", TaskRunStatus.SKIPPED, agent="writer"))
    assert row(shown(board), "write") == ["write", "skipped", "", "", "", ""]


def test_the_agent_is_shown_where_there_is_room(board):
    assert row(shown(board, width=120), "look")[1] == "scout"
    assert "scout" not in "".join(shown(board, width=80))


def test_a_narrow_terminal_still_gets_a_table(board):
    start(board).begin_execution()
    assert any("look" in line for line in shown(board, width=60))


def test_more_tasks_than_lines_are_shown_around_the_running_one(clock):
    board = Board.of("big", [(f"task-{n}", "agent") for n in range(100)])
    for n in range(50):
        board.observer().task_finished(TaskResult(f"task-{n}", TaskRunStatus.COMPLETED))
    start(board, "task-50").begin_execution()
    lines = shown(board, height=20)
    assert row(lines, "task-50")[1] == "executing"
    assert any("above" in line for line in lines)
    assert any("below" in line for line in lines)
    assert len(lines) <= 20


def test_when_all_are_done_the_last_ones_are_shown():
    board = Board.of("big", [(f"task-{n}", "agent") for n in range(100)])
    for n in range(100):
        board.observer().task_finished(TaskResult(f"task-{n}", TaskRunStatus.COMPLETED))
    lines = shown(board, height=20)
    assert row(lines, "task-99")[1] == "completed"
    assert not any("below" in line for line in lines)


def test_a_terminal_without_unicode_gets_ascii(board):
    machine = start(board, policy=CircuitBreakerPolicy.strict())
    machine.begin_execution()
    text = "\n".join(shown(board, encoding="ascii"))
    assert "#------- 1/50" in text
    assert text.isascii()


@pytest.mark.parametrize(
    ("used", "most", "filled", "color"),
    [(0, 50, 0, "green"), (1, 50, 1, "green"), (29, 50, 5, "green"), (30, 50, 5, "yellow"),
     (45, 50, 8, "red"), (50, 50, 8, "red"), (60, 50, 8, "red")],
)  # fmt: skip
def test_the_gauge_fills_up(used, most, filled, color):
    text = gauge(used, most)
    assert text.plain == "━" * filled + "─" * (8 - filled) + f" {used}/{most}"
    assert [span.style for span in text.spans if span.end <= filled and span.end > 0] in ([color], [])


def test_without_a_limit_there_is_only_the_number():
    assert gauge(7, 0).plain == "7"


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0, "0 ms"), (0.0123, "12 ms"), (0.0999, "0.1 s"), (0.44, "0.4 s"), (9.97, "10 s"), (12.4, "12 s"),
     (59.9, "1:00"), (60, "1:00"), (125, "2:05"), (3723, "1:02:03")],
)  # fmt: skip
def test_times_for_people(amount, words):
    assert seconds(amount) == words


def test_a_pipe_gets_a_line_for_each_start_and_end(board, clock, capsys):
    with progress(Screen(), board):
        start(board)
        clock.now += 1.25
        failed = TaskResult("look", TaskRunStatus.FAILED, error="first line\nsecond")
        board.observer().task_finished(failed)
        board.observer().task_finished(TaskResult("write", TaskRunStatus.SKIPPED))
    assert capsys.readouterr().err.splitlines() == [
        "look (scout): started",
        "look (scout): failed in 1.2 s: first line",
        "write (writer): skipped",
    ]


def test_quiet_is_quiet(board, capsys):
    screen = Screen()
    screen.quiet = True
    with progress(screen, board):
        start(board)
    assert capsys.readouterr().err == ""


def test_the_run_s_result_is_kept(board):
    result = SimpleNamespace(status="completed")
    board.observer().crew_finished(result)
    assert board.result is result


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_the_longest_state_and_every_column_s_name_stay_whole(clock, width):
    board = Board.of("my crew", [("architecture", "architect"), ("write", "writer")])
    board.clock = clock
    machine = start(board, "architecture", policy=CircuitBreakerPolicy.strict())
    machine.begin_execution()
    machine.request_human_input()
    lines = shown(board, width=width)
    assert "waiting for human input" in row(lines, "architecture")
    assert row(lines, "task")[0] == "task"
    assert "…" not in "".join(lines)
    assert len(lines) == 7, "a line for each task"
