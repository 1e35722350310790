"""A machine that is restored from a snapshot goes on exactly like the original."""

import asyncio
import re
from dataclasses import replace

import pytest
from hypothesis import given

from tests.properties.runs import KINDS, Subject, definitions_with_ways_out, shape, steps
from tests.virtual_time import run


@pytest.mark.parametrize("machine_class", KINDS)
@given(definition=definitions_with_ways_out(), before=steps(8), after=steps(8))
def test_a_restored_machine_goes_on_exactly_like_the_original(machine_class, definition, before, after):
    run(_both(machine_class, definition, before, after))


async def _both(machine_class, definition, before, after):
    """Takes an original through `before`, then it and its restored twin through `after`."""
    original = Subject(machine_class, definition)
    for step in before:
        await original.go(step)
    saved = original.machine.snapshot().model_dump_json()
    again = Subject(machine_class, definition, saved)
    again.step = original.step
    del original.facts[:], original.log[:]
    _compare(original, again)
    for step in after:
        await asyncio.sleep(step.seconds)
        outcomes = []
        for subject in (original, again):
            await subject.prepare(step)
            outcomes.append(shape(await subject.fire()))
        assert _as_kept(outcomes[0]) == _as_kept(outcomes[1])
        _compare(original, again)
    assert original.log == again.log
    assert [type(fact) for fact, _ in original.facts] == [type(fact) for fact, _ in again.facts]


def _compare(original, again):
    """Everything that two machines show of themselves."""
    first, second = (
        subject.machine.snapshot().model_dump(mode="json", exclude={"taken_at"})
        for subject in (original, again)
    )
    assert first == second
    statuses = [subject.machine.circuit_status for subject in (original, again)]
    kept = [replace(status, broken_reason=_as_kept(status.broken_reason)) for status in statuses]
    assert kept[0] == kept[1]
    assert original.machine.state == again.machine.state
    assert original.machine.is_terminal == again.machine.is_terminal


def _as_kept(shown):
    """In words, a repeated payload as snapshots have it: shown to whoever fired, and not written down."""
    return re.sub(
        r"(Repetition: .?'\w+.?') (?:with \(.*?\)|without a payload),",
        r"\1 with an equal payload,",
        repr(shown),
    )
