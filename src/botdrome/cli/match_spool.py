"""The matches of a tournament as JSON in a temporary file, so that memory does not grow with their
number.
"""

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any

import msgspec
from msgspec import Struct

LONGEST_STRETCH = 500


class Stretch(Struct):
    """Matches with successive numbers that follow each other in the file."""

    first: int
    last: int
    start: int
    end: int


class MatchSpool:
    """Takes matches in any order, and returns them in the order of their numbers."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115
        self._stretches: list[Stretch] = []

    def add(self, number: int, match: dict[str, Any]) -> None:
        data = msgspec.json.encode(match)
        last = self._stretches[-1] if self._stretches else Stretch(0, -1, 0, 0)
        if last.last + 1 == number < last.first + LONGEST_STRETCH and last.end:
            last.last, last.end = number, last.end + self._file.write(b"," + data)
        else:
            self._stretches.append(
                Stretch(number, number, last.end, last.end + self._file.write(data))
            )

    def parts(self) -> Iterator[str]:
        """Yield the text of the list, without its brackets."""
        for place, stretch in enumerate(sorted(self._stretches, key=lambda one: one.first)):
            self._file.seek(stretch.start)
            yield "," * bool(place) + self._file.read(stretch.end - stretch.start).decode()

    def close(self) -> None:
        self._file.close()
