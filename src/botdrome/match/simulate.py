"""A match at full speed, with bots that are plain functions."""

from collections.abc import Callable, Sequence

from botdrome.games.game import Raw, View
from botdrome.match.match import Match

Bot = Callable[[View], Raw]
"""From what a seat may know to the move that it sends."""


def simulate(match: Match, bots: Sequence[Bot]) -> Match:
    """Play the match to its end. No time passes but where the match asks for it."""
    match.start()
    now = 0
    while match.result is None:
        for player in match.awaited:
            match.submit(player, bots[player](match.view(player)), now)
        if match.deadline is not None and (match._beat or not match.awaited):
            now = match.deadline
            match.wake(now)
    return match
