"""Translation of a Battlebot database, as mongoexport writes it, into a Botdrome export.

mongoexport writes one document per line, an array (`--jsonArray`), or several lines each
(`--pretty`). Matches of noughts and crosses are replayed from their turns, so they have records.
Battlebot stored no orders of Bumblebots: such a match has its result and its last position, but no
record.
"""

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from json import JSONDecodeError, JSONDecoder
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.games.bumblebots import Bumblebots
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.match.board import match_result
from botdrome.match.events import BoardResult, Cause, Result
from botdrome.match.match import Match
from botdrome.match.record import seed_of, unchecked_file
from botdrome.match.terms import Pace, Terms
from botdrome.store.archive import (
    VERSION,
    ExportedBot,
    ExportedMatch,
    ExportFooter,
    ExportHeader,
    ExportLine,
    written,
)
from botdrome.store.entries import BadExport, BotEntry, Epoch, MatchEntry, hashed
from botdrome.store.rows import short

CHUNK = 1 << 20
"""Bytes per read."""
LONGEST = 64 << 20
"""Characters of one document. MongoDB stores at most 16 MiB, and its text is not much longer."""
LATEST = 1 << 53
"""Times in milliseconds are below this, the limit of integers in JavaScript."""
BETWEEN = re.compile(r"[\s,\[\]]*")
"""Characters between two documents."""


def documents(source: BinaryIO) -> Iterator[tuple[int, Any]]:
    """Yield each document with its first line number. Raise BadExport if the file is not JSON."""
    reader = _Reader(source)
    while reader.skip():
        yield reader.line, reader.document()


class _Reader:
    """Holds one document and one chunk in memory."""

    def __init__(self, source: BinaryIO) -> None:
        self.line = 1
        self._source = source
        self._decoder = getincrementaldecoder("utf-8-sig")()
        self._text, self._at = "", 0
        self._arrays = 0
        """The number of open arrays."""

    def skip(self) -> bool:
        """Go to the next document; return False at the end."""
        while True:
            found = BETWEEN.match(self._text, self._at)
            between = found[0] if found else ""
            self._arrays += between.count("[") - between.count("]")
            self._pass(self._at + len(between))
            if self._at < len(self._text):
                return True
            if not self._read_on():
                break
        if self._arrays:
            raise BadExport(f"line {self.line}: the file ends inside an array: it was cut off")
        return False

    def document(self) -> Any:
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except (JSONDecodeError, RecursionError) as error:
                if not self._read_on():
                    raise self._complaint(error) from None
            else:
                self._pass(end)
                return value

    def _pass(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _read_on(self) -> bool:
        """Read a chunk; return False at the end of the file or if the document is too long."""
        if len(self._text) - self._at > LONGEST:
            return False
        more = self._source.read(CHUNK)
        try:
            text = self._decoder.decode(more, final=not more)
        except UnicodeDecodeError as error:
            raise BadExport(
                f"line {self.line}, or after it: the file is not UTF-8: {error}"
            ) from None
        if not more:
            return False
        self._text, self._at = self._text[self._at :] + text, 0
        return True

    def _complaint(self, error: JSONDecodeError | RecursionError) -> BadExport:
        if isinstance(error, RecursionError):
            return BadExport(f"line {self.line}: the document is nested too deep")
        line = self.line + self._text.count("\n", self._at, error.pos)
        return BadExport(
            f"line {line}: {error.msg.lower()}: {self._text[error.pos : error.pos + 20]!r}"
        )


# Extended JSON: the types that JSON lacks, as objects with one key.


def _number(value: Any) -> Any:
    return float(value) if "." in str(value) else int(value)


def moment(value: Any) -> Epoch:
    """Read a time: milliseconds, ISO 8601, or JavaScript's format. Raise ValueError otherwise."""
    if isinstance(value, int | float) and abs(value) < LATEST:
        return int(value)
    text = str(value)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = datetime.strptime(text.partition(" (")[0], "%a %b %d %Y %H:%M:%S GMT%z")
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)


TYPES: dict[str, Callable[[Any], Any]] = {
    "$oid": str,
    "$date": moment,
    "$numberInt": _number,
    "$numberLong": _number,
    "$numberDouble": _number,
}


def _plain(value: dict[str, Any]) -> Any:
    if len(value) == 1:
        [(kind, written)] = value.items()
        if kind in TYPES:
            try:
                return TYPES[kind](written)
            except (ValueError, TypeError):
                return value  # the reader of the document reports it
    return value


DECODER = JSONDecoder(object_hook=_plain)

CAUSES: dict[str, Cause] = {
    "complete": "complete",
    "timeout": "timeout",
    "disconnect": "disconnect",
    "Didn't write unit tests": "illegal moves",
    "BUMBLEBOTS_FULL_TIME": "complete",
    "BUMBLEBOTS_DISCONNECT": "disconnect",
}
UNTIMED = Terms(Pace(None), strikes=3, hasty="illegal")
"""No time limits, since Battlebot has judged the times."""

Report = Callable[[str], None]


class BotDocument(Struct, rename="camel"):
    game_type: str
    name: str
    password: str
    owner: str = ""
    date_registered: Any = 0


class Verdict(Struct):
    reason: str
    victor: str | None = None


class GameDocument(Struct, rename="camel"):
    id: str = msgspec.field(name="_id")
    game_type: str
    bots: tuple[str, str]
    start_time: Any
    result: Verdict
    board: list[list[Any]]
    contest: str | None = None
    turns: list[dict[str, Any]] = []
    spawn_points: dict[str, Any] = {}
    territory: dict[str, int] = {}
    max_drones: int = 3
    drones: dict[str, Any] = {}
    score: dict[str, int] = {}


def translated(documents: Iterable[tuple[int, Any]], report: Report) -> Iterator[bytes]:
    """Yield the lines of an export with these bots and games.

    Other documents are reported and left out.
    """
    bots = matches = 0
    yield written(ExportHeader(VERSION))
    for number, document in documents:
        try:
            line = _line(document)
            text = written(line)
        except (msgspec.ValidationError, ValueError, OverflowError) as problem:
            report(f"line {number}: {problem}")
            continue
        bots += isinstance(line, ExportedBot)
        matches += isinstance(line, ExportedMatch)
        yield text
    yield written(ExportFooter(bots, matches))


def _line(document: Any) -> ExportLine:
    if isinstance(document, dict) and "bots" in document:
        return _game(msgspec.convert(document, GameDocument))
    if isinstance(document, dict) and "password" in document:
        return ExportedBot(_bot(msgspec.convert(document, BotDocument)))
    raise ValueError("this is neither a bot (with a password) nor a game (with bots)")


def _bot(bot: BotDocument) -> BotEntry:
    if bot.name.startswith("house:"):
        raise ValueError(f"the bot {bot.name!r} has the name of a house bot")
    return BotEntry(
        bot.name,
        _game_of(bot.game_type),
        bot.owner,
        moment(bot.date_registered),
        hashed(bot.password),
    )


def _game_of(game_type: str) -> str:
    if game_type not in GAMES:
        raise ValueError(f"gameType is {' or '.join(GAMES)}, not {game_type!r}")
    return GAMES[game_type][0]


def _game(game: GameDocument) -> ExportedMatch:
    if game.result.reason not in CAUSES:
        raise ValueError(f"result.reason is one of {', '.join(CAUSES)}, not {game.result.reason!r}")
    if game.result.victor not in (None, *game.bots):
        raise ValueError(f"the victor {game.result.victor!r} is none of the bots")
    name, started = _game_of(game.game_type), moment(game.start_time)
    entry = MatchEntry(
        short(game.id, "_id"), name, game.bots, started, game.contest or None, status="ended"
    )
    return GAMES[game.game_type][1](game, entry)


def _result(game: GameDocument, scores: tuple[float, float]) -> Result:
    """Return the stored result.

    A fault is attributed to the losing bot, or to both if there is no winner.
    """
    victor, cause = game.result.victor, CAUSES[game.result.reason]
    places = tuple([1 if victor in (None, name) else 2 for name in game.bots])
    causes: tuple[Cause, ...] = tuple(
        ["complete" if name == victor else cause for name in game.bots]
    )
    return match_result([BoardResult(scores, places, causes)])


# Noughts and crosses.


def _noughts_and_crosses(game: GameDocument, entry: MatchEntry) -> ExportedMatch:
    match = _played_again(game, entry.started)
    if match is None:
        first, second = [float(name == game.result.victor) for name in game.bots]
        view = NoughtsAndCrosses().view(None) | {"toMove": (), "board": game.board}
        return ExportedMatch(
            replace(entry, result=_result(game, (first, second)), view=view), None, ()
        )
    ended = entry.started + match.inputs[-1][0] if match.inputs else entry.started
    entry = replace(
        entry, result=match.result, view=match.view(None), seed=seed_of(match), ended=ended
    )
    return ExportedMatch(entry, unchecked_file(match, game.bots), ())


def _played_again(game: GameDocument, started: int) -> Match | None:
    """Replay the stored turns; None if they do not lead to the stored end."""
    match, now = Match(NoughtsAndCrosses(), 2, UNTIMED, 0), 0
    match.start()
    for turn in game.turns:
        if turn.get("name") not in game.bots:
            return None
        now = max(now, moment(turn.get("time", 0)) - started)
        said = {key: value for key, value in turn.items() if key not in ("name", "time", "valid")}
        match.submit(game.bots.index(turn["name"]), said, now)
    cause, victor = CAUSES[game.result.reason], game.result.victor
    if match.result is None and cause != "complete" and victor is not None:
        match.expel(1 - game.bots.index(victor), cause, now)
    result = match.result
    if (
        result is None
        or match.steps != len(game.turns)
        or list(map(list, match.view(None)["board"])) != game.board
    ):
        return None
    winner = None if result.winner is None else game.bots[result.winner]
    return match if winner == victor else None


# Bumblebots.


def _bumblebots(game: GameDocument, entry: MatchEntry) -> ExportedMatch:
    by_name = {
        "spawnPoints": game.spawn_points,
        "territory": game.territory,
        "drones": game.drones,
        "score": game.score,
    }
    view = Bumblebots().view(None) | {
        key: _by_seat(game.bots, key, values) for key, values in by_name.items()
    }
    view |= {
        "toMove": (),
        "board": game.board,
        "maxDrones": game.max_drones,
        "turnNumber": len(game.turns),
    }
    del view["record"]
    first, second = view["score"]
    return ExportedMatch(replace(entry, result=_result(game, (first, second)), view=view), None, ())


def _by_seat(bots: tuple[str, str], key: str, values: dict[str, Any]) -> list[Any]:
    if not values.keys() >= set(bots):
        raise ValueError(
            f"{key} has an entry for each of {', '.join(map(repr, bots))}, not for "
            f"{', '.join(map(repr, values))}"
        )
    return [values[name] for name in bots]


GAMES: dict[str, tuple[str, Callable[[GameDocument, MatchEntry], ExportedMatch]]] = {
    "NOUGHTS_AND_CROSSES": (NoughtsAndCrosses.name, _noughts_and_crosses),
    "BUMBLEBOTS": (Bumblebots.name, _bumblebots),
}
