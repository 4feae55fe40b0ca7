"""Which addresses and ports may be called: by default loopback alone."""

from ipaddress import ip_address
from typing import Any

import pytest
from structlog.testing import capture_logs

from botdrome.protocols import load_settings
from botdrome.server.calling.address_filter import AddressFilter, _is_ours, warn_of_loopback
from botdrome.server.calling.bot_connection import NotAllowed
from botdrome.server.settings import BadSetting, Settings

PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1"]
METADATA = ["169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"]
LINK_LOCAL = ["169.254.1.1", "fe80::1"]
PRIVATE = [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "fd12:3456::1",
    "fec0::1",
]
MULTICAST = ["224.0.0.1", "239.255.255.250", "ff02::1"]
UNSPECIFIED = ["0.0.0.0", "0.1.2.3", "::", "255.255.255.255"]
INDIRECT = [
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::a00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001::1",
]  # fmt: skip
RESERVED = [
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "240.0.0.1",
    "2001:db8::1",
    "100::1",
]


def allowed(address: str, name: str = "", port: int = 4001, **settings: object) -> bool:
    fence = AddressFilter(load_settings(settings))
    try:
        fence.check(ip_address(address), name, port)
    except NotAllowed as problem:
        assert str(problem).startswith(
            f"{ip_address(address)} may not be called from this server; "
        )
        return False
    return True


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_loopback_is_allowed_unless_it_is_switched_off(address: str) -> None:
    assert allowed(address)
    assert not allowed(address, calls_loopback=False)
    assert allowed(address, calls_loopback=False, calls_allow="127.0.0.0/8,::1/128")
    assert not allowed(address, calls_loopback=False, calls_allow="0.0.0.0/0,::/0")


@pytest.mark.parametrize(
    ("host", "given", "may"),
    [
        ("127.0.0.1", None, True), ("127.0.0.2", None, True), ("::1", None, True),
        ("localhost", None, True), ("", None, False), ("0.0.0.0", None, False), ("::", None, False),
        ("192.0.2.1", None, False), ("arena.lan", None, False), ("0.0.0.0", True, True),
        ("127.0.0.1", False, False),
    ],
)  # fmt: skip
def test_loopback_is_called_by_default_while_the_server_listens_there_alone(
    host: str, given: bool | None, may: bool
) -> None:
    assert allowed("127.0.0.1", host=host, calls_loopback=given) == may


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, None),
        ({"host": "0.0.0.0"}, "--calls-loopback true allows it"),
        ({"host": "0.0.0.0", "calls_loopback": True}, "--calls-loopback false forbids it"),
        ({"host": "0.0.0.0", "calls_loopback": False}, None),
        ({"network_public_url": "https://arena.example.org"}, "--calls-loopback false forbids it"),
        ({"network_public_url": "https://arena.example.org", "calls_loopback": False}, None),
    ],
)
def test_operators_are_warned_at_start_when_others_can_reach_the_server(
    settings: dict[str, Any], words: str | None
) -> None:
    with capture_logs() as logs:
        warn_of_loopback(load_settings(settings))
    assert [words in one["event"] for one in logs if words] == [True] * bool(words)
    assert len(logs) == bool(words)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("10.1.2.3", "--allow-bots 10.1.2.3"),
        ("127.0.0.1", "--calls-loopback true"),
        ("224.0.0.1", "no address of one machine"),
    ],
)
def test_a_refusal_names_the_setting(address: str, words: str) -> None:
    with pytest.raises(NotAllowed, match=f"{words}$"):
        AddressFilter(load_settings({"calls_loopback": False})).check(ip_address(address), "", 4001)


@pytest.mark.parametrize(
    "address",
    [*PUBLIC, *METADATA, *LINK_LOCAL, *PRIVATE, *MULTICAST, *UNSPECIFIED, *INDIRECT, *RESERVED],
)
def test_all_else_is_refused_by_default(address: str) -> None:
    assert not allowed(address)


@pytest.mark.parametrize(
    "address", [*METADATA, *LINK_LOCAL, *PRIVATE, *MULTICAST, *UNSPECIFIED, *INDIRECT, *RESERVED]
)
def test_opening_the_whole_internet_opens_none_of_the_special_ranges(address: str) -> None:
    assert not allowed(address, calls_allow="0.0.0.0/0,::/0")


@pytest.mark.parametrize("address", PUBLIC)
def test_the_internet_can_be_opened(address: str) -> None:
    assert allowed(address, calls_allow="0.0.0.0/0 ::/0")


def test_the_wire_server_of_a_cloud_has_a_public_address_and_is_none() -> None:
    assert not allowed("168.63.129.16", calls_allow="0.0.0.0/0")


def test_a_range_that_is_named_is_open_and_its_neighbours_are_not() -> None:
    for network, inside, outside in (
        ("10.1.0.0/16", "10.1.2.3", "10.2.0.1"),
        ("192.168.7.7", "192.168.7.7", "192.168.7.8"),
        ("fd12::/16", "fd12::5", "fd13::5"),
        ("169.254.1.0/24", "169.254.1.9", "169.254.2.9"),
        ("64:ff9b::/96", "64:ff9b::808:808", "64:ff9b:1::1"),
        ("93.184.0.0/16", "93.184.216.34", "93.185.0.1"),
    ):
        assert allowed(inside, calls_allow=network)
        assert not allowed(outside, calls_allow=network)


def test_metadata_has_to_be_named_all_alone() -> None:
    assert not allowed("169.254.169.254", calls_allow="169.254.0.0/16")
    assert not allowed("fd00:ec2::254", calls_allow="fd00::/8")
    assert allowed("169.254.169.254", calls_allow="169.254.169.254")


@pytest.mark.parametrize("address", [*MULTICAST, *UNSPECIFIED])
def test_some_are_never_called(address: str) -> None:
    assert not allowed(address, calls_allow=address)


def test_a_host_that_is_named_may_be_private_and_not_more() -> None:
    for address in ("93.184.216.34", "10.0.0.1", "fd12::5"):
        assert allowed(address, "bots.example.org", calls_allow="Bots.Example.org")
        assert not allowed(address, "other.example.org", calls_allow="bots.example.org")
    for address in (
        *METADATA,
        *LINK_LOCAL,
        *MULTICAST,
        *UNSPECIFIED,
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
    ):
        assert not allowed(address, "bots.example.org", calls_allow="bots.example.org")
    assert not allowed(
        "127.0.0.1", "bots.example.org", calls_allow="bots.example.org", calls_loopback=False
    )


@pytest.mark.parametrize(
    ("port", "good"),
    [
        (80, True),
        (443, True),
        (1024, True),
        (65535, True),
        (1, False),
        (22, False),
        (25, False),
        (79, False),
        (1023, False),
    ],
)
def test_ports_of_other_services_are_not_called(port: int, good: bool) -> None:
    fence = AddressFilter(Settings())
    if good:
        fence.check_port(port)
    else:
        with pytest.raises(NotAllowed, match=rf"^port {port} may not be called; .* calls\.ports$"):
            fence.check_port(port)


def test_ports_are_configurable() -> None:
    fence = AddressFilter(load_settings({"calls_ports": "22 4000-4010"}))
    for port in (22, 4000, 4010):
        fence.check_port(port)
    for port in (80, 3999, 4011):
        with pytest.raises(NotAllowed):
            fence.check_port(port)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1"])
def test_the_server_does_not_call_itself(address: str) -> None:
    fence = AddressFilter(Settings())
    fence.own_ports = frozenset({4001})
    fence.check(ip_address(address), "", 4002)
    with pytest.raises(NotAllowed, match="does not call itself"):
        fence.check(ip_address(address), "", 4001)


@pytest.mark.parametrize(
    ("address", "ours"), [("127.0.0.1", True), ("192.0.2.1", False), ("2001:db8::1", False)]
)
def test_an_address_of_this_machine_is_known_as_such(address: str, ours: bool) -> None:
    assert _is_ours(ip_address(address)) is ours


def test_another_machine_may_use_the_same_port() -> None:
    fence = AddressFilter(load_settings({"calls_allow": "93.184.216.34"}))
    fence.own_ports = frozenset({4001})
    fence.check(ip_address("93.184.216.34"), "", 4001)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("calls.allow", "10.0.0.1/8"),
        ("calls.allow", "10.0.0.0/33"),
        ("calls.allow", "10.0.0"),
        ("calls.allow", "http://bots.example.org"),
        ("calls.allow", "bots.example.org/8"),
        ("calls.allow", "*"),
        ("calls.ports", ""),
        ("calls.ports", "80-"),
        ("calls.ports", "http"),
        ("calls.ports", "-1"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(key: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"^{key}: neither"):
        AddressFilter(load_settings({key: value}))
