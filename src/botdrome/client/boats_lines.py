"""Lines of Xterm Boat Sinker: how they are read, without fuss, and how they are written, with care."""

from collections.abc import Sequence

from msgspec import Struct

from botdrome.client.terminal_text import shown
from botdrome.games.fleet import Boats, boats_in
from botdrome.games.game import BadOption

PORT = 7948
LONGEST_LINE = 4000
"""Bytes of a line that is sent; the original cuts at 4095."""
LONGEST_HEARD = 1 << 16
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NEVER_SENT = str.maketrans({"|": "/", "\n": " ", "\r": " "})


class Unreadable(Exception):
    """A line that says what cannot be; the words say what."""


class Unsuited(Exception):
    """What somebody wants to send does not suit the game now; the words are for them."""


class Splitter:
    """Bytes in, lines out. A line without an end is cut, so that no server can fill the memory."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:LONGEST_HEARD]
        return [line[:LONGEST_HEARD] for line in lines]


def fields_of(line: bytes) -> list[str]:
    """Bytes that are no UTF-8 come back as they were when the field is sent."""
    text = line.partition(b"\r")[0].decode("utf-8", "surrogateescape")
    return [field.strip() for field in text.split("|")]


def line_of(*fields: str) -> bytes:
    """One line with its end; no field can break out of it, and it is never too long for a server."""
    text = "|".join(field.translate(NEVER_SENT).strip() for field in fields)
    return text.encode("utf-8", "surrogateescape")[:LONGEST_LINE] + b"\n"


def number_in(fields: Sequence[str], at: int) -> int:
    """A count of points and the like; whatever else is there counts as 0."""
    text = fields[at] if at < len(fields) else ""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def text_in(fields: Sequence[str], at: int) -> str:
    return fields[at] if at < len(fields) else ""


class Summary(Struct, frozen=True):
    """The game that a server offers: its line G."""

    version: str
    title: str
    started: bool
    least: int
    most: int
    joined: int
    goal: int
    width: int
    height: int
    boats: Boats

    @property
    def squares(self) -> int:
        return self.width * self.height


def summary_in(fields: Sequence[str]) -> Summary:
    """The game of G|version|title|started|min|max|joined|goal|width|height|count|boat..., or Unreadable."""
    least, most, joined, goal, width, height, count = (number_in(fields, at) for at in range(4, 11))
    if not 1 <= width <= len(LETTERS) or not 1 <= height <= len(LETTERS):
        raise Unreadable(f"the server offers a board of {width} by {height}")
    try:
        boats = boats_in(" ".join(fields[11 : 11 + count]))
    except BadOption as problem:
        raise Unreadable(f"the server offers a game with {problem}") from None
    started = text_in(fields, 3).upper() == "Y"
    return Summary(fields[1], fields[2], started, least, most, joined, goal or boats.squares, width, height, boats)


def square_in(text: str, width: int, height: int) -> tuple[int, int]:
    """Column and row, from 0, of a place like e5, or Unsuited."""
    word = text.strip().lower()
    column, row = word[:1], word[1:].strip()
    x = LETTERS.find(column) if column else -1
    y = int(row) - 1 if row.isascii() and row.isdecimal() and len(row) < 4 else -1
    if 0 <= x < width and 0 <= y < height:
        return x, y
    raise Unsuited(f"a square is from a1 to {place(width - 1, height - 1)}, not {shown(text)!r}")


def place(x: int, y: int) -> str:
    return f"{LETTERS[x]}{y + 1}"
