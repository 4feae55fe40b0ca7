"""House bots by game and name, and what they are shown."""

from collections.abc import Callable
from itertools import islice
from typing import Any

from botdrome.bots import (
    battlecube,
    battlecube_stalker,
    battleship,
    bomberman,
    bomberman_bombardier,
    bomberman_sapper,
    bumblebots,
    gomoku,
    noughts_and_crosses,
)
from botdrome.games.chance import Chance
from botdrome.games.game import Game, Raw, Seat, View

HouseBot = Callable[[View, Chance], Raw]
"""A plain function: from what its player may know, and chance, to a move."""
MOST_LISTED = 1000
"""Legal moves among which a bot chooses that knows nothing of its game."""

HOUSE: dict[str, dict[str, HouseBot]] = {
    "noughts-and-crosses": {"random": noughts_and_crosses.random, "perfect": noughts_and_crosses.perfect},
    "battlecube": {
        "random": battlecube.random,
        "survivor": battlecube.survivor,
        "stalker": battlecube_stalker.stalker,
    },
    "battleship": {
        "random": battleship.random,
        "skipper": battleship.skipper,
        "trawler": battleship.trawler,
        "gunner": battleship.gunner,
        "pilot": battleship.pilot,
        "plotter": battleship.plotter,
        "hunter": battleship.hunter,
    },
    "bomberman": {
        "random": bomberman.random,
        "sapper": bomberman_sapper.sapper,
        "bombardier": bomberman_bombardier.bombardier,
    },
    "bumblebots": {"random": bumblebots.random, "forager": bumblebots.forager},
    "gomoku": {"random": gomoku.random, "threat": gomoku.threat},
}


def house_bots(game: str) -> dict[str, HouseBot]:
    """The weakest first. A game without bots of its own has one that plays any legal move."""
    return HOUSE.get(game, {"random": any_legal_move})


def any_legal_move(view: View, chance: Chance) -> Raw:
    return chance.choice(view["legal"])


def house_view(position: Game[Any], seat: Seat) -> View:
    """What a house bot is shown: the seat's view, with its legal moves if the game has no bots of its own."""
    view = position.view(seat)
    return view if position.name in HOUSE else view | {"legal": list(islice(position.moves(seat), MOST_LISTED))}


def seated(bot: HouseBot, seed: int) -> Callable[[View], Raw]:
    """The bot with its own chance, for one match."""
    chance = Chance(seed)
    return lambda view: bot(view, chance)
