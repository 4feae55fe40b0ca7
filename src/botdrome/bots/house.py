"""House bots by game and name, and their views."""

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
    bomberman_warden,
    bumblebots,
    bumblebots_surveyor,
    gomoku,
    gomoku_strategist,
    noughts_and_crosses,
)
from botdrome.games.chance import Chance
from botdrome.games.game import Game, Raw, Seat, View

HouseBot = Callable[[View, Chance], Raw]
"""A function from a player's view and chance to a move."""
MOST_LISTED = 1000
"""The largest number of legal moves shown to a bot that does not know the game."""

HOUSE: dict[str, dict[str, HouseBot]] = {
    "noughts-and-crosses": {
        "random": noughts_and_crosses.random,
        "blocker": noughts_and_crosses.blocker,
        "perfect": noughts_and_crosses.perfect,
    },
    "battlecube": {
        "random": battlecube.random,
        "dodger": battlecube.dodger,
        "survivor": battlecube.survivor,
        "stalker": battlecube_stalker.stalker,
    },
    "battleship": {
        "random": battleship.random,
        "skipper": battleship.skipper,
        "drifter": battleship.drifter,
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
        "warden": bomberman_warden.warden,
    },
    "bumblebots": {
        "random": bumblebots.random,
        "forager": bumblebots.forager,
        "surveyor": bumblebots_surveyor.surveyor,
    },
    "gomoku": {"random": gomoku.random, "threat": gomoku.threat, "strategist": gomoku_strategist.strategist},
}


def house_bots(game: str) -> dict[str, HouseBot]:
    """Return the house bots of a game, weakest first. A game without its own bots has one that plays any legal move."""
    return HOUSE.get(game, {"random": any_legal_move})


def any_legal_move(view: View, chance: Chance) -> Raw:
    return chance.choice(view["legal"])


def house_view(position: Game[Any], seat: Seat) -> View:
    """Return the view for a house bot: the seat's view, with the legal moves if the game has no bots of its own."""
    view = position.view(seat)
    return view if position.name in HOUSE else view | {"legal": list(islice(position.moves(seat), MOST_LISTED))}


def seated(bot: HouseBot, seed: int) -> Callable[[View], Raw]:
    """Return the bot with its own chance, for one match."""
    chance = Chance(seed)
    return lambda view: bot(view, chance)
