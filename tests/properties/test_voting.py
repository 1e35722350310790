"""Voting: what holds of every rule, and of each, for ballots of any kind."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from orkeon_transitions.crew.voting import TWO_THIRDS, Ballot, VotingRule, ballots_needed, tally

RULES = st.sampled_from(VotingRule)
UNWEIGHTED = st.sampled_from([rule for rule in VotingRule if rule is not VotingRule.WEIGHTED])
NAMES = "abcdefg"


@st.composite
def votes(draw, outsiders=True, authors=True):
    """Candidates, and ballots of some of them and of others; nobody ranks itself."""
    candidates = list(NAMES[: draw(st.integers(1, 5))])
    voters = (candidates if authors else []) + (["x", "y", "z"] if outsiders else [])
    who = draw(st.lists(st.sampled_from(voters), unique=True)) if voters else []
    ballots = []
    for voter in who:
        others = [name for name in candidates if name != voter]
        order = draw(st.permutations(others))
        ballots.append(Ballot(voter, tuple(order[: draw(st.integers(0, len(order)))])))
    return candidates, ballots


def renamed(ballots, names):
    return [
        Ballot(names.get(one.voter, one.voter), tuple(names[name] for name in one.ranking)) for one in ballots
    ]


# ------------------------------------------------------------------------------------------------- every rule
@given(votes(), RULES)
def test_the_winner_is_a_candidate_whom_somebody_wants(drawn, rule):
    candidates, ballots = drawn
    count = tally(rule, candidates, ballots)
    assert list(count.scores) == candidates
    if count.winner is not None:
        assert any(count.winner in one.ranking for one in ballots)
        # A tie is no consensus: the winner is alone at the top, unless it was not asked for its own vote.
        assert count.winner in count.best
        assert len(count.best) == 1 or rule is VotingRule.UNANIMITY


@given(votes(), RULES)
def test_abstentions_and_the_order_of_the_ballots_do_not_count(drawn, rule):
    candidates, ballots = drawn
    count = tally(rule, candidates, ballots)
    cast = [one for one in ballots if one.ranking]
    assert tally(rule, candidates, cast) == count
    assert tally(rule, candidates, reversed(ballots)) == count


@given(votes(), RULES, st.randoms())
def test_the_names_of_the_candidates_do_not_count(drawn, rule, random):
    """Neutrality: whoever is called otherwise gets the same."""
    candidates, ballots = drawn
    shuffled = list(candidates)
    random.shuffle(shuffled)
    names = dict(zip(candidates, shuffled, strict=True))
    before, after = tally(rule, candidates, ballots), tally(rule, candidates, renamed(ballots, names))
    assert after.winner == (None if before.winner is None else names[before.winner])
    assert {names[name]: score for name, score in before.scores.items()} == dict(after.scores)


@given(votes(authors=False), UNWEIGHTED, st.randoms())
def test_it_does_not_count_whose_ballot_is_whose(drawn, rule, random):
    """Anonymity: it holds among those who may rank the same candidates, and where nobody has a weight."""
    candidates, ballots = drawn
    rankings = [one.ranking for one in ballots]
    random.shuffle(rankings)
    swapped = [replace(one, ranking=ranking) for one, ranking in zip(ballots, rankings, strict=True)]
    assert tally(rule, candidates, swapped) == tally(rule, candidates, ballots)


@given(votes(), RULES, st.data())
def test_whoever_is_ranked_higher_by_somebody_does_not_lose_by_it(drawn, rule, data):
    """Monotonicity."""
    candidates, ballots = drawn
    count = tally(rule, candidates, ballots)
    assume(count.winner is not None and any(one.voter != count.winner for one in ballots))
    index = data.draw(st.sampled_from([i for i, one in enumerate(ballots) if one.voter != count.winner]))
    ranking = list(ballots[index].ranking)
    place = ranking.index(count.winner) if count.winner in ranking else len(ranking)
    # Whoever abstained now votes for the winner only: more ballots, and each of them for the winner.
    rest = [name for name in ranking if name != count.winner]
    rest.insert(data.draw(st.integers(0, place)), count.winner)
    raised = [*ballots[:index], replace(ballots[index], ranking=tuple(rest)), *ballots[index + 1 :]]
    assert tally(rule, candidates, raised).winner == count.winner


@given(votes(), RULES, st.integers(2, 5))
def test_equal_weights_count_as_none(drawn, rule, weight):
    candidates, ballots = drawn
    weights = {one.voter: weight for one in ballots}
    assert tally(rule, candidates, ballots, weights=weights).winner == tally(rule, candidates, ballots).winner


# ---------------------------------------------------------------------------------------------- between rules
@given(votes())
def test_the_harder_rule_has_the_winner_of_the_easier_one(drawn):
    candidates, ballots = drawn
    most = tally(VotingRule.MAJORITY, candidates, ballots).winner
    more = tally(VotingRule.SUPER_MAJORITY, candidates, ballots).winner
    assert more in {None, most}
    assert tally(VotingRule.WEIGHTED, candidates, ballots).winner == most


@given(votes(authors=False))
def test_where_all_may_vote_for_all_unanimity_is_a_super_majority_of_all(drawn):
    candidates, ballots = drawn
    agreed = tally(VotingRule.UNANIMITY, candidates, ballots).winner
    assert agreed == tally(VotingRule.SUPER_MAJORITY, candidates, ballots, threshold=Fraction(1)).winner


@given(votes(authors=False))
def test_a_unanimous_first_choice_wins_by_every_rule(drawn):
    candidates, ballots = drawn
    firsts = {one.ranking[0] for one in ballots if one.ranking}
    assume(len(firsts) == 1)
    for rule in VotingRule:
        count = tally(rule, candidates, ballots)
        assert count.winner in firsts


@given(votes(), st.lists(st.integers(0, 5), min_size=10, max_size=10))
def test_a_weight_counts_as_that_many_voters(drawn, drawn_weights):
    candidates, ballots = drawn
    weights = dict(zip([*NAMES, "x", "y", "z"], drawn_weights, strict=True))
    # Voters who are nobody in particular, as many as the weight says.
    many = [Ballot(f"{one.voter}{n}", one.ranking) for one in ballots for n in range(weights[one.voter])]
    by_weight = tally(VotingRule.WEIGHTED, candidates, ballots, weights=weights)
    by_number = tally(VotingRule.MAJORITY, candidates, many)
    assert (by_weight.winner, dict(by_weight.scores)) == (by_number.winner, dict(by_number.scores))


# ----------------------------------------------------------------------------------------------------- quorum
@given(st.integers(0, 50), st.floats(0.01, 1))
def test_a_share_of_the_voters_is_never_more_than_all_and_never_less_than_it_says(voters, share):
    needed = ballots_needed(share, voters)
    assert needed <= voters
    assert needed >= share * voters - 1e-9
    assert needed - 1 < share * voters or voters == 0
    assert ballots_needed(1.0, voters) == voters


def test_two_thirds_are_exact():
    ballots = [Ballot("a", ("b",)), Ballot("b", ("c",)), Ballot("c", ("b",))]
    assert tally(VotingRule.SUPER_MAJORITY, "abc", ballots, threshold=TWO_THIRDS).winner == "b"
