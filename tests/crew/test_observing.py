"""What a run is watched by: plain functions, and told to the end."""

import functools
from dataclasses import fields

import pytest

from orkeon_transitions.crew import CrewObserver
from tests.crew.scripted import crew_of_one


async def coroutine(fact):
    pass


async def asynchronous_generator(fact):
    yield


def generator(fact):
    yield


@pytest.mark.parametrize(
    "listener",
    [coroutine, functools.partial(coroutine, None), asynchronous_generator, generator, "task_moved", 7],
)
@pytest.mark.parametrize("name", [field.name for field in fields(CrewObserver)])
def test_what_nobody_would_await_is_refused_before_the_run(name, listener):
    with pytest.raises(TypeError, match=f"{name} is a plain function of one fact, not "):
        CrewObserver(**{name: listener})


@pytest.mark.parametrize("process", ["sequential", "parallel", "graph"])
@pytest.mark.parametrize("name", ["task_started", "task_moved", "task_finished", "status_moved"])
@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_what_ends_the_program_is_the_end_of_the_run_and_told(process, name, ending):
    finished, told = [], []

    def end(fact):
        # The crew and its agents get ready before there is anything to tell the end of.
        if not told and getattr(fact, "kind", "task") == "task":
            told.append(fact)
            raise ending

    observer = CrewObserver(**{name: end}, crew_finished=finished.append)
    with pytest.raises(ending):
        crew_of_one(head=f"process: {process}\n").run_sync(executor=lambda *_: "x", observer=observer)
    (result,) = finished
    assert list(result.tasks) == ["t"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observer": print}, "the observer is a CrewObserver, not "),
        ({"journal": "run.jsonl"}, r"a journal takes note with record\(machine\), str has none"),
        ({"unavailable": "a"}, "unavailable are names of agents in a list, not the text 'a'"),
    ],
)
def test_what_is_given_in_place_of_a_watcher_is_refused_before_the_run(options, message):
    told = []
    with pytest.raises(TypeError, match=message):
        crew_of_one().run_sync(executor=lambda *given: told.append(given), **options)
    assert not told
