"""Connections to NATS servers that are not there, are something else, or refuse."""

import asyncio
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from botdrome.server.network.steady_loop import run
from botdrome.server.nodes import nats
from botdrome.server.nodes.engines import NatsEngine
from botdrome.server.nodes.links import NatsLinks
from botdrome.server.nodes.nats_address import NatsAddress, read_addresses
from botdrome.server.settings import BadSetting
from tests.server.nodes.fixed_members import FixedMembers, node


def open_links(url: str) -> str:
    """Return what is wrong."""

    async def attempt() -> None:
        links = NatsLinks(url, FixedMembers(node("ant")), "ours")
        await links.open()
        assert links.connected
        await links.close()

    try:
        run(attempt())
    except BadSetting as problem:
        return str(problem)
    return ""


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
    monkeypatch.setattr(nats, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert open_links(f"nats://127.0.0.1:{port}").endswith("does not answer as a NATS server does within 0.5 s")
    assert open_links(f"nats://127.0.0.1:{port}") == f"nats: cannot connect to 127.0.0.1:{port}: Connection refused"
    assert open_links("nats://a..b").endswith("there is no such host")


def test_something_else_is_there() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    async def attempt() -> str:
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        links = NatsLinks(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}", FixedMembers(node("ant")), "ours")
        with pytest.raises(BadSetting) as refused:
            await links.open()
        server.close()
        await server.wait_closed()
        return str(refused.value)

    assert run(attempt()).endswith("this is no NATS server: it sent the line '220 mail.example ESMTP'")


def test_logins(tmp_path: Path) -> None:
    with running(tmp_path, "--user", "me", "--pass", "secret") as engine:
        assert open_links(engine.url.replace("//", "//me:secret@")) == ""
        assert "refuses the login (Authorization Violation): give it as in nats://USER:PASSWORD@HOST" in open_links(engine.url)
        wrong = open_links(engine.url.replace("//", "//me:wrong@"))
        assert "refuses the login" in wrong
        assert "wrong" not in wrong
    with running(tmp_path, "--auth", "token") as engine:
        bad = "nats://127.0.0.1:1"
        assert open_links(f"{bad},{engine.url.replace('//', '//token@')}") == ""


def test_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=nats"]
    subprocess.run(
        [*make, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert], check=True, capture_output=True
    )
    with running(tmp_path, "--tls", "--tlscert", cert, "--tlskey", key) as engine:
        assert "self-signed certificate" in open_links(engine.url)
        monkeypatch.setenv("SSL_CERT_FILE", cert)
        assert open_links(engine.url) == open_links(engine.url.replace("nats:", "tls:")) == ""
    with running(tmp_path) as engine:
        assert open_links(engine.url.replace("nats:", "tls:")).endswith("the server has no TLS: use nats:// instead of tls://")
