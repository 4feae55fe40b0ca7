"""The address of the client whose request is being handled, so that clients can share resources fairly."""

from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv4Address, ip_address, ip_network

CLIENT_SOURCE: ContextVar[str] = ContextVar("client_source", default="")
"""The source (see `source_of`) of the current request. Tasks that the request starts inherit it."""
NETWORK = 64
"""The prefix length of an IPv6 subscriber network: all addresses with the same prefix count as one client."""


@lru_cache(10_000)
def source_of(address: str) -> tuple[str, bool]:
    """Return the address, or the network of an IPv6 address, and whether it is a loopback address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address, False
    plain = found if isinstance(found, IPv4Address) else found.ipv4_mapped or found
    if plain.is_loopback or isinstance(plain, IPv4Address):
        return str(plain), plain.is_loopback
    return str(ip_network((plain, NETWORK), strict=False)), False
