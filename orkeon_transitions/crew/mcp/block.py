"""The `mcpServers` block of a crew file: which servers there are, and what each is given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from orkeon_transitions.crew.secrets import names_a_secret
from orkeon_transitions.definition.fields import Block, read_block, read_name, read_names, shown
from orkeon_transitions.definition.places import Path, Source

KEYS = ("command", "args", "env", "cwd", "url", "headers", "tools", "timeout_seconds", "type")
_ALIASES = {"transport": "type", "timeout": "timeout_seconds"}
_STDIO, _HTTP = "stdio", frozenset({"http", "streamable-http", "streamable_http"})
_FIT_NAME = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_HEADER = re.compile(r"[!#$%&'*+.^`|~\w-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server as the crew file declares it: a program to start, or a URL.

    Attributes:
        name: What comes before the dot in `name.tool`.
        command: The program, or empty.
        args: What the program is started with.
        env: Variables for the program besides the few that every program needs; `${NAME}` is one of ours.
        cwd: The folder in which the program runs, as written; empty: the crew file's.
        url: Where the server listens, or empty.
        headers: Sent with every request to the URL; `${NAME}` is a variable of ours.
        tools: The only tools that it may offer, or None: all that it has.
        timeout: How many seconds a call may take, or None: as long as the task's clocks allow.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tools: tuple[str, ...] | None = None
    timeout: float | None = None

    @property
    def place(self) -> str:
        """What is started or asked, in words; nothing that comes from the environment is in it."""
        return " ".join([self.command, *self.args]) if self.command else self.url

    @property
    def variables(self) -> list[str]:
        """The variables of ours that it is given."""
        return list(dict.fromkeys(found[1] for found in self._asked()))

    def missing_variables(self, environment: Mapping[str, str]) -> list[str]:
        """The variables that it is to be given and that are not set."""
        asked = (found[1] for found in self._asked() if found[2] is None)
        return list(dict.fromkeys(name for name in asked if name not in environment))

    def _asked(self) -> Iterator[re.Match[str]]:
        for text in (*self.env.values(), *self.headers.values()):
            yield from _VARIABLE.finditer(text)


def expanded(texts: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Fills in `${NAME}` and `${NAME:-otherwise}`."""

    def value(found: re.Match[str]) -> str:
        return environment.get(found[1], found[2] or "")

    return {name: _VARIABLE.sub(value, text) for name, text in texts.items()}


def given_to(server: McpServer, environment: Mapping[str, str]) -> dict[str, str]:
    """What a server is given, by the name under which it is."""
    return {**expanded(server.env, environment), **expanded(server.headers, environment)}


def told_to_servers(servers: Mapping[str, McpServer], environment: Mapping[str, str]) -> Iterator[str]:
    """What all the servers of a crew are given."""
    return (value for server in servers.values() for value in given_to(server, environment).values())


def keys_of(server: McpServer, environment: Mapping[str, str]) -> list[str]:
    """What of that is a secret for certain: what is called one, here or in the environment."""
    given = [value for name, value in given_to(server, environment).items() if names_a_secret(name)]
    return [*given, *(environment.get(name, "") for name in server.variables if names_a_secret(name))]


def read_servers(source: Source, value: Any, path: Path) -> dict[str, McpServer]:
    """Reads the block; problems go to the source.

    Returns:
        The servers by name, those that can be read at all.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        source.problem(path, f"must be a mapping of names to servers, not {shown(value)}")
        return {}
    return {name: server for name, server in _servers(source, value, path) if server is not None}


def _servers(source: Source, value: Mapping[Any, Any], path: Path) -> Iterator[tuple[str, McpServer | None]]:
    for name, content in value.items():
        at = (*path, name)
        if not (isinstance(name, str) and _FIT_NAME.fullmatch(name)):
            message = f"the name of a server has letters, digits, '_' and '-' only, not {shown(name)}"
            source.problem(at, message, at_key=True)
        elif not isinstance(content, dict):
            source.problem(at, f"must be a mapping with a 'command' or a 'url', not {shown(content)}")
        else:
            yield name, _server(name, read_block(source, content, at, KEYS, aliases=_ALIASES))


def _server(name: str, block: Block) -> McpServer:
    server = McpServer(
        name=name,
        command=block.name("command") or "",
        args=_texts(block, "args"),
        env=_mapping(block, "env"),
        cwd=block.name("cwd") or "",
        url=block.name("url") or "",
        headers=_mapping(block, "headers"),
        tools=_tools(block),
        timeout=_timeout(block),
    )
    _check_kind(block)
    _check_url(block, server.url)
    return server


def _check_kind(block: Block) -> None:
    """One of two kinds; a key of the other kind is a slip."""
    has_command, has_url = block.get("command") is not None, block.get("url") is not None
    if has_command == has_url:
        both = "has both: it is a program or it is elsewhere" if has_command else "is missing"
        block.source.problem(block.path, f"a server has a 'command' or a 'url': this one {both}")
        return
    for key in ("headers",) if has_command else ("args", "env", "cwd"):
        if block.get(key):
            other = "url" if has_command else "command"
            block.problem(key, f"'{key}' goes with a '{other}'")
    kind = block.get("type")
    if kind is None:
        return
    folded = kind.strip().lower() if isinstance(kind, str) else kind
    fits = folded == _STDIO if has_command else folded in _HTTP
    if not fits:
        is_old = folded == "sse"
        old = "'sse' is not there: most servers speak 'http' at another path of theirs" if is_old else ""
        wanted = f"'{_STDIO}'" if has_command else "'http'"
        block.problem("type", old or f"must be {wanted} here, not {shown(kind)}")


def _check_url(block: Block, url: str) -> None:
    if not url:
        return
    try:
        parts = urlsplit(url)
        is_fit = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_fit = False
    if not is_fit:
        block.problem("url", "must be a URL that begins with 'https://' or 'http://'")
    elif parts.username or parts.password:
        block.problem("url", "must not hold a password: give 'headers' with a '${VARIABLE}'")


def _texts(block: Block, key: str) -> tuple[str, ...]:
    """A list of texts as they are; numbers are taken at their word."""
    value = block.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        block.problem(key, f"must be a list of texts, not {shown(value)}")
        return ()
    texts = []
    for index, one in enumerate(value):
        if isinstance(one, bool) or not isinstance(one, str | int | float) or "\0" in str(one):
            block.source.problem((*block.at(key), index), f"must be text, not {shown(one)}")
        else:
            texts.append(str(one))
    return tuple(texts)


def _mapping(block: Block, key: str) -> dict[str, str]:
    value = block.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        block.problem(key, f"must be a mapping of names to texts, not {shown(value)}")
        return {}
    found: dict[str, str] = {}
    for name, text in value.items():
        at = (*block.at(key), name)
        if not _is_fit_name(key, name):
            block.source.problem(at, f"{shown(name)} is no name for one of '{key}'", at_key=True)
        elif not isinstance(text, str) or any(char in text for char in "\0\r\n"):
            # Never shown: it may be a secret.
            block.source.problem(at, "must be text of one line, such as '${VARIABLE}'")
        else:
            found[name] = text
    return found


def _is_fit_name(key: str, name: Any) -> bool:
    if not isinstance(name, str):
        return False
    if key == "headers":
        return _HEADER.fullmatch(name) is not None
    return bool(name) and not any(char in name for char in "=\0")


def _tools(block: Block) -> tuple[str, ...] | None:
    value = block.get("tools")
    if value is None:
        return None
    return tuple(dict.fromkeys(read_names(block.source, value, block.at("tools"), read_name)))


def _timeout(block: Block) -> float | None:
    seconds = block.seconds("timeout_seconds")
    if seconds == 0:
        block.problem("timeout_seconds", "must be more than 0: left out, the task's clocks are the limit")
    return seconds or None
