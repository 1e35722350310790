"""Crews that vote or are led, whatever their agents answer: they end within bounds, and can be resumed."""

import hashlib
import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from orkeon_transitions.crew import MemoryRunLog, TaskOutcome
from orkeon_transitions.crew.voting import VotingRule
from tests.crew.deciding import TWO, agreeing, labels_for, led
from tests.crew.dying import died, has_no_gap, resumed

HEAD = "circuitBreaker: {maxRetries: 0}\n"
NONSENSE = ("", "no idea", "{}", '{"ranking": 1, "agent": [], "accepted": "yes", "choice": null}', "{" * 50)


class Chance:
    """Answers by chance, but the same question with the same answer, in whichever process it is asked.

    Args:
        seed: What the chance depends on.
        failing: How many answers of a hundred fail.
        nonsense: How many answers to questions of a hundred cannot be read.
    """

    def __init__(self, seed, failing, nonsense):
        self._seed, self._failing, self._nonsense = seed, failing, nonsense
        self.asked = []

    async def execute_task(self, agent, task, context):
        name = context.machine.machine_id.partition("/")[2]
        # Answers to one question differ by how often it was asked, which its machine knows.
        key = f"{self._seed} {name} {agent.id} {context.machine.circuit_status.total_transitions}"
        chance = random.Random(hashlib.sha256(key.encode()).digest())
        self.asked.append((context.question, agent.id))
        if context.question and chance.randrange(100) < self._nonsense:
            return chance.choice(NONSENSE)
        match context.question:
            case "":
                is_lost = chance.randrange(100) < self._failing
                return (
                    TaskOutcome(False, "part", "no luck")
                    if is_lost
                    else f"{task.id} by {agent.id}: {chance.random()}"
                )
            case "ballot":
                labels = list(labels_for(task))
                chance.shuffle(labels)
                return json.dumps({"ranking": labels[: chance.randint(0, len(labels))]})
            case "choice":
                return json.dumps({"choice": chance.choice(list(labels_for(task)))})
            case "assignment":
                return json.dumps({"agent": chance.choice(["cook", "cook", "waiter", "boss", "coook"])})
            case _:
                return json.dumps({"accepted": chance.random() < 0.4, "feedback": "again"})

    def count(self, question):
        return sum(kind == question for kind, _ in self.asked)


CHANCES = st.builds(
    Chance, st.integers(0, 10**6), st.sampled_from([0, 30, 80]), st.sampled_from([0, 30, 100])
)


def told(result):
    tasks = [
        (
            task.id,
            str(task.status),
            task.output,
            task.agent,
            task.error,
            [machine.machine_id[-3:] for machine in task.machines],
        )
        for task in result.tasks.values()
    ]
    return str(result.status), tasks, result.decisions, result.states


def copy(chance):
    return Chance(chance._seed, chance._failing, chance._nonsense)


def same_after_a_death(make, chance, writes, is_torn, whole):
    log = MemoryRunLog()
    if not died(make(), log, writes, executor=copy(chance), is_torn=is_torn):
        return
    if log.read("r").status not in {"completed", "failed", "degraded"}:
        result = resumed(make(), log, executor=copy(chance))
        assert told(result) == told(whole)
        assert has_no_gap(result)


@settings(deadline=None, max_examples=60)
@given(
    CHANCES,
    st.integers(2, 5),
    st.sampled_from(VotingRule),
    st.sampled_from([0.5, 1.0, 1, 2]),
    st.integers(0, 2),
    st.sampled_from(["accept-best", "fail"]),
    st.integers(0, 80),
    st.booleans(),
)
def test_a_council_comes_to_an_end(chance, size, rule, quorum, rounds, fallback, writes, is_torn):
    def make():
        return agreeing(
            "abcde"[:size], TWO, HEAD, rule=rule, quorum=quorum, discussionRounds=rounds, fallback=fallback
        )

    result = make().run_sync(executor=chance, run_id="r")
    assert chance.count("") <= 2 * size * (1 + rounds)
    assert chance.count("ballot") <= 2 * size * (1 + rounds) * 5
    for task in result.tasks.values():
        decided = [one for one in result.decisions if one.task == task.id]
        winners = {one.choice for one in decided if one.kind in {"consensus", "fallback"}} - {"none"}
        assert winners == ({task.agent} if task.success else set())
        sound = {machine.output for machine in task.machines if machine.state == "completed"}
        assert not task.success or task.output in sound, "a failed answer is never chosen"
        assert str(task.status) in {"completed", "failed", "skipped"}
        for ballot in (one for one in decided if one.kind == "ballot"):
            assert ballot.by not in ballot.choice.split(" > "), "nobody votes for itself"
        assert fallback != "fail" or all(one.choice == "none" for one in decided if one.kind == "fallback")
    same_after_a_death(make, chance, writes, is_torn, result)


@settings(deadline=None, max_examples=60)
@given(CHANCES, st.integers(0, 80), st.booleans())
def test_a_manager_comes_to_an_end(chance, writes, is_torn):
    def make():
        return led(TWO, HEAD)

    result = make().run_sync(executor=chance, run_id="r")
    assert ("", "boss") not in chance.asked, "the manager does no task"
    for task in result.tasks.values():
        decided = [one for one in result.decisions if one.task == task.id]
        reviews = [one.choice for one in decided if one.kind == "review"]
        assert len(reviews) <= 3
        assert task.success == (reviews[-1:] == ["accepted"])
        assert sum(one.kind == "assignment" for one in decided) <= 1
        if task.machines:
            assert task.agent in {"cook", "waiter"}
            assert [one.choice for one in decided if one.kind == "assignment"] == [task.agent]
    same_after_a_death(make, chance, writes, is_torn, result)
