"""The room's surface."""

import pytest

import orkeon_transitions.store as room
from orkeon_transitions.errors import MissingExtraError


def test_without_sqlalchemy_the_store_names_its_extra(monkeypatch):
    monkeypatch.setattr(room, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"orkeon-transitions\[store\]"):
        from orkeon_transitions.store import MachineStore  # noqa: F401  (it is refused)


def test_another_name_is_a_plain_attribute_error():
    assert not hasattr(room, "Journal")


def test_every_exported_name_is_there():
    assert all(hasattr(room, name) for name in room.__all__)
