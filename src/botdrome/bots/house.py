"""The house bots by game and name."""

from collections.abc import Callable

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
from botdrome.games.game import Raw, View

HouseBot = Callable[[View, Chance], Raw]
"""A plain function: from what a seat may know, and chance, to the move that it sends."""

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


def seated(bot: HouseBot, seed: int) -> Callable[[View], Raw]:
    """The bot for one match, with chance of its own."""
    chance = Chance(seed)
    return lambda view: bot(view, chance)
