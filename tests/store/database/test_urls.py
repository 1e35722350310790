"""Which URLs a store takes, and what is shown of them."""

import pytest

from orkeon_transitions.errors import JournalError
from orkeon_transitions.store import MachineStore
from orkeon_transitions.store.database.urls import file_of, is_memory, read_url, shown


@pytest.mark.parametrize(
    ("text", "driver"),
    [
        ("sqlite:///m.db", "sqlite"),
        ("sqlite+pysqlite:///m.db", "sqlite"),
        ("postgresql://h/d", "postgresql+psycopg"),
        ("postgres://h/d", "postgresql+psycopg"),
        ("postgresql+psycopg://h/d", "postgresql+psycopg"),
    ],
)
def test_the_spellings_of_both_kinds(text, driver):
    assert read_url(text).drivername == driver


@pytest.mark.parametrize("text", ["", "m.db", "/tmp/m.db", "C:\\m.db", "postgresql://u:se:cret@h:port/d"])
def test_what_is_no_url_is_refused_with_an_example_and_not_repeated(text):
    with pytest.raises(JournalError, match=r"sqlite:///machines\.db") as error:
        read_url(text)
    assert "cret" not in str(error.value)


@pytest.mark.parametrize("driver", ["mysql", "sqlite+aiosqlite", "postgresql+asyncpg", "postgresql+psycopg2"])
def test_other_databases_are_refused_by_name(driver):
    with pytest.raises(JournalError, match=rf"no '{driver.replace('+', '[+]')}' databases") as error:
        MachineStore(f"{driver}://user:secret@host/machines")
    assert "secret" not in str(error.value)


def test_a_url_is_a_text(tmp_path):
    with pytest.raises(TypeError, match="must be a text, not PosixPath"):
        MachineStore(tmp_path)


def test_no_password_is_shown():
    for text in (
        "postgresql://user:secret@host/d",
        "postgresql://user@host/d?password=secret",
        "postgresql://host/d?user=u&PassWord=secret&sslpassword=secret&connect_timeout=3",
    ):
        assert "secret" not in shown(read_url(text))
    assert (
        shown(read_url("postgresql://u:s@h/d?sslmode=require"))
        == "postgresql+psycopg://u:***@h/d?sslmode=require"
    )


def test_an_option_that_may_hold_a_secret_is_not_shown():
    text = "postgresql://host/d?options=-c%20app.key%3Dsecret&passfile=/home/secret&sslmode=require"
    assert shown(read_url(text)) == "postgresql+psycopg://host/d?sslmode=require"


def test_an_at_sign_in_a_password_is_refused_and_its_spelling_told():
    with pytest.raises(JournalError, match="written %40") as error:
        read_url("postgresql://u:top@secret@host/d")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "memory", "file"),
    [
        ("sqlite://", True, None),
        ("sqlite:///:memory:", True, None),
        ("sqlite:///file:shared?mode=memory&cache=shared&uri=true", True, None),
        ("sqlite:///m.db", False, "m.db"),
        ("sqlite:////var/m.db", False, "/var/m.db"),
        ("sqlite:///file:m.db?mode=ro&uri=true", False, None),
        ("postgresql://h/d", False, None),
    ],
)
def test_where_a_database_is(text, memory, file):
    url = read_url(text)
    found = file_of(url)
    assert (is_memory(url), None if found is None else str(found)) == (memory, file)


@pytest.mark.parametrize(
    "text", ["sqlite://runs.db", "sqlite://runs.db/x", "sqlite+pysqlite://user@host/x.db"]
)
def test_a_slash_too_few_is_refused_and_named(text):
    with pytest.raises(JournalError, match="three slashes, such as"):
        read_url(text)


@pytest.mark.parametrize("option", ["mode=ro", "foo=1", "timeout=5", "key=secret"])
def test_an_option_that_would_be_ignored_is_refused_and_nothing_is_made(tmp_path, option):
    with pytest.raises(JournalError, match="which would be ignored") as kept:
        MachineStore(f"sqlite:///{tmp_path}/m.db?{option}")
    assert "secret" not in str(kept.value)
    assert not list(tmp_path.iterdir())


def test_a_nul_character_is_refused():
    with pytest.raises(JournalError, match="NUL"):
        read_url("sqlite:///a\0b.db")
