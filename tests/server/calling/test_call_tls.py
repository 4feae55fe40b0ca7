"""Calls over TLS."""

import asyncio
import ssl
import subprocess
from pathlib import Path

import pytest

from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.settings import BadSetting
from tests.server.calling.hosts import callers, host
from tests.server.calling.test_bot_caller import LIMIT

pytestmark = pytest.mark.anyio


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=bots.example",
         "-addext", "subjectAltName=DNS:bots.example,"
                    "IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


def tls(folder: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def test_https_goes_to_the_checked_address_and_asks_for_the_name(certificate: Path) -> None:
    names: list[str | None] = []
    context = tls(certificate)
    context.sni_callback = lambda _, name, __: names.append(name)
    async with (
        host(tls=context) as bot,
        callers({"bots.example": ["127.0.0.1"]}, calls_ca=str(certificate / "cert.pem")) as ours,
    ):
        for _ in range(2):
            assert (await ours.post(f"https://bots.example:{bot.port}/", b"", LIMIT)).status == 200
        assert names == ["bots.example"]
        assert bot.asked[0].headers["host"] == f"bots.example:{bot.port}"
        assert (await ours.post(f"https://127.0.0.1:{bot.port}/", b"", LIMIT)).status == 200


async def test_a_certificate_has_to_be_trusted_and_to_fit_the_name(certificate: Path) -> None:
    names = {"bots.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]}
    async with host(tls=tls(certificate)) as bot:
        async with callers(names) as ours:
            with pytest.raises(
                CallFailed, match=r"the certificate of bots\.example is not trusted"
            ):
                await ours.post(f"https://bots.example:{bot.port}/", b"", LIMIT)
        async with callers(names, calls_ca=str(certificate / "cert.pem")) as ours:
            with pytest.raises(
                CallFailed, match=r"the certificate of other\.example is not trusted"
            ):
                await ours.post(f"https://other.example:{bot.port}/", b"", LIMIT)


async def test_https_to_something_that_speaks_no_tls() -> None:
    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\r\n" * 20)
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    async with await asyncio.start_server(hello, "127.0.0.1", 0) as server, callers() as ours:
        with pytest.raises(CallFailed, match=r"does not speak TLS|cannot be reached"):
            await ours.post(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/", b"", LIMIT)


async def test_certificates_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nothing")
    for name in ("bad.pem", "missing.pem"):
        with pytest.raises(BadSetting, match=r"^calls.ca: "):
            async with callers(calls_ca=str(tmp_path / name)):
                pass
