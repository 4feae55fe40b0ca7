"""Addresses that strangers type in: the plain ones are read, the odd ones refused."""

import pytest

from botdrome.server.calling.address_filter import redirect_target, target_of
from botdrome.server.calling.bot_connection import CallFailed, NotAllowed


@pytest.mark.parametrize(
    ("url", "place", "path"),
    [
        ("http://127.0.0.1:4001", "127.0.0.1:4001", "/"),
        ("http://127.0.0.1:80/a/b?c=d&e", "127.0.0.1", "/a/b?c=d&e"),
        ("HTTPS://Bots.Example.ORG/x", "bots.example.org", "/x"),
        ("https://bots.example.org.:443/", "bots.example.org", "/"),
        ("http://localhost:8080?bot=1#here", "localhost:8080", "/?bot=1"),
        ("http://[::1]:4001/", "[::1]:4001", "/"),
        ("http://[0:0:0:0:0:0:0:1]/", "[::1]", "/"),
        ("http://127.0.0.1:1/ä%20b", "127.0.0.1:1", "/%C3%A4%20b"),
    ],
)
def test_a_plain_address_is_read(url: str, place: str, path: str) -> None:
    target = target_of(url)
    assert (target.host_header, target.path) == (place, path)


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "127.0.0.01",
        "127.0.0.1.",
        "127.0.0.0x1",
        "0x",
        "1.2.3.4.5",
        "256.1.1.1",
        "[127.0.0.1]",
        "[::1%25eth0]",
        "[fe80::1%eth0]",
        "[::1",
        "::1",
        "[:::1]",
        "[::ffff:127.0.0.01]",
    ],
)
def test_odd_ways_to_write_an_address_are_refused(host: str) -> None:
    with pytest.raises(NotAllowed):
        target_of(f"http://{host}/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:4702",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "//127.0.0.1/",
        "http:/127.0.0.1/",
        "http://",
        "http:///path",
        "http://:80/",
        "http://127.0.0.1:/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:65536/",
        "http://127.0.0.1:１/",
        "http://１２７.0.0.1/",
        "http://exämple.org/",
        "http://a..b/",
        "http://-a.b/",
        "http://a%2eb/",
        "http://" + "a." * 127 + "org/",
        "http://a/" + "x" * 2048,
    ],
)
def test_a_bad_url_is_refused(url: str) -> None:
    with pytest.raises(NotAllowed):
        target_of(url)


@pytest.mark.parametrize(
    "url", ["http://me@127.0.0.1/", "http://me:secret@127.0.0.1/", "http://127.0.0.1:80@10.0.0.1/"]
)
def test_user_names_are_refused(url: str) -> None:
    with pytest.raises(NotAllowed, match="no user name"):
        target_of(url)


BREAKS = ["\r\n", "\r", "\n", "\0", "\t", " ", "\x7f", "\x85", "\u2028", "\u00a0", "\\"]


@pytest.mark.parametrize("char", BREAKS, ids=[repr(char) for char in BREAKS])
def test_nothing_breaks_out_of_its_line(char: str) -> None:
    for url in (
        f"http://127.0.0.1/{char}x: y",
        f"http://127.0.0.1{char}x: y/",
        f"http://127.0.0.1/?{char}",
        f"http:{char}//a/",
    ):
        with pytest.raises(NotAllowed, match="blanks, backslashes or control characters"):
            target_of(url)


def test_percent_signs_stay_as_they_are() -> None:
    assert target_of("http://a.b/%0d%0aX:y").path == "/%0d%0aX:y"


@pytest.mark.parametrize(
    ("location", "place", "path"),
    [
        (b"/other?x", "127.0.0.1:4001", "/other?x"),
        (b"other", "127.0.0.1:4001", "/a/other"),
        (b"?only", "127.0.0.1:4001", "/a/b?only"),
        (b"//other.example/x", "other.example", "/x"),
        (b"https://other.example:8443/x", "other.example:8443", "/x"),
        ("/ä".encode(), "127.0.0.1:4001", "/%C3%A4"),
    ],
)
def test_a_redirect_is_read_from_where_it_stands(location: bytes, place: str, path: str) -> None:
    target = redirect_target(target_of("http://127.0.0.1:4001/a/b"), location)
    assert (target.host_header, target.path) == (place, path)


@pytest.mark.parametrize(
    "location",
    [
        b"ftp://x/",
        b"javascript:alert(1)",
        b"http://[/",
        b"http://0x7f.1/",
        b"http://me@x/",
        b"/\tx",
        b"/\xff",
        b"http://[x]y/",
    ],
)
def test_a_redirect_to_something_odd_is_refused(location: bytes) -> None:
    with pytest.raises(CallFailed):
        redirect_target(target_of("http://127.0.0.1:4001/"), location)
