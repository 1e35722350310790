"""A request that came to nothing was made all the same, and is counted."""

import asyncio

import pytest

from orkeon_transitions.crew import CrewObserver, ModelReply, Usage
from tests.crew.model_server import Cut, Hang, ModelServer, Raw, Status, says
from tests.crew.models.asking import run_on
from tests.crew.scripted import ScriptedModel, crew_of_one, hang


@pytest.mark.parametrize("trouble", [Status(500), Status(429), Cut(), Raw(b"<html>no")])
def test_failures_of_a_real_server_are_counted(trouble):
    with ModelServer(trouble, trouble, says("At last")) as server:
        result = run_on(server, crew_of_one(breaker="maxRetries: 3"))
    assert result.success
    assert (result.usage.requests, result.usage.failed_requests) == (len(server.asked), 2)
    assert result.to_dict()["usage"]["failed_requests"] == 2
    assert result.usage.tokens == 15


def test_so_are_those_of_a_run_that_gives_up():
    with ModelServer(Status(500)) as server:
        result = run_on(server, crew_of_one(breaker="maxRetries: 2"))
    assert not result.success
    assert (result.usage.requests, result.usage.failed_requests) == (3, 3)


def test_a_request_that_was_too_slow_is_counted():
    with ModelServer(Hang()) as server:
        result = run_on(server, crew_of_one(breaker="stateTimeout: 0.2, useDegradedMode: true"))
    assert (result.usage.requests, result.usage.failed_requests) == (1, 1)


def test_a_request_that_was_cancelled_is_counted():
    found = []

    async def main():
        observer = CrewObserver(crew_finished=found.append)
        run = asyncio.create_task(crew_of_one().run(model=ScriptedModel(hang), observer=observer))
        await asyncio.sleep(0.05)
        run.cancel()
        await asyncio.wait({run})

    asyncio.run(main())
    assert (found[0].usage.requests, found[0].usage.failed_requests) == (1, 1)


@pytest.mark.parametrize("reply", [ConnectionError("lost"), ModelReply(None), ModelReply("x", usage=None)])
def test_a_program_s_model_is_counted_too(reply):
    result = crew_of_one().run_sync(model=ScriptedModel(reply, reply, "done"))
    assert result.success
    assert result.usage == Usage(requests=3, failed_requests=2)


def test_a_plan_that_came_to_nothing_was_asked_for():
    model = ScriptedModel(ConnectionError("lost"), "a plan", "done")
    result = crew_of_one(head="planning: true\n").run_sync(model=model)
    assert result.usage.requests == len(model.asked)
    assert result.usage.failed_requests == 1
