"""Whatever a machine is called, its picture can be read."""

import re
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from orkeon_transitions.diagrams import to_mermaid, to_svg
from tests.diagrams.pictures import Drawn, Step
from tests.diagrams.test_mermaid import odd_machine, read_back
from tests.strategies import any_names, machine_definitions

TEXTS = st.text(st.characters(), max_size=30) | any_names()


@settings(max_examples=40, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
def test_any_text_is_a_label(names):
    definition = odd_machine(names)
    drawn = Drawn(to_svg(definition))
    labels = re.findall(r'^    state "([^"\n]*)" as s_[A-Za-z0-9_]+$', to_mermaid(definition), re.MULTILINE)
    assert len(labels) == len(names) == len([name for name in drawn.ids if name.startswith("state-")])
    for name, label in zip(names, labels, strict=True):
        if name.isprintable() and name.strip():
            assert read_back(label) == name


@settings(max_examples=40, deadline=None)
@given(st.data(), machine_definitions(states=any_names(), triggers=any_names(), max_states=5, max_rows=6))
def test_any_machine_and_any_trace_are_drawn(data, definition):
    names = st.sampled_from([state.name for state in definition.states]) | any_names()
    triggers = st.sampled_from([*definition.triggers, None]) | any_names()
    trace = data.draw(st.none() | st.lists(st.builds(Step, names, triggers, names), max_size=5))
    root = ElementTree.fromstring(to_svg(definition, trace=trace))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    states = {state.name for state in definition.states}
    states |= {name for step in trace or () for name in (step.from_state, step.to_state)}
    assert len([name for name in ids if name.startswith("state-")]) == len(states)
    assert to_mermaid(definition, trace=trace).count('" as s_') == len(states)
