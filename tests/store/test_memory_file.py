"""A session's entry in `MEMORY.md`: others' entries stay as they are, whatever happens."""

import os
import stat

import pytest

from orkeon_transitions.errors import JournalError, OrkeonError
from orkeon_transitions.machines import AsyncHermesAgentFSM, HermesAgentFSM, TaskExecution
from orkeon_transitions.store import disk
from orkeon_transitions.store.disk import lock_file
from orkeon_transitions.store.memory_file import recall, recall_all, remember

OTHERS = "likes short answers\n§\nuses Debian,\nand vim"


@pytest.fixture
def memory(tmp_path):
    path = tmp_path / "MEMORY.md"
    path.write_bytes(OTHERS.encode())
    return path


@pytest.fixture
def agent():
    agent = HermesAgentFSM("s1")
    agent.receive_task(task="compare")
    return agent


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


# ------------------------------------------------------------------------------------------------- writing
def test_an_entry_is_added_after_the_others(memory, agent):
    entry = remember(agent, memory, store_url="sqlite:///m.db")
    assert memory.read_bytes() == f"{OTHERS}\n§\n{entry}".encode()
    assert entry.startswith("orkeon-session s1: planning, 1 transition, ")
    assert names_in(memory.parent) == ["MEMORY.md", "MEMORY.md.lock"]


def test_a_file_that_is_not_there_is_made_for_its_owner_alone(tmp_path, agent):
    entry = remember(agent, tmp_path / "MEMORY.md")
    assert (tmp_path / "MEMORY.md").read_bytes() == entry.encode()
    assert stat.S_IMODE((tmp_path / "MEMORY.md").stat().st_mode) == 0o600


def test_an_empty_file_takes_an_entry(tmp_path, agent):
    (tmp_path / "MEMORY.md").touch()
    entry = remember(agent, str(tmp_path / "MEMORY.md"))
    assert (tmp_path / "MEMORY.md").read_bytes() == entry.encode()


def test_a_session_s_entry_is_replaced_whole_and_in_its_place(memory, agent):
    memory.write_text(f"first\n§\norkeon-session s1: old\nand more\n§\n{OTHERS}")
    agent.plan_steps = ["one"]
    agent.plan_ready()
    entry = remember(agent, memory)
    assert memory.read_text() == f"first\n§\n{entry}\n§\n{OTHERS}"
    assert "executing, 2 transitions" in entry


def test_each_session_has_one_entry(memory, agent):
    others = [HermesAgentFSM(name) for name in ("s", "s11", "s1: x", "S1")]
    for each in [*others, agent] * 2:
        remember(each, memory)
    pointers = recall_all(memory)
    assert [pointer.session_id for pointer in pointers] == ["s", "s11", "s1: x", "S1", "s1"]
    assert memory.read_text().startswith(f"{OTHERS}\n§\norkeon-session s: idle")


@pytest.mark.parametrize(
    "task", ["§", "a\n§\nb", "\n§\n", "§\n", "a\r\n§\r\nb", "a\u2028§\u2028b", "a\x0b§\x0bb"]
)
def test_no_text_can_break_the_format(memory, task):
    agent = HermesAgentFSM("s\n§\n1")
    agent.receive_task(task="do " + task)
    remember(agent, memory)
    entry = remember(agent, memory)
    assert memory.read_text().split("\n§\n") == [*OTHERS.split("\n§\n"), entry]
    assert recall(memory, "s\n§\n1").text == entry


def test_an_async_session_is_remembered_as_well(memory):
    remember(AsyncHermesAgentFSM("s2"), memory)
    assert recall(memory, "s2").state == "idle"


def test_no_transition_writes(memory, agent):
    remember(agent, memory)
    before = memory.stat()
    agent.plan_steps = ["one"]
    agent.plan_ready()
    agent.finish_execution(result="done")
    assert (memory.stat().st_ino, memory.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("value", [TaskExecution(), HermesAgentFSM, None, "s1"])
def test_only_sessions_are_remembered(memory, value):
    with pytest.raises(TypeError, match="such as a HermesAgentFSM"):
        remember(value, memory)
    assert memory.read_bytes() == OTHERS.encode()


# ------------------------------------------------------------------------- files that are left as they are
# case E07
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"one\r\n\xc2\xa7\r\ntwo", "line 1: a carriage return"),
        (b"one\n\xc2\xa7\ntwo\rthree", "line 3: a carriage return"),
        (b"\xef\xbb\xbfone\n\xc2\xa7\ntwo", "byte order mark"),
        (b"one\n\xc2\xa7\ntw\xff", "line 3: not UTF-8"),
        ("one\n§\ntwo".encode("utf-16"), "not UTF-8"),
        ("one\n§\ntwo".encode("latin-1"), "line 2: not UTF-8"),
        (b"one\n", "line 1: an entry has blanks or newlines around it"),
        (b"\n", "line 1: an entry has blanks or newlines around it"),
        (b"# Notes\n\n## Debian\n\nvim\n", "line 1: an entry has blanks"),
        ("one\n\n§\n\ntwo".encode(), "line 1: an entry has blanks"),
        ("one\n§\n two".encode(), "line 3: an entry has blanks"),
        ("one\n§\ntwo\u2003".encode(), "line 3: an entry has blanks"),
        ("one\n§\n".encode(), "line 3: an entry is missing"),
        ("one\n§".encode(), "line 1: an entry is missing"),
        ("§\none".encode(), "line 1: an entry is missing"),
        ("§".encode(), "line 1: an entry is missing"),
        ("one\n§\n§\ntwo".encode(), "line 3: an entry is missing"),
        ("one\n§\n\n§\ntwo".encode(), "line 3: an entry is missing"),
        ("one\n§\ntwo\n§\none".encode(), "line 5: an entry is there twice"),
        (b"x" * 2_201, "at most 2,200"),
        (b"x" * 2_150, "at most 2,200"),
        ("orkeon-session s1: a\n§\norkeon-session s1: b".encode(), "2 entries that begin with"),
    ],
)
def test_a_file_in_another_format_is_left_and_told(memory, agent, content, why):
    memory.write_bytes(content)
    before = memory.stat()
    with pytest.raises(JournalError, match=why) as caught:
        remember(agent, memory)
    assert f"{memory} is left as it is: " in str(caught.value)
    assert memory.read_bytes() == content
    assert (memory.stat().st_ino, memory.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert names_in(memory.parent) == ["MEMORY.md", "MEMORY.md.lock"]


# case E07
@pytest.mark.parametrize(
    "content",
    [
        "# Notes\n\n## Debian\n\nvim",
        "a § in a line",
        " § \n".join("ab"),
        "§ 17 BGB",
        "#",
        "§§\n§§§",
        "日本語\n§\n🎉",
    ],
)
def test_whatever_round_trips_is_kept(memory, agent, content):
    memory.write_bytes(content.encode())
    entry = remember(agent, memory)
    assert memory.read_bytes() == f"{content}\n§\n{entry}".encode()


def test_the_limit_counts_characters_and_is_reached_exactly(memory, agent):
    room = 2_200 - len("\n§\n") - len(remember(agent, memory))
    memory.write_text("ü" * room, encoding="utf-8")
    remember(agent, memory)
    assert len(memory.read_text(encoding="utf-8")) == 2_200
    memory.write_text("ü" * (room + 1), encoding="utf-8")
    with pytest.raises(JournalError, match="2,201 characters"):
        remember(agent, memory)


# ------------------------------------------------------------------------------------------------- reading
# case E07
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.replace("\n§\n", "\n\n § \n\n").encode(),
        lambda text: f"\n§\n{text}\n§\n\n".encode(),
        lambda text: b"caf\xe9\n" + "§\n".encode() + text.encode(),
    ],
)
def test_a_session_is_found_whoever_has_edited_the_file(memory, agent, change):
    entry = remember(agent, memory)
    memory.write_bytes(change(f"{entry}\n§\n{OTHERS}"))
    assert recall(memory, "s1").text == entry
    assert recall(memory, "s2") is None
    assert len(recall_all(memory)) == 1


def test_a_file_that_is_not_there_remembers_nobody(tmp_path):
    assert recall(tmp_path / "MEMORY.md", "s1") is None
    assert recall_all(tmp_path / "none" / "MEMORY.md") == []
    assert names_in(tmp_path) == []


# ------------------------------------------------------------------------------ links, permissions, trouble
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o660, 0o4640 & 0o777])
def test_permissions_stay(memory, agent, mode):
    memory.chmod(mode)
    remember(agent, memory)
    assert stat.S_IMODE(memory.stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(memory, agent):
    os.chown(memory, 1234, 2345)
    remember(agent, memory)
    assert (memory.stat().st_uid, memory.stat().st_gid) == (1234, 2345)


def test_an_owner_that_cannot_be_kept_keeps_nobody_from_remembering(memory, agent, monkeypatch):
    real = os.stat_result

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(disk.os, "chown", refuse)
    status = memory.stat()
    other = real((status.st_mode, 0, 0, 1, status.st_uid + 1, status.st_gid, 0, 0, 0, 0))
    disk.replace_file(memory, b"new", other)
    assert memory.read_bytes() == b"new"


def test_a_link_stays_one_and_its_target_is_written(tmp_path, memory, agent):
    (tmp_path / "home").mkdir()
    link = tmp_path / "home" / "MEMORY.md"
    link.symlink_to("../MEMORY.md")
    entry = remember(agent, link)
    assert link.is_symlink()
    assert memory.read_text() == f"{OTHERS}\n§\n{entry}"
    assert names_in(tmp_path) == ["MEMORY.md", "MEMORY.md.lock", "home"]
    assert names_in(tmp_path / "home") == ["MEMORY.md", "MEMORY.md.lock"]


@pytest.mark.parametrize("locked", ["MEMORY.md.lock", "link.md.lock"])
def test_a_link_s_own_lock_and_its_target_s_are_both_taken(tmp_path, memory, agent, locked):
    (tmp_path / "link.md").symlink_to(memory)
    with (
        lock_file(tmp_path / locked, 0),
        pytest.raises(JournalError, match=f"another process holds {locked}"),
    ):
        remember(agent, tmp_path / "link.md", lock_timeout=0)


def test_a_link_that_leads_nowhere_yet_is_filled(tmp_path, agent):
    (tmp_path / "link.md").symlink_to("MEMORY.md")
    remember(agent, tmp_path / "link.md")
    assert (tmp_path / "link.md").is_symlink()
    assert recall(tmp_path / "MEMORY.md", "s1") is not None


def loop(path):
    path.symlink_to(path)


def read_only(path):
    path.write_bytes(b"x")
    path.chmod(0o444)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.mkdir(), "no regular file"),
        (os.mkfifo, "no regular file"),
        (loop, "loop"),
        (read_only, "read-only"),
        (lambda path: path.with_name("MEMORY.md.lock").mkdir(), "directory"),
    ],
)
def test_what_cannot_be_written_is_one_clear_error(tmp_path, agent, make, why):
    make(tmp_path / "MEMORY.md")
    with pytest.raises(JournalError, match=rf"cannot write .*MEMORY\.md: .*(?i:{why})"):
        remember(agent, tmp_path / "MEMORY.md")


def test_a_folder_that_is_missing_is_named(tmp_path, agent):
    with pytest.raises(JournalError, match=r"the folder '.*nowhere' does not exist"):
        remember(agent, tmp_path / "nowhere" / "MEMORY.md")


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), os.mkfifo])
def test_what_cannot_be_read_is_one_clear_error(tmp_path, make):
    make(tmp_path / "MEMORY.md")
    with pytest.raises(JournalError, match=r"cannot read .*MEMORY\.md: it is no regular file"):
        recall_all(tmp_path / "MEMORY.md")


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_failure_on_the_way_leaves_the_file_and_no_draft(memory, agent, monkeypatch, broken):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.os if broken == "fsync" else disk.Path, broken, fail)
    with pytest.raises(JournalError, match="No space left on device"):
        remember(agent, memory)
    assert memory.read_bytes() == OTHERS.encode()
    assert names_in(memory.parent) == ["MEMORY.md", "MEMORY.md.lock"]


def test_a_session_that_cannot_be_named_leaves_the_file(memory):
    with pytest.raises(OrkeonError, match="cannot be remembered"):
        remember(HermesAgentFSM("s" * 400), memory)
    assert memory.read_bytes() == OTHERS.encode()


# --------------------------------------------------------------------------------------- through a store
@pytest.fixture
def store(tmp_path):
    pytest.importorskip("sqlalchemy")
    from orkeon_transitions.store import MachineStore

    with MachineStore(f"sqlite:///{tmp_path / 'machines.db'}") as store:
        yield store


def test_a_store_remembers_where_its_sessions_are(store, memory):
    agent = store.create(HermesAgentFSM, "s1", machine_id="crew/s1")
    agent.receive_task(task="compare")
    entry = store.remember(agent, memory)
    assert memory.read_text() == f"{OTHERS}\n§\n{entry}"
    pointer = store.recall(memory, "s1")
    assert pointer.store == store.url
    assert store.load(HermesAgentFSM, pointer.machine_id).state == "planning"
    assert store.recall(memory, "s2") is None


def test_a_store_remembers_no_session_that_it_does_not_keep(store, memory, agent):
    with pytest.raises(OrkeonError, match="not saved in"):
        store.remember(agent, memory)
    with pytest.raises(TypeError, match="such as a HermesAgentFSM"):
        store.remember("s1", memory)
    assert memory.read_bytes() == OTHERS.encode()
