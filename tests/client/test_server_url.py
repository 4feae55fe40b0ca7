"""Addresses of servers, as users write them."""

import pytest

from botdrome.client.rest import http_url, socket_url


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("https://Arena.Example/some/page?x=1", "https://arena.example"),
        ("arena.example:3000", "http://arena.example:3000"),
        ("localhost", "http://localhost"),
        ("ws://arena.example", "http://arena.example"),
        ("wss://arena.example:444/", "https://arena.example:444"),
        ("http://[::1]:3000", "http://[::1]:3000"),
    ],
)
def test_a_server_has_one_url(server: str, url: str) -> None:
    assert http_url(server) == url
    assert socket_url(server, "/x") == url.replace("http", "ws", 1) + "/x"


@pytest.mark.parametrize(
    "server", ["", "ftp://x", "http://", "http://x:99999", "http://me:secret@x"]
)
def test_anything_else_is_no_address(server: str) -> None:
    with pytest.raises(ValueError, match="is not the address of a server"):
        http_url(server)
