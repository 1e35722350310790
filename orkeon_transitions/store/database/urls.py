"""Which database a URL names, and how it may be shown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from orkeon_transitions.errors import JournalError

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

_POSTGRESQL_SCHEMES = frozenset({"postgres", "postgresql", "postgresql+psycopg"})
_SQLITE_SCHEMES = frozenset({"sqlite", "sqlite+pysqlite"})
# What is shown of a URL's options: any other may hold a secret, as `options` can.
_HARMLESS = frozenset(
    {"application_name", "connect_timeout", "dbname", "host", "mode", "port", "sslmode", "uri", "user"}
)
_EFFECTIVE = os.access in os.supports_effective_ids
_EXAMPLES = "such as sqlite:///machines.db or postgresql+psycopg://user@host/database"


def read_url(text: str) -> URL:
    """Reads the URL of a database that a store can use.

    Raises:
        JournalError: It is no URL, or of a database that is not supported. The message does not repeat it: it
            may hold a password.
    """
    if not isinstance(text, str):
        raise TypeError(f"a store's URL must be a text, not {type(text).__name__}")
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise JournalError(f"the store's URL cannot be read: it must be a URL {_EXAMPLES}") from None
    if "@" in (url.host or ""):
        raise JournalError("the store's URL has an '@' too many: in a name or password it is written %40")
    if "\0" in text:
        raise JournalError(f"the store's URL has a NUL character in it: it must be a URL {_EXAMPLES}")
    if url.drivername in _SQLITE_SCHEMES:
        return _plain_file(url.set(drivername="sqlite"))
    if url.drivername in _POSTGRESQL_SCHEMES:
        return url.set(drivername="postgresql+psycopg")
    raise JournalError(f"a store knows no '{url.drivername}' databases: its URL must be one {_EXAMPLES}")


def _plain_file(url: URL) -> URL:
    """Refuses what SQLite would ignore: a host, which is a path with a slash too few, and odd options."""
    if url.host:
        raise JournalError(
            "the store's URL names a host, and SQLite has none: a file takes three slashes, such as "
            "sqlite:///machines.db, and an absolute path four"
        )
    if "uri" in url.query:  # then SQLite itself reads the options
        return url
    odd = [name for name in url.query if not (name == "mode" and is_memory(url))]
    if odd:
        raise JournalError(
            f"the store's URL has the option '{odd[0]}', which would be ignored: a plain file takes none; "
            f"sqlite:///file:machines.db?{odd[0]}=...&uri=true lets SQLite read it"
        )
    return url


def shown(url: URL) -> str:
    """The URL as it may be printed: no password in it, and no option that may hold one."""
    hidden = [name for name in url.query if name not in _HARMLESS]
    return url.difference_update_query(hidden).render_as_string(hide_password=True)


def is_memory(url: URL) -> bool:
    """Whether it is a SQLite database that lives in the memory of this process."""
    return url.get_backend_name() == SQLITE and (
        url.database in (None, "", ":memory:") or url.query.get("mode") == "memory"
    )


def file_of(url: URL) -> Path | None:
    """The file of a SQLite database, where the URL names one plainly."""
    if url.get_backend_name() != SQLITE or is_memory(url) or "uri" in url.query:
        return None
    return Path(url.database or "")


def lies_still(file: Path) -> bool:
    """Whether nobody who may do no more than this program can change a SQLite file, and nobody does.

    Such a file, as one in an archive, is read without the files beside it that SQLite would have to make.
    """
    try:
        writable = [os.access(path, os.W_OK, effective_ids=_EFFECTIVE) for path in (file, file.parent)]
    except OSError:
        return False
    return file.exists() and not any(writable) and not file.with_name(f"{file.name}-wal").exists()


def identity_of(file: Path | None) -> tuple[int, int] | None:
    """What tells a file from another one that gets its name; None: there is none."""
    try:
        found = None if file is None else os.stat(file)  # noqa: PTH116 (at every transition: as quick as can be)
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)
