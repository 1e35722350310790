"""A copy of the faster engine that is broken in one place is told from the reference, and soon.

Each line is a fault that somebody could make there. A line whose text is not in the room any more fails:
then the code has moved on, and the fault is to be made in the new one. All places at once are broken by
`python -m tests.properties.differential.breaking orkeon_transitions.runtime.at_once`.
"""

import pytest

from tests.properties.differential.breaking import replaced
from tests.properties.differential.comparing import breaks

# So many of the worlds in which a change is judged must be enough.
WORLDS = 700
FAULTS = {
    "a guard is not asked": (
        "                answer = guard_of(machine, name)(event)\n            except",
        "                answer = wanted\n            except",
    ),
    "None counts as a yes": (
        "if answer is not True and (",
        "if answer is not True and answer is not None and (",
    ),
    "an async guard is not asked": (
        "                answer = guard_of(machine, name)(event)\n                if",
        "                answer = wanted\n                if",
    ),
    "after comes before": (
        "_perform(machine, choice.before, event)",
        "_perform(machine, choice.after, event)",
    ),
    "the last action is left out": (
        "_perform(machine, choice.after, event)",
        "_perform(machine, choice.after[:-1], event)",
    ),
    "async actions come in another order": (
        "for name in choice.before:",
        "for name in reversed(choice.before):",
    ),
    "a state is entered once too often": (
        "if visits > record.most_visits:",
        "if visits > record.most_visits + 1:",
    ),
    "a visit is forgotten": ("record.visits[place] = visits", "pass"),
    "a transition too many is made": (
        "or record.transitions >= record.allowed\n",
        "or record.transitions > record.allowed\n",
    ),
    "the time in a state has no limit": ("or record.clock() >= record.deadline\n", "\n"),
    "an error is not told": ("event.result = replace(event.result, error=error)", "pass"),
    "actions do not know where it goes": ("event.to_state = to_state", "pass"),
    "a listener does not hear it": ('record.listeners.put("transition", event.told)', "pass"),
    "a class is not told": ("machine._written(event, result)", "pass"),
    "fields are not set": ("                setattr(machine, name, value)", "                pass"),
    "repeating is not judged": (
        "or not (move.repeatable or not machine.policy.max_repeats)",
        "",
    ),
    "a new budget is not begun": ("if trigger in budget_starts:", "if False:"),
    "always is not looked at": (" and not move.always and record.visits", " and record.visits"),
    "a stopped clock goes on": ("    if move.stands_still:\n", "    if False:\n"),
    "meters are not looked at": (
        "not policy.meters or judge_meters(policy, self.spent) is None",
        "True",
    ),
    "a broken circuit is not": ("if self.trip is not None or ", "if "),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_copy_is_told_from_the_reference(fault):
    assert breaks(replaced(*FAULTS[fault]), range(WORLDS)) is not None


def test_a_copy_that_is_not_broken_is_not():
    same = replaced("event.to_state = to_state", "event.to_state = to_state  # still")
    assert breaks(same, range(20)) is None
