"""Tables in a frame: whole names at any width of the terminal."""

import io
import re

import pytest
from rich.console import Console

from orkeon_transitions import CircuitBreakerPolicy, TaskExecution
from orkeon_transitions.cli.tables import Table, drawn, fitting
from orkeon_transitions.machines import machine_definition
from orkeon_transitions.store import JsonlJournal
from tests.cli.conftest import HERMES_ROWS, write_log

EXAMPLE = "103-ts-codebase-with-fsm"
WIDTHS = [80, 100, 120]


def frame(table, width):
    text, below = drawn(table, Console(file=io.StringIO(), width=width))
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    return lines, below


def cells(text):
    """The rows of all frames as cells."""
    plain = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", text)
    return [[cell.strip() for cell in line[1:-1].split("│")] for line in plain.splitlines() if "│" in line]


class TestColumns:
    def test_spare_ones_go_one_after_another(self):
        needs = {"a": 10, "b": 10, "c": 10}
        assert fitting(needs, ("c", "b"), 40) == ["a", "b", "c"]
        assert fitting(needs, ("c", "b"), 39) == ["a", "b"]
        assert fitting(needs, ("c", "b"), 26) == ["a"]
        assert fitting(needs, (), 5) == ["a", "b", "c"]

    def test_what_would_make_it_too_wide_stands_below(self):
        table = Table(("step", "to", "remark"), [("1", "x" * 20, ""), ("2", "y", "because")], below="remark")
        lines, below = frame(table, 80)
        assert ["2", "y", "because"] in cells("\n".join(lines))
        assert below == []
        lines, below = frame(table, 35)
        assert cells("\n".join(lines))[0] == ["step", "to"]
        assert below == ["step 2: because"]

    def test_prose_is_wrapped_at_words_and_names_stay_whole(self):
        prose = "This text tells in some words, waiting_for_human_input among them, what it is."
        table = Table(("name", "words", "more"), [("waiting_for_human_input", prose, prose)])
        for width in range(80, 130):
            lines, _ = frame(table, width)
            rows = cells("\n".join(lines))[1:]
            assert rows[0][0] == "waiting_for_human_input"
            assert " ".join(row[1] for row in rows).split() == prose.split()
            assert " ".join(row[2] for row in rows).split() == prose.split()

    def test_where_nothing_helps_names_end_in_an_ellipsis(self):
        table = Table(("name", "state"), [("a", "waiting_for_human_input")])
        lines, _ = frame(table, 20)
        assert cells("\n".join(lines))[1][1].endswith("…")
        assert len(lines) == 5

    def test_a_very_long_key_is_shown_to_its_end(self):
        key = "run/" + "k" * 60
        lines, _ = frame(Table(("machine id", "state"), [(key, "executing")]), 60)
        assert "".join(row[0] for row in cells("\n".join(lines))[1:]) == key


class TestCommands:
    @pytest.mark.parametrize("columns", WIDTHS)
    def test_a_run_has_a_line_for_each_task(self, on_terminal, columns):
        done = on_terminal("run", EXAMPLE, columns=columns)
        head, *rows = cells(done.out)
        assert head == [
            name
            for name in ("task", "agent", "status", "transitions", "tool calls", "attempts", "time")
            if columns > 80 or name != "transitions"
        ]
        assert len(rows) == 7
        assert rows[0][:3] == ["architecture", "architect", "completed"]

    @pytest.mark.parametrize("columns", [100, 80, 60, 40, 28])
    def test_how_each_task_ended_and_why_is_there_at_any_width(self, on_terminal, folder, columns):
        (folder / "c.yaml").write_text(
            "name: c\nagents: {senior-researcher: {}}\ntasks:\n"
            "  collect-the-facts-about-parsers: {description: d, circuitBreaker: {maxTransitions: 1}}\n"
            "  b: {description: d, circuitBreaker: {maxTransitions: 1, useDegradedMode: false}}\n"
        )
        done = on_terminal("run", "c.yaml", columns=columns)
        head, *rows = cells(done.out)
        assert {"task", "status"} <= set(head)
        place = head.index("status")
        assert [row[place] for row in rows if row[place]] == ["degraded", "failed"]
        assert "".join(row[0] for row in rows).startswith("collect-the-facts-about-parsers")
        last = " ".join(re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", done.out).split()).partition("Output:")[2]
        why = "circuit breaker: Max transitions exceeded (1/1)"
        assert f"collect-the-facts-about-parsers: degraded: {why} b: failed: {why} c: failed in" in last

    @pytest.mark.parametrize("columns", WIDTHS)
    def test_a_replay_has_a_line_for_each_step(self, on_terminal, folder, columns):
        policy = CircuitBreakerPolicy(max_transitions=3, use_degraded_mode=True)
        with JsonlJournal(folder / "run.jsonl") as journal:
            machine = TaskExecution(policy=policy, machine_id="t1")
            journal.record(machine)
            machine.begin_execution()
            machine.request_human_input()
            machine.human_input_received()
            machine.try_fire("request_tool_call")
        out = on_terminal("--no-color", "replay", "run.jsonl", columns=columns).out
        steps = [row for row in cells(out) if re.fullmatch(r"\d", row[0])]
        assert len(steps) == 4
        assert "request_human_input" in steps[1]
        assert "waiting_for_human_input" in steps[1]
        assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}", steps[1][1])
        assert " ".join(out.split()).count("Max transitions exceeded") == 1
        assert ("step 4: by the breaker" in out) or steps[3][-1] == "by the breaker"

    @pytest.mark.parametrize("columns", WIDTHS)
    def test_the_table_of_a_machine_breaks_no_name(self, on_terminal, columns):
        out = on_terminal("--no-color", "machines", "task_execution", columns=columns).out
        definition = machine_definition("task_execution")
        words = set(re.split(r"[\s│,:]+", out))
        assert set(definition.states_by_name) | set(definition.triggers) <= words
        assert "…" not in out
        for description in definition.guards.values():
            assert set(description.split()) <= words

    def test_on_several_days_each_step_of_a_new_day_has_its_date(self, on_terminal, folder):
        text = write_log(folder / "days.log", *HERMES_ROWS).read_text()
        (folder / "days.log").write_text(text.replace("2026-01-01T00:00:02", "2026-01-02T00:00:02"))
        for columns in WIDTHS:
            out = on_terminal("replay", "days.log", "--machine", "hermes_agent", columns=columns).out
            assert {"2026-01-01", "2026-01-02"} <= set(out.split())
