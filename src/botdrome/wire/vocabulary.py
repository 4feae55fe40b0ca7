"""What dialects are told beside the news: how a match stands, and who may hear what."""

from collections.abc import Sequence

from botdrome.games.game import Seat
from botdrome.match.course import News
from botdrome.match.events import Began, Player
from botdrome.match.match import Match
from botdrome.match.terms import Milliseconds
from botdrome.wire.standing import Standing


def standing(match: Match, now: Milliseconds) -> Standing:
    left = None if match.deadline is None else _announced(match, match.deadline - now)
    return Standing(now, left, match.strikes, match.players, match.board)


def _announced(match: Match, left: Milliseconds) -> Milliseconds:
    """Where a step has a time, all of it while it has not begun; never the grace, whenever one asks."""
    pace = match.terms.pace
    if match.resting:
        left = max(left, 0) + (pace.limit or 0)
        return min(left, pace.limit) if pace.grace and pace.limit is not None else left
    limit = pace.limit if match.steps or pace.first is None else pace.first
    return max(left - (limit or 0) * pace.grace // 100, 0)


def boards_of(news: News, last: int) -> Sequence[int]:
    """The board that each piece of news is about; `last` is the board of the latest."""
    if len(news) == 1:
        return (last,)
    board = last - sum([isinstance(event, Began) for event, _ in news])
    boards = []
    for event, _ in news:
        if isinstance(event, Began):
            board = event.board
        boards.append(board)
    return boards


def seat_on(board: int, player: Player, players: int) -> Seat:
    return (player - board) % players
