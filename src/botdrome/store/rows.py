"""Rows: bots and matches as the tables hold them, and back."""

import zlib
from collections.abc import Sequence
from typing import Any

import msgspec

from botdrome.match.events import Result
from botdrome.match.record import SEED_DIGITS
from botdrome.store.likeness import likeness
from botdrome.store.store import BotEntry, Finish, MatchEntry, Note
from botdrome.store.texts import kept, key, plain, short, whole

Row = tuple[Any, ...]

LONG = 8 << 10
"""Bytes of flight records from which on they are squeezed."""
SQUEEZED = b"x"
"""How zlib's streams begin; MessagePack begins a list otherwise."""

_mapping = msgspec.json.Decoder(dict[str, Any])
_names = msgspec.json.Decoder(tuple[str, ...])
_result = msgspec.json.Decoder(Result)
_flights = msgspec.msgpack.Decoder(tuple[bytes, ...])


def as_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def players_in(text: str) -> tuple[str, ...]:
    return _names.decode(text)


def packed(flights: tuple[bytes, ...]) -> bytes:
    return msgspec.msgpack.encode(flights)


def squeezed(flights: bytes) -> bytes:
    """Long ones repeat themselves: a tenth is left, in less time than the rest would take to the disk."""
    return zlib.compress(flights, 1) if len(flights) >= LONG else flights


def unpacked(flights: bytes) -> tuple[bytes, ...]:
    return _flights.decode(zlib.decompress(flights) if flights.startswith(SQUEEZED) else flights)


def like(name: str) -> str:
    """What stands for all names that look like this one."""
    return key(likeness(name))


def bot_row(bot: BotEntry) -> Row:
    url = None if bot.url is None else plain(bot.url)
    return (
        *kept(bot.name),
        short(bot.game, "the name of a game"),
        *kept(bot.owner),
        bot.registered,
        bot.token_hash,
        url,
        like(bot.name),
    )


def bot_entry(row: Sequence[Any]) -> BotEntry:
    name, name_whole, game, owner, owner_whole, registered, token_hash, url, _ = row
    return BotEntry(whole(name, name_whole), game, whole(owner, owner_whole), registered, token_hash, url)


def note_row(note: Note) -> Row:
    return short(note.book, "the name of a book"), *kept(note.name), as_json(note.value)


def note_entry(row: Sequence[Any]) -> Note:
    book, name, name_whole, value = row
    return Note(book, whole(name, name_whole), _mapping.decode(value))


def match_row(match: MatchEntry) -> Row:
    """All but its number."""
    return (
        short(match.id, "the id of a match"),
        short(match.game, "the name of a game"),
        *((None, None) if match.contest is None else kept(match.contest)),
        match.started,
        str(match.seed),
        as_json(match.options),
        as_json(match.players),
        as_json(match.owners) if match.owners else None,
        None if match.pace == "usual" else match.pace,
        *end_row(match),
    )


def end_row(match: MatchEntry | Finish) -> Row:
    """What the end of a match changes."""
    return (
        match.status,
        match.ended,
        None if match.result is None else as_json(match.result),
        None if match.view is None else as_json(match.view),
        plain(match.reason),
    )


def match_entry(row: Sequence[Any]) -> MatchEntry:
    """From all columns but the number."""
    match_id, game, contest, contest_whole, started, seed, options, players, owners, pace, *end = row
    status, ended, result, view, reason = end
    if status == "running":  # what is kept of its boards in case of a crash
        result = view = None
    return MatchEntry(
        match_id,
        game,
        players_in(players),
        started,
        contest=None if contest is None else whole(contest, contest_whole),
        options=_mapping.decode(options),
        seed=int(seed) if len(seed) < SEED_DIGITS else seed,
        status=status,
        ended=ended,
        result=None if result is None else _result.decode(result),
        view=None if view is None else _mapping.decode(view),
        reason=reason,
        owners=() if owners is None else players_in(owners),
        pace=pace or "usual",
    )


def seat_rows(match: MatchEntry) -> tuple[Row, ...]:
    """All but the number of the match."""
    if match.result is None:
        return tuple([(player, *kept(name), match.started, None, None, None) for player, name in enumerate(match.players)])
    ends = zip(match.players, end_seat_rows(match.result), strict=True)
    return tuple((player, *kept(name), match.started, *how) for name, (*how, player) in ends)


def end_seat_rows(result: Result | None) -> tuple[Row, ...]:
    """Place, score and cause, with the player at the end."""
    if result is None:
        return ()
    return tuple(zip(result.places, result.scores, result.causes, range(len(result.places)), strict=True))
