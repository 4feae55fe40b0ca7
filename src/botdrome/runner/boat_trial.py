"""Boat trial: a bot shoots at boards drawn by chance, one after the other, until all boats of each are sunk."""

from collections.abc import Callable
from hashlib import blake2b

from msgspec import Struct

from botdrome.games.battleship import Battleship
from botdrome.games.chance import SplitMix
from botdrome.games.fleet import Rows, boats_in
from botdrome.games.game import Raw, View
from botdrome.runner.boat_positions import drawn_position

GAME = "battleship"
FLEET = Battleship().boats
"""The boats of every trial, whatever the size of the board."""
SKIPPER = "Skipper"
"""Who owns the boards, and never shoots."""
Watch = Callable[[View], None]
"""Is shown what the owner of a board sees after every shot."""


class Trial(Struct, frozen=True):
    """Boards by seed. They come from the older generator, so that a seed gives the boards that it always gave."""

    bot: str
    positions: int
    seed: int
    width: int = 10
    height: int = 10
    border: int = 0
    """Percent of their border that the boats have free at least."""

    def game(self) -> Battleship:
        """Twice as many rounds as squares: a bot that skips more than it shoots never ends."""
        return Battleship(self.width, self.height, FLEET, rounds=2 * self.width * self.height)

    def position(self, number: int) -> Rows:
        return drawn_position(self.width, self.height, boats_in(FLEET).names, self.border, SplitMix(2 * self.seed, number))

    def seed_of_bot(self, number: int) -> int:
        return SplitMix(2 * self.seed + 1, number).bits()


class Hunt(Struct, frozen=True):
    """How a bot fared on one board."""

    number: int
    board: int
    """The same for the same boats."""
    turns: int
    seconds: float
    """That the bot took: of CPU time for bots of the house, by the clock for all others."""
    fault: str = ""
    """Why the fleet was not sunk."""


class Owner:
    """Has the board that is shot at, and skips."""

    def __init__(self, fleet: Rows, watch: Watch | None) -> None:
        self._fleet, self._watch = fleet, watch

    def __call__(self, view: View) -> Raw:
        if view["phase"] == "placement":
            return {"board": "".join(self._fleet)}
        if self._watch:
            self._watch(view)
        return {"skip": True}


def told(number: int, fleet: Rows, end: Battleship, seconds: float, fault: str = "") -> Hunt:
    """The hunt that ended with this position."""
    sunk = bool(end.scores) and end.scores[0] == boats_in(FLEET).squares
    why = "" if sunk else fault or f"not sunk after {end.rounds} turns"
    digest = blake2b("".join(fleet).encode(), digest_size=8).digest()
    return Hunt(number, int.from_bytes(digest, "big"), (end.turn + 1) // 2, seconds, why)
