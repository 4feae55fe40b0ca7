"""Play a match at full speed, with bots that are functions."""

from collections.abc import Callable, Sequence

from botdrome.bots.house import house_view
from botdrome.games.game import Raw, View
from botdrome.match.match import Match
from botdrome.match.terms import Milliseconds

Bot = Callable[[View], Raw]
"""A function from a player's view to its move."""

TRIES = 3
"""The number of illegal moves of a player in one step before it misses the step."""


def simulate(match: Match, bots: Sequence[Bot]) -> Match:
    """Play a match from its start to its end."""
    match.start()
    return play_on(match, bots, 0)


def play_on(match: Match, bots: Sequence[Bot], now: Milliseconds) -> Match:
    """Play a match to its end. Time passes only where the match waits for it."""
    while match.result is None:
        step = match.steps
        for _ in range(TRIES):
            for player in tuple(match.step.awaited):
                view = house_view(match.board.position, match.board.seat_of[player])
                match.submit(player, bots[player](view), now)
            if match.steps != step:
                break
        else:
            now = _let_time_pass(match, now)
    return match


def _let_time_pass(match: Match, now: Milliseconds) -> Milliseconds:
    if match.deadline is None:
        for player in tuple(match.awaited):
            match.expel(player, "illegal moves", now)
        return now
    now = match.deadline
    match.wake(now)
    return now
