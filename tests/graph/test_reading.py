"""The way back: graphs from definitions and YAML."""

import pytest

from orkeon_transitions import (
    END,
    START,
    CircuitBreakerPolicy,
    DefinitionError,
    GraphCircuitBrokenError,
    GraphDefinitionError,
    StateGraph,
)
from orkeon_transitions.breaker import BreakerLimit
from orkeon_transitions.machines import machine_definition
from tests.graph.samples import Draft, does, limits, line, loop, ran, sleeps

FUNCTIONS = {"work": does("work"), "look": does("look")}


def twice(draft):
    return END if draft.done.count("work") == 2 else "work"


@pytest.mark.parametrize("as_yaml", [False, True])
def test_a_graph_comes_back_from_its_own_definition(as_yaml):
    definition = loop(limits(max_transitions=9)).add_degraded_node("spare", does("x")).definition()
    source = definition.to_yaml() if as_yaml else definition
    again = StateGraph.from_definition(source, FUNCTIONS | {"spare": does("y")}, {"look": twice})
    assert again.definition() == definition
    assert again.policy == limits(max_transitions=9)
    assert ran(again).trace == ("work", "look") * 2


def test_a_policy_that_is_given_replaces_that_of_the_definition():
    definition = loop(limits(max_transitions=9)).definition()
    again = StateGraph.from_definition(
        definition, FUNCTIONS, {"look": twice}, CircuitBreakerPolicy.permissive()
    )
    assert again.policy == again.definition().circuit_breaker == CircuitBreakerPolicy.permissive()


@pytest.mark.parametrize("policy", [None, CircuitBreakerPolicy.permissive(), limits(max_transitions=9)])
def test_a_run_names_the_machine_that_was_read_whatever_its_limits(policy):
    shipped = machine_definition("graph_router")
    graph = StateGraph[Draft].from_definition(
        shipped,
        nodes={"execute_task": does("work"), "route": does("look")},
        routers={"route": lambda draft: END},
        policy=policy,
    )
    runner = graph.compile()
    assert runner.definition.content_hash == shipped.content_hash
    assert runner.policy == (policy or CircuitBreakerPolicy.strict())


@pytest.mark.parametrize("end", [END, "end"])
def test_the_graph_process_of_a_crew(end):
    tasks = ["collect", "write"]
    shipped = machine_definition("graph_router")
    graph = StateGraph[Draft].from_definition(
        shipped,
        nodes={"execute_task": lambda draft: draft.done.append(tasks.pop(0)), "route": lambda draft: draft},
        routers={"route": lambda draft: "execute_task" if tasks else end},
    )
    assert graph.policy == CircuitBreakerPolicy.strict()
    definition = graph.definition()
    assert (definition.name, definition.description) == (shipped.name, shipped.description)
    assert definition.states == shipped.states
    assert definition.guards == shipped.guards
    assert [(row.source, row.dest, row.conditions) for row in definition.transitions] == [
        (row.source, row.dest, row.conditions) for row in shipped.transitions
    ]
    result = ran(graph)
    assert result.final_state.done == ["collect", "write"]
    assert result.trace == ("execute_task", "route") * 2
    assert [step.to_state for step in result.journal][-1] == "end"
    for name in ("start", "end", START, END):
        with pytest.raises(ValueError, match="reserved"):
            graph.add_node(name, does("x"))


YAML = """
name: papers
initial: begin
states:
  - begin
  - {name: read, timeout: 5, description: Reads a paper}
  - judge
  - {name: finish, final: true}
transitions:
  - [step, begin, read]
  - {trigger: step, source: read, dest: judge, description: every paper}
  - {trigger: step, source: judge, dest: "="}
  - {trigger: step, source: [judge], dest: read}
  - {trigger: step, source: judge, dest: finish}
"""


def papers(read, route, **options):
    return StateGraph.from_definition(
        YAML, {"read": read, "judge": does("judge")}, {"judge": route}, **options
    )


def test_a_topology_can_be_declared_in_yaml():
    answers = iter(["judge", "read", "finish"])
    graph = papers(does("read"), lambda draft: next(answers))
    assert ran(graph).trace == ("read", "judge", "judge", "read", "judge")
    assert graph.definition().transitions[1].description == "every paper"
    assert set(graph.definition().guards) == {"judge_chose_judge", "judge_chose_read", "judge_chose_end"}


def test_the_timeout_of_a_state_ends_its_node():
    with pytest.raises(GraphCircuitBrokenError, match="State timeout exceeded") as error:
        ran(papers(sleeps(1000), lambda draft: END))
    assert (error.value.limit, error.value.node_name) == (BreakerLimit.STATE_TIMEOUT, "read")
    # Where to allow more: the policy's own `state_timeout` is not for nodes.
    assert "The `timeout` of that state in the definition of 'papers' allows more" in str(error.value)
    assert "CircuitBreakerPolicy(" not in str(error.value)


def test_a_router_may_say_where_a_declared_graph_begins():
    text = """
initial: begin
states: [begin, a, b, {name: done, final: true}]
transitions: [[step, begin, a], [step, begin, b], [step, a, done], [step, b, done]]
"""
    for name in ("begin", START):
        graph = StateGraph.from_definition(text, {"a": does("a"), "b": does("b")}, {name: lambda draft: "b"})
        assert ran(graph).trace == ("b",)


def test_a_single_way_may_have_a_router():
    text = "initial: s\nstates: [s, a, {name: e, final: true}]\ntransitions: [[step, s, a], [step, a, e]]\n"
    graph = StateGraph.from_definition(text, {"a": does("a")}, {"a": lambda draft: draft.done and END})
    assert set(graph.definition().guards) == {"a_chose_end"}
    assert ran(graph).trace == ("a",)


def test_the_graph_that_is_read_can_grow():
    text = "initial: s\nstates: [s, a, {name: e, final: true}]\ntransitions: [[step, s, a]]\n"
    graph = StateGraph.from_definition(text, {"a": does("a")}).add_node("b", does("b"))
    graph.add_edge("a", "b").add_edge("b", END)
    assert ran(graph).trace == ("a", "b")


def problems_of(source, nodes=None, routers=None):
    with pytest.raises(GraphDefinitionError) as error:
        StateGraph.from_definition(source, nodes or {}, routers)
    return error.value.problems


def test_all_that_makes_a_definition_no_graph_comes_at_once():
    text = """
initial: begin
degraded: spare
states:
  - begin
  - {name: a, on_enter: note, on_exit: note}
  - {name: b, timeout: 5, on_timeout: go}
  - __end__
  - {name: one, final: true}
  - {name: two, final: true}
  - spare
transitions:
  - [go, begin, a]
  - {trigger: step, source: begin, dest: a, before: note, after: note}
  - {trigger: step, source: a, dest: b, conditions: [x, y], unless: z}
  - {trigger: step, source: a, dest: null}
  - {trigger: step, source: a, dest: begin}
  - {trigger: step, source: begin, dest: "="}
  - {trigger: step, source: a, dest: spare}
  - {trigger: go, source: b, dest: one}
"""
    found = {problem.path: problem.message for problem in problems_of(text)}
    assert "2: one, two" in found["states"]
    assert "'spare' must be final" in found["degraded"]
    assert "'on_enter' has no meaning" in found["states[1].on_enter"]
    assert "'on_exit' has no meaning" in found["states[1].on_exit"]
    assert "'on_timeout' has no meaning" in found["states[2].on_timeout"]
    assert "'__end__' is reserved" in found["states[3]"]
    assert "'step' only, not 'go'" in found["transitions[0].trigger"]
    assert "'before' has no meaning" in found["transitions[1].before"]
    assert "'after' has no meaning" in found["transitions[1].after"]
    assert "one guard" in found["transitions[2].conditions"]
    assert "'unless' has no meaning" in found["transitions[2].unless"]
    assert "cannot be internal" in found["transitions[3].dest"]
    assert "no edge enters the start" in found["transitions[4].dest"]
    assert "no edge enters the start" in found["transitions[5].dest"]
    assert "no edge enters the degraded node" in found["transitions[6].dest"]
    assert "not 'go'" in found["transitions[7].trigger"]


def test_problems_of_a_file_have_its_place(tmp_path):
    path = tmp_path / "graph.yaml"
    path.write_text("initial: a\nstates: [a, {name: b, final: true}]\ntransitions:\n  - [go, a, b]\n")
    [problem] = problems_of(path)
    assert str(problem).startswith(f"{path}:4:")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("initial: a\nstates: [a, b]\ntransitions: [[step, a, b]]\n", "this machine has none"),
        ("initial: a\nstates: [{name: a, final: true}]\n", "'a' is an end"),
        ("initial: a\ndegraded: a\nstates: [a, {name: b, final: true}]\n", "'a' is an end"),
    ],
)
def test_a_graph_has_a_beginning_and_one_end(text, message):
    assert message in str(problems_of(text)[0])


def test_functions_and_routers_must_fit_the_definition():
    definition = loop().add_degraded_node("spare", does("x")).definition()
    found = problems_of(
        definition, {"wrok": does("x"), START: does("x")}, {"lok": twice, END: twice, "work": "look"}
    )
    assert [(problem.message, problem.hint) for problem in found] == [
        ("no function is given for node 'work'", None),
        ("no function is given for node 'look'", None),
        ("no function is given for node 'spare'", None),
        ("a function is given for 'wrok', which is no node", "work"),
        (f"a function is given for '{START}', which is no node", None),
        ("no router is given for node 'look', which has several ways", None),
        ("a router is given for 'lok', which has no ways out", "look"),
        (f"a router is given for '{END}', which has no ways out", None),
        ("the router of node 'work' must be a function of the state, not 'look'", None),
    ]


def test_a_function_must_be_one():
    with pytest.raises(TypeError, match="node 'a' must be a function"):
        StateGraph.from_definition(line(("a", does("a"))).definition(), {"a": "work"})


def test_what_is_no_definition_is_told_as_such():
    with pytest.raises(DefinitionError, match="initial"):
        StateGraph.from_definition("states: [a]\ntransitions: []\n", {})
