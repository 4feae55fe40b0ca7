"""Samples: a position of each game as the public sees it, for pictures and for those who write a bot."""

from functools import cache
from typing import Any

from msgspec import Struct

from botdrome.bots.house import HOUSE, seated
from botdrome.formats import FORMATS
from botdrome.games.game import Raw, View
from botdrome.match.match import Match

SEED = 7
LONGEST = 40
"""Steps that are played. The sample is from the second half of them."""
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
    """From a match between copies of a house bot: the first one, or the first beside `random`."""
    row = FORMATS[game]
    sizes, (name, bot) = row.game.players, list(HOUSE[game].items())[:2][-1]
    match = Match(row.game, max(2, min(PLAYERS, sizes[-1])), row.terms, SEED)
    bots = [seated(bot, SEED + player) for player in range(match.players)]
    match.start()
    names = [f"house:{name} {player}" if player else f"house:{name}" for player in range(match.players)]
    found: list[Sample] = []
    now = 0
    while match.result is None and len(found) < LONGEST:
        found.append(_asked(match, bots, names))
        for player in tuple(match.awaited):
            match.submit(player, bots[player](match.view(player)), now)
        if match.deadline is not None and (row.terms.pace.beat or not match.awaited):
            now = match.deadline
            match.wake(now)
    return found[len(found) * 2 // 3]


def _asked(match: Match, bots: list[Any], names: list[str]) -> Sample:
    player = match.awaited[0]
    view = match.view(player)
    return Sample([names[one] for one in match.order], match.view(None), match.order.index(player), view, bots[player](view))
