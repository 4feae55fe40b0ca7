"""Duel lines: what boards over duel arena count for, by Elo's rating and in numbers."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.elo import START, updated
from botdrome.match.events import Cause
from botdrome.store.store import Epoch, Note

KEPT = 100
"""Boards kept for each player."""
BOARDS = "duel boards by id"
"""The book that has all of them."""


class DuelLine(Struct, frozen=True):
    """A player's record, as the original keeps it, and the draws, which it did not count."""

    rating: float = START
    wins: int = 0
    losses: int = 0
    """On boards that it was there to lose."""
    draws: int = 0
    total_games: int = 0
    invalid_moves: int = 0
    """Boards that it lost by an illegal move, out of time or by going away."""
    total_seconds: float = 0.0
    """Online."""
    boards: int = 0
    """Boards noted for it so far: the place of the next in the book of its boards."""


class DuelBoard(Struct, frozen=True):
    """A board that was played to its end."""

    id: int
    match: str
    player1: str
    """Who began."""
    player2: str
    rating1: float
    """At the beginning of the board."""
    rating2: float
    start_time: Epoch
    end_time: Epoch
    moves: int
    winner: str | None
    """None: a draw."""


class PlayedBoard(Struct, frozen=True):
    """A board as the match tells of it."""

    names: tuple[str, str]
    """Who began, and the other."""
    causes: tuple[Cause, Cause]
    """Why it ended for them."""
    winner: int | None
    """The place of its name; None: a draw."""
    start_time: Epoch
    end_time: Epoch
    moves: int


class Counted(Struct, frozen=True):
    """How much of a match has been stored, and since when its present board is played."""

    boards: int = 0
    steps: int = 0
    since: Epoch = 0


Look = Callable[[str], DuelLine | None]
"""The line of a player of that name, if there is one."""


def board_name(board_id: int) -> str:
    """Names are sorted as texts: ids of one length are sorted as numbers."""
    return f"{board_id:015}"


def book_of(name: str) -> str:
    """Where the last boards of a player are."""
    return f"duel boards of {name}"


def reckoned(look: Look, match: str, first_id: int, boards: Sequence[PlayedBoard]) -> tuple[dict[str, DuelLine], list[Note]]:
    """The lines of those who played these boards, and the boards as they are kept."""
    lines: dict[str, DuelLine] = {}
    notes: list[Note] = []
    for number, board in enumerate(boards):
        before = [lines.get(name) or look(name) or DuelLine() for name in board.names]
        shown = msgspec.to_builtins(_shown(match, first_id + number, board, before))
        after = _after(board, before)
        notes.append(Note(BOARDS, board_name(first_id + number), shown))
        for name, line, new in zip(board.names, before, after, strict=True):
            notes.append(Note(book_of(name), str(line.boards % KEPT), shown))
            lines[name] = new
    return lines, notes


def _shown(match: str, board_id: int, board: PlayedBoard, lines: Sequence[DuelLine]) -> DuelBoard:
    winner = None if board.winner is None else board.names[board.winner]
    ratings = lines[0].rating, lines[1].rating
    return DuelBoard(board_id, match, *board.names, *ratings, board.start_time, board.end_time, board.moves, winner)


def _after(board: PlayedBoard, lines: Sequence[DuelLine]) -> list[DuelLine]:
    score = 0.5 if board.winner is None else 1.0 - board.winner
    ratings = updated(lines[0].rating, lines[1].rating, score)
    return [_counted(lines[player], ratings[player], board.causes[player], board.winner, player) for player in (0, 1)]


def _counted(line: DuelLine, rating: float, cause: Cause, winner: int | None, player: int) -> DuelLine:
    lost = winner is not None and winner != player
    return replace(
        line,
        rating=rating,
        wins=line.wins + (winner == player),
        losses=line.losses + (lost and cause != "disconnect"),
        draws=line.draws + (winner is None),
        total_games=line.total_games + 1,
        invalid_moves=line.invalid_moves + (lost and cause != "complete"),
        boards=line.boards + 1,
    )
