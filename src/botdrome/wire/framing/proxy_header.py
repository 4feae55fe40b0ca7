"""The PROXY protocol header, version 2, in which a load balancer names the client's address."""

from ipaddress import IPv4Address, IPv6Address

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
FIXED = 16
"""Bytes before the addresses: the signature, version and command, family, length."""
LONGEST = 4096
"""The limit for a header, in bytes."""
V2_LOCAL, V2_PROXY = 0x20, 0x21
TCP4, TCP6 = 0x11, 0x21


class BadHeader(Exception):
    """A header that cannot be read, with the reason."""


def may_be_header(data: bytes) -> bool:
    """Whether these first bytes of a connection are a header, or may become one."""
    return data[: len(SIGNATURE)] == SIGNATURE[: len(data)]


def read_header(data: bytes) -> tuple[str, int, int] | None:
    """Return the client's address and port, and the length of the header; None if it is incomplete.

    The address is empty if the balancer sends its own request, as in a health check.
    """
    if len(data) < FIXED:
        return None
    command, family, length = data[12], data[13], int.from_bytes(data[14:16])
    if command not in (V2_LOCAL, V2_PROXY):
        raise BadHeader(f"version and command are 0x20 or 0x21, not 0x{command:02x}")
    if FIXED + length > LONGEST:
        raise BadHeader(f"a header has at most {LONGEST} bytes, not {FIXED + length}")
    if len(data) < FIXED + length:
        return None
    addresses = data[FIXED : FIXED + length]
    if command == V2_LOCAL or family not in (TCP4, TCP6):
        return "", 0, FIXED + length
    size = 4 if family == TCP4 else 16
    if length < 2 * size + 4:
        raise BadHeader(f"the addresses have at least {2 * size + 4} bytes, not {length}")
    found = IPv4Address(addresses[:4]) if size == 4 else IPv6Address(addresses[:16])
    return str(found), int.from_bytes(addresses[2 * size : 2 * size + 2]), FIXED + length
