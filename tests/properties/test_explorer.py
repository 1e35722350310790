"""Whatever a page asks for in whatever order: what it shows is what the machine is, and plain JSON."""

import base64
import itertools
import json
import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from orkeon_transitions import replay
from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.explorer import open_session
from orkeon_transitions.explorer import scenery as pictures
from tests.strategies import machine_definitions, policies

# Pictures have tests of their own, and each costs a program that is started.
NO_PICTURE = OrkeonError("no picture is drawn here")


def orders(definition):
    triggers = st.sampled_from([*definition.triggers, "no_such_trigger"])
    fields = sorted({name for row in definition.transitions for name in (*row.conditions, *row.unless)})
    kinds = [
        st.builds(lambda trigger: {"do": "fire", "trigger": trigger}, triggers),
        st.builds(lambda trigger: {"do": "fire", "trigger": trigger}, triggers),
        st.builds(lambda at: {"do": "seek", "at": at}, st.integers(0, 6)),
        st.builds(
            lambda first, count: {"do": "rows", "first": first, "count": count},
            st.integers(0, 9),
            st.integers(1, 9),
        ),
        st.sampled_from(
            [{"do": name} for name in ("undo", "undo", "reset", "reset_breaker", "reload", "nothing")]
        ),
    ]
    if fields:
        kinds.append(
            st.builds(
                lambda name, value: {"do": "set", "field": name, "value": value},
                st.sampled_from(fields),
                st.sampled_from([True, False, None, "maybe"]),
            )
        )
    return st.lists(st.one_of(kinds), max_size=25)


def look(session):
    """What must hold whenever a page is looked at."""
    view = session.view()
    json.dumps(view, allow_nan=False)
    now, position, machine = view["now"], view["position"], session.machine
    assert 0 <= position["at"] <= position["last"]
    assert position["live"] == (position["at"] == position["last"])
    assert now["busy"] is None
    assert now["state"] in machine.definition.states_by_name
    here = machine.definition.triggers_from(now["state"])
    assert tuple(each["name"] for each in view["triggers"] if not each.get("elsewhere")) == here
    if position["live"]:
        assert now["state"] == machine.snapshot().state
        used = next(gauge["used"] for gauge in view["gauges"] if gauge["limit"] == "max_transitions")
        assert used == machine.transition_count
        assert view["can"]["undo"] == (position["last"] > 0)
    rows = view["log"]["rows"]
    assert [row["n"] for row in rows] == list(
        range(view["log"]["first"] + 1, view["log"]["first"] + 1 + len(rows))
    )
    if len(rows) == view["log"]["total"]:
        steps = [row for row in rows if row["kind"] in ("made", "internal", "degraded")]
        assert len(steps) == position["last"]
        assert [step["position"] for step in steps] == list(range(1, len(steps) + 1))
        for before, after in itertools.pairwise(steps):
            assert after["from"] == before["to"]
    return view


@settings(max_examples=100)
@given(data=st.data())
def test_what_is_shown_is_what_the_machine_is(data, tmp_path_factory):
    definition = data.draw(machine_definitions(policy=st.none() | policies()))
    asked = data.draw(orders(definition))
    drawn, pictures.scene = pictures.scene, undrawn
    try:
        session = open_session(definition, grace=30, clock=lambda: 0.0)
    finally:
        pictures.scene = drawn
    try:
        look(session)
        for order in asked:
            before = look(session)
            answer = session.act(order)
            after = look(session)
            if answer is not None:
                assert answer.keys() == {"error"}
                assert {**after, "gauges": None} == {**before, "gauges": None}
        check_journal(session, definition, tmp_path_factory.mktemp("log"))
    finally:
        session.close()


def undrawn(definition, **options):
    raise NO_PICTURE


def check_journal(session, definition, folder):
    """The log that is taken along tells of the same way."""
    session.act({"do": "seek", "at": 10**6})
    content = base64.b64decode(session.act({"do": "export", "format": "jsonl"})["download"]["data"])
    if not content:
        return
    file = folder / "log.jsonl"
    file.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = replay(file, definition)
    assert told.anomalies == []
    assert told.final_state == session.view()["now"]["state"]
    assert len(told.steps) == session.view()["position"]["last"]
    assert told.is_circuit_broken == session.machine.is_circuit_broken
