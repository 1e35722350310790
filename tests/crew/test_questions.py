"""How answers to a process's questions are read: models write what was asked for in many ways."""

import pytest

from orkeon_transitions.crew.questions import read_assignment, read_ballot, read_choice, read_review

LABELS = ["A", "B", "C"]


@pytest.mark.parametrize(
    "answer",
    [
        '{"ranking": ["A", "B"]}',
        '{"ranking": ["a", " b "]}',
        '{"Ranking": ["A", "B"], "why": "because"}',
        'I think:\n```json\n{"ranking": ["A", "B"]}\n```\nThat is my ballot.',
        '{"ballot": {"ranking": ["A", "B"]}}',
        '{"ranking": ["Answer A", "answer B:"]}',
        '{"ranking": ["**A**", "(B)"]}',
        '{"ranking": ["[A]", "\'b\'"]}',
        '{"ranking": ["Option_A", "Candidate: B"]}',
        '{"ranking": "A > B"}',
        '{"ranking": "A, Answer B"}',
        '{"ranking": ["A", "B"], "why": 7}',
    ],
)
def test_a_ballot_is_read_in_whichever_form(answer):
    assert read_ballot(answer, LABELS).ranking == ("A", "B")


@pytest.mark.parametrize("answer", ['{"ranking": []}', '{"ranking": ""}'])
def test_an_empty_one_is_an_abstention(answer):
    assert read_ballot(answer, LABELS).ranking == ()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("A > B", "holds no JSON object"),
        ('{"ranking": ["D"]}', "there is no answer 'D'"),
        ('{"ranking": ["all of them"]}', "there is no answer 'ALL OF THEM'"),
        ('{"ranking": ["A", "(a)"]}', "each label once"),
        ('{"ranking": {"A": 1}}', "must be a list of labels"),
        ('{"ranking": [1, 2]}', "must be a list of labels"),
        ('{"ranking": null}', "must be a list of labels"),
    ],
)
def test_what_is_no_ballot_is_said(answer, why):
    with pytest.raises(ValueError, match=r"answer|label") as raised:
        read_ballot(answer, LABELS)
    assert why in str(raised.value)


@pytest.mark.parametrize("answer", ['{"choice": "b"}', '{"Choice": "Answer B."}'])
def test_so_is_a_choice(answer):
    assert read_choice(answer, LABELS).ranking == ("B",)


def test_keys_are_found_in_any_case():
    assert read_assignment('{"Agent": " writer ", "WHY": "x"}').agent == "writer"
    assert read_review('{"Accepted": true}').accepted is True
