import pytest

from orkeon_transitions.crew.transplanting import NotSimpleError, Transplant

TEXT = (
    "a:\n  role: A\n  tags:\n  - x\n\n  - y\n\n"
    "  goal: |\n    # no comment\n\n    more\n# after\nb: {role: B}\n"
)


def test_lines_are_moved_to_the_right_and_empty_ones_stay_empty():
    assert Transplant.of("a:\n\n  b\r\n").text(indented=True) == "  a:\n\n    b\n"
    assert Transplant.of("a:\n\n  b").text(indented=False) == "a:\n\n  b\n"


def test_a_key_is_switched_off_with_all_that_it_holds():
    transplant = Transplant.of(TEXT)
    transplant.switch_off([(3, 3), (8, 3)])
    assert transplant.text(indented=False) == (
        "a:\n  role: A\n  # tags:\n  # - x\n\n  # - y\n\n"
        "  # goal: |\n  #   # no comment\n\n  #   more\n# after\nb: {role: B}\n"
    )


def test_what_is_switched_off_twice_is_switched_off_once():
    transplant = Transplant.of("a:\n  b:\n    c: 1\n")
    transplant.switch_off([(3, 5), (2, 3)])
    assert transplant.text(indented=False) == "a:\n  # b:\n    # c: 1\n"


@pytest.mark.parametrize("place", [(13, 5), (None, None)])
def test_a_key_that_does_not_begin_its_line_is_no_simple_matter(place):
    with pytest.raises(NotSimpleError):
        Transplant.of(TEXT).switch_off([place])


@pytest.mark.parametrize("text", ["a: One", "a: 'One'", 'a: "One"', "a: One # One"])
def test_a_name_is_put_in_place_of_another(text):
    transplant = Transplant.of(text)
    transplant.rename((1, 4), "One", "another")
    assert transplant.text(indented=False) == text.replace("One", "another", 1) + "\n"


@pytest.mark.parametrize(
    ("text", "place"), [("a: Two", (1, 4)), ("a: One", (None, None)), ("a: 'O\\x6ee'", (1, 4))]
)
def test_where_something_else_stands_nothing_is_put(text, place):
    with pytest.raises(NotSimpleError):
        Transplant.of(text).rename(place, "One", "another")


@pytest.mark.parametrize("start", ["---\n", "# Ours.\n--- \n", "\n---\n"])
def test_the_mark_at_the_start_of_a_document_goes(start):
    text = Transplant.of(f"{start}a: 1\n").text(indented=True)
    assert "---" not in text
    assert text.endswith("\n  a: 1\n") or text == "\n  a: 1\n"


@pytest.mark.parametrize("text", ["%YAML 1.1\n---\na: 1\n", "a: 1\n...\n", "a: 1\n---\nb: 1\n", "--- a: 1\n"])
def test_other_marks_of_documents_are_no_simple_matter(text):
    with pytest.raises(NotSimpleError):
        Transplant.of(text).text(indented=True)


@pytest.mark.parametrize("text", ["", "# only words\n"])
def test_a_text_without_keys_stays(text):
    assert Transplant.of(text).text(indented=False).strip() == text.strip()
