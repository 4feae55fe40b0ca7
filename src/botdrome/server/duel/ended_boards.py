"""The boards of a match of duel arena that have ended."""

from time import time

from botdrome.match.events import rotated
from botdrome.server.duel.player_records import Counted, PlayedBoard
from botdrome.server.tables.table import Table
from botdrome.store.store import Epoch


def ended_boards(table: Table, counted: Counted) -> list[PlayedBoard]:
    """The boards that have ended and were not counted yet.

    Each move is a step, and all were made on the first of them.
    """
    match, names = table.match, table.entry.players
    boards = (match.result or match.result_if_ended("aborted")).boards
    start, end = counted.since, max(counted.since, epoch_now())
    played: list[PlayedBoard] = []
    for number, board in enumerate(boards[counted.boards :], counted.boards):
        if "aborted" in board.causes:
            break
        one, two = rotated(len(names), number)
        winner = (
            None
            if board.places[one] == board.places[two]
            else int(board.places[one] > board.places[two])
        )
        moves = 0 if played else match.steps - counted.steps
        played.append(
            PlayedBoard(
                (names[one], names[two]),
                (board.causes[one], board.causes[two]),
                winner,
                start,
                end,
                moves,
            )
        )
        start = end
    return played


def epoch_now() -> Epoch:
    return int(time() * 1000)
