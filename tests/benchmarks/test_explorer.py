"""What a person waits for at the explorer: a click, a journal that opens, a slider that is moved, a picture.

`pytest tests/benchmarks/test_explorer.py --benchmark-enable -s` prints the figures. The bounds hold without
the option, too; they are wall time, many times over what a desk's computer needs.
"""

import json
import statistics
import time

import pytest

from orkeon_transitions import load_definition
from orkeon_transitions.explorer import open_session
from tests.benchmarks.test_replay import journal

CLICK, OPENING, SLIDING = 0.150, 2.0, 0.050
STEPS = 10_000
UNLIMITED = {"max_transitions": 0, "state_timeout": 0, "max_state_visits": 0, "max_total_duration": 0}


def stages(count, name="stages"):
    """A long way with guards: on, back to the beginning of its ten, over the next ten, and away."""
    rows = [
        {"trigger": "next", "source": f"s{n}", "dest": f"s{n + 1}", "conditions": f"is_ready_{n % 20}"}
        for n in range(count - 1)
    ]
    rows += [{"trigger": "fail", "source": f"s{n}", "dest": f"s{n - n % 10}"} for n in range(count) if n % 10]
    rows += [{"trigger": "skip", "source": f"s{n}", "dest": f"s{n + 10}"} for n in range(0, count - 10, 10)]
    rows += [{"trigger": "stop", "source": "*", "dest": "end"}]
    return load_definition(
        {
            "name": name,
            "initial": "s0",
            "circuit_breaker": UNLIMITED,
            "states": [*(f"s{n}" for n in range(count)), {"name": "end", "final": True}],
            "transitions": rows,
        }
    )


def timed(work):
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def told(capsys, request, text):
    if request.config.getoption("benchmark_enable"):
        with capsys.disabled():
            print(f"\n{text}")


def figures(times):
    return f"median {statistics.median(times) * 1000:.2f} ms, longest {max(times) * 1000:.2f} ms"


@pytest.fixture
def opened():
    sessions = []

    def open_it(*args, **options):
        sessions.append(open_session(*args, **options))
        return sessions[-1]

    yield open_it
    for session in sessions:
        session.close()


@pytest.mark.parametrize("states", [60, 300])
def test_a_click_is_answered_at_once(opened, states, request, capsys):
    session = opened(stages(states), grace=30)

    def click():
        assert session.act({"do": "fire", "trigger": "next"}) is None
        json.dumps(session.view())

    times = [timed(click) for _ in range(states - 1)]
    assert session.view()["now"]["state"] == f"s{states - 1}"
    told(capsys, request, f"fire and view, {states} states: {figures(times)}")
    assert statistics.median(times) <= CLICK


def test_looking_back_is_as_quick(opened, request, capsys):
    session = opened(stages(60), grace=30)
    for _ in range(59):
        session.act({"do": "fire", "trigger": "next"})
    times = [
        timed(lambda at=at: (session.act({"do": "seek", "at": at}), session.view())) for at in range(0, 60, 7)
    ]
    told(capsys, request, f"seek in a machine's own past, 60 states: {figures(times)}")
    assert statistics.median(times) <= SLIDING


def test_a_long_journal_opens_and_slides(opened, tmp_path, request, capsys):
    path = journal(tmp_path / "run.jsonl", STEPS // 2)
    opening = timed(lambda: opened(path))
    session = opened(path)
    assert session.view()["position"]["last"] == STEPS + 1

    def slide(at):
        assert session.act({"do": "seek", "at": at}) is None
        json.dumps(session.view()["now"])

    times = [timed(lambda at=at: slide(at)) for at in range(0, STEPS, 331)]
    told(
        capsys,
        request,
        f"journal of {STEPS:,} steps: opens in {opening:.2f} s; a step of the slider: {figures(times)}",
    )
    assert opening <= OPENING
    assert statistics.median(times) <= SLIDING


@pytest.mark.parametrize("states", [60, 300])
def test_a_large_picture_comes_while_the_machine_is_used(opened, states, request, capsys):
    # Under a name of its own: nothing of it was drawn before.
    machine = stages(states, name="drawn_anew")
    began = time.perf_counter()
    session = opened(machine)
    there = time.perf_counter() - began
    assert len(session.view()["picture"]["states"]) == states + 1
    while session.view()["picture"]["drawing"]:
        session.act({"do": "fire", "trigger": "next"})
        session.act({"do": "undo"})
    drawn = time.perf_counter() - began
    assert session.view()["picture"]["svg"]
    told(capsys, request, f"{states} states: the page after {there:.2f} s, the picture after {drawn:.2f} s")
    assert there <= OPENING
