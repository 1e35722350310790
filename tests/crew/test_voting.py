"""Counting votes: each rule by examples; what always holds is in the property tests."""

import pytest

from orkeon_transitions.crew.voting import Ballot, VotingRule, ballots_needed, tally


def ballots(text):
    """`a:bc b:c c:` means: a ranks b before c, b votes for c, c abstains."""
    return [
        Ballot(voter, tuple(ranking)) for voter, _, ranking in (one.partition(":") for one in text.split())
    ]


def winner(rule, candidates, text, **options):
    return tally(VotingRule(rule), list(candidates), ballots(text), **options).winner


@pytest.mark.parametrize(
    ("rule", "candidates", "text", "expected"),
    [
        ("majority", "abc", "a:b b:a c:a", "a"),
        ("majority", "abc", "a:b b:c c:a", None),
        ("majority", "ab", "a:b b:a", None),
        ("majority", "ab", "a:b b:", "b"),
        ("majority", "abcd", "a:b b:a c:a d:b", None),
        # Most votes are not enough: more than half it takes.
        ("majority", "abcd", "a:b b:a c:a d:c", None),
        ("majority", "a", "x:a y:a", "a"),
        ("super-majority", "abc", "a:b b:a c:a", "a"),
        ("super-majority", "abcd", "a:b b:a c:a d:a", "a"),
        ("super-majority", "abcde", "a:b b:a c:a d:a e:b", None),
        ("unanimity", "abc", "a:b b:a c:a", "a"),
        ("unanimity", "abc", "a:c b:a c:b", None),
        ("unanimity", "abcd", "a:b b:a c:a d:b", None),
        # Each is wanted by everybody else: a tie.
        ("unanimity", "ab", "a:b b:a", None),
        ("unanimity", "abc", "b:a c: a:", "a"),
        ("borda", "abc", "a:bc b:ca c:ab", None),
        ("borda", "abc", "a:bc b:ca c:ba", "b"),
        ("borda", "abc", "a:b b: c:", "b"),
        ("borda", "ab", "a:b b:a", None),
        ("borda", "ab", "a:b b:a x:ba", "b"),
    ],
)  # fmt: skip
def test_who_wins(rule, candidates, text, expected):
    assert winner(rule, candidates, text) == expected


def test_weights():
    assert winner("weighted", "abc", "a:b b:c c:b") == "b"
    assert winner("weighted", "abc", "a:b b:c c:b", weights={"b": 3}) == "c"
    assert winner("weighted", "abc", "a:b b:c c:b", weights={"b": 2}) is None
    # Three tenths are not more than half of six tenths, however floats add up.
    assert winner("weighted", "ab", "x:a y:a z:b", weights={"x": 0.1, "y": 0.2, "z": 0.3}) is None
    assert winner("weighted", "ab", "x:a y:b", weights={"x": 0, "y": 0}) is None


def test_a_tally_tells_its_numbers():
    count = tally(VotingRule.MAJORITY, ["a", "b"], ballots("a:b b:a"))
    assert (dict(count.scores), count.best) == ({"a": 1, "b": 1}, ("a", "b"))
    assert count.why == "a tie: a 1, b 1 (of 2 ballots, more than 1 needed)"
    assert tally(VotingRule.BORDA, ["a"], ballots("x:")).why == "no ballot was cast"
    assert "at least 2 needed" in tally(VotingRule.SUPER_MAJORITY, list("abc"), ballots("a:b b:a c:a")).why
    assert "1.5" in tally(VotingRule.MAJORITY, list("abc"), ballots("a:b b:a c:a")).why


@pytest.mark.parametrize(
    ("voter", "ranking", "why"),
    [("a", "ba", "'a' must not vote for itself"), ("x", "bb", "ranks a candidate twice")],
)
def test_what_no_ballot_may_say(voter, ranking, why):
    with pytest.raises(ValueError, match=why):
        Ballot(voter, tuple(ranking))


def test_what_cannot_be_counted():
    with pytest.raises(ValueError, match="somebody votes twice"):
        tally(VotingRule.MAJORITY, ["a"], [Ballot("x", ("a",)), Ballot("x", ("a",))])
    with pytest.raises(ValueError, match="not a candidate: q"):
        tally(VotingRule.MAJORITY, ["a"], [Ballot("x", ("q",))])


@pytest.mark.parametrize(
    ("quorum", "voters", "needed"),
    [(0.5, 3, 2), (0.5, 4, 2), (1.0, 3, 3), (1, 3, 1), (2, 5, 2), (0.1, 3, 1), (0.3, 10, 3)],
)
def test_quorum(quorum, voters, needed):
    assert ballots_needed(quorum, voters) == needed
