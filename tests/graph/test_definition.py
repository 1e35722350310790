"""A graph is a machine: its definition, its journal, its steps, its pictures."""

import asyncio

import pytest

from orkeon_transitions import (
    END,
    START,
    AsyncStateMachine,
    CircuitBreakerPolicy,
    GuardRejectedError,
    JsonlJournal,
    StateGraph,
    load_definition,
    render,
    replay,
)
from orkeon_transitions.diagrams import to_dot, to_mermaid
from orkeon_transitions.graph.machine import Choice
from tests.graph.samples import Draft, does, limits, line, loop, ran, sleeps
from tests.virtual_time import now, run


def rows_of(definition):
    return [(*row.source, row.dest, *row.conditions) for row in definition.transitions]


def test_a_state_per_node_and_a_guard_per_choice():
    definition = loop(limits(max_transitions=5)).add_degraded_node("give up", does("x")).definition()
    assert (definition.initial, definition.degraded) == (START, "give up")
    assert [state.name for state in definition.states] == [START, "work", "look", END, "give up"]
    assert definition.final_states == {END, "give up"}
    assert definition.triggers == ("step",)
    assert definition.circuit_breaker == limits(max_transitions=5)
    assert rows_of(definition) == [
        (START, "work"),
        ("work", "look"),
        ("look", "work", "look_chose_work"),
        ("look", END, "look_chose_end"),
    ]
    assert dict(definition.guards) == {
        "look_chose_work": "The router of look chose work",
        "look_chose_end": "The router of look chose end",
    }


@pytest.mark.parametrize(
    ("nodes", "guards"),
    [
        (["a b", "a_b"], ["a_b_chose_end", "a_b_chose_end_2"]),
        (["1", "if"], ["_1_chose_end", "if_chose_end"]),
        (["état", "a²"], ["état_chose_end", "a__chose_end"]),
        (["🙂", "-"], ["__chose_end", "__chose_end_2"]),
    ],
)
def test_guards_have_names_that_are_identifiers_and_differ(nodes, guards):
    graph = StateGraph[Draft]()
    for name in nodes:
        graph.add_node(name, does(name)).add_conditional_edge(name, lambda draft: END, [END])
    graph.add_conditional_edge(START, lambda draft: nodes[1], nodes)
    definition = graph.compile().definition
    assert [row.conditions[0] for row in definition.transitions[2:]] == guards
    assert load_definition(definition.to_yaml()) == definition
    assert ran(graph).trace == (nodes[1],)


def test_a_node_called_end_is_not_the_end():
    graph = StateGraph[Draft]().add_node("end", does("end")).add_edge(START, "end")
    graph.add_conditional_edge("end", lambda draft: "end" if len(draft.done) < 2 else END, [END, "end"])
    assert set(graph.definition().guards) == {"end_chose_end", "end_chose_end_2"}
    assert ran(graph).trace == ("end", "end")


def test_the_trace_is_the_journal_of_an_async_state_machine(monkeypatch):
    machines = []
    make = AsyncStateMachine.__init__

    def remembering(machine, *args, **options):
        machines.append(machine)
        make(machine, *args, **options)

    monkeypatch.setattr(AsyncStateMachine, "__init__", remembering)
    facts = []
    result = ran(loop(rounds=2), commit=lambda fact, snapshot: facts.append(fact), machine_id="m1")
    [machine] = machines
    assert (machine.machine_id, machine.state, machine.is_terminal) == ("m1", END, True)
    assert result.journal == tuple(facts)
    assert [fact.to_state for fact in facts] == [*result.trace, END]
    assert [fact.from_state for fact in facts] == [START, *result.trace]
    assert {fact.trigger for fact in facts} == {"step"}
    assert [fact.ordinal for fact in facts] == [1, 2, 3, 4, 5]


def test_a_journal_of_a_run_can_be_replayed(tmp_path):
    graph = loop(rounds=3)
    with JsonlJournal(tmp_path / "run.jsonl") as journal:
        result = graph.compile().run_sync(Draft(), commit=journal, machine_id="m1")
    replayed = replay(tmp_path / "run.jsonl", graph.definition(), machine_id="m1")
    assert replayed.final_state == END
    assert replayed.anomalies == []
    assert tuple(step.to_state for step in replayed.steps)[:-1] == result.trace


@pytest.mark.parametrize(("guard", "target"), [("look_chose_work", "work"), ("look_chose_end", END)])
def test_a_row_that_a_guard_refuses_stops_the_node(monkeypatch, guard, target):
    answer = Choice.__call__
    monkeypatch.setattr(
        Choice, "__call__", lambda choice, event: event.context != target and answer(choice, event)
    )
    state = Draft()
    with pytest.raises(GuardRejectedError, match=guard) as error:
        ran(loop(rounds=2), state)
    assert error.value.state == "look"
    assert state.done == (["work"] if guard == "look_chose_work" else ["work", "work"])


def test_the_machine_of_a_graph_runs_without_the_graph_too():
    async def main():
        chosen = {"look_chose_work": True, "look_chose_end": False}
        guards = {name: lambda event, name=name: chosen[name] for name in chosen}
        machine = AsyncStateMachine(loop().definition(), guards=guards)
        for _ in range(4):
            await machine.fire("step")
        assert machine.state == "look"
        chosen.update(look_chose_work=False, look_chose_end=True)
        await machine.fire("step")
        assert machine.is_terminal

    asyncio.run(main())


def test_a_commit_that_fails_stops_the_node():
    def full(fact, snapshot):
        if fact.ordinal == 2:
            raise OSError("disk full")

    state = Draft()
    with pytest.raises(OSError, match="disk full"):
        ran(line(("a", does("a")), ("b", does("b"))), state, commit=full)
    assert state.done == ["a"]


def test_a_commit_may_be_awaited():
    committed = []

    async def commit(fact, snapshot):
        await asyncio.sleep(1)
        committed.append(fact.to_state)

    assert ran(loop(rounds=1), commit=commit).trace == ("work", "look")
    assert committed == ["work", "look", END]


# ------------------------------------------------------------------------------------------------- pictures
def test_a_graph_is_drawn_like_any_machine(tmp_path):
    graph = loop(rounds=2)
    result = ran(graph)
    for subject in (graph, graph.compile()):
        path = render(subject, tmp_path / "run.mmd", trace=result.journal)
        assert path.read_text() == to_mermaid(graph.definition(), trace=result.journal)
    plain, walked = to_dot(graph), to_dot(graph, trace=result.journal)
    assert "look_chose_work" in plain or "The router of look chose work" in plain
    assert walked != plain


def test_the_path_of_a_run_that_tripped_can_be_drawn():
    async def main():
        runner = line(("a", sleeps(1)), ("b", sleeps(60)), policy=limits(max_total_duration=10)).compile(
            clock=now
        )
        try:
            await runner.run(Draft())
        except Exception as error:
            return to_mermaid(runner, trace=error.journal)

    assert run(main()) != to_mermaid(line(("a", does("a")), ("b", does("b"))))


def test_graphs_show_themselves_in_jupyter():
    graph = loop(CircuitBreakerPolicy.strict())
    for subject in (graph, graph.compile()):
        shown = subject._repr_mimebundle_(include=None, exclude=None)
        assert "<svg" in shown.get("image/svg+xml", "<svg")
        assert shown["text/plain"] == repr(subject)


def test_a_graph_that_cannot_be_drawn_yet_shows_its_name():
    graph = StateGraph().add_node("a", does("a")).add_conditional_edge("a", lambda state: "b", ["b"])
    assert graph._repr_mimebundle_() == {"text/plain": "<StateGraph 'graph' nodes=1>"}
