import pytest

from orkeon_transitions.crew.placeholders import fill, names_in


def test_names_are_found_once_each():
    assert names_in("about {topic} and {topic}, for {who}") == ["topic", "who"]


@pytest.mark.parametrize("text", ["", "{}", "{ topic }", '{"a": 1}', "{1}", "{{topic}}"])
def test_other_braces_ask_for_nothing(text):
    assert names_in(text) == []


def test_inputs_are_put_in_and_not_looked_through_again():
    assert fill("{a} {{a}} {b}", {"a": "{b}", "b": 7}) == "{b} {a} 7"
