"""The line G: the game that a server offers, written by servers and read by clients."""

from collections.abc import Sequence

from msgspec import Struct

from botdrome.games.battleship import Boats, boats_in
from botdrome.games.game import BadOption
from botdrome.wire.boats.lines import COLUMNS, number_in, text_in

PORT = 7948
"""Default port of the protocol."""
VERSION = "1.2.0"
"""Version of the protocol. Clients want 1.1 at least."""


class BadOffer(Exception):
    """A line G that describes no game, with the reason."""


class Offer(Struct, frozen=True):
    """The game that can be joined."""

    title: str
    least: int
    most: int
    goal: int
    width: int
    height: int
    boats: Boats

    @property
    def squares(self) -> int:
        return self.width * self.height

    def info(self, started: bool, joined: int) -> bytes:
        counts = (self.least, self.most, joined, self.goal, self.width, self.height, len(self.boats.names))
        fields = ("G", VERSION, self.title, "Y" if started else "N", *map(str, counts), *self.boats.names)
        return "|".join(fields).encode()


class OfferedGame(Offer, frozen=True, kw_only=True):
    """An offer as a client reads it."""

    version: str
    started: bool
    joined: int


def offer_in(fields: Sequence[str]) -> OfferedGame:
    """Read G|version|title|started|min|max|joined|goal|width|height|count|boat..., or raise BadOffer."""
    least, most, joined, goal, width, height, count = (number_in(fields, at) for at in range(4, 11))
    if not 1 <= width <= len(COLUMNS) or not 1 <= height <= len(COLUMNS):
        raise BadOffer(f"the server offers a board of {width} by {height}")
    try:
        boats = boats_in(" ".join(fields[11 : 11 + count]))
    except BadOption as problem:
        raise BadOffer(f"the server offers a game with {problem}") from None
    version, title, started = (text_in(fields, at) for at in (1, 2, 3))
    return OfferedGame(
        title, least, most, goal or boats.squares, width, height, boats,
        version=version, started=started.upper() == "Y", joined=joined,
    )  # fmt: skip
