"""The room's surface."""

import pytest

import orkeon_transitions.store as room
from orkeon_transitions.errors import OrkeonError


def test_what_is_not_there_yet_is_refused_by_name():
    with pytest.raises(OrkeonError, match=r"MachineStore.*not part of this version"):
        from orkeon_transitions.store import MachineStore  # noqa: F401  (it is refused)


def test_another_name_is_a_plain_attribute_error():
    assert not hasattr(room, "Journal")


def test_every_exported_name_is_there():
    assert all(hasattr(room, name) for name in room.__all__)
