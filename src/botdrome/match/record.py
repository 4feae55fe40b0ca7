"""Record: all that a match was told, as a file of JSON lines from which it can be played again.

The first line is the set-up, then comes a line for each input, then the result, last a digest of all that stands before it.
Set-up and inputs also carry a check: the CRC-32 of the news that they led to, so that a difference is found where it begins.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from botdrome.games.chance import SEED_BITS, SplitMix
from botdrome.games.game import BadOption, Game
from botdrome.games.options import options_in
from botdrome.match.course import News
from botdrome.match.events import Result
from botdrome.match.inputs import Input, Kind, Line
from botdrome.match.match import Match
from botdrome.match.terms import Milliseconds, Terms

VERSION = 2
"""Files of version 1 are read, too: their seed is a number, and their chance comes from an older generator."""
Seed = int | str
"""As a match file writes it: a number in version 1; later 32 hexadecimal digits, since JavaScript cannot hold the number."""
SEED_DIGITS = SEED_BITS // 4
ENCODER = msgspec.json.Encoder()


class BadRecord(Exception):
    """A file that is not a match file, or not a whole one: with the line and the reason."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line


class Setup(Struct, frozen=True):
    """The first line."""

    botdrome: int
    """The version of the format."""
    game: str
    rules: int
    options: dict[str, Any]
    terms: Terms
    seed: Seed
    names: tuple[str, ...]
    news: str = ""


class Close(Struct, frozen=True, omit_defaults=True):
    """One of the last two lines."""

    result: Result | UnsetType = UNSET
    digest: str | UnsetType = UNSET


class Record(Struct, frozen=True):
    setup: Setup
    lines: tuple[Line, ...] = ()
    result: Result | None = None
    """None: the match was still running when the file ends."""


def setup_of(match: Match, names: Iterable[str]) -> Setup:
    seed = seed_of(match)
    version = 1 if isinstance(seed, int) else VERSION
    return Setup(version, match.game.name, match.game.rules, options_in(match.game), match.terms, seed, tuple(names))


def new_match(setup: Setup, game: Game[Any]) -> Match:
    """The match at its start, under the rules by which it was played; `game` has the options of the set-up."""
    try:
        return seeded_match(game.by_rules(setup.rules), len(setup.names), setup.terms, setup.seed)
    except BadOption as problem:
        raise BadRecord(1, str(problem)) from None


def seed_of(match: Match) -> Seed:
    return match.seed if match.generator is SplitMix else f"{match.seed % (1 << SEED_BITS):0{SEED_DIGITS}x}"


def seeded_match(game: Game[Any], players: int, terms: Terms, seed: Seed) -> Match:
    """A match with the seed and the generator that a file or a store names."""
    if isinstance(seed, int):
        return Match(game, players, terms, seed, SplitMix)
    return Match(game, players, terms, int(seed, 16))


def tell(match: Match, told: Input) -> News:
    """Tell a match what it was told before."""
    now, kind, player, words = told
    if player is None:
        return _tell_all(match, kind, words, now)
    if kind == "move":
        return match.submit(player, words, now)
    if kind == "expel":
        return match.expel(player, words[0], now, words[1])
    return match.leave(player, now) if kind == "leave" else match.rejoin(player, now)


def _tell_all(match: Match, kind: Kind, words: Any, now: Milliseconds) -> News:
    if kind == "amend":
        return match.amend(words[0], now, words[1])
    if kind == "conclude":
        return match.conclude(now)
    return match.wake(now) if kind == "wake" else match.abort(now)


def news_as_bytes(news: News) -> bytes:
    """The news as anybody may see them: the same on every machine."""
    return b"\n".join(msgspec.json.encode((event, position.view(None))) for event, position in news)


def check_of(news: News) -> str:
    return f"{zlib.crc32(news_as_bytes(news)):08x}"


class Scribe:
    """Writes a match file, line by line, while the match goes on."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def _line(self, line: Struct) -> bytes:
        text = msgspec.json.encode(line) + b"\n"
        self._digest.update(text)
        return text

    def begin(self, setup: Setup, news: News) -> bytes:
        return self._line(msgspec.structs.replace(setup, news=check_of(news)))

    def input(self, told: Input, news: News) -> bytes:
        return self._line(Line(*told, news=check_of(news)))

    def end(self, result: Result) -> bytes:
        line = self._line(Close(result=result))
        return line + msgspec.json.encode(Close(digest="sha256:" + self._digest.hexdigest())) + b"\n"


def written(match: Match, names: Iterable[str]) -> bytes:
    """The whole file of a match that has been played: it is played again for its checks."""
    setup, scribe = setup_of(match, names), Scribe()
    again = new_match(setup, match.game)
    lines = [scribe.begin(setup, again.start())]
    lines += [scribe.input(told, tell(again, told)) for told in match.inputs]
    return b"".join(lines) + (scribe.end(match.result) if match.result else b"")


def jotted(match: Match, names: Iterable[str]) -> bytes:
    """The same without checks, at a fraction of the cost: the result alone shows whether it replays."""
    return b"".join(jotting(match, names))


def jotting(match: Match, names: Iterable[str]) -> Iterator[bytes]:
    """The same piece by piece: a long match takes many milliseconds."""
    head, digest = ENCODER.encode(setup_of(match, names)) + b"\n", hashlib.sha256()
    for lines in match.minutes.pieces():
        piece, head = head + lines, b""
        digest.update(piece)
        yield piece
    if match.result is not None:
        end = ENCODER.encode_lines([Close(result=match.result)])
        digest.update(end)
        yield end + ENCODER.encode_lines([Close(digest="sha256:" + digest.hexdigest())])
