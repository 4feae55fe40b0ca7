"""Connections to NATS servers that are not there, are something else, or refuse."""

import asyncio
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]
import pytest

from botdrome.server.network.steady_loop import run
from botdrome.server.nodes import nats as under_test
from botdrome.server.nodes.engines import NatsEngine
from botdrome.server.nodes.links import NatsUnavailable
from botdrome.server.nodes.nats import NatsAddress, NatsLinks, read_addresses
from botdrome.server.settings import BadSetting
from tests.server.nodes.fixed_members import FixedMembers, node


def open_links(url: str, open_nats: bool = False) -> str:
    """Return what is wrong."""

    async def attempt() -> None:
        links = NatsLinks(url, FixedMembers(node("ant")), "ours", open_nats)
        await links.open()
        assert links.connected
        await links.close()

    try:
        run(attempt())
    except NatsUnavailable as problem:
        return str(problem)
    return ""


def at(engine: NatsEngine, login: str = "") -> str:
    """The URL of an engine with another login, or with none."""
    return f"nats://{login}{engine.url.rpartition('@')[2]}"


@contextmanager
def running(folder: Path, *options: str) -> Iterator[NatsEngine]:
    engine = NatsEngine(folder, *options)
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()


def test_addresses() -> None:
    assert read_addresses("nats://here, tls://me:p%40ss@[::1]:7") == [
        NatsAddress("here", 4222),
        NatsAddress("::1", 7, True, "me", "p@ss"),
    ]
    for bad in ("", "here:4222", "http://here", "nats://", "nats://here:port"):
        with pytest.raises(BadSetting, match=r"^nats: expected nats://HOST:PORT or .*, not "):
            read_addresses(bad)


def test_nobody_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert open_links(f"nats://127.0.0.1:{port}").endswith(
            "does not answer as a NATS server does within 0.5 s"
        )
    assert (
        open_links(f"nats://127.0.0.1:{port}")
        == f"cannot connect to 127.0.0.1:{port}: Connection refused"
    )
    assert open_links("nats://a..b").endswith("there is no such host")


def test_something_else_is_there() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    async def attempt() -> str:
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        links = NatsLinks(
            f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}",
            FixedMembers(node("ant")),
            "ours",
        )
        with pytest.raises(NatsUnavailable) as refused:
            await links.open()
        server.close()
        await server.wait_closed()
        return str(refused.value)

    assert "this is no NATS server: " in run(attempt())


def test_an_open_node_hears_all_that_is_said_from_then_on() -> None:
    """The server has read the subscriptions before it answers the last ping."""
    read: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"auth_required": true, "max_payload": 1048576}\r\n')
        while line := (await reader.readline()).decode():
            read.append(line.split()[0])
            if line.startswith("PING"):
                writer.write(b"PONG\r\n")
        writer.close()

    async def attempt() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1") as server:
            port = server.sockets[0].getsockname()[1]
            members = FixedMembers(node("ant"))
            links = NatsLinks(f"nats://me:secret@127.0.0.1:{port}", members, "ours")
            await links.open()
            seen = read[:]
            await links.close()
            assert seen.count("SUB") == 2 and seen[-1] == "PING"

    run(attempt())


def test_logins(tmp_path: Path) -> None:
    user = tmp_path / "user.conf"
    user.write_text('authorization { user: "me", password: "secret" }\n')
    with running(tmp_path, "-c", str(user)) as engine:
        assert open_links(at(engine, "me:secret@")) == ""
        assert (
            "refuses the login (nats: 'Authorization Violation'): give it as in nats://USER:PASSWORD@HOST"
            in open_links(at(engine))
        )
        wrong = open_links(at(engine, "me:wrong@"))
        assert "refuses the login" in wrong
        assert "wrong" not in wrong
    with running(tmp_path, "--auth", "token") as engine:
        bad = "nats://127.0.0.1:1"
        assert open_links(f"{bad},{at(engine, 'token@')}") == ""


def test_a_nats_without_a_login_is_refused_unless_a_setting_allows_it(tmp_path: Path) -> None:
    open_to_all, guests = tmp_path / "open.conf", tmp_path / "guests.conf"
    open_to_all.write_text("")
    guests.write_text(
        'authorization { users: [{user: "me", password: "secret"}] }\nno_auth_user: "me"\n'
    )
    for config, login in ((open_to_all, ""), (guests, "me:secret@")):
        with running(tmp_path, "-c", str(config)) as engine:
            assert "takes clients without a login" in open_links(at(engine, login))
            assert open_links(at(engine, login), open_nats=True) == ""


def test_the_login_of_an_engine_is_random_and_for_this_user_alone(tmp_path: Path) -> None:
    with running(tmp_path) as engine:
        secret = urlsplit(engine.url).username
        assert (
            secret and len(secret) >= 32 and secret != urlsplit(NatsEngine(tmp_path).url).username
        )
        holders = [file for file in tmp_path.iterdir() if secret in file.read_text()]
        assert [(file.name, oct(file.stat().st_mode & 0o777)) for file in holders] == [
            ("nats.conf", "0o600")
        ]
        assert not any(secret in word for word in psutil.Process(engine.process.pid).cmdline())
        assert open_links(engine.url) == ""
        assert "refuses the login" in open_links(at(engine))


def test_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
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
        "/CN=nats",
    ]
    subprocess.run(
        [*make, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
        check=True,
        capture_output=True,
    )
    with running(tmp_path, "--tls", "--tlscert", cert, "--tlskey", key) as engine:
        assert "self-signed certificate" in open_links(engine.url)
        monkeypatch.setenv("SSL_CERT_FILE", cert)
        assert open_links(engine.url) == open_links(engine.url.replace("nats:", "tls:")) == ""
    with running(tmp_path) as engine:
        assert open_links(engine.url.replace("nats:", "tls:")).endswith(
            "the server asks for no TLS: use nats:// instead of tls://"
        )
