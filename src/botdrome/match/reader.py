"""Reading match files: into a record, or to the first place where a file is not what it should be."""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from botdrome.games.game import BadOption, Game, IllegalMove
from botdrome.games.reading import UNREADABLE
from botdrome.match.course import News
from botdrome.match.inputs import Line
from botdrome.match.record import SEED_DIGITS, VERSION, BadRecord, Close, Record, Seed, Setup, check_of, new_match, tell
from botdrome.match.terms import Milliseconds

MOST_BOARDS = 100
"""That a match in a file may have: boards on which nobody plays end one inside of the other."""
UNPLAYABLE = (BadOption, IllegalMove, LookupError, OverflowError, RecursionError, TypeError, ValueError)
"""Raised where a match is told something that it cannot have been told."""
NO_MATCH_FILE = f"this is not a match file of version 1 or {VERSION}"
HEXADECIMAL = frozenset("0123456789abcdef")


def read(data: bytes) -> Record:
    """The record in a file, or BadRecord. A file that was cut off between two lines gives a record without result."""
    lines = data.splitlines(keepends=True)
    if not lines:
        raise BadRecord(1, "the file is empty")
    setup = _setup(lines[0])
    if not lines[-1].endswith(b"\n"):
        raise BadRecord(len(lines), "the file is cut off in this line")
    inputs: list[Line] = []
    for number, text in enumerate(lines[1:], 2):
        if text.startswith(b'{"result":'):
            return Record(setup, tuple(inputs), _result(lines, number))
        inputs.append(_decoded(text, number, Line))
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
    if version not in (1, VERSION) or isinstance(version, bool):
        raise BadRecord(1, NO_MATCH_FILE)
    setup: Setup = _decoded(text, 1, Setup)
    if version == 1 and not isinstance(setup.seed, int):
        raise BadRecord(1, f"the seed of version 1 must be a whole number, not {setup.seed!r}")
    if version == VERSION and not _is_hexadecimal(setup.seed):
        raise BadRecord(1, f"the seed must be {SEED_DIGITS} hexadecimal digits, not {setup.seed!r}")
    if not 1 <= setup.terms.boards <= MOST_BOARDS:
        raise BadRecord(1, f"a match has 1 to {MOST_BOARDS} boards, not {setup.terms.boards}")
    return setup


def _is_hexadecimal(seed: Seed) -> bool:
    return isinstance(seed, str) and len(seed) == SEED_DIGITS and set(seed) <= HEXADECIMAL


def _result(lines: list[bytes], number: int) -> Any:
    """The result at this line, when nothing but the digest of all before it follows."""
    result = _decoded(lines[number - 1], number, Close).result
    if len(lines) != number + 1:
        raise BadRecord(min(number + 2, len(lines)), "after the result comes the digest and nothing else")
    digest = "sha256:" + hashlib.sha256(b"".join(lines[:number])).hexdigest()
    if _decoded(lines[number], number + 1, Close).digest != digest:
        raise BadRecord(number + 1, "the digest does not fit the lines before it")
    return result


def verify(record: Record, game: Game[Any]) -> None:
    """Play a match again; BadRecord at the first line that leads elsewhere now."""
    for _ in retold(record, game):
        pass


def retold(record: Record, game: Game[Any]) -> Iterator[tuple[Milliseconds, News]]:
    """Play a match again: the news of its start and of each input, with their times; BadRecord as in `verify`."""
    setup = record.setup
    match = new_match(setup, game)
    news = match.start()
    _compare(1, setup.news, news)
    yield 0, news
    for number, line in enumerate(record.lines, 2):
        try:
            news = tell(match, line.input)
        except UNPLAYABLE as error:
            raise BadRecord(number, f"it cannot be played: {error}") from None
        _compare(number, line.news, news)
        yield line.t, news
    if record.result is not None and record.result != match.result:
        raise BadRecord(len(record.lines) + 2, "the match does not come to this result")


def _compare(line: int, then: str, news: News) -> None:
    """Lines without a check are taken as they are."""
    if then and then != (now := check_of(news)):
        raise BadRecord(line, f"the news differ from here on: check {now}, in the file {then}")
