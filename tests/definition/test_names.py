"""Which texts are names, and which one was meant."""

import pytest

from orkeon_transitions.definition import nearest
from orkeon_transitions.definition.names import camel_case, is_callback_name, snake_case, unfit_character


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("strat", "start"),
        ("START", "start"),
        ("ennd", "end"),
        ("finished", None),
        ("", None),
        ("Start-Up", "start_up"),
    ],
)
def test_nearest(name, near):
    assert nearest(name, ["start", "end", "start_up"]) == near
    assert nearest(name, []) is None


@pytest.mark.parametrize(
    ("camel", "snake"),
    [
        ("maxStateVisits", "max_state_visits"),
        ("onEnter", "on_enter"),
        ("name", "name"),
        ("usd2Limit", "usd2_limit"),
    ],
)
def test_spellings(camel, snake):
    assert snake_case(camel) == snake == snake_case(snake)
    assert camel_case(snake) == camel


def test_other_texts_stay():
    assert snake_case("ABC") == "ABC"
    assert snake_case("Final") == "Final"


def test_unfit_characters():
    assert unfit_character("plain é 状態 🙂 \u200d") is None
    for unfit in "\n\t\x00\x1b\x7f\x85\u2028\u2029\ud800":
        assert unfit_character(f"a{unfit}b") == unfit


def test_callback_names():
    assert all(map(is_callback_name, ["note", "_note", "приём", "note2"]))
    assert not any(map(is_callback_name, ["", "a.b", "2a", "a b", "class", "a()"]))
