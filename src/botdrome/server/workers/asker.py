"""The client address that the server works for at the moment, so that shared things can be shared fairly."""

from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv4Address, ip_address, ip_network

ASKER: ContextVar[str] = ContextVar("asker", default="")
"""The source (see below) of the request that is being answered. Tasks that it starts inherit it."""
NETWORK = 64
"""Bits of an IPv6 address that identify a subscriber: all addresses with the same bits may be theirs."""


@lru_cache(10_000)
def source_of(address: str) -> tuple[str, bool]:
    """The address, or the network of an IPv6 address, and whether it is the server's own machine."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address, False
    plain = found if isinstance(found, IPv4Address) else found.ipv4_mapped or found
    if plain.is_loopback or isinstance(plain, IPv4Address):
        return str(plain), plain.is_loopback
    return str(ip_network((plain, NETWORK), strict=False)), False
