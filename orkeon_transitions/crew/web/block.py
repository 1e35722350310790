"""The `web` block of a crew file: what `http_api` and `web_scrape` may reach. Without it they are off."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

from orkeon_transitions.crew.web.addresses import Network
from orkeon_transitions.definition.fields import Block, read_block, read_count, shown
from orkeon_transitions.definition.places import Path, Source

KEYS = ("allow", "allow_private", "methods", "max_bytes", "timeout_seconds", "max_redirects")
ALIASES = {"timeout": "timeout_seconds"}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
DEFAULT_PORTS: Mapping[str, int] = {"http": 80, "https": 443}
_ENTRY = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>\*|(?:\*\.)?[\w-]+(?:\.[\w-]+)*|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Allowed:
    """Hosts that may be asked.

    Attributes:
        host: In lower case; `*` is every host, `*.example.org` every one below.
        scheme: The only one, or None: `http` and `https`.
        port: The only one, or None: the scheme's own.
    """

    host: str
    scheme: str | None = None
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Allowed:
        """Reads `example.org`, `*.example.org`, `https://example.org`, `example.org:8443` or `*`.

        Raises:
            ValueError: It is none of these.
        """
        found = _ENTRY.fullmatch(text.strip())
        port = int(found["port"]) if found is not None and found["port"] else None
        if found is None or (port is not None and not 0 < port < 65_536):
            raise ValueError(f"'{text}' is no host such as 'api.example.org', '*.example.org' or 'host:8443'")
        try:
            host = found["host"].lower().encode("idna" if not found["host"].isascii() else "ascii").decode()
        except UnicodeError:
            raise ValueError(f"'{text}' is no host that can be asked") from None
        return cls(host.strip("[]"), found["scheme"] and found["scheme"].lower(), port)

    def fits(self, scheme: str, host: str, port: int) -> bool:
        """Whether a URL's scheme, host and port are among these."""
        if self.scheme not in {None, scheme} or port != (self.port or DEFAULT_PORTS.get(scheme)):
            return False
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host in {"*", host}


@dataclass(frozen=True, slots=True)
class WebBlock:
    """What a `web` block says.

    Attributes:
        allow: Which hosts may be asked.
        allow_private: Networks that may be reached though they are not of the open internet.
        methods: What `http_api` may do.
        max_bytes: How long an answer may be.
        timeout: How many seconds a request may take, redirects included.
        max_redirects: How many of these are followed.
    """

    allow: tuple[Allowed, ...] = ()
    allow_private: tuple[Network, ...] = ()
    methods: tuple[str, ...] = ("GET",)
    max_bytes: int = 2_000_000
    timeout: float = 20.0
    max_redirects: int = 5

    def allows(self, scheme: str, host: str, port: int) -> bool:
        """Whether a URL's scheme, host and port are on the list."""
        return any(one.fits(scheme, host, port) for one in self.allow)


def read_web(source: Source, value: Any, path: Path) -> WebBlock | None:
    """Reads the block; problems go to the source."""
    if value is None:
        return None
    if not isinstance(value, dict):
        source.problem(path, f"must be a mapping with 'allow', not {shown(value)}")
        return None
    block = read_block(source, value, path, KEYS, aliases=ALIASES)
    block.require("allow", ": the hosts that may be asked")
    default = WebBlock()
    return WebBlock(
        allow=_each(block, "allow", Allowed.parse),
        allow_private=_each(block, "allow_private", _network),
        methods=_each(block, "methods", _method) or default.methods,
        max_bytes=_positive(block, "max_bytes", default.max_bytes),
        timeout=_seconds(block, default.timeout),
        max_redirects=_count(block, "max_redirects", default.max_redirects),
    )


def _each(block: Block, key: str, read: Any) -> tuple[Any, ...]:
    """A text or a list of texts, each read; what is wrong with one is a problem at its place."""
    value = block.get(key)
    if value is None:
        return ()
    listed = value if isinstance(value, list) else [value]
    found = []
    for index, one in enumerate(listed):
        at = (*block.at(key), index) if isinstance(value, list) else block.at(key)
        if not isinstance(one, str):
            block.source.problem(at, f"must be text, not {shown(one)}")
            continue
        try:
            found.append(read(one))
        except ValueError as error:
            block.source.problem(at, str(error))
    return tuple(dict.fromkeys(found))


def _network(text: str) -> Network:
    try:
        return ip_network(text.strip())
    except ValueError:
        raise ValueError(f"'{text}' is no network such as '127.0.0.1' or '10.0.0.0/8'") from None


def _method(text: str) -> str:
    name = text.strip().upper()
    if name not in METHODS:
        raise ValueError(f"'{text}' is none of {', '.join(METHODS)}")
    return name


def _count(block: Block, key: str, default: int) -> int:
    value = block.get(key)
    count = None if value is None else read_count(block.source, value, block.at(key))
    return default if count is None else count


def _positive(block: Block, key: str, default: int) -> int:
    count = _count(block, key, default)
    if count == 0:
        block.problem(key, "must be more than 0")
    return count


def _seconds(block: Block, default: float) -> float:
    seconds = block.seconds("timeout_seconds")
    if seconds == 0:
        block.problem("timeout_seconds", "must be more than 0")
    return default if seconds is None else seconds
