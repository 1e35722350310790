"""The graph process: the router's answer decides, and is used up."""

import asyncio

import pytest

from orkeon_transitions.errors import GuardRejectedError
from orkeon_transitions.machines import AsyncGraphRouter, GraphRouter, GraphRouterState


def at_route():
    router = GraphRouter()
    router.step()
    router.step()
    return router


def test_it_loops_while_the_router_says_so_and_ends():
    router = at_route()
    router.step(chosen="execute_task")
    assert router.state is GraphRouterState.EXECUTE_TASK
    router.step()
    router.step(chosen=GraphRouterState.END)
    assert router.is_terminal
    assert router.transition_count == 5


def test_an_answer_that_was_set_before_is_used_up_by_the_step():
    router = at_route()
    router.chosen = "execute_task"
    router.step()
    assert router.chosen is None
    router.step()
    with pytest.raises(GuardRejectedError):
        router.step()


@pytest.mark.parametrize("answer", [None, "", "reviw", True, ["end"]])
def test_an_answer_that_names_no_way_is_refused(answer):
    router = at_route()
    with pytest.raises(GuardRejectedError, match="route_chose"):
        router.step(chosen=answer)
    assert router.state is GraphRouterState.ROUTE


def test_the_answer_outlives_a_restart():
    router = at_route()
    router.chosen = "end"
    restored = GraphRouter.restore(router.snapshot())
    assert restored.step().to_state is GraphRouterState.END


def test_the_async_router_goes_the_same_way():
    async def run():
        router = AsyncGraphRouter()
        for answer in (None, None, "execute_task", None, "end"):
            await router.step(chosen=answer)
        return router.state

    assert asyncio.run(run()) is GraphRouterState.END
