"""What is drawn: rows, marks, guards, the current state, the path."""

from enum import Enum
from itertools import pairwise

import pytest

from orkeon_transitions.breaker import CircuitBreakerPolicy
from orkeon_transitions.definition import load_definition
from orkeon_transitions.diagrams import to_svg
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.facts import Snapshot
from tests.diagrams.pictures import SVG, Drawn, Result, Step, steps, ticket


def snapshot(state="waiting", **more):
    return {"state": state, "visits": {"open": 2, "waiting": 3}, "transition_count": 4, "trip": None} | more


def test_states_say_what_they_are():
    drawn = Drawn(to_svg(ticket()))
    assert {"state-open", "state-waiting", "state-asked", "state-closed", "state-parked"} <= drawn.ids
    assert "final" in drawn.classes("state-closed")
    assert "final" not in drawn.classes("state-open")
    assert {"final", "degraded"} <= drawn.classes("state-parked")
    assert "initial" in drawn.ids
    assert drawn.title("arrow-initial") == "start to open"


def test_final_states_have_a_double_border():
    drawn = Drawn(to_svg(ticket()))
    assert (drawn.outlines("state-closed"), drawn.outlines("state-open")) == (2, 1)


def test_a_row_is_drawn_with_its_guards():
    assert Drawn(to_svg(ticket())).words("arrow-open-waiting") == ["ask", "[has_question and not is_spam]"]


def test_rows_between_two_states_share_an_arrow():
    text = "{name: m, initial: a, states: [a, b], transitions: [[go, a, b], [run, a, b], [go, a, b]]}"
    assert Drawn(to_svg(load_definition(text))).words("arrow-a-b") == ["go", "run"]


# case A07
def test_internal_and_reflexive_rows_are_told_apart():
    drawn = Drawn(to_svg(ticket()))
    assert drawn.line("arrow-open-open") == "note internal"
    assert drawn.line("arrow-waiting-waiting") == "remind re-enters"


def test_a_row_from_everywhere_is_drawn_once():
    drawn = Drawn(to_svg(ticket()))
    assert drawn.line("arrow-anywhere-closed") == "close from 3 of 3, past any limit"
    assert [name for name in drawn.ids if name.startswith("arrow") and name.endswith("-closed")] == [
        "arrow-anywhere-closed"
    ]


def test_a_row_that_lists_every_state_of_a_larger_machine_is_drawn_once():
    states = ["a", "b", "c", "d", {"name": "z", "final": True}]
    rows = [["end", ["a", "b", "c", "d"], "z"], ["stop", ["a", "b", "c"], "z"]]
    drawn = Drawn(to_svg(load_definition({"initial": "a", "states": states, "transitions": rows})))
    assert drawn.line("arrow-anywhere-z") == "end from 4 of 4"
    assert drawn.words("arrow-a-z") == ["stop"]


@pytest.mark.parametrize(
    "name", ["start", "initial", "anywhere", "breaker", "same", "machine", "node", "edge"]
)
def test_names_of_the_drawings_own_parts_are_free(name):
    config = {"initial": name, "degraded": name, "states": [name, "b"], "transitions": [["go", "*", name]]}
    drawn = Drawn(to_svg(load_definition(config)))
    assert drawn.words(f"state-{name}") == [name]
    assert drawn.words("state-b") == ["b"]
    assert drawn.words(f"arrow-anywhere-{name}")[0] == "go"
    assert drawn.words("initial") == []
    assert len([group for group in drawn.root.iter(f"{SVG}g") if "state" in group.get("class").split()]) == 2


@pytest.mark.parametrize(("dest", "note"), [(None, "internal"), ("=", "re-enters")])
def test_a_row_from_everywhere_to_the_same_state(dest, note):
    config = {"initial": "a", "states": ["a", "b"], "transitions": [["tick", "*", dest]]}
    assert Drawn(to_svg(load_definition(config))).line("arrow-anywhere-same") == f"tick {note}, from 2 of 2"


def test_the_degraded_state_is_reached_by_the_breaker():
    assert Drawn(to_svg(ticket())).line("arrow-breaker-parked") == "circuit breaker trips"


def test_times_are_in_small_type():
    drawn = Drawn(to_svg(ticket()))
    assert drawn.words("state-waiting") == ["waiting", "after 30 s: remind"]
    assert drawn.words("state-asked") == ["asked", "at most 2 min"]
    text = "{initial: a, states: [{name: a, on_timeout: t}], transitions: [[t, a, a]]}"
    assert Drawn(to_svg(load_definition(text))).words("state-a") == ["a", "when its time is up: t"]


def test_titles_can_be_read_aloud():
    drawn = Drawn(
        to_svg(ticket(), snapshot=snapshot(trip={"limit": "max_transitions", "reason": "Too many"}))
    )
    assert drawn.root[0].tag.endswith("title")
    assert drawn.root[0].text == "State machine ticket, in waiting, 4 transitions, Too many"
    assert drawn.title("state-open") == "open: Somebody wrote to us"
    assert drawn.title("arrow-open-waiting") == "open to waiting: ask"
    assert drawn.title("arrow-waiting-waiting") == "waiting to itself: remind"
    assert drawn.title("arrow-anywhere-closed") == "any state to closed: close"


def test_a_snapshot_marks_the_state_and_counts_visits():
    drawn = Drawn(to_svg(ticket(), snapshot=snapshot()))
    assert {"current", "visited"} <= drawn.classes("state-waiting")
    assert drawn.words("state-waiting")[:2] == ["waiting", "×3"]
    assert drawn.words("state-open") == ["open", "×2"]
    assert drawn.words("state-asked")[0] == "asked"
    assert not [name for name in drawn.ids if "unvisited" in drawn.classes(name)]
    assert "in waiting, 4 transitions" in drawn.line("graph0")


def test_a_snapshot_may_be_a_fact():
    fact = Snapshot(
        machine="ticket",
        machine_id="1",
        definition_hash="",
        state="asked",
        ordinal=1,
        transition_count=1,
        visits={"open": 1, "asked": 1},
        time_in_state=0,
        active_time=0,
        clock_running=True,
        policy=CircuitBreakerPolicy(),
        taken_at="2024-01-01T00:00:00Z",
    )
    drawn = Drawn(to_svg(ticket(), snapshot=fact))
    assert "current" in drawn.classes("state-asked")
    assert "in asked, 1 transition" in drawn.line("graph0")


def test_a_tripped_snapshot_says_why():
    trip = {"limit": "max_transitions", "reason": "Max transitions exceeded (3/3)"}
    drawn = Drawn(to_svg(ticket(), snapshot=snapshot("parked", trip=trip)))
    assert "Max transitions exceeded (3/3)" in drawn.line("graph0")
    assert {"current", "degraded"} <= drawn.classes("state-parked")


def test_a_snapshot_of_another_machine_is_refused():
    with pytest.raises(OrkeonError, match=r"'gone' is not a state of machine 'ticket'"):
        to_svg(ticket(), snapshot=snapshot("gone"))


PATH = steps(
    "open ask waiting",
    "waiting remind waiting",
    "waiting answer open",
    "open note open",
    "open ask waiting",
    "waiting close closed",
)


def test_a_trace_marks_the_path_and_counts():
    drawn = Drawn(to_svg(ticket(), trace=PATH))
    assert drawn.words("arrow-open-waiting")[:2] == ["ask", "×2"]
    assert "taken" in drawn.classes("arrow-open-waiting")
    assert drawn.words("state-open") == ["open", "×2"]
    assert drawn.words("state-waiting")[:2] == ["waiting", "×3"]
    assert "current" in drawn.classes("state-closed")
    assert "in closed, 6 steps" in drawn.line("graph0")


def test_a_trace_mutes_what_was_never_seen():
    drawn = Drawn(to_svg(ticket(), trace=PATH))
    muted = {name for name in drawn.ids if "unvisited" in drawn.classes(name)}
    assert {"state-asked", "state-parked", "arrow-waiting-asked", "arrow-anywhere-closed"} <= muted
    assert not muted & {"state-open", "state-waiting", "state-closed", "arrow-open-waiting"}


def test_a_row_from_everywhere_that_was_taken_is_drawn_where_it_was():
    drawn = Drawn(to_svg(ticket(), trace=PATH))
    assert drawn.line("arrow-waiting-closed") == "close ×1 past any limit"
    assert {"taken", "last"} <= drawn.classes("arrow-waiting-closed")
    assert [name for name in drawn.ids if "last" in drawn.classes(name)] == ["arrow-waiting-closed"]


def test_rows_on_one_arrow_are_counted_apart():
    config = {"initial": "a", "states": ["a"], "transitions": [["x", "a", None], ["x", "a", "="]]}
    trace = [Result("a", "x", "a", internal=True), Result("a", "x", "a"), Result("a", "x", "a")]
    drawn = Drawn(to_svg(load_definition(config), trace=trace))
    assert drawn.line("arrow-a-a") == "x ×1 internal x ×2 re-enters"
    assert drawn.words("state-a") == ["a", "×3"]


def test_states_and_triggers_may_be_members():
    class State(Enum):
        OPEN = "open"
        waiting = 2

    class Trigger(Enum):
        ASK = "ask"

    drawn = Drawn(to_svg(ticket(), trace=[Step(State.OPEN, Trigger.ASK, State.waiting)]))
    assert "taken" in drawn.classes("arrow-open-waiting")
    assert "current" in drawn.classes("state-waiting")


def test_refused_triggers_are_no_steps():
    trace = [Result("open", "ask", "waiting"), Result("waiting", "note", "waiting", accepted=False)]
    drawn = Drawn(to_svg(ticket(), trace=trace))
    assert "in waiting, 1 step" in drawn.line("graph0")
    assert "×" not in drawn.line("arrow-waiting-waiting")


@pytest.mark.parametrize("trigger", ["ask", None])
def test_a_trip_is_drawn_where_it_was(trigger):
    trace = [Result("open", "ask", "waiting"), Result("waiting", trigger, "parked", False, degraded=True)]
    drawn = Drawn(to_svg(ticket(), trace=trace))
    assert drawn.line("arrow-waiting-parked") == "circuit breaker trips ×1"
    assert {"breaker", "last"} <= drawn.classes("arrow-waiting-parked")
    assert "arrow-breaker-parked" not in drawn.ids


def test_a_trip_in_a_replay_is_known_by_the_degraded_state():
    drawn = Drawn(to_svg(ticket(), trace=[Step("open", "ask", "parked")]))
    assert "breaker" in drawn.classes("arrow-open-parked")


def test_trips_at_several_triggers_are_one_line():
    trace = [Result("open", trigger, "parked", False, degraded=True) for trigger in ("ask", "note", "ask")]
    assert Drawn(to_svg(ticket(), trace=trace)).line("arrow-open-parked") == "circuit breaker trips ×3"


@pytest.mark.parametrize("trigger", ["vanish", None])
def test_a_step_that_no_row_allows_is_drawn_as_such(trigger):
    drawn = Drawn(to_svg(ticket(), trace=[Step("open", trigger, "asked")]))
    assert "stray" in drawn.classes("arrow-open-asked")
    assert drawn.line("arrow-open-asked") == f"{trigger or '(no trigger)'} ×1 no such row"


def test_a_state_that_only_the_trace_knows_is_drawn_as_such():
    drawn = Drawn(to_svg(ticket(), trace=steps("open ask gone", "gone back open", "open ask gone")))
    assert drawn.words("state-gone") == ["gone", "×2", "not in the definition"]
    assert "current" in drawn.classes("state-gone")


def test_an_empty_trace_mutes_everything_but_where_the_machine_is():
    drawn = Drawn(to_svg(ticket(), snapshot=snapshot("open", visits={"open": 1}), trace=[]))
    assert "unvisited" in drawn.classes("state-waiting")
    assert {"current", "visited"} <= drawn.classes("state-open")
    assert "0 steps" in drawn.line("graph0")


def test_ids_are_distinct_and_plain_names_keep_theirs():
    names = ["a b", "a:b", "a_b", "", " "]
    definition = ticket().model_copy(
        update={
            "initial": "a b",
            "degraded": None,
            "states": tuple(ticket().states[0].model_copy(update={"name": name}) for name in names),
            "transitions": (),
        }
    )
    drawn = Drawn(to_svg(definition))
    assert {"state-a_b", "state-a_b_2", "state-a_b_3", "state-state", "state-state_2"} <= drawn.ids
    assert drawn.words("state-a_b") == ["a_b"]
    assert drawn.words("state-a_b_2") == ["a b"]


def test_few_states_lie_beside_each_other_and_many_below():
    def size(number):
        names = [f"s{index}" for index in range(number)]
        rows = [["next", a, b] for a, b in pairwise(names)]
        root = Drawn(to_svg(load_definition({"initial": "s0", "states": names, "transitions": rows}))).root
        return float(root.get("width")[:-2]), float(root.get("height")[:-2])

    assert size(4)[0] > size(4)[1]
    assert size(5)[0] < size(5)[1]
