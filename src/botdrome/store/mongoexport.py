"""Reader of mongoexport's files: one document per line, an array (`--jsonArray`), or several lines
each (`--pretty`).
"""

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from json import JSONDecodeError, JSONDecoder
from typing import Any, BinaryIO

from botdrome.store.store import BadExport, Epoch

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
