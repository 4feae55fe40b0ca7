"""The PROXY protocol, version 2: headers whole, bit by bit, and bad ones."""

from ipaddress import ip_address

import pytest

from botdrome.wire.framing.streams import SIGNATURE, BadHeader, may_be_header, read_header


def header(client: str, port: int = 4000, command: int = 0x21, more: bytes = b"") -> bytes:
    found, server = ip_address(client), ip_address("::1" if ":" in client else "10.0.0.1")
    addresses = found.packed + server.packed + port.to_bytes(2) + (3000).to_bytes(2) + more
    family = 0x21 if found.version == 6 else 0x11
    return SIGNATURE + bytes([command, family]) + len(addresses).to_bytes(2) + addresses


@pytest.mark.parametrize("client", ["203.0.113.7", "2001:db8::7"])
@pytest.mark.parametrize("more", [b"", b"\x04\x00\x01x"])
def test_a_header_says_where_the_client_is_and_how_long_it_is(client: str, more: bytes) -> None:
    whole = header(client, 4321, more=more)
    assert read_header(whole + b"GET /") == (client, 4321, len(whole))
    for length in range(len(whole)):
        assert may_be_header(whole[:length])
        assert read_header(whole[:length]) is None


def test_a_balancer_that_speaks_for_itself_names_nobody() -> None:
    assert read_header(header("203.0.113.7", command=0x20)) == ("", 0, 28)
    assert read_header(SIGNATURE + b"\x21\x00\x00\x00") == ("", 0, 16)


def test_anything_else_is_no_header() -> None:
    for data in (b"GET / HTTP/1.1", b"\r\nGET /", b"PROXY TCP4", b"\0\0\0\x10{}"):
        assert not may_be_header(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (SIGNATURE + b"\x11\x11\x00\x0c", "version and command are 0x20 or 0x21, not 0x11"),
        (SIGNATURE + b"\x21\x11\xff\xff", "a header has at most 4096 bytes, not 65551"),
        (SIGNATURE + b"\x21\x11\x00\x02ab", "the addresses have at least 12 bytes, not 2"),
    ],
)
def test_a_bad_header_is_refused_with_the_reason(data: bytes, words: str) -> None:
    with pytest.raises(BadHeader, match=words):
        read_header(data)
