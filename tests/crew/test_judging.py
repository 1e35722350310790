"""How a judge's answer is read."""

import pytest

from orkeon_transitions.crew import load_crew
from orkeon_transitions.crew.judging import MOST_SHOWN, judge_prompt, read_verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("ACCEPTED", None),
        ("accepted.", None),
        ("**ACCEPTED**: fine work", None),
        ("Verdict ACCEPTED", None),
        ("REJECTED: too long", "too long"),
        ("rejected", "it does not meet its criteria"),
        ("`REJECTED`: a: b\nmore", "a: b"),
        ("NOT ACCEPTED", "whoever judged it gave no verdict"),
        ("It is ACCEPTED by some, I think", "whoever judged it gave no verdict"),
        ("", "whoever judged it gave no verdict"),
        ("I will not judge.", "whoever judged it gave no verdict"),
    ],
)
def test_only_a_clear_word_accepts(text, verdict):
    assert read_verdict(text) == verdict


def test_a_judge_sees_no_more_than_it_can_read():
    task = load_crew("agents: {a: {}}\ntasks: {t: {description: d}}\n").tasks["t"]
    prompt = judge_prompt(task, "c", "x" * 10 * MOST_SHOWN)
    assert len(prompt) < 2 * MOST_SHOWN
    assert "Expected output" not in prompt
