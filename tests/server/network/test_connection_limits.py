"""How many may be connected: in all, from one address, and beside the players."""

import sys
from typing import Any

import pytest

from botdrome.protocols import load_settings
from botdrome.server.network import limits as files
from botdrome.server.network.limits import ConnectionLimits

FULL = "too many connections"


def limits(**settings: Any) -> ConnectionLimits:
    return ConnectionLimits(load_settings(settings))


def test_some_connections_are_kept_for_players() -> None:
    inside = limits(limits_connections=16)
    assert [inside.admit(f"1.2.3.{number}", player=False) for number in range(15)] == [""] * 14 + [
        FULL
    ]
    assert [inside.admit(f"1.2.4.{number}") for number in range(3)] == ["", "", FULL]
    inside.leave("1.2.4.0")
    assert inside.admit("1.2.4.5") == ""


def test_the_addresses_of_one_ipv6_network_count_as_one() -> None:
    inside = limits(limits_connections_per_address=2)
    assert [inside.admit(f"2001:db8::{number}") for number in range(3)] == [
        "",
        "",
        "too many connections from your address",
    ]
    assert inside.admit("2001:db8:0:1::1") == ""
    inside.leave("2001:db8::1")
    assert inside.admit("2001:db8::ffff") == ""


def test_what_the_system_allows_bounds_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "for_clients", lambda: 2)
    inside = limits()
    assert [inside.admit("1.2.3.4") for _ in range(3)] == ["", "", FULL]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sets no such limit")
def test_the_limit_of_open_files_is_raised_as_far_as_allowed() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
        allowed = files.for_clients()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
        assert allowed == (files.UNLIMITED if hard == resource.RLIM_INFINITY else hard) - files.OWN
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_that_connections_are_refused_is_logged_once_in_a_while(
    caplog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Any] = []
    monkeypatch.setattr(files.log, "warning", lambda *words, **more: said.append((words, more)))
    inside = limits(limits_connections=1)
    for _ in range(5):
        inside.admit("1.2.3.4")
    assert len(said) == 1 and "ulimit -n" in said[0][0][0]
