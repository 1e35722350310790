"""The `consensus` block of a crew file: when the agents agree, and what becomes of a task if they do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from orkeon_transitions.crew.voting import TWO_THIRDS, VotingRule
from orkeon_transitions.definition.fields import Block, read_block, read_count, read_number, shown
from orkeon_transitions.definition.places import Path, Source

KEYS = ("rule", "threshold", "quorum", "weights", "discussion_rounds", "fallback")
ALIASES = {"mode": "rule", "voting_rule": "rule", "max_discussion_rounds": "discussion_rounds"}
MOST_ROUNDS = 10


class Fallback(StrEnum):
    """What becomes of a task on which there is no consensus."""

    ACCEPT_BEST = "accept-best"
    MANAGER = "manager"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class ConsensusBlock:
    """What makes a consensus.

    Attributes:
        rule: How ballots are counted.
        threshold: The share of the ballots that a super-majority takes; None: two thirds.
        quorum: How many ballots a vote needs: a share of those who may vote (a float up to 1.0), or a whole
            number. Abstentions do not count.
        weights: What an agent's ballot counts in a weighted vote, 1 if left out.
        discussion_rounds: How often the agents see each other's answers and try again.
        fallback: What becomes of a task without a consensus.
    """

    rule: VotingRule = VotingRule.MAJORITY
    threshold: float | None = None
    quorum: float = 0.5
    weights: Mapping[str, float] = field(default_factory=dict)
    discussion_rounds: int = 1
    fallback: Fallback = Fallback.ACCEPT_BEST

    @property
    def exact_threshold(self) -> Fraction:
        """The threshold as it was written."""
        return TWO_THIRDS if self.threshold is None else Fraction(str(self.threshold))

    @property
    def is_led(self) -> bool:
        """Whether a manager decides where the agents do not agree."""
        return self.fallback is Fallback.MANAGER


def read_consensus_block(source: Source, value: Any, path: Path) -> ConsensusBlock | None:
    """Reads a `consensus` block; problems go to the source."""
    if value is None:
        return None
    if not isinstance(value, dict):
        source.problem(path, f"must be a mapping, not {shown(value)}")
        return None
    block = read_block(source, value, path, KEYS, aliases=ALIASES)
    read: dict[str, Any] = {
        "rule": _one_of(block, "rule", VotingRule),
        "threshold": _threshold(block),
        "quorum": _quorum(block),
        "weights": _weights(block),
        "discussion_rounds": _rounds(block),
        "fallback": _one_of(block, "fallback", Fallback),
    }
    return ConsensusBlock(**{key: found for key, found in read.items() if found is not None})


_Choice = TypeVar("_Choice", VotingRule, Fallback)


def _one_of(block: Block, key: str, choices: type[_Choice]) -> _Choice | None:
    written = block.name(key)
    if written is None:
        return None
    folded = "-".join(written.strip().lower().replace("_", " ").replace("-", " ").split())
    for choice in choices:
        # `superMajority` is `super-majority`, too.
        if folded.replace("-", "") == choice.value.replace("-", ""):
            return choice
    valid = ", ".join(f"'{choice.value}'" for choice in choices)
    hint = block.source.hint(folded, [choice.value for choice in choices])
    block.problem(key, f"unknown {key} '{written}': valid are {valid}", hint)
    return None


def _threshold(block: Block) -> float | None:
    written = block.get("threshold")
    if written is None:
        return None
    number = read_number(block.source, written, block.at("threshold"), "a share of the ballots")
    if number is not None and not 0.5 < number <= 1:
        block.problem("threshold", f"must be more than 0.5 and at most 1, not {shown(written)}")
        return None
    return number


def _quorum(block: Block) -> float | None:
    written = block.get("quorum")
    if written is None:
        return None
    number = read_number(block.source, written, block.at("quorum"), "a share or a number of ballots")
    if number is None:
        return None
    if isinstance(number, float) and not 0 < number <= 1:
        block.problem("quorum", f"must be a share up to 1.0, or a whole number, not {shown(written)}")
        return None
    if number == 0:
        block.problem("quorum", "must be 1 or more: without a ballot nobody is chosen")
        return None
    return number


def _weights(block: Block) -> dict[str, float] | None:
    written = block.get("weights")
    if written is None:
        return None
    if not isinstance(written, dict):
        block.problem("weights", f"must be a mapping of agents to numbers, not {shown(written)}")
        return None
    at = block.at("weights")
    read = {name: read_number(block.source, weight, (*at, name)) for name, weight in written.items()}
    return {str(name): weight for name, weight in read.items() if weight is not None}


def _rounds(block: Block) -> int | None:
    written = block.get("discussion_rounds")
    if written is None:
        return None
    count = read_count(block.source, written, block.at("discussion_rounds"))
    if count is not None and count > MOST_ROUNDS:
        block.problem("discussion_rounds", f"must be {MOST_ROUNDS} at most, not {shown(written)}")
        return None
    return count
