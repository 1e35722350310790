"""What holds for both kinds of machine is tested on both."""

import asyncio

import pytest

from orkeon_transitions.runtime import AsyncStateMachine, StateMachine
from tests.runtime.samples import Clock, Kind


@pytest.fixture(params=["plain", "async"])
def kind(request):
    if request.param == "plain":
        yield Kind(StateMachine)
        return
    with asyncio.Runner() as runner:
        yield Kind(AsyncStateMachine, runner)


@pytest.fixture
def clock():
    return Clock()
