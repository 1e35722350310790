"""Execution budgets: nothing is spent twice, and nothing is created."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orkeon_transitions.crew.execution_budget import (
    DIVIDED,
    BudgetBlock,
    CrewBudget,
    ExecutionBudget,
    Spending,
)

COUNTS = st.integers(0, 10_000)
SECONDS = st.floats(0, 10_000)
BUDGETS = st.builds(ExecutionBudget, COUNTS, COUNTS, SECONDS, COUNTS, COUNTS)
SPENDING = st.builds(Spending, COUNTS, COUNTS, SECONDS, COUNTS, COUNTS)


def is_within(part, whole):
    return all(amount <= whole.to_dict()[name] for name, amount in part.to_dict().items())


@given(BUDGETS, SPENDING)
def test_what_is_left_is_never_more_and_never_less_than_nothing(budget, spent):
    left = budget.left(spent)
    assert is_within(left, budget)
    assert all(amount >= 0 for amount in left.to_dict().values())
    used_up = set(budget.used_up(spent))
    assert used_up == {name for name, most in budget.to_dict().items() if most and not left.to_dict()[name]}


@given(BUDGETS, SPENDING, SPENDING)
def test_in_which_steps_it_is_spent_does_not_matter(budget, one, other):
    one, other = replace(one, wall_time=0.0), replace(other, wall_time=0.0)
    assert budget.left(one).left(other) == budget.left(one + other) == budget.left(other).left(one)


@given(BUDGETS, st.integers(1, 50))
def test_parts_add_up_to_the_whole(budget, heirs):
    parts = budget.divided(heirs)
    for name in DIVIDED:
        amounts = [getattr(part, name) for part in parts]
        assert sum(amounts) == getattr(budget, name)
        assert max(amounts) - min(amounts) <= 1
        assert amounts == sorted(amounts, reverse=True)


@given(BUDGETS)
def test_a_helper_and_its_maker_have_together_what_the_maker_had(budget):
    part = budget.for_helper()
    assert is_within(part, budget)
    assert part.delegation_depth == 0
    kept = budget.without(part)
    for name in DIVIDED:
        assert getattr(kept, name) + getattr(part, name) == getattr(budget, name)
    if budget.spawns:
        assert part.spawns + 1 <= budget.spawns


@given(BUDGETS)
def test_helpers_of_helpers_come_to_an_end(budget):
    made = 0
    while budget.spawns and budget.tokens:
        budget, made = budget.for_helper(), made + 1
    assert made <= 15


@st.composite
def written(draw):
    fields = {
        "tool_calls": COUNTS,
        "delegation_depth": COUNTS,
        "wall_time": st.floats(0.001, 10_000),
        "tokens": st.integers(1, 10_000),
        "spawns": COUNTS,
    }
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), unique=True))
    preset = draw(st.sampled_from([None, "strict", "default", "permissive"]))
    return BudgetBlock(preset, {name: draw(fields[name]) for name in chosen})


@given(st.none() | written(), st.lists(st.none() | written(), min_size=1, max_size=6), st.data())
def test_the_tasks_of_a_run_never_have_more_than_the_run(crew, tasks, data):
    names = [f"t{number}" for number in range(len(tasks))]
    budget = CrewBudget.of(crew, dict(zip(names, tasks, strict=True)))
    spent = Spending()
    while names:
        parts = budget.for_tasks(names, spent)
        for name, part in parts.items():
            assert is_within(part, budget.of_tasks[name])
        now = names[: data.draw(st.integers(1, len(names)))]
        for name in now:
            used = {one: data.draw(st.integers(0, getattr(parts[name], one))) for one in DIVIDED}
            spent += Spending(**used)
        names = names[len(now) :]
    for name, most in budget.shared.items():
        assert getattr(spent, name) <= most
