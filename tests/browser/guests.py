"""Guests that play over the native protocol, so that the browser has something to show."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from websockets.sync.client import ClientConnection, connect

from tests.browser.arena import BrowserArena
from tests.patience import PATIENCE

HOUSE = {"bomberman": "house:sapper"}
"""A bot that does not kill itself at once; for other games any will do."""
MANY = {"players": 12, "options": {"edge": 64}}
"""A cube in which players do not meet for long."""
NOTHING = [{"task": "NOOP"}]
SECRET = "a secret of the tests"


class Guest:
    """A player at a table that moves on command."""

    def __init__(self, socket: ClientConnection, game: str) -> None:
        self.socket, self.game = socket, game
        self.match = ""
        self.over = False
        self.legal: list[Any] = []

    def ready(self) -> Self:
        """Wait until it is to move, or the match is over."""
        turn = False
        while not (turn or self.over):
            message = json.loads(self.socket.recv(PATIENCE))
            assert "error" not in message, message
            self.match = message.get("match", self.match)
            self.over = message.get("event", {}).get("event") == "ended"
            self.legal = message.get("legal", [])
            turn = "timeLeft" in message and message["view"]["you"] in message["view"]["toMove"]
        return self

    def move(self) -> None:
        """Play a legal move, and wait for the next turn."""
        self.socket.send(
            json.dumps({"move": NOTHING if self.game == "battlecube" else self.legal[0]})
        )
        self.ready()

    def resign(self) -> None:
        self.socket.send('{"resign": true}')
        while not self.over:
            self.ready()


@contextmanager
def joined(
    arena: BrowserArena, game: str, name: str = "Ann of the tests", **wish: Any
) -> Iterator[Guest]:
    """A guest that has logged in and waits for an opponent."""
    login = {
        "gameType": game.upper().replace("-", "_"), "name": name, "guest": True, "secret": SECRET,
        "pace": "stepped", "features": ["frames"],
    }  # fmt: skip
    with connect(
        arena.url.replace("http", "ws"), open_timeout=PATIENCE, ping_interval=None
    ) as socket:
        socket.send(json.dumps(login | wish))
        assert json.loads(socket.recv(PATIENCE))["authentication"] == "OK"
        yield Guest(socket, game)


@contextmanager
def seated(
    arena: BrowserArena, game: str, name: str = "Ann of the tests", **wish: Any
) -> Iterator[Guest]:
    """A guest to move against a house bot. The match runs until the guest resigns."""
    wish = (MANY if game == "battlecube" else {}) | wish
    with joined(arena, game, name, opponent=HOUSE.get(game, "house:random"), **wish) as guest:
        yield guest.ready()


def played(
    arena: BrowserArena, game: str, name: str = "Ann of the tests", moves: int = 3, **wish: Any
) -> str:
    """The match that a guest has played against a house bot, and given up after some moves, or won
    or lost before.
    """
    with seated(arena, game, name, **wish) as guest:
        for _ in range(moves):
            if not guest.over:
                guest.move()
        if not guest.over:
            guest.resign()
        return guest.match
