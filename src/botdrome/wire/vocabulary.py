"""What dialects are told: plain data, so that a dialect knows nothing of matches, sockets or clocks."""

from collections.abc import Sequence

from msgspec import Struct

from botdrome.games.game import View
from botdrome.match.course import News
from botdrome.match.events import Began, Event, Player, Result, meant_for
from botdrome.match.match import Match
from botdrome.match.terms import Milliseconds

Notices = Sequence[tuple[Event, View]]
"""Events with the position that each left, as one player may see it."""


class Standing(Struct, frozen=True):
    """How a match stands, beside its position."""

    now: Milliseconds
    time_left: Milliseconds | None
    """Until the running step is over, as announced; None: for ever."""
    strikes: tuple[int, ...]
    result: Result | None


def standing(match: Match, now: Milliseconds) -> Standing:
    pace = match.terms.pace
    left = None if match.deadline is None else max(0, match.deadline - now)
    announced = left if left is None or pace.limit is None or not pace.grace else min(left, pace.limit)
    return Standing(now, announced, match.strikes, match.result)


def notices_for(player: Player | None, news: News, match: Match) -> Notices:
    """The part of the news that a player (None: the public) may see. `news` are the latest of the match."""
    board = match.board - sum(isinstance(event, Began) for event, _ in news)
    notices = []
    for event, position in news:
        if isinstance(event, Began):
            board = event.board
        if meant_for(event) in (None, player):
            seat = None if player is None else (player - board) % match.players
            notices.append((event, position.view(seat)))
    return notices
