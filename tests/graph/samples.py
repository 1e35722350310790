"""Small graphs that the tests of this room share."""

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise

from orkeon_transitions import END, START, CircuitBreakerPolicy, StateGraph
from tests.virtual_time import now, run

OFF = {"max_transitions": 0, "state_timeout": 0, "max_state_visits": 0, "max_total_duration": 0}


@dataclass
class Draft:
    """A state: what was done, in order."""

    done: list = field(default_factory=list)


def limits(**given):
    """A policy with these limits alone."""
    return CircuitBreakerPolicy(**{**OFF, **given})


def does(word):
    """A node that notes down a word."""

    def node(draft):
        draft.done.append(word)

    return node


def sleeps(seconds, word="slept"):
    """An async node that works for a while."""

    async def node(draft):
        draft.done.append(f"begun {word}")
        await asyncio.sleep(seconds)
        draft.done.append(word)

    return node


def line(*nodes, policy=None, **options):
    """A graph of one node after another: `(name, function)`."""
    graph = StateGraph[Draft](policy or limits())
    for name, function in nodes:
        graph.add_node(name, function, **options)
    names = [START, *(name for name, _ in nodes), END]
    for source, target in pairwise(names):
        graph.add_edge(source, target)
    return graph


def loop(policy=None, *, rounds=None, node=None):
    """A graph that works, looks, and works again until so many rounds are done (None: for ever)."""

    def route(draft):
        return END if rounds is not None and draft.done.count("work") >= rounds else "work"

    return (
        StateGraph[Draft](policy or limits())
        .add_node("work", node or does("work"))
        .add_node("look", lambda draft: draft)
        .add_edge(START, "work")
        .add_edge("work", "look")
        .add_conditional_edge("look", route, ["work", END])
    )


def ran(graph, state=None, **options):
    """Compiles a graph and runs it in virtual time."""

    async def main():
        return await graph.compile(clock=now).run(Draft() if state is None else state, **options)

    return run(main())
