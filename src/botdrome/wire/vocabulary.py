"""What dialects are told beside the news: how a match stands, and who may hear what."""

from collections.abc import Sequence

from msgspec import Struct

from botdrome.games.game import Seat
from botdrome.match.course import News
from botdrome.match.events import Began, Player
from botdrome.match.match import Match
from botdrome.match.terms import Milliseconds


class Standing(Struct, frozen=True):
    """How a match stands, beside its position."""

    now: Milliseconds
    time_left: Milliseconds | None
    """Until the running step is over, as announced; None: for ever."""
    strikes: tuple[int, ...]
    players: int
    board: int


def standing(match: Match, now: Milliseconds) -> Standing:
    pace = match.terms.pace
    ahead = pace.limit or 0 if match.resting else 0
    left = None if match.deadline is None else max(0, match.deadline - now) + ahead
    announced = left if left is None or pace.limit is None or not pace.grace else min(left, pace.limit)
    return Standing(now, announced, match.strikes, match.players, match.board)


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
