"""Values that writers need beside the news: the standing of the match, the board of each event, and seats."""

from collections.abc import Sequence

from botdrome.games.game import Seat
from botdrome.match.events import Began, Player
from botdrome.match.match import Match, News
from botdrome.match.terms import Milliseconds
from botdrome.wire.standing import Standing


def standing(match: Match, now: Milliseconds) -> Standing:
    due = match.deadline
    left = None if due is None else _announced(match, due - now)
    return Standing(now, left, match.strikes, match.players, match.board)


def _announced(match: Match, left: Milliseconds) -> Milliseconds:
    """Return the time shown to players: the whole limit before a step begins, and never the grace period or a credit."""
    pace = match.terms.pace
    if match.resting:
        left = max(left, 0) + (pace.limit or 0)
        return min(left, pace.limit) if pace.grace and pace.limit is not None else left
    left -= match.credited
    limit = pace.limit if match.steps or pace.first is None else pace.first
    return max(left - (limit or 0) * pace.grace // 100, 0)


def boards_of(news: News, last: int) -> Sequence[int]:
    """Return the board of each event; `last` is the board of the latest."""
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
