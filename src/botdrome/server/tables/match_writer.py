"""Match writer: stores each board while the match goes on, and everything at its end."""

import asyncio
from collections.abc import Awaitable, Callable
from time import time

from botdrome.match.match import Match
from botdrome.match.record import unchecked_file, unchecked_pieces
from botdrome.server import metrics
from botdrome.store.store import Finish, MatchEntry, Note, Status, Store

SHORT, LIGHT = 50, 1 << 14
"""Inputs and their bytes up to which a match is stored in one piece."""
Notes = Callable[[], tuple[Note, ...]]
"""Called right before the notes are stored, so that all notes are stored in the order in which they
were made.
"""


async def write_board(store: Store, entry: MatchEntry, match: Match, notes: Notes) -> None:
    """Store the boards so far, in case nothing else is ever stored of the match."""
    record, view, result = (
        unchecked_file(match, entry.players),
        match.view(None),
        match.result_if_ended("aborted"),
    )
    await store.finish(Finish(entry.id, "running", None, result, view, record, notes=notes()))


def write_end(
    store: Store,
    entry: MatchEntry,
    match: Match,
    flights: tuple[bytes, ...],
    reason: str,
    notes: Notes,
) -> Awaitable[None]:
    """Store the end, of a long match in pieces, so that the event loop serves other matches in
    between.
    """
    metrics.MOVES.inc(match.input_log.moves)
    if not _is_short(match):
        return _write_in_pieces(store, entry, match, flights, reason, notes)
    record = unchecked_file(match, entry.players)
    return store.finish(_finish(entry, match, record, flights, reason, notes()))


def _is_short(match: Match) -> bool:
    log = match.input_log
    return len(log) <= SHORT and sum(map(len, log.some(0, SHORT))) <= LIGHT


async def _write_in_pieces(
    store: Store,
    entry: MatchEntry,
    match: Match,
    flights: tuple[bytes, ...],
    reason: str,
    notes: Notes,
) -> None:
    pieces: list[bytes] = []
    for piece in unchecked_pieces(match, entry.players):
        pieces.append(piece)
        await asyncio.sleep(0)
    await store.finish(_finish(entry, match, b"".join(pieces), flights, reason, notes()))


def _finish(
    entry: MatchEntry,
    match: Match,
    record: bytes,
    flights: tuple[bytes, ...],
    reason: str,
    notes: tuple[Note, ...],
) -> Finish:
    result = match.result
    status: Status = "aborted" if result is not None and result.aborted else "ended"
    return Finish(
        entry.id,
        status,
        int(time() * 1000),
        result,
        match.view(None),
        record,
        flights,
        reason,
        notes,
    )
