"""A server of its own process for the browser, and bots that play on it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from tests.patience import PATIENCE

OPERATOR = "the operator of the tests"
SETTINGS = {
    "house_fill": "true", "house_wait": "0", "match_start_delay": "0", "duel_port": "-1",
    "boats_port": "-1", "bomber_port": "-1", "cube_port": "-1", "operator_token": OPERATOR,
    "drain": "0",
}  # fmt: skip


class BrowserArena:
    """A running server, and the questions that tests ask it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.rest = httpx.Client(base_url=f"{url}/api/v1", timeout=PATIENCE)

    def register(self, game: str, name: str) -> str:
        """The token of a new bot."""
        answer = self.rest.post("/bots", json={"game": game, "name": name, "owner": "tests"})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["password"])

    @contextmanager
    def login(self, game: str, name: str, token: str, **wish: Any) -> Iterator[ClientConnection]:
        """A bot that has logged in over the native protocol."""
        with connect(self.url.replace("http", "ws"), open_timeout=PATIENCE) as socket:
            words = {
                "gameType": game.upper().replace("-", "_"),
                "name": name,
                "password": token,
            } | wish
            socket.send(json.dumps(words))
            assert json.loads(socket.recv(PATIENCE))["authentication"] == "OK"
            yield socket


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[BrowserArena]:
    botdrome = str(Path(sys.executable).with_name("botdrome"))
    command = [botdrome, "serve", "--port", "0", "--db", f"sqlite:///{folder}/botdrome.db"]
    for key, value in (SETTINGS | settings).items():
        command += ["--set", f"{key}={value}"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        seen = ""
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", seen)):
            line = process.stderr.readline()
            assert line, f"the server ended: {seen}"
            seen += line
        Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would hold the server
        arena = BrowserArena(found[0])
        try:
            yield arena
        finally:
            arena.rest.close()
            process.terminate()
            process.wait(PATIENCE)
