import os
import signal
from pathlib import Path

import pytest

from orkeon_transitions.crew import mounts as mounts_module
from orkeon_transitions.crew.mounts import MOST_BYTES, Mount, Mounts, MountSpec
from orkeon_transitions.crew.tool import ToolError


@pytest.fixture(autouse=True, params=[True, False], ids=["handles", "paths"])
def handles(request, monkeypatch):
    """Everything holds on systems with handles of directories and on those without."""
    monkeypatch.setattr(mounts_module, "HAS_DIRECTORY_HANDLES", request.param)
    return request.param


@pytest.fixture
def folders(tmp_path):
    code, out = tmp_path / "code", tmp_path / "out"
    (code / "src").mkdir(parents=True)
    (code / "src" / "a.ts").write_text("let a = 1")
    (code / "README.md").write_text("hello")
    (tmp_path / "secret.txt").write_text("secret")
    mounts = Mounts([Mount(code, "/code"), Mount(out, "/out", "rw")])
    return tmp_path, mounts


@pytest.mark.parametrize(
    ("text", "host", "virtual", "mode"),
    [
        ("./code:/code:ro", "./code", "/code", "ro"),
        ("out:/out:rw", "out", "/out", "rw"),
        ("code:/code", "code", "/code", "ro"),
        ("C:/data:/data:rw", "C:/data", "/data", "rw"),
        ("x://a//b/./:ro", "x", "/a/b", "ro"),
    ],
)
def test_a_mount_is_read_from_its_text(text, host, virtual, mode):
    assert MountSpec.parse(text) == MountSpec(host, virtual, mode)


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ("code", "must look like"),
        ("", "must look like"),
        (":/code:ro", "must look like"),
        ("code:/code:rx", "'rx' is neither"),
        ("code:code:ro", "absolute path"),
        ("code:/a/../b:ro", "absolute path"),
        ("co\0de:/a:ro", "absolute path"),
    ],
)
def test_another_text_is_refused(text, needle):
    with pytest.raises(ValueError, match=needle):
        MountSpec.parse(text)


def test_files_and_directories_are_read(folders):
    _, mounts = folders
    assert mounts.read("/code/src/a.ts") == b"let a = 1"
    assert mounts.read("//code/./README.md") == b"hello"
    assert mounts.entries("/code") == ["README.md", "src/"]
    assert mounts.entries("/") == ["code/", "out/"]


def test_writing_makes_folders_and_replaces_the_whole(folders):
    root, mounts = folders
    mounts.write("/out/deep/er/x.md", b"a long text")
    mounts.write("/out/deep/er/x.md", b"short")
    assert (root / "out/deep/er/x.md").read_bytes() == b"short"


@pytest.mark.parametrize(
    ("path", "needle"),
    [
        ("/code/../secret.txt", "'..' may not"),
        ("/code/src/../../secret.txt", "'..' may not"),
        ("../secret.txt", "'..' may not"),
        ("secret.txt", "begins with one of /code, /out"),
        ("/etc/passwd", "outside of /code, /out"),
        ("/codex/a", "outside"),
        ("/code/missing.ts", "does not exist"),
        ("/code/README.md/x", "refused"),
        ("/code/src", "no plain file"),
        ("/code", "is a directory"),
        ("/code/a\0b", "null character"),
        ("/code/\ud800.ts", "half a character"),
        ("/code/" + "n" * 300, "refused"),
    ],
)
def test_what_must_not_be_read_is_refused(folders, path, needle):
    with pytest.raises(ToolError, match=needle):
        folders[1].read(path)


def test_no_link_leads_out_or_anywhere(folders):
    root, mounts = folders
    (root / "code" / "leak").symlink_to(root / "secret.txt")
    (root / "code" / "away").symlink_to(root)
    (root / "code" / "inside").symlink_to(root / "code" / "src")
    (root / "out").mkdir()
    (root / "out" / "leak").symlink_to(root / "secret.txt")
    (root / "out" / "away").symlink_to(root)
    for path in ("/code/leak", "/code/away/secret.txt", "/code/inside/a.ts", "/out/leak"):
        with pytest.raises(ToolError, match="is a link"):
            mounts.read(path)
    with pytest.raises(ToolError, match="is a link"):
        mounts.entries("/code/away")
    for path in ("/out/leak", "/out/away/secret.txt"):
        with pytest.raises(ToolError, match="is a link"):
            mounts.write(path, b"overwritten")
    assert (root / "secret.txt").read_text() == "secret"
    assert mounts.entries("/code") == ["README.md", "src/"]


def test_a_read_only_mount_is_never_written(folders):
    root, mounts = folders
    with pytest.raises(ToolError, match="/code is read-only"):
        mounts.write("/code/new.ts", b"x")
    assert not (root / "code" / "new.ts").exists()


def test_what_cannot_be_written_is_refused(folders):
    root, mounts = folders
    with pytest.raises(ToolError, match="is a directory"):
        mounts.write("/out", b"x")
    with pytest.raises(ToolError, match="larger than"):
        mounts.write("/out/x", b"x" * (MOST_BYTES + 1))
    mounts.write("/out/file", b"x")
    with pytest.raises(ToolError, match="refused"):
        mounts.write("/out/file/below", b"x")
    (root / "out" / "folder").mkdir()
    with pytest.raises(ToolError, match="refused"):
        mounts.write("/out/folder", b"x")
    with pytest.raises(ToolError, match="cannot be made"):
        mounts.write("/out/" + "n" * 300 + "/x", b"x")
    (root / "blocked").write_text("a file where a folder should be")
    with pytest.raises(ToolError, match="cannot be made"):
        Mounts([Mount(root / "blocked" / "x", "/b", "rw")]).write("/b/x", b"x")


def test_large_files_and_pipes_are_refused_without_waiting(folders):
    root, mounts = folders
    (root / "code" / "big").write_bytes(b"x" * (MOST_BYTES + 1))
    os.mkfifo(root / "code" / "pipe")
    with pytest.raises(ToolError, match="larger than"):
        mounts.read("/code/big")
    with pytest.raises(ToolError, match="no plain file"):
        mounts.read("/code/pipe")


def test_a_mount_inside_of_another_is_found_first(tmp_path):
    for name in ("outer", "inner"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    mounts = Mounts([Mount(tmp_path / "outer", "/"), Mount(tmp_path / "inner", "/in")])
    assert mounts.read("/x") == b"outer"
    assert mounts.read("/in/x") == b"inner"
    assert mounts.entries("/") == ["x"]


def test_without_mounts_everything_is_refused():
    with pytest.raises(ToolError, match="there is none"):
        Mounts().read("/x")
    assert Mounts().entries("/") == []


def test_a_folder_swapped_for_a_link_on_the_way_leads_nowhere(folders, monkeypatch, handles):
    root, mounts = folders
    (root / "elsewhere").mkdir()
    (root / "elsewhere" / "a.ts").write_text("secret")
    really = os.open

    def swapping(name, *args, **kwargs):
        source = root / "code" / "src"
        if name == "src" and not source.is_symlink():
            source.rename(root / "code" / "moved")
            source.symlink_to(root / "elsewhere")
        return really(name, *args, **kwargs)

    monkeypatch.setattr(os, "open", swapping)
    if handles:
        with pytest.raises(ToolError, match="is a link"):
            mounts.read("/code/src/a.ts")
    else:
        assert mounts.read("/code/src/a.ts") == b"let a = 1"


def test_a_mounted_folder_may_itself_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").write_text("here")
    (tmp_path / "named").symlink_to(tmp_path / "real")
    assert Mounts([Mount(tmp_path / "named", "/n")]).read("/n/x") == b"here"


def test_a_read_only_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ToolError, match="/n does not exist"):
        Mounts([Mount(tmp_path / "none", "/n")]).entries("/n")


def test_a_writable_folder_that_is_not_there_yet_is_empty(tmp_path):
    mounts = Mounts([Mount(tmp_path / "none", "/n", "rw")])
    assert mounts.entries("/n") == mounts.entries("/n/.") == []
    assert not (tmp_path / "none").exists()
    with pytest.raises(ToolError, match="/n/sub does not exist"):
        mounts.entries("/n/sub")
    mounts.write("/n/sub/x", b"")
    assert mounts.entries("/n") == ["sub/"]


def test_a_full_disk_is_said(folders):
    """What the system really does, closing the file included: a limit for sizes stands in for the disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(ToolError, match="/out/x cannot be written: "):
            folders[1].write("/out/x", b"x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read")
def test_a_file_that_breaks_while_it_is_read_is_an_answer():
    with pytest.raises(ToolError, match="/p/mem cannot be read: "):
        Mounts([Mount(Path("/proc/self").resolve(), "/p")]).read("/p/mem")
