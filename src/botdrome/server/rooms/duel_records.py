"""Records of duel arena's players: Elo ratings and counts of boards."""

from collections.abc import MutableMapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.strength import START, updated_elo
from botdrome.match.events import Cause
from botdrome.store.store import Epoch, Note

KEPT = 100
"""Boards kept for each player."""
BOARDS = "duel boards by id"
"""The book of all boards."""


class DuelRecord(Struct, frozen=True):
    """A player's record as the original keeps it, and draws, which the original does not count."""

    rating: float = START
    wins: int = 0
    losses: int = 0
    """Boards lost while the player was connected."""
    draws: int = 0
    total_games: int = 0
    invalid_moves: int = 0
    """Boards lost by an illegal move, a timeout or a disconnect."""
    total_seconds: float = 0.0
    """Seconds online."""
    boards: int = 0
    """Boards stored so far, which gives the place of the next in the player's book."""


class DuelBoard(Struct, frozen=True):
    """A board that was played to its end."""

    id: int
    match: str
    player1: str
    """The player that began."""
    player2: str
    rating1: float
    """The rating at the beginning of the board."""
    rating2: float
    start_time: Epoch
    end_time: Epoch
    moves: int
    winner: str | None
    """None: a draw."""


class PlayedBoard(Struct, frozen=True):
    """A board as the match reports it."""

    names: tuple[str, str]
    """The player that began, and the other."""
    causes: tuple[Cause, Cause]
    """Why the board ended for each of them."""
    winner: int | None
    """The index of the winner's name; None: a draw."""
    start_time: Epoch
    end_time: Epoch
    moves: int


class Counted(Struct, frozen=True):
    """The part of a match that is stored, and when its current board began."""

    boards: int = 0
    steps: int = 0
    since: Epoch = 0


def board_name(board_id: int) -> str:
    """Ids of one length sort as numbers although they are texts."""
    return f"{board_id:015}"


def book_of(name: str) -> str:
    """The book of a player's last boards."""
    return f"duel boards of {name}"


def count_boards(
    records: MutableMapping[str, DuelRecord],
    match: str,
    first_id: int,
    boards: Sequence[PlayedBoard],
) -> list[Note]:
    """Change the records of the players of these boards, and return the rows of the boards."""
    notes: list[Note] = []
    for board_id, board in enumerate(boards, first_id):
        before = [records.get(name) or DuelRecord() for name in board.names]
        shown = msgspec.to_builtins(_shown(match, board_id, board, before))
        notes.append(Note(BOARDS, board_name(board_id), shown))
        for name, line, new in zip(board.names, before, _after(board, before), strict=True):
            notes.append(Note(book_of(name), str(line.boards % KEPT), shown))
            records[name] = new
    return notes


def _shown(match: str, board_id: int, board: PlayedBoard, lines: Sequence[DuelRecord]) -> DuelBoard:
    winner = None if board.winner is None else board.names[board.winner]
    ratings = lines[0].rating, lines[1].rating
    return DuelBoard(
        board_id,
        match,
        *board.names,
        *ratings,
        board.start_time,
        board.end_time,
        board.moves,
        winner,
    )


def _after(board: PlayedBoard, lines: Sequence[DuelRecord]) -> list[DuelRecord]:
    score = 0.5 if board.winner is None else 1.0 - board.winner
    ratings = updated_elo(lines[0].rating, lines[1].rating, score)
    return [
        _counted(lines[player], ratings[player], board.causes[player], board.winner, player)
        for player in (0, 1)
    ]


def _counted(
    line: DuelRecord, rating: float, cause: Cause, winner: int | None, player: int
) -> DuelRecord:
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
