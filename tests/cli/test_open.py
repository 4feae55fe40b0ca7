"""`botdrome play --open`: matches that are seen in the browser as they are played."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from botdrome.cli import broadcast
from tests.cli.commands import run
from tests.patience import PATIENCE

HEED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
COMMAND = [sys.executable, "-c", f"{HEED}from botdrome.cli.app import main; main()", "play"]
SLOW = """
from botdrome.bots.house import HOUSE, seated

random, asked = seated(HOUSE["battleship"]["random"], 1), []

def bot(view):
    asked.append(view)
    if len(asked) == 3:
        open({fifo!r}).read()
    return random(view)
"""


@contextmanager
def playing(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address that its browser was given."""
    given = folder / "browser"
    os.mkfifo(given)
    script = folder / "browser.sh"
    script.write_text(f'#!/bin/sh\necho "$1" > {given}\n')
    script.chmod(0o755)
    (folder / "temporary").mkdir()
    environment = os.environ | {"BROWSER": f"{script} %s", "TMPDIR": str(folder / "temporary")}
    process = subprocess.Popen(
        [*COMMAND, *words, "--open"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, given.read_text().strip()
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def answer(url: str) -> Any:
    return httpx.get(url, timeout=PATIENCE).raise_for_status().json()


def test_matches_stay_until_ctrl_c(tmp_path: Path) -> None:
    with playing(
        tmp_path, "gomoku", "house:random", "house:random", "-n", "3", "-j", "2", "--json"
    ) as (process, url):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
        assert process.stderr is not None and process.stdout is not None
        words = iter(process.stderr.readline, "")
        assert (
            next(line for line in words if "They stay" in line)
            == f"They stay at {url} until you press Ctrl-C.\n"
        )
        assert len(json.loads(process.stdout.readline())["matches"]) == 3
        while answer(f"{url}/api/v1/matches?status=ended")["total"] < 3:
            pass
        film = (
            httpx.get(f"{url}/api/v1/matches/gomoku-1-00001/film", timeout=PATIENCE)
            .raise_for_status()
            .text.splitlines()
        )
        assert json.loads(film[-1])["event"]["event"] == "ended"
        assert answer(f"{url}/api/v1/live") == {"tables": [], "total": 0}
        assert "<html" in httpx.get(url, timeout=PATIENCE).text
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_match_is_watched_as_it_is_played(tmp_path: Path) -> None:
    fifo = tmp_path / "go on"
    os.mkfifo(fifo)
    (tmp_path / "slow.py").write_text(SLOW.format(fifo=str(fifo)))
    with playing(tmp_path, "battleship", str(tmp_path / "slow.py"), "house:random", "-n", "1") as (
        _,
        url,
    ):
        while not (tables := answer(f"{url}/api/v1/live")["tables"]):
            pass
        assert (tables[0]["id"], tables[0]["players"]) == (
            "battleship-1-00001",
            ["slow.py", "house:random"],
        )
        with connect(f"{url.replace('http', 'ws')}/watch/battleship-1-00001") as socket:
            first = json.loads(socket.recv(timeout=PATIENCE))
            assert first["snapshot"] and first["bots"] == ["slow.py", "house:random"]
            fifo.write_text("")
            *news, last = [json.loads(message) for message in socket]
        assert {message["event"]["event"] for message in news} >= {"played", "board ended"}
        assert last["event"]["event"] == "ended"


def test_ctrl_c_ends_matches_and_server(tmp_path: Path) -> None:
    fifo = tmp_path / "never"
    os.mkfifo(fifo)
    (tmp_path / "slow.py").write_text(SLOW.format(fifo=str(fifo)))
    with playing(tmp_path, "battleship", str(tmp_path / "slow.py"), "house:random", "-n", "1") as (
        process,
        url,
    ):
        while not answer(f"{url}/api/v1/live")["tables"]:
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert list((tmp_path / "temporary").iterdir()) == []


def test_pages_that_were_not_built_are_missed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(broadcast, "WEB", tmp_path)
    result = run("play", "gomoku", "house:random", "house:random", "-n", "1", "--open")
    assert result.exit_code == 1
    assert "The pages have not been built." in result.stderr


def test_without_a_screen_no_browser_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert not broadcast.open_browser("http://127.0.0.1:1")
