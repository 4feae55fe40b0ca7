"""Record: a match as a file of JSON lines, from which it can be replayed.

The first line is the set-up, then a line for each input, then the result, and last a digest of all
lines before it. Set-up and inputs also carry a check, the CRC-32 of the news that they led to, so
that a replay finds the first line that differs.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import islice
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from botdrome.games.chance import SEED_BITS, SplitMix
from botdrome.games.game import BadOption, Game, IllegalMove
from botdrome.games.options import options_in
from botdrome.games.reading import UNREADABLE
from botdrome.match.events import Began, BoardEnded, Result, rotated
from botdrome.match.inputs import TIMES, Input, InputLine
from botdrome.match.match import Match, News, apply
from botdrome.match.terms import Milliseconds, Terms

VERSION, TIMED = 2, 3
"""Version 1 can still be read: its seed is a number, and its chance comes from an older generator.
Version 3 is for matches whose players have different times: with a time bank, or with inputs that
say what no player is charged for.
"""
VERSIONS = (1, VERSION, TIMED)
Seed = int | str
"""As in a match file: a number in version 1; later 32 hexadecimal digits, since JavaScript cannot
hold the number.
"""
SEED_DIGITS = SEED_BITS // 4
ENCODER = msgspec.json.Encoder()
MOST_BOARDS = 100
"""Limit for a match in a file, since boards on which nobody plays end in nested calls."""
UNPLAYABLE = (
    BadOption,
    IllegalMove,
    LookupError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Raised by a match for an input that it cannot have had."""
NO_MATCH_FILE = f"this is not a match file of version 1 to {TIMED}"
HEXADECIMAL = frozenset("0123456789abcdef")


class BadRecord(Exception):
    """Raised for a file that is not a match file, or not a whole one, with the line and
    the reason.
    """

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


class LastLine(Struct, frozen=True, omit_defaults=True):
    """One of the last two lines."""

    result: Result | UnsetType = UNSET
    digest: str | UnsetType = UNSET


class Record(Struct, frozen=True):
    setup: Setup
    lines: tuple[InputLine, ...] = ()
    result: Result | None = None
    """None: the match was still running when the file was written."""


def setup_of(match: Match, names: Iterable[str]) -> Setup:
    seed = seed_of(match)
    timed = match.input_log.timed or match.terms.pace.bank is not UNSET
    version = 1 if isinstance(seed, int) else TIMED if timed else VERSION
    return Setup(
        version,
        match.game.name,
        match.game.rules,
        options_in(match.game),
        match.terms,
        seed,
        tuple(names),
    )


def record_of(match: Match, names: Iterable[str]) -> Record:
    """The record of a match in memory, without checks."""
    return Record(
        setup_of(match, names), tuple(InputLine(*told) for told in match.inputs), match.result
    )


def new_match(setup: Setup, game: Game[Any]) -> Match:
    """The match at its start, under the rules by which it was played; `game` has the options of the
    set-up.
    """
    try:
        return seeded_match(game.by_rules(setup.rules), len(setup.names), setup.terms, setup.seed)
    except BadOption as problem:
        raise BadRecord(1, str(problem)) from None


def seed_of(match: Match) -> Seed:
    return match.seed if match.generator is SplitMix else seed_text(match.seed)


def seed_text(seed: int) -> str:
    """The seed as files and stores have it since version 2."""
    return (seed % (1 << SEED_BITS)).to_bytes(SEED_BITS // 8).hex()


def seed_number(setup: Setup) -> int:
    return setup.seed if isinstance(setup.seed, int) else int(setup.seed, 16)


def seeded_match(game: Game[Any], players: int, terms: Terms, seed: Seed) -> Match:
    """A match with the seed and the generator that a file or a store names."""
    if isinstance(seed, int):
        return Match(game, players, terms, seed, SplitMix)
    return Match(game, players, terms, int(seed, 16))


def news_as_bytes(news: News) -> bytes:
    """The public news, the same on every machine."""
    return b"\n".join(msgspec.json.encode((event, position.view(None))) for event, position in news)


def check_of(news: News) -> str:
    return f"{zlib.crc32(news_as_bytes(news)):08x}"


def match_file(match: Match, names: Iterable[str]) -> bytes:
    """The file of a match, with the checks, for which the match is replayed."""
    setup = setup_of(match, names)
    again = new_match(setup, match.game)
    head = msgspec.structs.replace(setup, news=check_of(again.start()))
    lines = [InputLine(*told, news=check_of(apply(again, told))) for told in match.inputs]
    text = ENCODER.encode_lines([head, *lines])
    return text + _end(match, hashlib.sha256(text))


def unchecked_file(match: Match, names: Iterable[str]) -> bytes:
    """The file without checks, at a fraction of the cost: only the result shows whether
    it replays.
    """
    text = ENCODER.encode(setup_of(match, names)) + b"\n" + match.input_log.text
    return text if match.result is None else text + _end(match, hashlib.sha256(text))


def unchecked_pieces(match: Match, names: Iterable[str]) -> Iterator[bytes]:
    """The same piece by piece, since a long match takes many milliseconds."""
    head, digest = ENCODER.encode(setup_of(match, names)) + b"\n", hashlib.sha256()
    for lines in match.input_log.pieces():
        piece, head = head + lines, b""
        digest.update(piece)
        yield piece
    yield _end(match, digest)


def _end(match: Match, digest: "hashlib._Hash") -> bytes:
    """The last two lines; none while the match is running."""
    if match.result is None:
        return b""
    result = ENCODER.encode_lines([LastLine(result=match.result)])
    digest.update(result)
    return result + ENCODER.encode_lines([LastLine(digest="sha256:" + digest.hexdigest())])


def renamed(data: bytes, names: Mapping[str, str]) -> bytes:
    """Return the file of a match that is over with other names of players."""
    head, *lines, _ = data.splitlines(keepends=True)
    setup = _setup(head)
    others = tuple(names.get(name, name) for name in setup.names)
    text = ENCODER.encode_lines([msgspec.structs.replace(setup, names=others)]) + b"".join(lines)
    digest = "sha256:" + hashlib.sha256(text).hexdigest()
    return text + ENCODER.encode_lines([LastLine(digest=digest)])


# Reading.


def read(data: bytes) -> Record:
    """The record in a file, or BadRecord.

    A file that was cut off between two lines gives a record without a result.
    """
    lines = data.splitlines(keepends=True)
    if not lines:
        raise BadRecord(1, "the file is empty")
    setup = _setup(lines[0])
    if not lines[-1].endswith(b"\n"):
        raise BadRecord(len(lines), "the file is cut off in this line")
    inputs: list[InputLine] = []
    for number, text in enumerate(lines[1:], 2):
        if text.startswith(b'{"result":'):
            return Record(setup, tuple(inputs), _result(lines, number))
        line = _decoded(text, number, InputLine)
        if line.do in TIMES and setup.botdrome != TIMED:
            raise BadRecord(number, f"{line.do!r} is only in files of version {TIMED}")
        inputs.append(line)
    return Record(setup, tuple(inputs))


def _decoded(text: bytes, number: int, kind: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except UNREADABLE as error:
        raise BadRecord(number, str(error)) from None


def _setup(text: bytes) -> Setup:
    try:
        head = _decoded(text, 1, dict[str, Any])
    except BadRecord:
        raise BadRecord(1, f"{NO_MATCH_FILE}: its first line is no JSON object") from None
    version = head.get("botdrome")
    if version not in VERSIONS or isinstance(version, bool):
        raise BadRecord(1, NO_MATCH_FILE)
    return checked(_decoded(text, 1, Setup))


def checked(setup: Setup) -> Setup:
    """Return the set-up. Raise BadRecord if no match can have it."""
    if setup.botdrome not in VERSIONS:
        raise BadRecord(1, NO_MATCH_FILE)
    if setup.botdrome == 1 and not isinstance(setup.seed, int):
        raise BadRecord(1, f"the seed of version 1 must be a whole number, not {setup.seed!r}")
    if setup.botdrome != 1 and not _is_hexadecimal(setup.seed):
        raise BadRecord(1, f"the seed must be {SEED_DIGITS} hexadecimal digits, not {setup.seed!r}")
    if not 1 <= setup.terms.boards <= MOST_BOARDS:
        raise BadRecord(1, f"a match has 1 to {MOST_BOARDS} boards, not {setup.terms.boards}")
    return setup


def _is_hexadecimal(seed: Seed) -> bool:
    return isinstance(seed, str) and len(seed) == SEED_DIGITS and set(seed) <= HEXADECIMAL


def _result(lines: list[bytes], number: int) -> Any:
    """The result at this line. Only the digest of all lines up to here may follow."""
    result = _decoded(lines[number - 1], number, LastLine).result
    if len(lines) != number + 1:
        raise BadRecord(
            min(number + 2, len(lines)), "after the result comes the digest and nothing else"
        )
    digest = "sha256:" + hashlib.sha256(b"".join(lines[:number])).hexdigest()
    if _decoded(lines[number], number + 1, LastLine).digest != digest:
        raise BadRecord(number + 1, "the digest does not fit the lines before it")
    return result


def verify(record: Record, game: Game[Any]) -> None:
    """Replay a match; BadRecord at the first line that leads to other news than before."""
    for _ in replay(record, game):
        pass


def replay(record: Record, game: Game[Any]) -> Iterator[tuple[Milliseconds, News]]:
    """The news of the start and of each input, with their times; BadRecord as in `verify`."""
    for _, time, news in replay_match(record, game):
        yield time, news


def replay_match(record: Record, game: Game[Any]) -> Iterator[tuple[Match, Milliseconds, News]]:
    """The same, with the match as it stands after each input."""
    setup = record.setup
    match = new_match(setup, game)
    news = match.start()
    _compare(1, setup.news, news)
    yield match, 0, news
    for number, line in enumerate(record.lines, 2):
        try:
            news = apply(match, line.input)
        except UNPLAYABLE as error:
            raise BadRecord(number, f"it cannot be played: {error}") from None
        _compare(number, line.news, news)
        yield match, line.t, news
    if record.result is not None and record.result != match.result:
        raise BadRecord(len(record.lines) + 2, "the match does not come to this result")


def _compare(line: int, then: str, news: News) -> None:
    """Lines without a check are accepted."""
    if then and then != (now := check_of(news)):
        raise BadRecord(line, f"the news differ from here on: check {now}, in the file {then}")


# Resuming: a match is rebuilt from its set-up and its inputs, some at a time.


class Resumption:
    def __init__(self, setup: Setup, game: Game[Any], inputs: Iterable[Input]) -> None:
        """`game` has the options of the set-up.

        Raise BadRecord if no match can have this set-up.
        """
        self.match = new_match(setup, game)
        self._inputs = iter(inputs)
        self.news = self.match.start()
        """The news of the last input."""
        self.now: Milliseconds = 0
        self._boards: News = []
        self._played = 1

    def advance(self, most: int) -> bool:
        """Give the match some inputs, and return whether there may be more.

        Raise BadRecord if it cannot have had one.
        """
        given = 0
        for told in islice(self._inputs, most):
            given += 1
            self._played += 1
            if len(self.news) > 1:  # the end of a board is never the last news
                self._boards += self._boards_in(self.news)
            self.now = told[0]
            try:
                self.news = apply(self.match, told)
            except UNPLAYABLE as problem:
                raise BadRecord(self._played, f"it cannot be played: {problem}") from None
        return given == most

    @property
    def recap(self) -> News:
        """News from which a writer of messages learns how the match stands; without those of the
        end.
        """
        match = self.match
        ended = (
            self._boards
            if match.result is not None
            else [*self._boards, *self._boards_in(self.news)]
        )
        return [*ended, (Began(match.board.number, match.order), match.position)]

    def _boards_in(self, news: News) -> News:
        """The boards that have ended, each as if it had begun with its last position."""
        found: News = []
        for event, position in news:
            if isinstance(event, BoardEnded):
                found += [
                    (Began(event.board, rotated(self.match.players, event.board)), position),
                    (event, position),
                ]
        return found


# Fingerprint: a number that matches share if their games were the same, move by move, whoever
# played them and when.

MOST_LINES = 5000
"""Inputs that are compared.

Games that agree so far are the same for every purpose, and a long match costs no more time.
"""
SIZE = 6
"""Bytes; so the number is exact in JavaScript."""
MOVE, KIND = b'"do":"move"', b'"do":'


def fingerprint(match: Match) -> int:
    """Return the fingerprint of a match. The public view stands for the chance in it."""
    lines = [
        line[line.index(KIND) :] for line in match.input_log.some(0, MOST_LINES) if MOVE in line
    ]
    digest = blake2b(b"\n".join(lines), digest_size=SIZE)
    digest.update(msgspec.json.encode(match.view(None)))
    return int.from_bytes(digest.digest())
