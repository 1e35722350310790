"""Whatever stands in a file, the command line says what is wrong in words and writes nothing."""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from orkeon_transitions.cli import main

WORDS = [
    "initial",
    "states",
    "transitions",
    "agents",
    "tasks",
    "name",
    "a",
    "b",
    "go",
    "*",
    "=",
    "circuit_breaker",
]
SCALARS = st.none() | st.booleans() | st.integers() | st.sampled_from(WORDS) | st.text(max_size=5)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=25,
)
FILES = (
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.text(alphabet="abgo:[]{}-&*!?|>'\"#%, \n\t", max_size=80).map(str.encode)
    | DATA.map(lambda data: json.dumps(data).encode())
)
RECORDS = st.lists(
    st.dictionaries(
        st.sampled_from(
            ["timestamp", "session_id", "trigger", "from_state", "to_state", "fact", "machine", "v"]
        ),
        SCALARS | st.just("2026-01-01T00:00:00Z"),
    ).map(json.dumps)
    | st.text(max_size=20),
    max_size=5,
).map(lambda lines: "\n".join(lines).encode("utf-8", "surrogatepass"))


def run(content, *arguments):
    """Runs `orkeon` on a file in a folder of its own; gives the code, the words and what it wrote."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("file").write_bytes(content)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(arguments)
            written = sorted(path.name for path in Path().iterdir() if path.name != "file")
        finally:
            os.chdir(before)
    assert "Traceback" not in err.getvalue()
    assert "--debug shows where" not in err.getvalue()
    return code, out.getvalue() + err.getvalue(), written


@given(FILES)
def test_any_file_can_be_checked(content):
    code, words, written = run(content, "check", "file")
    assert code in {0, 2}
    assert words.startswith("file")
    assert not written


@given(FILES)
def test_any_file_can_be_drawn_or_is_refused(content):
    code, words, written = run(content, "render", "file", "-o", "out.mmd")
    assert (code, written) in [(0, ["out.mmd"]), (2, [])]
    assert "file" in words or code == 0


@given(FILES)
def test_any_file_can_be_run_or_is_refused(content):
    code, words, written = run(content, "run", "file", "--json")
    assert code in {0, 1, 2, 3}
    if code == 2:
        assert "file" in words
        assert not written


@given(RECORDS)
def test_any_log_can_be_replayed_or_is_refused(content):
    code, words, written = run(content, "replay", "file", "--machine", "hermes_agent", "--json")
    assert code in {0, 2}
    assert code == 0 or "file" in words
    assert not written
