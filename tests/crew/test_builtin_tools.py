import asyncio
import os
import sys

import pytest

from orkeon_transitions.crew import Mount, ToolError
from orkeon_transitions.crew.builtin_tools import BUILTIN_NAMES, builtin_tools
from orkeon_transitions.crew.mounts import MOST_ENTRIES, Mounts


@pytest.fixture
def call(tmp_path):
    tools = builtin_tools(Mounts([Mount(tmp_path, "/w", "rw")]))
    return lambda name, **arguments: asyncio.run(tools[name].answer(arguments))


def test_there_are_four():
    assert tuple(builtin_tools(Mounts())) == BUILTIN_NAMES


def test_files_are_written_listed_and_read(call):
    assert call("directory_read", path="/w") == "[empty]"
    assert call("file_write", path="/w/d/x.txt", content="grüß") == "wrote 6 bytes to /w/d/x.txt"
    assert call("directory_read", path="/w") == "d/"
    assert call("file_read", path="/w/d/x.txt") == "grüß"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"text\x00more"])
def test_a_binary_file_is_named_as_one(call, tmp_path, content):
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(ToolError, match="binary"):
        call("file_read", path="/w/b")


def test_a_huge_directory_is_cut(call, tmp_path):
    for n in range(MOST_ENTRIES + 3):
        (tmp_path / f"f{n:05}").touch()
    assert call("directory_read", path="/w").splitlines()[-1] == "[cut: 3 more]"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 1}', "an object with 1 keys"),
        ("[1, 2]", "a list of 2"),
        ('"x"', "a text"),
        ("null", "null"),
        ("true", "a boolean"),
        ("1.5", "a number"),
    ],
)
def test_json_is_checked(call, text, kind):
    assert call("json_tool", text=text) == f"valid JSON: {kind}"


def test_json_is_formatted_and_its_keys_listed(call):
    assert call("json_tool", text='{"a":1,"b":"ü"}', action="format") == '{\n  "a": 1,\n  "b": "ü"\n}'
    assert call("json_tool", text='{"a":1,"b":2}', action="keys") == "a\nb"


@pytest.mark.parametrize(
    ("text", "action", "needle"),
    [
        ("{", "check", "no valid JSON"),
        ("[" * 100_000, "check", "nested too deep"),
        ("[1]", "keys", "no object"),
    ],
)
def test_what_is_no_json_is_said(call, text, action, needle):
    with pytest.raises(ToolError, match=needle):
        call("json_tool", text=text, action=action)


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", '{"a": ' + "9" * 5_000 + "}"])
def test_what_is_no_json_for_others_is_none_here(call, text):
    with pytest.raises(ToolError, match="no valid JSON"):
        call("json_tool", text=text)


def test_a_content_that_is_no_text_is_an_answer_and_touches_nothing(call, tmp_path):
    with pytest.raises(ToolError, match="the content is no text"):
        call("file_write", path="/w/x", content="half a pair: \ud83d")
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes")
def test_names_that_are_no_line_of_text_are_left_out_and_counted(call, tmp_path):
    for name in (b"good", b"two\nlines", b"bad\xff"):
        (tmp_path / os.fsdecode(name)).touch()
    listed = call("directory_read", path="/w")
    assert listed.splitlines() == ["good", "[left out: 2 whose name is not one line of text]"]
