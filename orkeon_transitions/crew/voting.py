"""How votes are counted: pure functions of ballots, in which nobody ranks a candidate of one's own.

Counting is exact, so that the order of the ballots never matters. A tie is no consensus, whatever the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from math import ceil

TWO_THIRDS = Fraction(2, 3)
Weight = int | float | Fraction


class VotingRule(StrEnum):
    """When ballots make a candidate the winner."""

    MAJORITY = "majority"
    SUPER_MAJORITY = "super-majority"
    UNANIMITY = "unanimity"
    WEIGHTED = "weighted"
    BORDA = "borda"


@dataclass(frozen=True, slots=True)
class Ballot:
    """One voter's opinion.

    Attributes:
        voter: Who votes; may be a candidate.
        ranking: Candidates, the best one first. Those left out come last; an empty ranking is an abstention.

    Raises:
        ValueError: The voter ranks itself, or a candidate twice.
    """

    voter: str
    ranking: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.voter in self.ranking:
            raise ValueError(f"'{self.voter}' must not vote for itself")
        if len(set(self.ranking)) < len(self.ranking):
            raise ValueError(f"the ballot of '{self.voter}' ranks a candidate twice")


@dataclass(frozen=True, slots=True)
class Tally:
    """What the ballots come to.

    Attributes:
        scores: What each candidate has got: votes, weights or points.
        winner: The one that the rule chooses, or None: there is no consensus.
        why: The numbers behind it, in words.
    """

    scores: Mapping[str, Fraction]
    winner: str | None
    why: str

    @property
    def best(self) -> tuple[str, ...]:
        """Those with the highest score, in the order of the candidates."""
        most = max(self.scores.values(), default=Fraction(0))
        return tuple(name for name, score in self.scores.items() if score == most)


@dataclass(frozen=True, slots=True)
class Count:
    """Everything that a rule looks at.

    Attributes:
        candidates: The candidates.
        ballots: The ballots that are no abstentions.
        threshold: The share of the ballots that a super-majority needs.
        weights: What a voter's ballot counts in a weighted vote, 1 if left out.
    """

    candidates: Sequence[str]
    ballots: Sequence[Ballot]
    threshold: Fraction = TWO_THIRDS
    weights: Mapping[str, Weight] = field(default_factory=dict)


def tally(
    rule: VotingRule,
    candidates: Sequence[str],
    ballots: Iterable[Ballot],
    *,
    threshold: Fraction = TWO_THIRDS,
    weights: Mapping[str, Weight] | None = None,
) -> Tally:
    """Counts ballots.

    Args:
        rule: How.
        candidates: The candidates.
        ballots: One of each voter at most; abstentions do not count.
        threshold: For a super-majority: the share of the ballots that it takes.
        weights: For a weighted vote: what a voter's ballot counts, 1 if left out.

    Raises:
        ValueError: Somebody votes twice, or for somebody who is no candidate.
    """
    cast = [ballot for ballot in ballots if ballot.ranking]
    if len({ballot.voter for ballot in cast}) < len(cast):
        raise ValueError("somebody votes twice")
    strangers = {name for ballot in cast for name in ballot.ranking} - set(candidates)
    if strangers:
        raise ValueError(f"not a candidate: {', '.join(sorted(strangers))}")
    if not cast:
        return Tally(dict.fromkeys(candidates, Fraction(0)), None, "no ballot was cast")
    return RULES[rule](Count(candidates, cast, threshold, weights or {}))


def ballots_needed(quorum: float, voters: int) -> int:
    """How many ballots, abstentions left out, a vote needs to count.

    Args:
        quorum: A whole number of ballots, or (a float up to 1) a share of those who may vote.
        voters: How many may vote.
    """
    if isinstance(quorum, int):
        return quorum
    return ceil(Fraction(str(quorum)) * voters)


def majority(count: Count) -> Tally:
    """More than half of the ballots have the winner first."""
    return _first_choices(count, Fraction(1, 2), can_be_equal=False)


def super_majority(count: Count) -> Tally:
    """At least the threshold's share of the ballots has the winner first."""
    return _first_choices(count, count.threshold, can_be_equal=True)


def unanimity(count: Count) -> Tally:
    """Every ballot but the winner's own, which cannot, has the winner first."""
    votes = _votes(count)
    possible = {
        name: sum(ballot.voter != name for ballot in count.ballots) if votes[name] else 0
        for name in count.candidates
    }
    agreed = [name for name in count.candidates if votes[name] and votes[name] == possible[name]]
    winner = agreed[0] if len(agreed) == 1 else None
    return Tally(votes, winner, _why(votes, winner, f"{len(count.ballots)} ballots, all needed"))


def weighted(count: Count) -> Tally:
    """More than half of the weight of the ballots has the winner first."""
    weights = {ballot.voter: _exact(count.weights.get(ballot.voter, 1)) for ballot in count.ballots}
    scores = dict.fromkeys(count.candidates, Fraction(0))
    for ballot in count.ballots:
        scores[ballot.ranking[0]] += weights[ballot.voter]
    whole = sum(weights.values(), Fraction(0))
    winner = _only(name for name, score in scores.items() if score > whole / 2)
    return Tally(scores, winner, _why(scores, winner, f"of {_plain(whole)}, more than half needed"))


def borda(count: Count) -> Tally:
    """The most points: a first place gives one for each that the voter may rank, the next place one less."""
    scores = dict.fromkeys(count.candidates, Fraction(0))
    for ballot in count.ballots:
        most = sum(name != ballot.voter for name in count.candidates)
        for place, name in enumerate(ballot.ranking):
            scores[name] += most - place
    most_points = max(scores.values())
    winner = _only(name for name, score in scores.items() if score == most_points)
    return Tally(scores, winner, _why(scores, winner, "points"))


RULES: Mapping[VotingRule, Callable[[Count], Tally]] = {
    VotingRule.MAJORITY: majority,
    VotingRule.SUPER_MAJORITY: super_majority,
    VotingRule.UNANIMITY: unanimity,
    VotingRule.WEIGHTED: weighted,
    VotingRule.BORDA: borda,
}


def _first_choices(count: Count, share: Fraction, *, can_be_equal: bool) -> Tally:
    votes, needed = _votes(count), share * len(count.ballots)
    enough = [name for name, got in votes.items() if got > needed or (can_be_equal and got and got == needed)]
    winner = _only(enough)
    than = "at least" if can_be_equal else "more than"
    words = f"of {len(count.ballots)} ballots, {than} {_plain(needed)} needed"
    return Tally(votes, winner, _why(votes, winner, words))


def _votes(count: Count) -> dict[str, Fraction]:
    firsts = [ballot.ranking[0] for ballot in count.ballots]
    return {name: Fraction(firsts.count(name)) for name in count.candidates}


def _only(names: Iterable[str]) -> str | None:
    """The one name that there is; two are none."""
    found = list(names)
    return found[0] if len(found) == 1 else None


def _exact(weight: Weight) -> Fraction:
    """The number that was written: 0.1 is a tenth."""
    return Fraction(str(weight)) if isinstance(weight, float) else Fraction(weight)


def _why(scores: Mapping[str, Fraction], winner: str | None, words: str) -> str:
    most = max(scores.values())
    best = [name for name, score in scores.items() if score == most]
    tie = "a tie: " if winner is None and len(best) > 1 else ""
    shown = ", ".join(f"{name} {_plain(score)}" for name, score in scores.items())
    return f"{tie}{shown} ({words})"


def _plain(number: Fraction) -> str:
    """A number as people write it."""
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.4g}"
