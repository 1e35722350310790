"""A crew's run that is looked at: each task's line and machine, while it goes on and afterwards."""

import asyncio
import base64
import json

import pytest

from orkeon_transitions import OrkeonError, replay
from orkeon_transitions.crew import MemoryRunLog, ModelReply, TaskOutcome, Usage, load_crew, tool
from orkeon_transitions.explorer import CrewSession, CrewWatch
from orkeon_transitions.machines import machine_definition
from tests.crew.scripted import ScriptedModel, calls, crew_of_one
from tests.explorer.sessions import Clock, gauge_of, opened, rows_of, until

TWO = """\
name: pair
process: {process}
agents: {{a: {{}}, b: {{}}}}
tasks:
  one: {{description: Look it up, agent: a}}
  two: {{description: Write it down, agent: b, dependencies: [one]}}
"""


def pair(process="sequential"):
    return load_crew(TWO.format(process=process))


@tool
def search(topic: str = "x") -> str:
    """Looks something up."""
    return f"found {topic}"


def line_of(session, task):
    return next(line for line in session.view()["machines"] if line["id"] == task)


def test_a_crew_that_does_not_run_yet_waits():
    with opened(pair()) as session:
        view = session.view()
        json.dumps(view, allow_nan=False)
        assert view["page"] == "crew"
        assert view["title"]["name"] == "pair"
        assert view["title"]["note"] == "Look it up"
        assert view["crew"] == {
            **view["crew"],
            "status": "waiting",
            "process": "sequential",
            "running": False,
            "tokens": 0,
            "summary": None,
        }
        assert [(line["id"], line["agent"], line["status"], line["needs"]) for line in view["machines"]] == [
            ("one", "a", "waiting", []),
            ("two", "b", "waiting", ["one"]),
        ]
        assert view["now"]["state"] == "assigned"
        assert view["gauges"] == []
        assert view["can"]["export"] == []
        assert "no machine" in session.act({"do": "export", "format": "png"})["error"]
        assert len(view["picture"]["states"]) == len(machine_definition("task_execution").states)


def test_the_tasks_are_drawn_with_a_box_for_each():
    with opened(pair()) as session:
        view = until(session, lambda view: view["crew"]["svg"])
        assert view["crew"]["boxes"].keys() == {"one", "two"}
        for box in view["crew"]["boxes"].values():
            assert f'id="{box}"' in view["crew"]["svg"]


def test_without_a_picture_of_the_tasks_there_is_their_list(monkeypatch):
    def missing(*args, **options):
        raise OrkeonError("no picture today")

    monkeypatch.setattr("orkeon_transitions.explorer.crew_session.plan", missing)
    with opened(pair()) as session:
        view = session.view()
        assert (view["crew"]["svg"], view["crew"]["boxes"]) == (None, {})
        assert len(view["machines"]) == 2


def test_warnings_about_the_file_are_shown(tmp_path):
    file = tmp_path / "crew.yaml"
    file.write_text(TWO.format(process="sequential") + "procces: graph\n")
    with opened(file) as session:
        anomaly = session.view()["anomalies"][0]
        assert "procces" in anomaly["message"]
        assert anomaly["place"].startswith(f"{file}:7")


def test_a_run_is_followed_while_it_goes_on():
    crew = pair()
    clock = Clock()
    watch = CrewWatch(crew, clock=clock)
    session = CrewSession(watch)
    seen = {}

    def work(agent, task, context):
        clock.now += 2
        seen[task.id] = session.view()
        return f"{task.id} done"

    try:
        result = crew.run_sync(executor=work, observer=watch.observer, clock=clock)
        assert result.success
        first = seen["one"]
        assert first["crew"]["running"]
        assert first["crew"]["status"] == "executing"
        assert [
            (line["id"], line["status"], line["state"], line["seconds"]) for line in first["machines"]
        ] == [
            ("one", "running", "executing", 2),
            ("two", "waiting", "waiting", None),
        ]
        assert first["title"]["machine_id"].endswith("/one"), "the page follows the task that runs"
        assert seen["two"]["title"]["machine_id"].endswith("/two")
        assert seen["two"]["machines"][0]["status"] == "completed"
        view = session.view()
        assert view["crew"]["status"] == "completed"
        assert not view["crew"]["running"]
        assert view["crew"]["seconds"] == 4
        assert view["crew"]["summary"] == "two done"
        clock.now += 100
        assert session.view()["crew"]["seconds"] == 4
        assert not any(gauge["running"] for gauge in session.view()["gauges"])
    finally:
        session.close()


def test_each_page_has_its_own_task_and_slider():
    crew = pair()
    watch = CrewWatch(crew)
    crew.run_sync(executor=lambda agent, task, context: "done", observer=watch.observer)
    with opened(watch) as left, opened(watch) as right:
        assert left.act({"do": "select", "machine": "one"}) is None
        assert left.act({"do": "seek", "at": 1}) is None
        view = left.view()
        assert view["title"]["machine_id"].endswith("/one")
        assert view["now"]["state"] == "executing"
        assert view["position"] == {"at": 1, "last": 3, "live": False}
        assert (
            next(trigger["name"] for trigger in view["triggers"] if trigger["next"])
            == "submit_for_validation"
        )
        assert gauge_of(left, "max_transitions")["used"] == 1
        assert right.view()["title"]["machine_id"].endswith("/two")
        assert right.view()["position"]["live"]
        left.act({"do": "rows", "first": 2, "count": 1})
        assert [row["n"] for row in rows_of(left)] == [3]
        left.act({"do": "seek", "at": 99})
        assert left.view()["position"]["live"]
        assert left.view()["log"]["first"] == 0
        assert "no task 'three'" in left.act({"do": "select", "machine": "three"})["error"]
        assert left.act({"do": "fire", "trigger": "cancel"}).keys() == {"error"}
        assert left.act({"do": "reload"}).keys() == {"error"}


def test_tools_tokens_and_limits_of_a_task():
    model = ScriptedModel(calls("search"), ModelReply("done", usage=Usage(1, 100, 20, 0, 0.5)))
    crew = crew_of_one(search)
    watch = CrewWatch(crew)
    crew.run_sync(model=model, observer=watch.observer)
    with opened(watch) as session:
        line = line_of(session, "t")
        assert (line["tool_calls"], line["tool_budget"]) == (1, 10)
        assert line["tokens"] == 120
        assert line["gauge"]["allowed"]
        crew = session.view()["crew"]
        assert (crew["tokens"], crew["cost"], crew["requests"]) == (120, 0.5, 1)
        assert [row["trigger"] for row in rows_of(session)][1:3] == [
            "request_tool_call",
            "tool_call_completed",
        ]


def test_a_failed_task_says_why():
    crew = pair()
    watch = CrewWatch(crew)

    def work(agent, task, context):
        raise RuntimeError("no luck\nat all")

    crew.run_sync(executor=work, observer=watch.observer)
    with opened(watch) as session:
        session.act({"do": "select", "machine": "one"})
        view = session.view()
        assert view["now"]["problem"]["title"] == "'one' failed"
        assert "no luck" in view["now"]["problem"]["text"]
        assert line_of(session, "one")["words"] == "RuntimeError: no luck"
        assert rows_of(session)[-1]["kind"] == "failed"
        assert line_of(session, "two")["status"] == "skipped"
        assert line_of(session, "two")["state"] == "skipped"
        assert view["crew"]["status"] == "failed"
        assert "no luck" in view["crew"]["summary"]


def test_a_task_that_is_begun_again_shows_its_last_machine():
    crew = pair("graph")
    watch = CrewWatch(crew)
    tries = []
    seen = []

    def work(agent, task, context):
        tries.append(task.id)
        if tries == ["one"]:
            raise RuntimeError("no luck")
        seen.append(watch.lines["one"].words)
        return "done"

    told = []
    watch.subscribe(lambda: told.append(watch.lines["one"].words))
    crew.run_sync(executor=work, observer=watch.observer)
    assert any(words and "to be retried (1 of" in words for words in told)
    with opened(watch) as session:
        session.act({"do": "select", "machine": "one"})
        assert line_of(session, "one")["attempt"] == 2
        assert session.view()["title"]["note"].startswith("attempt 2")
        assert session.view()["title"]["machine_id"].endswith("/one#2")
        assert session.view()["position"]["last"] == 3


def test_a_trip_is_shown_where_it_happened():
    crew = crew_of_one(search, breaker="maxTransitions: 2, useDegradedMode: true")
    watch = CrewWatch(crew)
    result = crew.run_sync(model=ScriptedModel(calls("search")), observer=watch.observer)
    assert str(result.status) == "degraded"
    with opened(watch) as session:
        view = session.view()
        assert view["now"]["degraded"]
        assert rows_of(session)[-1]["kind"] == "degraded"
        assert gauge_of(session, "max_transitions")["broken"]
        assert line_of(session, "t")["gauge"]["limit"] == "max_transitions"
        download = session.act({"do": "export", "format": "svg"})["download"]
        assert b"Max transitions exceeded" in base64.b64decode(download["data"])
        session.act({"do": "seek", "at": 1})
        download = session.act({"do": "export", "format": "svg"})["download"]
        assert b"Max transitions exceeded" not in base64.b64decode(download["data"])


def test_the_lines_of_a_task_are_a_journal(tmp_path):
    crew = pair()
    watch = CrewWatch(crew)
    crew.run_sync(executor=lambda agent, task, context: "done", observer=watch.observer)
    with opened(watch) as session:
        session.act({"do": "select", "machine": "one"})
        download = session.act({"do": "export", "format": "jsonl"})["download"]
    file = tmp_path / download["name"]
    file.write_bytes(base64.b64decode(download["data"]))
    assert replay(file, machine_definition("task_execution")).final_state == "completed"


def test_what_a_model_writes_and_waits_for_is_told_in_one_line():
    crew = crew_of_one()
    watch = CrewWatch(crew)
    observer = watch.observer
    from orkeon_transitions.crew.observing import TaskText, TaskWaits

    observer.task_text(TaskText("t", "a", "First line\nSecond "))
    observer.task_text(TaskText("t", "a", "line"))
    assert watch.lines["t"].words == "Second line"
    observer.task_waits(TaskWaits("t", "a", 3.0))
    assert watch.lines["t"].words == "waits 3.0 s until it may ask its model (maxRpm)"
    observer.task_text(TaskText("t", "a", "x" * 1000))
    assert len(watch.lines["t"].words) == 300


def test_changes_are_told_in_a_thread_of_the_sessions_own():
    crew = pair()
    watch = CrewWatch(crew)
    with opened(watch) as session:
        view = session.view()
        assert view["crew"]["status"] == "waiting"
        crew.run_sync(executor=lambda agent, task, context: "done", observer=watch.observer)
        told = []
        session.subscribe(told.append)
        session.refresh()
        assert until(session, lambda view: view["crew"]["status"] == "completed")


def test_a_run_that_is_cancelled_shows_what_was_done():
    crew = pair()
    watch = CrewWatch(crew)

    async def main():
        begun = asyncio.Event()

        async def work(agent, task, context):
            begun.set()
            await asyncio.sleep(60)

        run = asyncio.ensure_future(crew.run(executor=work, observer=watch.observer))
        await begun.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    with opened(watch) as session:
        assert session.view()["crew"]["status"] == "cancelled"
        assert line_of(session, "one")["state"] == "cancelled"


def test_a_run_that_was_resumed_shows_what_had_ended_before():
    crew, log = pair(), MemoryRunLog()
    broken = []

    def work(agent, task, context):
        if task.id == "two" and not broken:
            broken.append(task.id)
            raise KeyboardInterrupt
        return TaskOutcome(True, "done")

    with pytest.raises(KeyboardInterrupt):
        crew.run_sync(executor=work, run_log=log, run_id="r")
    watch = CrewWatch(crew)
    crew.resume_sync("r", run_log=log, executor=work, observer=watch.observer)
    with opened(watch) as session:
        assert line_of(session, "one")["status"] == "completed"
        assert line_of(session, "one")["state"] == "completed"
        assert line_of(session, "one")["seconds"] is None
        assert session.view()["crew"]["status"] == "completed"


def test_a_closed_session_looks_no_more():
    crew = pair()
    watch = CrewWatch(crew)
    session = CrewSession(watch)
    told = []
    session.subscribe(told.append)
    session.close()
    crew.run_sync(executor=lambda agent, task, context: "done", observer=watch.observer)
    session.refresh()
    assert told == []
