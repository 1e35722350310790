"""Which addresses may be connected to: those of the open internet, and others only where that is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# In these the last 32 bits are the IPv4 address that is really reached.
_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))
# Of no open internet either; not every Python knows so.
_LOCAL = (IPv6Network("64:ff9b:1::/48"), IPv6Network("fec0::/10"), IPv4Network("192.88.99.0/24"))


def parsed(text: str) -> Address:
    """Reads an address; the interface that a local one may name does not matter.

    Raises:
        ValueError: It is none.
    """
    return ip_address(text.partition("%")[0])


def may_connect(address: Address, allowed: Sequence[Network]) -> bool:
    """Whether an address belongs to the open internet, or lies in one of the networks allowed besides.

    One that only stands for other addresses, such as `::ffff:127.0.0.1`, is judged by those.
    """
    reached = _embedded(address) or (address,)
    return all(_is_public(one) or _is_in(one, allowed) for one in reached)


def refused_among(found: Iterable[str], allowed: Sequence[Network]) -> str | None:
    """The first of some addresses that may not be connected to, or None."""
    return next((text for text in found if not may_connect(parsed(text), allowed)), None)


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _is_public(address: Address) -> bool:
    if address.is_multicast or address.is_reserved or address.is_unspecified or _is_in(address, _LOCAL):
        return False
    return address.is_global


def _embedded(address: Address) -> tuple[Address, ...]:
    """The IPv4 addresses that an IPv6 address leads to; none if it leads to itself."""
    if isinstance(address, IPv4Address):
        return ()
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    is_translated = any(address in network for network in _TRANSLATED)
    if is_translated and int(address) > 1:
        return (IPv4Address(int(address) & 0xFFFFFFFF),)
    return ()
