"""Samples: a position of each game as the public sees it, for pictures and for those who write a bot."""

from functools import cache
from typing import Any

from msgspec import Struct

from botdrome.bots.house import HouseBot, house_bots, house_view, seated
from botdrome.formats import FORMATS
from botdrome.games.game import Raw, View
from botdrome.match.match import Match

SEED = 7
SHORTEST, LONGEST = 8, 60
"""Steps that are played. The sample is from the last third of them."""
PLAYERS = 4
"""At most."""


class Sample(Struct, frozen=True):
    """What a bot was shown and what it answered, and what the public saw at that time."""

    players: list[str]
    public: View
    seat: int
    view: View
    move: Raw


@cache
def sample(game: str) -> Sample:
    """From a match between copies of a house bot: the best one whose matches are not over at once."""
    found: list[Sample] = []
    for name, bot in reversed(house_bots(game).items()):
        found = _played(game, name, bot)
        if len(found) >= SHORTEST:
            break
    return found[len(found) * 2 // 3]


def _played(game: str, name: str, bot: HouseBot) -> list[Sample]:
    row = FORMATS[game]
    match = Match(row.game, max(2, min(PLAYERS, row.game.players[-1])), row.terms, SEED)
    bots = [seated(bot, SEED + player) for player in range(match.players)]
    names = [f"house:{name} {player}" if player else f"house:{name}" for player in range(match.players)]
    found: list[Sample] = []
    now = 0
    match.start()
    while match.result is None and len(found) < LONGEST:
        found.append(_asked(match, bots, names))
        for player in tuple(match.awaited):
            match.submit(player, bots[player](house_view(match.position, match.seat_of(player))), now)
        if match.deadline is not None and (row.terms.pace.beat or not match.awaited):
            now = match.deadline
            match.wake(now)
    return found


def _asked(match: Match, bots: list[Any], names: list[str]) -> Sample:
    player = match.awaited[0]
    seats, move = [names[one] for one in match.order], bots[player](house_view(match.position, match.seat_of(player)))
    return Sample(seats, match.view(None), match.seat_of(player), match.view(player), move)
