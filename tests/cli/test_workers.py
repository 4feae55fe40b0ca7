"""`botdrome serve --workers N`: real nodes that share ports, are started again, and drain."""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import httpx
import psutil  # type: ignore[import-untyped]
import pytest

from tests.cli.commands import run
from tests.patience import PATIENCE

SERVE = [
    sys.executable,
    "-m",
    "botdrome",
    "serve",
    "--workers",
    "2",
    "--port",
    "0",
    "--drain",
    "0",
    "--processes",
    "1",
    "--cluster-port",
    "-1",
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where PostgreSQL may run as another user, if root runs the tests."""
    with TemporaryDirectory(prefix="botdrome-workers-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def read_until(words: str, stream: IO[str]) -> str:
    read = ""
    for line in stream:
        read += line
        if words in line:
            return read
    raise AssertionError(f"{words!r} did not come after {read!r}")


def read_until_all(words: Counter[str], stream: IO[str]) -> None:
    """Read until each of these words has come as often, in any order."""
    for line in stream:
        words -= Counter(one for one in words if one in line)
        if not words:
            return
    raise AssertionError(f"{words} did not come")


def nats_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return [
        child for child in psutil.Process(process.pid).children() if child.name() == "nats-server"
    ]


def nodes_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(process.pid).children()
        if "botdrome.cli.workers" in child.cmdline()
    ]


def health(port: int) -> str:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE).text
    except httpx.HTTPError:
        return ""


def test_nodes_share_ports_are_started_again_and_drain(folder: Path) -> None:
    environment = os.environ | {"XDG_DATA_HOME": str(folder), "HOME": str(folder)}
    with subprocess.Popen(SERVE, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        screen = read_until("2 nodes share these ports", process.stderr)
        assert screen.count("Botdrome is open.") == screen.count("The operator's token") == 1
        address = re.search(r"http://127.0.0.1:\d+", screen)
        assert address is not None
        nats_of(process)[0].kill()
        read_until_all(
            Counter({"the engine runs again": 1, "connected to NATS again": 2}), process.stderr
        )
        engines = nats_of(process)
        for node in nodes_of(process):
            ports = [
                one.laddr.port
                for one in node.net_connections("tcp4")
                if one.status == psutil.CONN_LISTEN
            ]
            assert sorted(map(health, ports)) == ["", "ok\n"]  # one port takes pipes alone
        nodes_of(process)[0].kill()
        read_until("a node has ended: it is started again", process.stderr)
        for _ in range(3):
            with httpx.Client(base_url=address[0]) as http:
                assert http.get("/healthz").text == "ok\n"
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        assert process.wait() == 0
        assert engines
        assert not any(engine.is_running() for engine in engines)


def test_what_cannot_start_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    here = run("serve", "--workers", "2", "--db", "sqlite:///here.db")
    cluster = ("--nats", "nats://127.0.0.1:1", "--cluster-wait", "0")
    away = run("serve", "--workers", "2", "--db", "postgresql://127.0.0.1:1/none", *cluster)
    assert (here.exit_code, away.exit_code) == (2, 2)
    words = here.stderr + capfd.readouterr().err  # a node is a process of its own
    assert (
        "botdrome: db: several workers need PostgreSQL, not 'sqlite:///here.db'; without --db, one "
        "is started" in words
    )
    assert words.count("botdrome: db: ") == 2
