"""House bots by game and name, and their views."""

from collections.abc import Callable
from functools import partial
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


def novice(bot: HouseBot, careless: HouseBot, every: int, view: View, chance: Chance) -> Raw:
    """Play like a bot, but carelessly in one of `every` moves, as people do."""
    return (bot if chance.below(every) else careless)(view, chance)


NOVICES: dict[str, HouseBot] = {
    "bomberman": partial(novice, bomberman.sapper, bomberman.random, 6),
    "bumblebots": partial(novice, bumblebots.forager, bumblebots.random, 2),
    "gomoku": partial(novice, gomoku.threat, gomoku.random, 4),
}
"""`house:novice`, an opponent for people where the second bot of the ladder is too strong. It is no
part of the ladder, so it has no fixed rating.
"""
EASY = "Easy"
"""The level that pages propose."""
_FOUR = ("Beginner", EASY, "Medium", "Hard")
LEVELS: dict[str, dict[str, str]] = {
    game: dict(zip(bots.split(), levels, strict=True))
    for game, bots, levels in (
        ("noughts-and-crosses", "random blocker perfect", ("Beginner", EASY, "Unbeatable")),
        ("bumblebots", "random novice forager surveyor", _FOUR),
        ("gomoku", "random novice threat strategist", _FOUR),
        (
            "battleship",
            "skipper random drifter trawler gunner pilot plotter hunter",
            ("Asleep", "Beginner", EASY, "Medium", "Hard", "Harder", "Very hard", "Expert"),
        ),
        ("battlecube", "random dodger survivor stalker", _FOUR),
        ("bomberman", "random novice sapper bombardier warden", (*_FOUR, "Expert")),
    )
}
"""The levels of house bots for people, weakest first."""


def levels_of(game: str) -> dict[str, str]:
    """Return the house bots for people with their levels, weakest first."""
    return LEVELS.get(game, dict.fromkeys(house_bots(game), EASY))


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
