"""House bots by game and name, and their views."""

from collections.abc import Callable
from itertools import islice
from typing import Any

from botdrome.bots import battlecube, battleship, bomberman, bumblebots, gomoku, noughts_and_crosses
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
        "stalker": battlecube.stalker,
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
        "sapper": bomberman.sapper,
        "bombardier": bomberman.bombardier,
        "warden": bomberman.warden,
    },
    "bumblebots": {
        "random": bumblebots.random,
        "forager": bumblebots.forager,
        "surveyor": bumblebots.surveyor,
    },
    "gomoku": {"random": gomoku.random, "threat": gomoku.threat, "strategist": gomoku.strategist},
}


def house_bots(game: str) -> dict[str, HouseBot]:
    """Return the house bots of a game, weakest first.

    A game without its own bots has one that plays any legal move.
    """
    return HOUSE.get(game, {"random": any_legal_move})


def any_legal_move(view: View, chance: Chance) -> Raw:
    return chance.choice(view["legal"])


def house_view(position: Game[Any], seat: Seat) -> View:
    """Return the view for a house bot: the seat's view, with the legal moves if the game has no
    bots of its own.
    """
    view = position.view(seat)
    return (
        view
        if position.name in HOUSE
        else view | {"legal": list(islice(position.moves(seat), MOST_LISTED))}
    )


def seated(bot: HouseBot, seed: int) -> Callable[[View], Raw]:
    """Return the bot with its own chance, for one match."""
    chance = Chance(seed)
    return lambda view: bot(view, chance)


# The fixed ratings of the house bots, as they were measured once (`docs/house-bots.md`): the scale
# of all leaderboards.

HOUSE_RATINGS: dict[str, dict[str, float]] = {
    "noughts-and-crosses": {"random": 1246, "blocker": 1543, "perfect": 1711},
    "bumblebots": {"random": 759, "forager": 1803, "surveyor": 1938},
    "gomoku": {"random": 758, "threat": 1625, "strategist": 2117},
    "battleship": {
        "skipper": 139,
        "random": 865,
        "drifter": 1333,
        "trawler": 1592,
        "gunner": 1885,
        "pilot": 1931,
        "plotter": 2014,
        "hunter": 2242,
    },
    "battlecube": {"random": 611, "dodger": 1439, "survivor": 1803, "stalker": 2146},
    "bomberman": {"random": 397, "sapper": 1148, "bombardier": 1852, "warden": 2603},
}
