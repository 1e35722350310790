"""One line about a session: what it says, what it never says, and how it is read back."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from orkeon_transitions.errors import OrkeonError
from orkeon_transitions.machines import HermesAgentFSM
from orkeon_transitions.store.memory_entry import clean_text, entry_prefix, entry_text, read_entry

WHEN = datetime(2026, 3, 1, 14, 30, 59, tzinfo=timezone(timedelta(hours=2)))


def snapshot_of(session="s1", task="Compare two parsers", **options):
    agent = HermesAgentFSM(session, **options)
    agent.receive_task(task=task)
    return agent.snapshot().model_copy(update={"taken_at": WHEN})


def test_an_entry_in_full():
    assert entry_text("s1", snapshot_of(), "sqlite:///machines.db") == (
        "orkeon-session s1: planning, 1 transition, 2026-03-01 12:30 UTC; in sqlite:///machines.db; "
        "task: Compare two parsers"
    )


def test_an_entry_is_read_back():
    pointer = read_entry(entry_text("s1", snapshot_of(machine_id="crew 1/s1"), "sqlite:///a b.db"))
    assert (pointer.session_id, pointer.machine_id) == ("s1", "crew 1/s1")
    assert (pointer.state, pointer.transitions) == ("planning", 1)
    assert pointer.left_at == datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    assert pointer.store == "sqlite:///a%20b.db"
    assert pointer.task == "Compare two parsers"


def test_what_may_be_missing():
    pointer = read_entry(entry_text("s1", HermesAgentFSM("s1").snapshot(), None))
    assert (pointer.machine_id, pointer.state, pointer.transitions) == ("s1", "idle", 0)
    assert (pointer.store, pointer.task) == (None, None)


@pytest.mark.parametrize(
    "text", ["", "likes short answers", "orkeon-session", "orkeon-sessions s1: x", "my orkeon-session s1: x"]
)
def test_other_entries_are_none_of_a_session(text):
    assert read_entry(text) is None


@pytest.mark.parametrize("rest", ["asked for tea\nand cake", "idle, 3 transitions, 2026-13-01 99:00 UTC", ""])
def test_an_entry_that_somebody_has_rewritten_still_names_its_session(rest):
    pointer = read_entry(f"orkeon-session s%201: {rest}".strip())
    assert (pointer.session_id, pointer.machine_id, pointer.left_at) == ("s 1", "s 1", None)


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "a: b",
        "a:",
        "§",
        "\n§\n",
        "ü",
        "a\u200bb",
        "a\u3164b",
        "日本語" * 60,
        "\ud800",
        "%3A",
        "a%",
        "a/b@c",
    ],
)
def test_any_name_is_one_piece_of_its_own(name):
    names = {"a", "a: b", "a:", "a b", "ab", "ü", "%"} | {name}
    assert len({entry_prefix(each) for each in names}) == len(names)
    assert "\n" not in entry_prefix(name)
    assert "§" not in entry_prefix(name)
    assert entry_prefix(name).count(":") == 1
    pointer = read_entry(entry_text(name, snapshot_of(name), None))
    assert (pointer.session_id, pointer.machine_id) == (name, name)


@pytest.mark.parametrize("length", [0, 150, 180, 200, 230, 299, 300, 5_000])
def test_an_entry_has_less_than_300_characters(length):
    text = entry_text("s1", snapshot_of(task="wörter " * (1 + length // 7)), "sqlite:///" + "x" * length)
    assert len(text) < 300
    assert "\n" not in text
    assert read_entry(text).state == "planning"


def test_a_long_task_is_shortened_visibly():
    text = entry_text("s1", snapshot_of(task="many words " * 100), None)
    assert 290 < len(text) < 300
    assert text.endswith("…")


def test_a_name_that_leaves_no_room_is_refused():
    with pytest.raises(OrkeonError, match="at most 299 are allowed"):
        entry_text("s" * 300, snapshot_of("s" * 300), None)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("one\ntwo\r\n\tthree  four ", "one two three four"),
        ("one\n§\ntwo", "one § two"),
        ("a\x00b\x1b[31mc\x7f", "ab[31mc"),
        ("a\u200bb\u200dc\ufeffd\u2060e\u00adf", "abcdef"),
        ("a\u202eb\u2066c", "abc"),
        ("a\u3164b\ufe0fc\u034fd", "abcd"),
        ("a\u2028b\u2029c\x85d\xa0e", "a b c d e"),
        ("\ud800x", "x"),
        ("naïve 日本語 🎉", "naïve 日本語 🎉"),
        (None, ""),
        (17, ""),
    ],
)
def test_nothing_invisible_is_written(text, cleaned):
    assert clean_text(text) == cleaned


SECRET = "hunter2-Zx9"
LONG = "Ab1" * 8


@pytest.mark.parametrize(
    "text",
    [
        f"log in with password={SECRET} please",
        f"log in, the password is {SECRET}.",
        f'{{"password": "{SECRET} {SECRET}"}}',
        f"OPENAI_API_KEY={SECRET} make all",
        f"my api key: {SECRET}",
        f"secret_token: '{SECRET}'",
        f"pass\u200bword: {SECRET}",
        f"curl -H 'Authorization: Bearer {SECRET}' x",
        f"clone https://me:{SECRET}@example.org/x.git",
        f"use {SECRET}{LONG} here",
        f"use {SECRET}.{LONG}/{SECRET} here",
        f"a\npassword:\n{SECRET}",
        f"pwd {SECRET}",
        f"log in with key={SECRET}",
        f"use {SECRET} as the password",
        f"take {SECRET} as your new api key",
        f"ghp_{SECRET}{'a' * 36}",
        f"xoxb-{SECRET}",
    ],
)
def test_what_looks_like_a_secret_is_withheld(text):
    cleaned = clean_text(text)
    assert SECRET not in cleaned
    assert "[withheld]" in cleaned


@pytest.mark.parametrize(
    "text",
    [
        "count the tokens of this file",
        "compare src/orkeon/transitions2/machine.py with README.md",
        "write a password manager in 300 lines",
        "antidisestablishmentarianism is one word",
        "add 12345678901234567890123 and 1",
    ],
)
def test_plain_words_are_no_secrets(text):
    assert clean_text(text) == text


def test_a_secret_that_is_cut_is_not_told_in_part():
    text = "x" * 990 + f" {LONG * 10}"
    assert "Ab1" not in clean_text(text)


@pytest.mark.parametrize("text", ["a" * 10**6, "token" * 10**5, "://" * 10**5, " " * 10**6, "§\n" * 10**6])
@pytest.mark.timeout(10)
def test_long_texts_cost_no_more_than_short_ones(text):
    assert len(clean_text(text)) <= 1_000


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("sqlite:///machines.db", "sqlite:///machines.db"),
        ("sqlite:////var/lib/machines.db", "sqlite:////var/lib/machines.db"),
        ("postgresql+psycopg://me:pw@db:5432/m?password=pw&sslmode=x", "postgresql+psycopg://db:5432/m"),
        ("postgresql+psycopg://me:p@w@db/m", "postgresql+psycopg://db/m"),
        ("sqlite:///a; task: b.db", "sqlite:///a%3B%20task:%20b.db"),
    ],
)
def test_the_store_is_named_without_who_may_open_it(url, public):
    text = entry_text("s1", snapshot_of(), url)
    assert "pw" not in text
    assert read_entry(text).store == public


def test_results_errors_and_tools_are_not_told():
    agent = HermesAgentFSM("s1")
    agent.receive_task(task="t")
    agent.planning_failed(error="no such table: users")
    agent.final_result = agent.last_result = "the answer"
    agent.register_tool("shell")
    text = entry_text("s1", agent.snapshot(), None)
    assert not [word for word in ("users", "answer", "shell") if word in text]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg:u:hidden@h/db",
        "host=h password=hidden",
        "postgresql://u:a/hidden@h/db",
        "postgresql://u:a@hidden@h/db",
        "postgresql://u@h/db?password=hidden",
    ],
)
def test_no_spelling_of_a_url_tells_a_password(url):
    text = entry_text("s1", HermesAgentFSM("s1").snapshot(), url)
    assert "hidden" not in text
    assert "; in " not in text or text.endswith("; in postgresql://h/db")
