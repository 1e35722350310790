"""The `consensus` block, and what the consensual process asks of a crew."""

import json

import pytest

from orkeon_transitions.crew import crew_schema, load_crew
from orkeon_transitions.crew.consensus_block import ConsensusBlock, Fallback
from orkeon_transitions.crew.voting import TWO_THIRDS, VotingRule
from tests.crew.crew_texts import problems_of

REST = "agents: {a: {}, b: {}, c: {}}\ntasks: {t: {description: d}}\n"


def crew(block, rest=REST, process="consensual"):
    return load_crew(f"process: {process}\n{block}\n{rest}")


def problems(block, rest=REST):
    return problems_of(f"process: consensual\n{block}\n{rest}")


def test_without_a_block_a_majority_decides():
    assert crew("").config.consensus is None
    assert crew("consensus: null").config.consensus is None
    default = crew("consensus: {}").config.consensus
    assert default == ConsensusBlock()
    assert (default.rule, default.quorum, default.discussion_rounds, default.fallback) == (
        VotingRule.MAJORITY, 0.5, 1, Fallback.ACCEPT_BEST,
    )  # fmt: skip
    assert default.exact_threshold == TWO_THIRDS


@pytest.mark.parametrize("key", ["consensus", "consensusConfig", "consensus_config"])
def test_everything_that_can_be_said(key):
    block = "rule: weighted, quorum: 2, weights: {a: 2, b: 0.5}, discussionRounds: 3, fallback: fail"
    assert crew(f"{key}: {{{block}}}").config.consensus == ConsensusBlock(
        VotingRule.WEIGHTED, None, 2, {"a": 2, "b": 0.5}, 3, Fallback.FAIL
    )


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("rule: super-majority", VotingRule.SUPER_MAJORITY),
        ("rule: SuperMajority", VotingRule.SUPER_MAJORITY),
        ("rule: ' super majority '", VotingRule.SUPER_MAJORITY),
        ("mode: super_majority", VotingRule.SUPER_MAJORITY),
        ("votingRule: Borda", VotingRule.BORDA),
        ("rule: UNANIMITY", VotingRule.UNANIMITY),
        ("rule: null", VotingRule.MAJORITY),
    ],
)
def test_rules_by_name(written, rule):
    assert crew(f"consensus: {{{written}}}").config.consensus.rule is rule


@pytest.mark.parametrize("written", ["accept-best", "acceptBest", "ACCEPT_BEST"])
def test_fallbacks_by_name(written):
    assert crew(f"consensus: {{fallback: {written}}}").config.consensus.fallback is Fallback.ACCEPT_BEST


RULES = "'majority', 'super-majority', 'unanimity', 'weighted', 'borda'"
SHARE = "must be a share up to 1.0, or a whole number, not the number"


@pytest.mark.parametrize(
    ("block", "message", "hint"),
    [
        ("rule: majorty", f"unknown rule 'majorty': valid are {RULES}", "majority"),
        ("rule: 3", "must be a name, not the number 3: put quotes around it", None),
        ("fallback: fial", "unknown fallback 'fial': valid are 'accept-best', 'manager', 'fail'", "fail"),
        ("quorums: 1", "unknown key 'quorums'", "quorum"),
        ("quorum: 0", "must be 1 or more: without a ballot nobody is chosen", None),
        ("quorum: 0.0", f"{SHARE} 0.0", None),
        ("quorum: 1.5", f"{SHARE} 1.5", None),
        ("quorum: half", "must be a share or a number of ballots, not the text 'half'", None),
        ("quorum: 4", "only 3 agents vote, 4 ballots are never there", None),
        ("threshold: 0.5", "must be more than 0.5 and at most 1, not the number 0.5", None),
        ("threshold: x", "must be a share of the ballots, not the text 'x'", None),
        ("discussionRounds: 11", "must be 10 at most, not the number 11", None),
        ("discussionRounds: -1", "must be a whole number, 0 or more, not -1", None),
        ("weights: [1]", "must be a mapping of agents to numbers, not a list", None),
        ("fallback: manager", "the fallback 'manager' needs a 'managerAgent'", None),
    ],
)
def test_what_is_wrong_has_its_place(block, message, hint):
    (problem,) = problems(f"consensus: {{{block}}}")
    path = f"consensus.{block.partition(':')[0]}"
    assert (problem.path, problem.message, problem.hint) == (path, message, hint)
    assert (problem.line, problem.column is None) == (2, False)


def test_a_wrong_weight_has_its_place():
    found = problems("consensus: {rule: weighted, weights: {a: much, aa: 1}}")
    assert [(one.path, one.message, one.hint) for one in found] == [
        ("consensus.weights.a", "must be a number, not the text 'much'", None),
        ("consensus.weights.aa", "no agent 'aa' votes", "a"),
    ]


def test_there_is_one_block():
    (problem,) = problems("consensus: majority")
    assert (problem.path, problem.message) == ("consensus", "must be a mapping, not the text 'majority'")
    (problem,) = problems("consensus: {rule: borda}\nconsensusConfig: {rule: borda}")
    assert (problem.path, problem.line) == ("consensusConfig", 3)
    assert problem.message == "stands beside 'consensus', which is the same"


def test_it_takes_two_to_agree_and_three_to_decide():
    (problem,) = problems("", "agents: {a: {}}\ntasks: {t: {description: d}}\n")
    assert problem.message == "process 'consensual' needs two agents at least, the manager left out"
    two = "agents: {a: {}, b: {}}\ntasks: {t: {description: d}}\n"
    (finding,) = crew("", two).findings
    assert (finding.code, finding.severity, finding.line) == ("always-tied", "warning", 1)
    assert crew("consensus: {rule: weighted, weights: {a: 2}}", two).findings == ()
    led = "managerAgent: c\nconsensus: {fallback: manager}"
    assert [found.code for found in crew(led).findings] == ["always-tied"]


def test_what_has_no_effect_is_said():
    (finding,) = crew("consensus: {weights: {a: 1}}").findings
    assert (finding.code, finding.path) == ("no-effect", "consensus.weights")
    assert finding.message == "'weights' has no effect with the rule 'majority', only with 'weighted'"
    (finding,) = crew("consensus: {threshold: 0.9}").findings
    assert "only with 'super-majority'" in finding.message
    tasks = "t: {description: d, agent: a}, u: {description: d, agent: b}"
    named = f"agents: {{a: {{}}, b: {{}}, c: {{}}}}\ntasks: {{{tasks}}}\n"
    (finding,) = crew("", named).findings
    assert (finding.severity, finding.path) == ("note", "tasks.t.agent")
    (finding,) = crew("consensus: {rule: borda}", process="sequential").findings
    assert finding.message == "carried, not acted on: consensus"
    (finding,) = crew("managerAgent: a").findings
    assert finding.message == "carried, not acted on: managerAgent"


def test_the_schema_knows_the_block():
    block = crew_schema()["properties"]["consensus"]
    assert set(block["properties"]) >= {
        "rule",
        "quorum",
        "weights",
        "discussionRounds",
        "discussion_rounds",
        "fallback",
        "threshold",
    }
    assert block["additionalProperties"] is False
    assert "super-majority" in json.dumps(block["properties"]["rule"])
    assert crew_schema()["properties"]["consensusConfig"]["properties"] == block["properties"]
