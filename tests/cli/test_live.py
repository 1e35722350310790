"""The live table: what it shows of a run, at any size of the terminal."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.cli.board import Board
from orkeon_transitions.cli.columns import gauge
from orkeon_transitions.cli.live import draw, progress
from orkeon_transitions.cli.screen import Screen
from orkeon_transitions.cli.words import amount as short
from orkeon_transitions.cli.words import seconds
from orkeon_transitions.crew import TaskMoved, TaskResult, TaskRunStatus, TaskStarted, TaskText, Usage
from orkeon_transitions.machines import TaskExecution
from tests.cli.conftest import Terminal


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


def start(board, task="look", usage=Usage, **options):
    machine = TaskExecution(clock=board.clock, machine_id=f"run/{task}", **options)
    board.observer().task_started(TaskStarted(task, "scout", machine, usage=usage))
    return machine


def cells(board, task="look", width=120):
    """What a task's line says, by column."""
    lines = shown(board, width=width)
    return dict(zip(row(lines, "task"), row(lines, task), strict=True))


def test_a_task_on_its_way(board, clock):
    waiting = {"task": "look", "agent": "scout", "state": "waiting"}
    empty = dict.fromkeys(("tools", "tokens", "retries", "transitions", "time", "left"), "")
    assert cells(board) == waiting | empty
    spent = [Usage()]
    machine = start(board, policy=CircuitBreakerPolicy.strict(), usage=lambda: spent[0])
    machine.begin_execution()
    machine.request_tool_call()
    spent[0] += Usage(1, 1000, 234)
    clock.now += 30
    assert "my crew  0 of 2 tasks  30 s  1.2k tokens" in shown(board)[0]
    assert cells(board) == {
        "task": "look", "agent": "scout", "state": "tool calling", "tools": "1/10", "tokens": "1.2k",
        "retries": "0/3", "transitions": "━─────── 2/50", "time": "30 s", "left": "1:30",
    }  # fmt: skip
    machine.tool_call_failed()
    machine.retry()
    found = cells(board)
    assert (found["state"], found["tools"], found["retries"]) == ("executing", "0/10", "1/3")
    assert found["transitions"] == "━─────── 4/50"


def test_tokens_are_shown_against_their_meter(board):
    policy = CircuitBreakerPolicy(meters={"tokens": 50_000})
    start(board, policy=policy, usage=lambda: Usage(1, 16_000, 0))
    assert cells(board)["tokens"] == "16k/50k"


def test_a_task_that_has_ended(board, clock):
    machine = start(board)
    machine.begin_execution()
    clock.now += 2.5
    machine.cancel()
    ended = TaskResult("look", TaskRunStatus.CANCELLED, agent="scout", usage=Usage(1, 5, 2))
    board.observer().task_finished(ended)
    clock.now += 100
    assert "1 of 2 tasks" in shown(board)[0]
    found = cells(board)
    assert (found["state"], found["time"], found["left"], found["tokens"]) == ("cancelled", "2.5 s", "", "7")
    board.observer().task_finished(TaskResult("write", TaskRunStatus.SKIPPED, agent="writer"))
    assert set(cells(board, "write").values()) == {"write", "writer", "skipped", ""}


def test_one_task_is_one_task():
    assert "0 of 1 task  " in shown(Board.of("c", [("a", "b")]))[0]


@pytest.mark.parametrize(
    ("width", "names"),
    [(60, "task agent state tools tokens time left"), (80, "task agent state tools tokens time left"),
     (120, "task agent state tools tokens retries transitions time left")],
)  # fmt: skip
def test_what_counts_is_shown_at_any_width(board, width, names):
    start(board).begin_execution()
    lines = shown(board, width=width)
    heading = next(line for line in lines if line.split()[:1] == ["task"] or "│ task" in line)
    assert heading.replace("│", " ").split() == names.split()


@pytest.mark.parametrize("width", [20, 40, 60])
def test_a_narrow_terminal_still_gets_a_table(board, width):
    start(board).begin_execution()
    assert any("look" in line and "executing" in line for line in shown(board, width=width))


def test_more_tasks_than_lines_are_those_that_count(clock):
    board = Board.of("big", [(f"task-{n:02}", "agent") for n in range(100)])
    start(board, "task-00").begin_execution()
    for n in (*range(2, 50), 1):
        board.observer().task_finished(TaskResult(f"task-{n:02}", TaskRunStatus.COMPLETED))
    start(board, "task-70").begin_execution()
    lines = shown(board, height=20)
    tasks = [line.split("│")[1].strip() for line in lines if "│ task-" in line]
    assert tasks == sorted(tasks)
    assert len(tasks) == 12
    assert {"task-00", "task-70", "task-01", "task-49", "task-50"} <= set(tasks)
    assert lines[-1] == "... and 44 completed, 44 waiting"
    assert len(lines) <= 20


def test_more_tasks_at_work_than_lines(clock):
    board = Board.of("big", [(f"task-{n:02}", "agent") for n in range(100)])
    for n in range(100):
        start(board, f"task-{n:02}").begin_execution()
    lines = shown(board, height=20)
    assert lines[-1] == "... and 88 running"


def test_when_all_are_done_the_last_ones_are_shown():
    board = Board.of("big", [(f"task-{n}", "agent") for n in range(100)])
    for n in range(100):
        board.observer().task_finished(TaskResult(f"task-{n}", TaskRunStatus.COMPLETED))
    lines = shown(board, height=20)
    assert any("task-99" in line and "completed" in line for line in lines)
    assert lines[-1] == "... and 88 completed"


def test_a_terminal_that_changes_its_size_is_followed(board):
    start(board).begin_execution()
    for width, height in ((120, 30), (60, 8), (200, 50), (33, 5)):
        assert shown(board, width=width, height=max(height, 10))


def test_the_last_line_that_a_model_has_written_is_shown(board):
    board.wants_text = True
    start(board).begin_execution()
    tell = board.observer().task_text
    for piece in ("First I lo", "ok.\nThen \x1b[2J", "I write " + "on " * 200):
        tell(TaskText("look", "scout", piece))
        last = shown(board, width=80)[-1]
        assert last.startswith("look: ")
    assert last.endswith("…")
    tell(TaskText("look", "scout", "\nThe end.\n\n"))
    assert shown(board)[-1].rstrip() == "look: The end."
    tell(TaskText("look", "scout", "\x1b[2J"))
    assert shown(board)[-1].rstrip() == "look: \\x1b[2J"
    board.observer().task_finished(TaskResult("look", TaskRunStatus.COMPLETED))
    assert shown(board)[-1].startswith("╰")


def test_text_is_asked_for_where_it_is_shown_only(board):
    assert board.observer().task_text is None


def test_a_terminal_without_unicode_gets_ascii(board):
    machine = start(board, policy=CircuitBreakerPolicy.strict())
    machine.begin_execution()
    text = "\n".join(shown(board, encoding="ascii", width=120))
    assert "#------- 1/50" in text
    assert text.isascii()


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0"), (812, "812"), (999, "999"), (1000, "1.0k"), (1234, "1.2k"), (16_000, "16k"), (999_400, "999k"),
     (999_600, "1.0M"), (2_500_000, "2.5M"), (25_000_000, "25M"), (5_000_000_000, "5000M")],
)  # fmt: skip
def test_numbers_in_little_room(number, words):
    assert short(number) == words


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
    assert "waiting for human input" in "".join(lines)
    assert "…" not in "".join(lines)


def test_the_table_goes_while_a_person_is_asked(board, monkeypatch):
    screen, stream = Screen(), Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with screen.paused():
        pass
    with progress(screen, board):
        start(board)
        with screen.paused():
            before = len(stream.getvalue())
            stream.write("Which one?")
            asked = stream.getvalue()[before:]
        assert asked == "Which one?"
        assert board.wants_text
    with screen.paused():
        pass
    assert "look" in stream.getvalue()


def test_what_a_model_writes_after_a_step_begins_anew(board):
    board.wants_text = True
    machine = start(board)
    observer = board.observer()
    observer.task_text(TaskText("look", "scout", "I will look."))
    observer.task_moved(TaskMoved("look", machine.begin_execution(), machine.circuit_status))
    assert shown(board)[-1].rstrip() == "look: I will look."
    observer.task_text(TaskText("look", "scout", "I have"))
    assert shown(board)[-1].rstrip() == "look: I have"


@pytest.mark.parametrize("width", [60, 80])
def test_long_names_are_cut_before_what_counts_is_left_out(clock, width):
    long = "collect_everything_that_is_known_about_the_topic"
    board = Board.of("c", [(long, "senior_researcher_of_the_crew"), ("write", "writer")])
    board.clock = clock
    start(board, long).begin_execution()
    board.lines[long].agent = "senior_researcher_of_the_crew"
    lines = shown(board, width=width)
    heading = next(line for line in lines if line.split()[:1] == ["task"]).split()
    assert {"task", "agent", "state", "tools", "tokens", "left"} <= set(heading)
    [line] = [line for line in lines if line.startswith("collect_ever")]
    assert "…" in line
    assert "executing" in line
    assert "0/10" in line
