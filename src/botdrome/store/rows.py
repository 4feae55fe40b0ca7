"""Conversion of bots, matches and notes to rows of the tables and back.

Texts have any length and content. An index of PostgreSQL takes at most 2,704 bytes, and its texts
hold no NUL. So a column has the text itself if it is short and plain, else a digest; a second
column then has the whole text, as a JSON string.
"""

import hashlib
import json
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from isal import isal_zlib

from botdrome.match.events import Result
from botdrome.match.record import SEED_DIGITS
from botdrome.store.entries import (
    AnyNote,
    BotEntry,
    Finish,
    MatchEntry,
    Note,
    likeness,
)
from botdrome.store.schema import book_of

LONGEST = 400
"""Characters of a text that needs no digest."""
_DIGEST = "sha256:"
_ODD = re.compile(r"[\0\ud800-\udfff]")


def key(text: str) -> str:
    """Return the text or its digest, for comparisons."""
    if (
        len(text) <= LONGEST
        and not text.startswith(_DIGEST)
        and (text.isprintable() or not _ODD.search(text))
    ):
        return text
    return _DIGEST + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def kept(text: str) -> tuple[str, str | None]:
    """Return the values of both columns."""
    short = key(text)
    # `is` is enough, since `key` returns a short and plain text itself.
    return (text, None) if short is text else (short, json.dumps(_encodable(text)))


def whole(short: str, rest: str | None) -> str:
    """Return the text of both columns."""
    return short if rest is None else str(json.loads(rest))


def plain(text: str) -> str:
    """Replace NUL in a text that is only displayed."""
    if not text:
        return text
    return _encodable(text).replace("\0", "\ufffd")


def short(text: str, what: str) -> str:
    """Check a text that has no second column. Raise ValueError if it would need one."""
    if key(text) is not text:
        raise ValueError(f"{what} is too long, or holds characters that it must not: {text[:40]!r}")
    return text


# The same for names that are stored again and again.

_kept_name = lru_cache(maxsize=4096)(kept)
_game_name = lru_cache(maxsize=64)(short)
_book_name = lru_cache(maxsize=4096)(short)


def _encodable(text: str) -> str:
    text.encode()
    return text


Row = tuple[Any, ...]
TableRow = tuple[str, Row]
"""A row and the name of its table."""
Fetch = Callable[[str, Mapping[str, Any]], Awaitable[list[Sequence[Any]]]]

LONG = 512
"""Bytes from which flight records are compressed."""
COMPRESSED = b"x"
"""The first byte of a zlib stream; no MessagePack list begins with it."""

UNREADABLE = (msgspec.DecodeError, LookupError, TypeError, ValueError, zlib.error)
"""Errors of values that no version of Botdrome has written."""

_encode = msgspec.json.Encoder().encode
_OF_CONTEST = re.compile(r"contests|contest (entrants|results|log) (.*)")
_mapping = msgspec.json.Decoder(dict[str, Any])
_names = msgspec.json.Decoder(tuple[str, ...])
_result = msgspec.json.Decoder(Result)
_flights = msgspec.msgpack.Decoder(tuple[bytes, ...])
packed: Callable[[tuple[bytes, ...]], bytes] = msgspec.msgpack.Encoder().encode
"""Pack flight records."""


def as_json(value: Any) -> str:
    return _encode(value).decode()


def players_in(text: str) -> tuple[str, ...]:
    return _names.decode(text)


def compressed(flights: bytes) -> bytes:
    """Compress flight records to about a tenth, which is faster than writing the rest to disk.

    ISA-L takes a third of the time that zlib takes for the same format.
    """
    return isal_zlib.compress(flights, 1) if len(flights) >= LONG else flights


def unpacked(flights: bytes) -> tuple[bytes, ...]:
    return _flights.decode(zlib.decompress(flights) if flights.startswith(COMPRESSED) else flights)


def like(name: str) -> str:
    """Return the key of all names that look like this one."""
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
    name, name_whole, game, owner, owner_whole, registered, token_hash, url, _, hosted = row
    names = whole(name, name_whole), game, whole(owner, owner_whole)
    return BotEntry(*names, registered, token_hash, url, hosted)


def note_row(note: Note) -> Row:
    book = _book_name(note.book, "the name of a book")
    return book, *kept(note.name), as_json(note.value)


def note_entry(row: Sequence[Any]) -> Note:
    book, name, name_whole, value = row
    return Note(book, whole(name, name_whole), _mapping.decode(value))


def kept_row(note: AnyNote) -> TableRow:
    if isinstance(note, Note):
        return "notes", note_row(note)
    return "contest_results", (key(note.contest), note.fixture, as_json(note.result))


def exported_row(note: Note) -> TableRow:
    """Return the row of a note of an export, which may be one of a contest."""
    found = _OF_CONTEST.fullmatch(note.book)
    if found is None:
        return "notes", note_row(note)
    if found[1] is None:
        document, state, created = [note.value[one] for one in ("document", "state", "created")]
        about = document["game"], state, created
        return "contests", (key(note.name), *about, as_json(note.value))
    name = int(note.name) if found[1] == "entrants" else note.name
    return f"contest_{found[1]}", (key(found[2]), name, as_json(note.value))


def exported_note(table: str, row: Sequence[Any]) -> Note:
    """Return a row of a note or a contest as exports have it."""
    if table == "notes":
        return note_entry(row)
    value = _mapping.decode(row[-1])
    if table == "contests":
        return Note(book_of(table), value["document"]["name"], value)
    return Note(
        book_of(table) + row[0], f"{row[1]:06d}" if table == "contest_entrants" else row[1], value
    )


def match_row(match: MatchEntry) -> Row:
    """Return all columns but the number."""
    return (
        short(match.id, "the id of a match"),
        _game_name(match.game, "the name of a game"),
        *((None, None) if match.contest is None else kept(match.contest)),
        match.started,
        str(match.seed),
        as_json(match.options) if match.options else "{}",
        as_json(match.players),
        as_json(match.owners) if match.owners else None,
        None if match.pace == "usual" else match.pace,
        match.node,
        " ".join(match.former) or None,
        as_json(match.versions) if match.versions else None,
        plain(match.void) or None,
        *end_row(match),
    )


def end_row(match: MatchEntry | Finish) -> Row:
    """Return the columns that the end of a match changes."""
    return (
        match.status,
        match.ended,
        None if match.result is None else as_json(match.result),
        None if match.view is None else as_json(match.view),
        plain(match.reason),
    )


def match_entry(row: Sequence[Any]) -> MatchEntry:
    """Read all columns but the number."""
    (
        match_id,
        game,
        contest,
        contest_whole,
        started,
        seed,
        options,
        players,
        owners,
        pace,
        node,
        former,
        versions,
        void,
        *end,
    ) = row
    status, ended, result, view, reason = end
    if status == "running":  # stored in case of a crash, hidden until then
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
        node=node,
        former=tuple((former or "").split()),
        versions=() if versions is None else players_in(versions),
        void=void or "",
    )


def seat_rows(match: MatchEntry) -> tuple[Row, ...]:
    """Return all columns but the number of the match."""
    if match.result is None:
        names = enumerate(map(_kept_name, match.players))
        return tuple(
            [
                (player, name, rest, match.started, None, None, None)
                for player, (name, rest) in names
            ]
        )
    ends = zip(match.players, end_seat_rows(match.result), strict=True)
    return tuple((player, *kept(name), match.started, *how) for name, (*how, player) in ends)


def end_seat_rows(result: Result | None) -> tuple[Row, ...]:
    """Return place, score, cause and player of each seat."""
    if result is None:
        return ()
    return tuple(
        zip(result.places, result.scores, result.causes, range(len(result.places)), strict=True)
    )
