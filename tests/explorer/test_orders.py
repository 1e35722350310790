"""What a page may ask for: read strictly, refused in words."""

import pytest

from orkeon_transitions.explorer.orders import BadOrderError, Fire, Rows, Seek, SetField, read_order


def test_an_order_is_read_with_its_arguments():
    assert read_order({"do": "fire", "trigger": "go"}) == Fire(do="fire", trigger="go")
    assert read_order({"do": "fire", "trigger": "go", "context": {"a": 1}}).context == {"a": 1}
    assert read_order({"do": "set", "field": "x", "value": None}) == SetField(do="set", field="x", value=None)
    assert read_order({"do": "seek", "at": 3}) == Seek(do="seek", at=3)
    assert read_order({"do": "rows", "first": 0}).count == 200
    assert isinstance(read_order({"do": "rows", "first": 0, "count": 5}), Rows)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (None, "a mapping"),
        ([], "a mapping"),
        ({}, '"do"'),
        ({"do": 3}, '"do"'),
        ({"do": "explode"}, "there is no 'explode' to do: it can be fire, set"),
        ({"do": "x" * 1000}, "there is no 'xxx"),
        ({"do": "fire"}, "fire: trigger: Field required"),
        ({"do": "fire", "trigger": 3}, "fire: trigger"),
        ({"do": "fire", "trigger": "x" * 10_001}, "fire: trigger"),
        ({"do": "fire", "trigger": "go", "context": "yes"}, "fire: context"),
        ({"do": "fire", "trigger": "go", "contxt": {}}, "fire: contxt: Extra inputs"),
        ({"do": "undo", "times": 2}, "undo: times"),
        ({"do": "seek", "at": -1}, "seek: at"),
        ({"do": "seek", "at": "3"}, "seek: at"),
        ({"do": "seek", "at": 1.5}, "seek: at"),
        ({"do": "seek", "at": True}, "seek: at"),
        ({"do": "seek", "at": 10**30}, "seek: at"),
        ({"do": "rows", "first": 0, "count": 100_000}, "rows: count"),
        ({"do": "rows", "first": 0, "count": 0}, "rows: count"),
        ({"do": "select", "machine": None}, "select: machine"),
        ({"do": "export"}, "export: format"),
    ],
)
def test_what_is_no_order_is_refused_in_words(message, words):
    with pytest.raises(BadOrderError) as refused:
        read_order(message)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 300
