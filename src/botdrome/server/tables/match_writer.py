"""Match writer: stores each board while the match goes on, and everything at its end."""

import asyncio
from collections.abc import Callable
from time import time

from botdrome.match.match import Match
from botdrome.match.record import unchecked_file, unchecked_pieces
from botdrome.server import metrics
from botdrome.store.store import Finish, MatchEntry, Note, Status, Store

Notes = Callable[[], tuple[Note, ...]]
"""Called right before the notes are stored, so that all notes are stored in the order in which they were made."""


async def write_board(store: Store, entry: MatchEntry, match: Match, notes: Notes) -> None:
    """Store the boards so far, in case nothing else is ever stored of the match."""
    record, view, result = unchecked_file(match, entry.players), match.view(None), match.result_if_ended("aborted")
    await store.finish(Finish(entry.id, "running", None, result, view, record, notes=notes()))


async def write_end(store: Store, entry: MatchEntry, match: Match, flights: tuple[bytes, ...], reason: str, notes: Notes) -> None:
    """Store the end in pieces, so that the event loop serves other matches in between."""
    metrics.MOVES.inc(match.input_log.moves)
    record, view, result = await _record(match, entry), match.view(None), match.result
    await asyncio.sleep(0)
    status: Status = "aborted" if result is not None and result.aborted else "ended"
    await store.finish(Finish(entry.id, status, int(time() * 1000), result, view, record, flights, reason, notes()))


async def _record(match: Match, entry: MatchEntry) -> bytes:
    pieces: list[bytes] = []
    for piece in unchecked_pieces(match, entry.players):
        if pieces:
            await asyncio.sleep(0)
        pieces.append(piece)
    return b"".join(pieces)
