"""Which origins are trusted, and by which names the server is known."""

import socket

import pytest

from botdrome.protocols import load_settings
from botdrome.server.network.origins import Origins
from botdrome.server.settings import BadSetting

HERE = b"192.168.1.5:3000"


def origins(**changes: str) -> Origins:
    return Origins(load_settings(changes))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.0.0.1:3000", "192.168.1.5:3000", "127.1", "[::1]", "[::1]:3000", "::1",
        "[fe80::1%25eth0]:3000", "::1:3000", "::1:55803", "2001:db8::7:55803", "localhost",
        "LOCALHOST:3000", "localhost.", "localhost:", "arena.localhost:3000",
        "ws://127.0.0.1:3000/", socket.gethostname(), f"{socket.gethostname().upper()}:3000",
        f"{socket.gethostname().partition('.')[0]}.local:3000",
    ],
)  # fmt: skip
def test_addresses_and_names_of_this_machine_are_known(host: str) -> None:
    assert origins().refusal(host.encode(), None, True) is None
    assert origins().host_refusal(host.encode()) == ""


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:3000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evillocalhost",
        "[evil]",
        "localhost@evil",
        "evil:1:3000",
    ],
)
def test_other_names_are_refused_and_the_setting_is_named(host: str) -> None:
    refusal = origins().refusal(host.encode(), None, True)
    assert refusal is not None and refusal.status == 421
    assert (
        refusal.words
        == f"this server is not known as {host!r}; its operator can set network.public_url to the "
        "clients' URL"
    )
    assert origins().host_refusal(host.encode()) == refusal.words


def test_a_request_without_a_host_passes() -> None:
    for host in (None, b""):
        assert origins().refusal(host, None, False) is None
        assert origins().host_refusal(host) == ""
        assert not origins().trusts(b"http://", host)


def test_names_in_public_url_and_host_are_known() -> None:
    one = origins(
        network_public_url="https://Arena.Example.org, http://botdrome:3000/", host="arena.lan"
    )
    for host in (
        b"arena.example.org",
        b"arena.example.org:8443",
        b"botdrome:3000",
        b"arena.lan:3000",
    ):
        assert one.refusal(host, None, True) is None
    assert one.refusal(b"example.org", None, True) is not None
    assert one.trusts(b"https://arena.example.org", b"127.0.0.1:3000"), (
        "behind a proxy that names us otherwise"
    )
    assert not one.trusts(b"http://arena.example.org", b"127.0.0.1:3000")


@pytest.mark.parametrize(
    "origin",
    [
        "http://192.168.1.5:3000", "https://192.168.1.5:3000", "http://localhost:8080",
        "http://127.0.0.1", "http://127.9.9.9:1", "http://[::1]:8080", "https://pages.localhost",
        "https://pages.example.org", "https://pages.example.org:443", "HTTP://10.0.0.5:8000/",
        "chrome-extension://abcdef",
    ],
)  # fmt: skip
def test_our_own_loopback_and_listed_origins_are_trusted(origin: str) -> None:
    one = origins(
        network_origins="https://Pages.example.org/,http://10.0.0.5:8000 chrome-extension://abcdef"
    )
    assert one.trusts(origin.encode(), HERE)


@pytest.mark.parametrize(
    "origin",
    [
        "null", "", "http://evil.example", "http://192.168.1.5", "http://192.168.1.5:3001",
        "http://localhost.evil.example", "http://127.0.0.1.evil.example", "file://",
        "file://localhost", "chrome-extension://other", "192.168.1.5:3000",
        "http://pages.example.org", "https://pages.example.org.evil.example", "\xff",
    ],
)  # fmt: skip
def test_all_others_are_foreign_and_the_setting_is_named(origin: str) -> None:
    one = origins(network_origins="https://pages.example.org")
    refusal = one.refusal(HERE, origin.encode("latin-1"), False)
    assert refusal is not None and refusal.status == 403
    assert "the setting origins" in refusal.words and ascii(origin) in refusal.words
    assert one.refusal(HERE, origin.encode("latin-1"), True) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"network_public_url": "arena.example.org"},
            "network.public_url: a URL such as https://arena.example.org, not 'arena.ex",
        ),
        ({"network_public_url": "ftp://arena"}, "network.public_url: a URL such as"),
        (
            {"network_public_url": "http://arena:port"},
            "network.public_url: not a URL: 'http://arena:port'",
        ),
        (
            {"origins": "pages.example.org"},
            "network.origins: an origin such as https://pages.example.org, not 'pages.ex",
        ),
        ({"origins": "*"}, "network.origins: an origin such as"),
        ({"origins": "null"}, "network.origins: an origin such as"),
        ({"origins": "https://pages.example.org/bots"}, "network.origins: an origin such as"),
    ],
)
def test_settings_that_cannot_be_read_are_named(changes: dict[str, str], words: str) -> None:
    with pytest.raises(BadSetting) as refused:
        origins(**changes)
    assert str(refused.value).startswith(words)


def test_of_many_refusals_some_are_logged() -> None:
    from structlog.testing import capture_logs

    one = origins()
    with capture_logs() as logs:
        for number in range(100):
            one.refusal(f"{number}.example".encode(), None, True)
    assert len(logs) == 10 and "public_url" in logs[0]["why"]
