"""The catalogue: the games on offer, each with its terms."""

from typing import Any

from msgspec import Struct

from botdrome.games.battlecube import Battlecube
from botdrome.games.battleship import Battleship
from botdrome.games.bomberman import Bomberman
from botdrome.games.bumblebots import Bumblebots
from botdrome.games.game import BadOption, Game
from botdrome.games.gomoku import Gomoku
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.games.options import with_options
from botdrome.match.record import BadRecord, Record, Setup, read
from botdrome.match.terms import Pace, Terms


class CatalogueEntry(Struct, frozen=True):
    game: Game[Any]
    terms: Terms

    @property
    def name(self) -> str:
        return self.game.name


CATALOGUE: dict[str, CatalogueEntry] = {
    row.name: row
    for row in (
        CatalogueEntry(NoughtsAndCrosses(), Terms(Pace(5000), strikes=3, hasty="illegal")),
        CatalogueEntry(
            Bumblebots(), Terms(Pace(250, first=500, beat=True), late="pass", gone="pass")
        ),
        CatalogueEntry(Gomoku(), Terms(Pace(5000, grace=10), strikes=1, boards=2)),
        CatalogueEntry(Battleship(), Terms(Pace(60_000), late="pass", gone="wait", absence=5_000)),
        CatalogueEntry(Battlecube(), Terms(Pace(5000), strikes=1)),
        CatalogueEntry(Bomberman(), Terms(Pace(200, beat=True), late="pass", gone="pass")),
    )
}


def restored(data: bytes) -> tuple[Record, Game[Any]]:
    """Return the record in a match file, and its game set up as it was.

    Raise BadRecord with the line and the reason.
    """
    record = read(data)
    return record, restored_game(record.setup)


def restored_game(setup: Setup) -> Game[Any]:
    """Return the game of a match file, set up as it was. Raise BadRecord with the reason."""
    row = CATALOGUE.get(setup.game)
    if row is None:
        raise BadRecord(1, f"there is no game {setup.game!r}; there are {', '.join(CATALOGUE)}")
    try:
        return with_options(row.game, setup.options)
    except BadOption as problem:
        raise BadRecord(1, str(problem)) from None
