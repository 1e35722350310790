"""The memory's law: everyone else's entries are untouched, whatever the file holds."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from orkeon_transitions.errors import JournalError
from orkeon_transitions.machines import HermesAgentFSM
from orkeon_transitions.store.memory_entry import entry_prefix
from orkeon_transitions.store.memory_file import recall, recall_all, remember

BETWEEN = "\n§\n"
ODD = st.sampled_from(
    ["§", "\n", "\n§\n", "\r\n", "\ufeff", " ", "\u2028", "\u200b", "orkeon-session s:", "#", "x"]
)
TEXTS = st.lists(ODD | st.text(max_size=8), max_size=12).map("".join)
NAMES = TEXTS.filter(lambda name: name and len(entry_prefix(name)) < 150)


def is_entry(text):
    """Whether Hermes may have written it."""
    return bool(text) and text == text.strip() and "§" not in text.split("\n") and "\r" not in text


def is_plain(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return not text.startswith(("\ufeff", "orkeon-session"))


ENTRIES = TEXTS.map(str.strip).filter(is_entry).filter(is_plain)
FILES = (
    st.binary(max_size=60)
    | TEXTS.map(lambda text: text.encode("utf-8", "replace"))
    | st.lists(TEXTS, max_size=5).map(lambda texts: BETWEEN.join(texts).encode("utf-8", "replace"))
)


def session(name, task):
    agent = HermesAgentFSM(name)
    agent.try_fire("receive_task", task=task)
    return agent


@given(st.lists(ENTRIES, max_size=6, unique=True), st.lists(st.tuples(NAMES, TEXTS), min_size=1, max_size=6))
def test_others_entries_stay_as_they_are_and_where_they_are(others, sessions):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "MEMORY.md"
        path.write_bytes(BETWEEN.join(others).encode())
        entries = {name: remember(session(name, task), path) for name, task in sessions}
        assert path.read_bytes().decode().split(BETWEEN) == [*others, *entries.values()]
        assert all(len(entry) < 300 and is_entry(entry) for entry in entries.values())
        assert {pointer.session_id: pointer.text for pointer in recall_all(path)} == entries
        for name in entries:
            assert recall(path, name).machine_id == name


@given(FILES, NAMES, TEXTS)
def test_any_file_is_left_or_only_gains_an_entry(content, name, task):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "MEMORY.md"
        path.write_bytes(content)
        told = recall_all(path)
        try:
            entry = remember(session(name, task), path, store_url="sqlite:///m.db")
        except JournalError as error:
            assert "is left as it is" in str(error)  # noqa: PT017  (some files are left, some are not)
            assert path.read_bytes() == content
            return
        after = path.read_bytes()
        place = after.index(entry.encode())
        before, behind = after[:place], after[place + len(entry.encode()) :]
        mine = [pointer.text for pointer in told if pointer.session_id == name]
        if mine:
            assert before + mine[0].encode() + behind == content
        else:
            assert behind == b""
            assert before == (content + BETWEEN.encode() if content else b"")


@given(FILES)
def test_reading_never_fails_on_what_the_file_holds(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "MEMORY.md"
        path.write_bytes(content)
        for pointer in recall_all(path):
            assert recall(path, pointer.session_id) is not None
        assert path.read_bytes() == content


@given(TEXTS, st.integers(0, 2_300))
def test_the_file_never_grows_over_the_limit(text, length):
    others = (text.strip() + "x" * length)[:length]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "MEMORY.md"
        path.write_bytes(others.encode("utf-8", "replace"))
        content = path.read_bytes()
        try:
            remember(session("s1", text), path)
        except JournalError:
            assert path.read_bytes() == content
        else:
            assert len(path.read_bytes().decode()) <= 2_200
