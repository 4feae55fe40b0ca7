"""Guests who play by the native protocol, so that there is something to see in the browser."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from websockets.sync.client import ClientConnection, connect

from tests.browser.arena import BrowserArena
from tests.patience import PATIENCE

HOUSE = "house:random"
SECRET = "a secret of the tests"


class Guest:
    """A player at a table, who moves when told to."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.match = ""
        self.over = False
        self.legal: list[Any] = []

    def ready(self) -> Self:
        """Wait until it is to move, or the match is over."""
        self.legal = []
        while not (self.legal or self.over):
            message = json.loads(self.socket.recv(PATIENCE))
            assert "error" not in message, message
            self.match = message.get("match", self.match)
            self.over = message.get("event", {}).get("event") == "ended"
            self.legal = message.get("legal", [])
        return self

    def move(self, choice: int = 0) -> None:
        """Play one of the legal moves, and wait for the next turn."""
        self.socket.send(json.dumps({"move": self.legal[choice]}))
        self.ready()

    def resign(self) -> None:
        self.socket.send('{"resign": true}')
        while not self.over:
            self.ready()


@contextmanager
def joined(arena: BrowserArena, game: str, name: str = "Ann of the tests", **wish: Any) -> Iterator[Guest]:
    """A guest who has logged in, and waits for the opponent of its wish."""
    login = {
        "gameType": game.upper().replace("-", "_"), "name": name, "guest": True, "secret": SECRET, "pace": "stepped",
        "features": ["frames"],
    }  # fmt: skip
    with connect(arena.url.replace("http", "ws"), open_timeout=PATIENCE, ping_interval=None) as socket:
        socket.send(json.dumps(login | wish))
        assert json.loads(socket.recv(PATIENCE))["authentication"] == "OK"
        yield Guest(socket)


@contextmanager
def seated(arena: BrowserArena, game: str, name: str = "Ann of the tests", **wish: Any) -> Iterator[Guest]:
    """A guest at a table with a house bot, who is to move. The match runs until it resigns."""
    with joined(arena, game, name, opponent=HOUSE, **wish) as guest:
        yield guest.ready()


def played(arena: BrowserArena, game: str, name: str = "Ann of the tests", moves: int = 3, **wish: Any) -> str:
    """The match that a guest has played against a house bot, and given up after some moves, or won or lost before."""
    with seated(arena, game, name, **wish) as guest:
        for _ in range(moves):
            if not guest.over:
                guest.move()
        if not guest.over:
            guest.resign()
        return guest.match
