"""Which addresses of the network a document may be fetched from: those of the public internet alone.

A URL is text that anybody may have written. Without this check it reaches whatever this machine reaches: its own
services, the local network, the credentials that a cloud serves under 169.254.169.254.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a host name, for a port."""

TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
"""IPv6 addresses that a gateway turns into the IPv4 address in their last 32 bits."""


def resolve(host: str, port: int) -> list[str]:
    """Return every address of a host, as the system resolves it: `2852039166` is 169.254.169.254 to it.

    Raises:
        OSError: the name is not known.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def why_not_public(address: str) -> str | None:
    """Return what an address is that is not one of the public internet, or None where it is."""
    try:
        parsed = _unwrapped(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        return "not an address"
    kinds = {
        "a loopback address": parsed.is_loopback,
        "an unspecified address": parsed.is_unspecified,
        "a link-local address": parsed.is_link_local,
        "a multicast address": parsed.is_multicast,
        "a private address": parsed.is_private,
        "a reserved address": parsed.is_reserved or not parsed.is_global,
    }
    return next((kind for kind, holds in kinds.items() if holds), None)


def _unwrapped(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for, or the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in TRANSLATED):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None) or address
