"""Whatever is wrong with a file: one clear message, exit code 2, no traceback, nothing written."""

import os
import re

import pytest

from orkeon_transitions import TaskExecution
from orkeon_transitions.store import MachineStore

BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}' if before else 'x'] * 10)}]\n"
    for name, before in zip("abcdef", ["", *"abcde"], strict=True)
)
BAD_FILES = {
    "missing": None,
    "empty": b"",
    "only-a-comment": b"# nothing\n",
    "binary": bytes(range(256)),
    "not-utf8": b"name: caf\xe9\n",
    "null-characters": b"name: a\x00b\n",
    "invalid-yaml": b"a: [b\n",
    "tabs": b"a:\n\t- b\n",
    "two-documents": b"a: 1\n---\nb: 2\n",
    "a-tag": b"!!python/object/apply:os.system ['true']\n",
    "too-large": b"a: " + b"x" * 1_000_001,
    "bomb": BOMB.encode(),
    "endless-alias": b"a: &a [*a]\n",
    "deep": b"[" * 5000,
    "list": b"- 1\n- 2\n",
    "text": b"just text\n",
    "number": b"42\n",
    "neither": b"hello: 1\n",
}
COMMANDS = {
    "run": ["run", "FILE", "--journal", "run.jsonl"],
    "check": ["check", "FILE"],
    "render": ["render", "FILE", "-o", "out.svg"],
    "machines": ["machines", "FILE"],
    "replay": ["replay", "log.jsonl", "--machine", "FILE"],
}


def refused(orkeon, folder, command, file):
    (folder / "log.jsonl").touch()
    before = sorted(folder.rglob("*"))
    done = orkeon(*(file if word == "FILE" else word for word in COMMANDS[command]))
    assert done.code == 2, done
    assert "Traceback" not in done.err
    assert "--debug shows where" not in done.err
    assert sorted(folder.rglob("*")) == before, "something was written"
    told = done.out if command == "check" else done.err
    assert told.strip()
    assert all(file in line for line in told.splitlines()), told
    return told


@pytest.mark.parametrize(
    "line",
    [
        "replay FILE",
        "render FILE -o out.svg",
        "render task_execution -o out.svg --journal FILE",
        "render task_execution -o out.svg --snapshot FILE",
        "replay log.jsonl --machine FILE",
        "run FILE",
        "check FILE",
        "machines FILE",
    ],
)
def test_a_store_that_is_named_by_its_file_is_told_its_name(orkeon, folder, line):
    (folder / "log.jsonl").touch()
    (folder / "stores").mkdir()
    with MachineStore("sqlite:///stores/runs.db") as store:
        store.create(TaskExecution, machine_id="t")
    done = orkeon(*line.replace("FILE", "stores/runs.db").split())
    assert done.code == 2
    told = done.out + done.err
    assert "stores/runs.db: " in told
    assert "is a SQLite database; as a store it is named sqlite:///stores/runs.db" in told


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_refused(orkeon, folder, command, kind):
    content = BAD_FILES[kind]
    if content is not None:
        (folder / "bad.yaml").write_bytes(content)
    told = refused(orkeon, folder, command, "bad.yaml")
    if kind in {"invalid-yaml", "binary", "not-utf8", "bomb", "endless-alias", "a-tag", "tabs"}:
        assert re.search(r"bad\.yaml:\d+:\d+: ", told), "the place is known"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_is_refused(orkeon, folder, command):
    (folder / "bad.yaml").mkdir()
    refused(orkeon, folder, command, "bad.yaml")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_to_nowhere_or_to_itself_is_refused(orkeon, folder, command):
    (folder / "nowhere.yaml").symlink_to("missing")
    refused(orkeon, folder, command, "nowhere.yaml")
    (folder / "itself.yaml").symlink_to("itself.yaml")
    refused(orkeon, folder, command, "itself.yaml")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_that_no_file_can_have_is_refused(orkeon, folder, command):
    refused(orkeon, folder, command, "x" * 300 + ".yaml")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read anything")
@pytest.mark.parametrize("command", COMMANDS)
def test_an_unreadable_file_is_refused(orkeon, folder, command):
    (folder / "bad.yaml").write_text("name: m\n")
    (folder / "bad.yaml").chmod(0)
    refused(orkeon, folder, command, "bad.yaml")


MACHINE = "name: m\ninitial: a\nstates: [a, {name: b, final: true}]\ntransitions: [[go, a, b]]\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("states:", "statse:", 3, "states"),
        ("initial: a", "initial: x", 2, "'x'"),
        ("[go, a, b]", "[go, a, bb]", 4, "'b'"),
        ("[go, a, b]", "[go, x, b]", 4, "'x'"),
        ("final: true", "final: maybe", 3, "final"),
        ("[[go, a, b]]", "{go: 1}", 4, "list"),
        ("[[go, a, b]]", "[{trigger: go, source: a, dest: b, when: x}]", 4, "when"),
        ("name: m", "name: m\nname: n", 2, "1"),
        ("name: m", "circuit_breaker: {preset: strickt}", 1, "strict"),
        ("name: m", "circuit_breaker: {max_transitions: -1}", 1, "0 or more"),
        ("name: m", "circuit_breaker: {max_transitons: 1}", 1, "max_transitions"),
    ],
)
def test_what_is_unknown_in_a_machine_is_named_with_its_place(orkeon, folder, old, new, line, words):
    (folder / "bad.yaml").write_text(MACHINE.replace(old, new, 1))
    for command in ("check", "render", "machines"):
        told = refused(orkeon, folder, command, "bad.yaml")
        [named] = [
            text for text in told.splitlines() if text.startswith(f"bad.yaml:{line}:") and words in text
        ]
        assert re.match(r"bad\.yaml:\d+:\d+: error: ", named)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("agent: scout", "agent: scoot", 7, "'scout'"),
        ("dependencies: [look]", "dependencies: [lok]", 8, "'look'"),
        ("dependencies: [look]", "dependencies: [write]", 8, "write -> write"),
        ("tools: [file_write]", "tools: [file_writer]", 4, "'file_write'"),
        ("name: little", "process: sequentail", 1, "'sequential'"),
        ("name: little", "circuitBreaker: {preset: strickt}", 1, "strict"),
        ("/code:ro", "/code:rx", 5, "'rx'"),
    ],
)
def test_what_is_unknown_in_a_crew_is_named_with_its_place(
    orkeon, folder, little_crew, old, new, line, words
):
    little_crew.write_text(little_crew.read_text().replace(old, new, 1))
    for command in ("check", "run"):
        told = refused(orkeon, folder, command, "little.yaml")
        assert any(text.startswith(f"little.yaml:{line}:") and words in text for text in told.splitlines()), (
            told
        )


def test_a_current_folder_that_is_gone_is_said(orkeon, folder, monkeypatch):
    def gone():
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "getcwd", gone)
    done = orkeon("run", "103-ts-codebase-with-fsm")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: the current folder does not exist any more\n"
