"""One line about a session, for a memory that a model reads: how it is written, and how it is read back.

The line points to where the session is kept; it is no copy of it. It is shorter than 300 characters, says no
result, no error and no tool, and what looks like a secret in the task's text is left out.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from orkeon_transitions.errors import OrkeonError

if TYPE_CHECKING:
    from orkeon_transitions.facts import Snapshot

LONGEST_ENTRY = 299
LONGEST_LOOK = 1_000
SHORTEST_TASK = 12
WITHHELD = "[withheld]"

_SAFE = "@+-._~/"
_STAMP = "%Y-%m-%d %H:%M UTC"
_ENTRY = re.compile(
    r"orkeon-session (?P<session>\S+): (?P<state>\S+), (?P<transitions>\d+) transitions?,"
    r" (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d UTC)(?:; machine (?P<machine>\S+))?(?:; in (?P<store>\S+))?"
    r"(?:; task: (?P<task>.+))?"
)
# Nothing on a screen, though they count as letters or marks: joiners, fillers, selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_CONTROLS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+\S+")
_USER = re.compile(r"://[^\s/@]+@")
_NAMED = re.compile(
    r"(?i)((?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|(?:api|access|private)[ _-]?key)"
    r"[\w-]*[\"']?\s*(?:[:=]|\bis\b)\s*)(?:\"[^\"]*\"?|'[^']*'?|\S+)"
)
# What is said without a sign between: `pwd hunter2`, `hunter2 as the password`; and a `key` of no kind.
_AFTER = re.compile(r"(?i)\b((?:pwd|passwd|pw)\s+|key\s*[:=]\s*)(?!\[withheld\])\S+")
_BEFORE = re.compile(
    r"(?i)\S+(\s+as\s+(?:(?:the|a|an|my|our|your|its)\s+)?(?:\w+\s+)?(?:password|passphrase|passcode|secret|token|(?:api\s+)?key)\b)"
)
# Tokens that say by their beginning what they are.
_MARKED = re.compile(r"\b(?:gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|xapp-|sk-|AKIA|AIza)[\w-]{6,}")
_PIECE = re.compile(r"[A-Za-z0-9_+=-]{20,}")


@dataclass(frozen=True, slots=True)
class SessionPointer:
    """Where a session was left, as its entry in a memory says.

    Attributes:
        session_id: The session's name.
        text: The whole entry.
        machine_id: The name of its machine in the store: `store.load(HermesAgentFSM, machine_id)`.
        state: The state that it was left in; None, as all that follows, if somebody has rewritten the entry.
        transitions: How many it had made.
        left_at: When it was left, to the minute, in UTC.
        store: The store's URL without any password; None if it was too long or there was none.
        task: The beginning of the task's text, cleaned.
    """

    session_id: str
    text: str
    machine_id: str
    state: str | None = None
    transitions: int | None = None
    left_at: datetime | None = None
    store: str | None = None
    task: str | None = None


def entry_prefix(session_id: str) -> str:
    """How the entry of a session begins. No two sessions' entries begin alike."""
    return f"orkeon-session {_quoted(session_id)}:"


def entry_text(session_id: str, snapshot: Snapshot, store_url: str | None) -> str:
    """The entry: one line.

    Raises:
        OrkeonError: The names of session and machine leave no room.
    """
    made = snapshot.ordinal
    text = (
        f"{entry_prefix(session_id)} {_quoted(snapshot.state)}, {made} transition{'' if made == 1 else 's'},"
        f" {snapshot.taken_at.astimezone(UTC).strftime(_STAMP)}"
    )
    if snapshot.machine_id != session_id:
        text += f"; machine {_quoted(snapshot.machine_id)}"
    if len(text) > LONGEST_ENTRY:
        raise OrkeonError(
            f"the session '{session_id}' cannot be remembered: with names of this length its entry would "
            f"have {len(text)} characters, and at most {LONGEST_ENTRY} are allowed"
        )
    public = _public_url(store_url) if store_url else ""
    where = f"; in {public}" if public else ""
    if len(text) + len(where) <= LONGEST_ENTRY:
        text += where
    task = clean_text(snapshot.fields.get("task_description"))
    room = LONGEST_ENTRY - len(text) - len("; task: ")
    if task and room >= SHORTEST_TASK:
        text += f"; task: {task if len(task) <= room else task[: room - 1].rstrip() + '…'}"
    return text


def read_entry(text: str) -> SessionPointer | None:
    """What an entry says; None if it is not about a session."""
    begun = re.match(r"orkeon-session (\S+):(?:\s|$)", text)
    if begun is None:
        return None
    session_id = _unquoted(begun[1])
    match = _ENTRY.fullmatch(text)
    if match is None:
        return SessionPointer(session_id, text, machine_id=session_id)
    try:
        left_at = datetime.strptime(match["at"], _STAMP).replace(tzinfo=UTC)
    except ValueError:  # a month 13
        left_at = None
    return SessionPointer(
        session_id,
        text,
        machine_id=_unquoted(match["machine"]) if match["machine"] else session_id,
        state=_unquoted(match["state"]),
        transitions=int(match["transitions"]),
        left_at=left_at,
        store=match["store"],
        task=match["task"],
    )


def clean_text(value: Any) -> str:
    """The beginning of a text as one line: nothing invisible, nothing that looks like a secret."""
    if not isinstance(value, str):
        return ""
    words = value[:LONGEST_LOOK].split(" ")
    if len(value) > LONGEST_LOOK:
        words.pop()  # a part of a secret may not look like one
    shown = "".join(
        " " if c.isspace() else c
        for c in " ".join(words)
        if c.isspace() or unicodedata.category(c) not in _CONTROLS
    )
    shown = " ".join(_INVISIBLE.sub("", shown).split())
    return _without_secrets(shown)


def _without_secrets(text: str) -> str:
    text = _USER.sub(f"://{WITHHELD}@", _BEARER.sub(rf"\1 {WITHHELD}", text))
    text = _NAMED.sub(rf"\1{WITHHELD}", text)
    text = _BEFORE.sub(rf"{WITHHELD}\1", _AFTER.sub(rf"\1{WITHHELD}", _MARKED.sub(WITHHELD, text)))
    return " ".join(WITHHELD if _is_random(word) else word for word in text.split(" "))


def _is_random(word: str) -> bool:
    """Whether a word may be a key, a hash or a token: long, of one piece, letters and digits mixed."""
    pieces = _PIECE.findall(word)
    return any(re.search(r"\d", piece) and re.search(r"[A-Za-z]", piece) for piece in pieces)


def _quoted(name: str) -> str:
    """A name as one word: letters and digits of any script stay, all else is written as in a URL."""
    return "".join(
        c if c.isalnum() and not _INVISIBLE.match(c) else quote(c, safe=_SAFE, errors="surrogatepass")
        for c in name
    )


def _unquoted(text: str) -> str:
    return unquote(text, errors="surrogatepass")


def _public_url(url: str) -> str:
    """The URL without user, password and options, in one piece; empty for what is none, as it may say all."""
    parts = urlsplit(url)
    is_file = parts.scheme.startswith("sqlite")
    if "://" not in url or ("@" in parts.path and not is_file):
        return ""
    host = parts.netloc.rpartition("@")[2]
    return quote(f"{parts.scheme}://{host}{parts.path}", safe=_SAFE + ":%[]", errors="surrogatepass")
