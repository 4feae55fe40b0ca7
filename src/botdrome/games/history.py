"""History: the moves played so far, in order."""

from typing import Any, Generic, TypeVar

from msgspec import Struct, field

T = TypeVar("T")


class History(Struct, Generic[T], frozen=True, eq=False):
    """An immutable sequence. Appending takes the same time at any length.

    Histories that grow out of one another share one list, and each knows its own length. The first to append at the end of
    the list writes there; any other copies its part first.
    """

    _tape: list[T] = field(default_factory=list)
    _length: int = 0

    def then(self, item: T) -> "History[T]":
        tape, length = self._tape, self._length
        if len(tape) != length:
            tape = tape[:length]
        tape.append(item)
        return History(tape, length + 1)

    def __len__(self) -> int:
        return self._length

    @property
    def last(self) -> T:
        return self._tape[self._length - 1]

    def listed(self) -> list[T]:
        return self._tape[: self._length]

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, History) and self.listed() == other.listed()

    def __hash__(self) -> int:
        return hash(tuple(self.listed()))
