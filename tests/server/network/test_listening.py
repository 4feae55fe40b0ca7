"""Listening: one port for all addresses, TLS, and which setting is to blame."""

import asyncio
import errno
import json
import socket
import subprocess
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from botdrome.protocols import PROTOCOLS, load_settings, protocol_sections
from botdrome.server.network import listening
from botdrome.server.network.listening import listen, network_address, secured, stop
from botdrome.server.settings import BadSetting, Settings
from tests.server.clients import PATIENCE, server

pytestmark = pytest.mark.anyio


def has_ipv6() -> bool:
    with socket.socket(socket.AF_INET6) as one:
        return one.connect_ex(("::1", 1)) == errno.ECONNREFUSED


two_kinds = pytest.mark.skipif(not has_ipv6(), reason="this machine has one kind of address")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "::1"])
def test_other_machines_do_not_reach_a_server_on_localhost(host: str) -> None:
    assert network_address(host) is None


def test_other_machines_reach_a_server_at_its_address() -> None:
    assert network_address("10.0.0.9") == "10.0.0.9"
    assert network_address("fd00::9") == "[fd00::9]"


class Routed(socket.socket):
    """A socket of a machine with the addresses 10.0.0.9 and fd00::9."""

    def connect(self, address: Any) -> None:
        assert (self.family, address) in (listening.ANYWHERE, listening.ANYWHERE_6)

    def getsockname(self) -> Any:
        return ("10.0.0.9" if self.family == socket.AF_INET else "fd00::9"), 1


class Unrouted(Routed):
    def connect(self, address: Any) -> None:
        raise OSError(errno.ENETUNREACH, "no route")


@pytest.mark.parametrize(
    ("host", "found"), [("", "10.0.0.9"), ("0.0.0.0", "10.0.0.9"), ("::", "[fd00::9]")]
)
def test_the_address_of_a_server_that_listens_everywhere_is_found(
    host: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that listens on `::` has addresses of IPv6 only."""
    monkeypatch.setattr(socket, "socket", Routed)
    assert network_address(host) == found
    monkeypatch.setattr(socket, "socket", Unrouted)
    assert network_address(host) is None


@two_kinds
async def test_any_free_port_is_the_same_on_all_addresses(tmp_path: Path) -> None:
    async with server(tmp_path, host="", bomber_port=-1) as house, httpx.AsyncClient() as http:
        for name, path in (("http", "healthz"), ("bomber", "bomber/rest/rules")):
            for host in ("127.0.0.1", "[::1]"):
                assert (
                    await http.get(f"http://{host}:{house.ports[name]}/{path}")
                ).status_code == 200


@two_kinds
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_localhost_is_served_on_both_of_its_addresses_at_the_same_ports(
    tmp_path: Path, host: str
) -> None:
    """node and browsers take localhost for ::1 first."""
    others = {"bomber_port": -1, "cube_port": -1, "duel_port": -1, "boats_port": -1}
    async with server(tmp_path, host=host, **others) as house:
        assert len(house.ports) == 5
        for port in house.ports.values():
            for address in ("127.0.0.1", "::1"):
                with socket.create_connection((address, port), PATIENCE):
                    pass


@two_kinds
async def test_another_program_on_the_second_address_of_localhost_is_put_up_with() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken, capture_logs() as logs:
        port = taken.getsockname()[1]
        opened = await listen(Settings(), "port", port, nobody)
        assert [one.getsockname() for one in opened.sockets] == [("127.0.0.1", port)]
        opened.close()
    assert logs[0]["log_level"] == "warning" and logs[0]["address"] == f"[::1]:{port}"


async def test_a_machine_without_ipv6_is_served_on_the_one_address_that_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("botdrome.server.network.listening._has_ipv6", lambda: False)
    opened = await listen(Settings(), "port", 0, nobody)
    assert len(opened.sockets) == 1
    opened.close()


@two_kinds
async def test_a_port_that_is_taken_on_another_address_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        ports = [taken.getsockname()[1], listening._free_port()]
        told = iter(ports)
        monkeypatch.setattr("botdrome.server.network.listening._free_port", lambda: next(told))
        opened = await listen(load_settings({"host": ""}), "port", 0, nobody)
        assert {one.getsockname()[1] for one in opened.sockets} == {ports[1]}
        opened.close()


@two_kinds
async def test_it_is_said_when_no_port_is_free_on_all_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        monkeypatch.setattr(
            "botdrome.server.network.listening._free_port", lambda: taken.getsockname()[1]
        )
        with pytest.raises(BadSetting, match=r"duel.port: cannot listen on :0: .*in use"):
            await listen(load_settings({"host": ""}), "duel.port", -1, nobody)


@two_kinds
async def test_a_connection_that_was_accepted_in_the_turn_of_the_end_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = asyncio.Event()

    class Client(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            transport.close()
            made.set()

    loop = asyncio.get_running_loop()
    listener, create_task = await listen(Settings(), "port", 0, Client), loop.create_task

    def accepted(coroutine: Any) -> asyncio.Task[Any]:
        task = create_task(coroutine)
        stop(listener)
        return task

    address = listener.sockets[0].getsockname()
    with socket.create_connection(address[:2]), monkeypatch.context() as patch:
        patch.setattr(loop, "create_task", accepted)
        await made.wait()
    assert not listener.sockets


async def test_another_problem_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise OSError(errno.EACCES, "permission denied")

    monkeypatch.setattr("botdrome.server.network.listening._free_port", refused)
    with pytest.raises(BadSetting, match="port: cannot listen on :0: permission denied"):
        await listen(load_settings({"host": ""}), "port", 0, nobody)


async def test_the_port_of_the_bomberman_api_has_nothing_else(tmp_path: Path) -> None:
    async with server(tmp_path, bomber_port=-1) as house, httpx.AsyncClient() as http:
        there = f"127.0.0.1:{house.ports['bomber']}"
        assert (await http.get(f"http://{there}/bomber/rest/rules")).status_code == 200
        for path in ("", "healthz", "graphql", "api/v1/live", "socket.io/", "bomberman"):
            assert (await http.get(f"http://{there}/{path}")).status_code == 404, path
        async with connect(f"ws://{there}/bomber/rest") as socket:
            assert json.loads(await socket.recv())["phase"] == "REGISTRATION"
        for path in ("", "graphql", "connect", "boats/host"):
            with pytest.raises(InvalidStatus):
                await connect(f"ws://{there}/{path}")


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("no.such.host.invalid", "host: cannot listen on 'no.such.host.invalid': "),
        ("300.1.1.1", "host: cannot listen on '300.1.1.1': "),
        ("a..b", "host: cannot listen on 'a..b': not the name of a host"),
        ("192.0.2.1", "host: '192.0.2.1' is no address of this machine"),
    ],
)
@pytest.mark.parametrize("port", [0, 40_000])
async def test_a_host_that_cannot_be_is_named_as_such(
    tmp_path: Path, host: str, words: str, port: int
) -> None:
    with pytest.raises(BadSetting) as refused:
        async with server(tmp_path, host=host, port=port):
            pass
    assert str(refused.value).startswith(words)


ORIGINALS = {"bomber": 9800, "cube": 9999, "duel": 5232, "boats": 7948}


def test_the_ports_of_the_originals_are_the_defaults() -> None:
    assert {name: section().port for name, section in protocol_sections().items()} == ORIGINALS


@pytest.mark.parametrize("name", ["bomber", "cube", "duel"])
async def test_a_default_port_that_another_program_uses_is_done_without(
    name: str, tmp_path: Path
) -> None:
    """A port that was asked for is not."""
    (row,) = [one for one in PROTOCOLS if one.name == name]

    class Taken:
        asked: ClassVar[list[int]] = []

        async def open(self, name: str, key: str, port: int, *_: Any, **__: Any) -> None:
            self.asked.append(port)
            raise BadSetting(f"{key}: cannot listen on 127.0.0.1:{port}: address in use")

    ports: Any = Taken()
    async with server(tmp_path) as house:
        (served,) = [served for one, served in house.served if one.name == name]
        with capture_logs() as logs:
            await row.listen(load_settings({}), served, nobody, ports)
        assert (ports.asked, logs[0]["log_level"]) == ([ORIGINALS[name]], "warning")
        with pytest.raises(BadSetting):
            await row.listen(load_settings({f"{name}.port": 1}), served, nobody, ports)


def nobody() -> Any:
    raise AssertionError("nobody connects")


# TLS.


@pytest.fixture(scope="module")
def pems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate and its key, the key of another, both in one file, and something else."""
    folder = tmp_path_factory.mktemp("pems")
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    for cert, key in (("cert", "key"), ("other-cert", "other-key")):
        subprocess.run(
            [*make, "-keyout", folder / key, "-out", folder / cert], check=True, capture_output=True
        )
    (folder / "both").write_bytes((folder / "cert").read_bytes() + (folder / "key").read_bytes())
    (folder / "letter").write_text("Dear Ada, this is no certificate.")
    return folder


@pytest.mark.parametrize(
    ("cert", "key", "words"),
    [
        ("cert", "", "tls.key: it has to be given with tls.cert"),
        ("", "key", "tls.cert: it has to be given with tls.key"),
        ("nowhere", "key", "tls.cert: {folder}/nowhere: No such file"),
        ("cert", "nowhere", "tls.key: {folder}/nowhere: No such file"),
        (
            "cert",
            "other-key",
            "tls.key: {folder}/other-key is no key for {folder}/cert (key values mismatch)",
        ),
        ("letter", "key", "tls.cert: there is no certificate in {folder}/letter"),
        ("cert", "letter", "tls.key: {folder}/letter is no key for {folder}/cert"),
        ("key", "cert", "tls.cert: there is no certificate in {folder}/key"),
        (".", "key", "tls.cert: {folder}/.: Is a directory"),
        ("nul\0", "key", "tls.cert: {folder}/nul\0: "),
    ],
)
async def test_certificates_that_cannot_be_are_named_with_their_file(
    tmp_path: Path, pems: Path, cert: str, key: str, words: str
) -> None:
    files = {"tls.cert": cert and f"{pems}/{cert}", "tls.key": key and f"{pems}/{key}"}
    with pytest.raises(BadSetting) as refused:
        async with server(tmp_path, **files):
            pass
    assert str(refused.value).startswith(words.format(folder=pems))


def test_one_file_may_have_both(pems: Path) -> None:
    assert (
        secured(load_settings({"tls.cert": f"{pems}/both", "tls.key": f"{pems}/both"})) is not None
    )
    assert secured(Settings()) is None
