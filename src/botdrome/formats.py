"""The formats on offer: a game and the terms on which it is played, one row each."""

from typing import Any

from msgspec import Struct

from botdrome.games.game import Game
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.match.terms import Pace, Terms


class Format(Struct, frozen=True):
    game: Game[Any]
    terms: Terms

    @property
    def name(self) -> str:
        return self.game.name


FORMATS: dict[str, Format] = {
    row.name: row for row in (Format(NoughtsAndCrosses(), Terms(Pace(5000), strikes=3, hasty="illegal")),)
}
