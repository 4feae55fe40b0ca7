"""Asker: for whom the server is working just now, so that what is shared can be shared fairly."""

from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv4Address, ip_address, ip_network

ASKER: ContextVar[str] = ContextVar("asker", default="")
"""Where the request came from that is being answered; nothing: from nowhere. Work that it starts inherits it."""
NETWORK = 64
"""Bits of an IPv6 address that tell one subscriber from another: the others are as many as anybody likes."""


@lru_cache(10_000)
def source_of(address: str) -> tuple[str, bool]:
    """Whom an address stands for, and whether that is the server's own machine."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address, False
    plain = found if isinstance(found, IPv4Address) else found.ipv4_mapped or found
    if plain.is_loopback or isinstance(plain, IPv4Address):
        return str(plain), plain.is_loopback
    return str(ip_network((plain, NETWORK), strict=False)), False
