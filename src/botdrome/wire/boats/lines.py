"""Xterm Boat Sinker's lines: one reader and one writer for servers and clients.

Servers keep fields as bytes, since the protocol names no encoding. Clients show text: see `text_fields`.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

from botdrome.games.battleship import WATER, Battleship, boats_in, check_fleet
from botdrome.games.game import IllegalMove, Raw

LONGEST_LINE = 4094
"""Bytes of a line that a server sends."""
LONGEST_SENT = 4000
"""Bytes of a line that a client sends; the original server cuts at 4095."""
LONGEST_HEARD = 1 << 16
"""Bytes of a line that a client reads."""
COLUMNS = "abcdefghijklmnopqrstuvwxyz"
"""Names of the columns of a board: the first square is a1."""
NEVER_SENT = str.maketrans({"|": "/", "\n": " ", "\r": " "})
BLANKS = " \t\n\r\v\f"
"""Characters trimmed from both ends of a field; other blanks are part of a name."""
RESERVED = frozenset({b"server", b"all", b"you", b"me"})
NOT_IN_NAMES = re.compile(rb"[<>\[\]{}()|\x00-\x1f\x7f]")
NUMBER = re.compile(rb"\+?[0-9]{1,9}")
PLACES = {b"%d" % (place + 1): place for place in range(26)}
"""Coordinates in their most common form."""

PROTOCOL_ERROR = b"protocol error"
FULL = b"game is full"
STARTED = b"game is already started"
BAD_BOARD = b"invalid board"
BOOTED = b"booted"
DISCONNECTED = b"disconnected"
COMM_ERROR = b"comm error"
"""The original's word for a client that it could not write to."""


NOT_STARTED = b"game hasn't started"
FINISHED = b"game is already finished"
NOT_YOUR_TURN = b"it is not your turn!"
NO_TARGET = b"invalid target player name"
YOURSELF = b"don't shoot at yourself stupid!"
SHOT_BEFORE = b"that spot has already been shot"
NO_SQUARE = b"illegal coordinates"


class RefusedShot(Exception):
    """A shot or a skip that is not allowed, with the words of the protocol."""

    def __init__(self, words: bytes) -> None:
        super().__init__(words.decode())
        self.words = words


# Reading.


def fields_of(line: bytes) -> list[bytes]:
    """Return type and values, trimmed, without empty ones at the end and without anything after a carriage return."""
    blank = line.split() != [line]  # rarely: this saves time for every shot
    fields = [field.strip() for field in line.partition(b"\r")[0].split(b"|")] if blank else line.split(b"|")
    while len(fields) > 1 and not fields[-1]:
        fields.pop()
    return fields


def value(fields: Sequence[bytes], at: int) -> bytes:
    return fields[at] if at < len(fields) else b""


def text_fields(line: bytes) -> list[str]:
    """The fields as text. Bytes that are not UTF-8 come back as they were when `line_of` sends the field."""
    return [field.decode("utf-8", "surrogateescape").strip() for field in fields_of(line)]


def text_in(fields: Sequence[str], at: int) -> str:
    return fields[at] if at < len(fields) else ""


def number_in(fields: Sequence[str], at: int) -> int:
    """A count; anything else counts as 0."""
    text = text_in(fields, at)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def text_of(name: bytes) -> str:
    """Decode a name as UTF-8 or, if it is not, as Latin-1."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("latin-1")


def name_problem(name: bytes, width: int) -> bytes:
    """Return why this is no valid name on boards of that width; empty: it is valid."""
    first = name[:1]
    if len(name) < 2 or not (first.isascii() and first.isalpha()) or name.lower() in RESERVED or NOT_IN_NAMES.search(name):
        return b"invalid name"
    return b"name too long" if len(name) > width else b""


def display_name(name: str, width: int, taken: Collection[bytes]) -> bytes:
    """Return a name that fits lines, for a player from another protocol."""
    raw = name.encode()
    if not name_problem(raw, width) and raw not in taken and raw == raw.strip():
        return raw
    kept = NOT_IN_NAMES.sub(b"", name.encode("ascii", "ignore")).lstrip(b"0123456789 !\"#$%&'*+,-./:;=?@\\^_`~")
    base = kept[:width].strip() or b"bot"
    number, shown = 1, base
    while name_problem(shown, width) or shown in taken:
        number += 1
        ending = b"%d" % number
        shown = base[: width - len(ending)].rstrip() + ending
    return shown


def is_fleet(board: bytes, boats: str, width: int, height: int) -> bool:
    """Return whether this is water and every boat once, row by row."""
    try:
        check_fleet(board.decode("latin-1"), boats_in(boats), width)
    except IllegalMove:
        return False
    return len(board) == width * height


def player_called(word: bytes, names: Sequence[bytes]) -> int | None:
    """Find a player by exact name, unique beginning of a name in any case, or number in turn order."""
    if word in names:
        return names.index(word)
    found = [number for number, name in enumerate(names) if word and name.lower().startswith(word.lower())]
    if len(found) == 1:
        return found[0]
    number = int(word) if NUMBER.fullmatch(word) and word[:1] != b"+" else 0
    return number - 1 if 0 < number <= len(names) else None


def aimed(fields: Sequence[bytes], names: Sequence[bytes], shooter: int, position: Battleship) -> Raw:
    """Read the shot `S|player|x|y` of the player whose turn it is, or raise RefusedShot."""
    _, called, across, down = fields if len(fields) == 4 else (*fields, b"", b"", b"")[:4]
    target = player_called(called, names)
    if target is None:
        raise RefusedShot(NO_TARGET)
    if target == shooter:
        raise RefusedShot(YOURSELF)
    x, y = PLACES.get(across, -1), PLACES.get(down, -1)
    if not (0 <= x < position.width and 0 <= y < position.height):
        x, y = _coordinate(across, position.width), _coordinate(down, position.height)
    if position.boards[target][y * position.width + x] != WATER:
        raise RefusedShot(SHOT_BEFORE)
    return {"target": target, "x": x, "y": y}


PlainShot = tuple[int, Raw]
"""A square by its number, and the move that shoots at it: shared by all games, never changed."""
NOBODY: Final[tuple[int, dict[bytes, PlainShot]]] = (-1, {})


@cache
def plain_shots(target: int, width: int, height: int) -> dict[bytes, PlainShot]:
    """All shots at one player, by their coordinates in the most common form."""
    squares = [(x, y) for y in range(height) for x in range(width)]
    return {b"%d|%d" % (x + 1, y + 1): (y * width + x, {"target": target, "x": x, "y": y}) for x, y in squares}


class Aim:
    """The shots of one game in their most common form: the whole name and plain numbers."""

    def __init__(self, names: Sequence[bytes], width: int, height: int) -> None:
        self._at = {name: (target, plain_shots(target, width, height)) for target, name in enumerate(names)}

    def plain(self, line: bytes, shooter: int, position: Battleship) -> Raw | None:
        """Return what `fields_of` and `aimed` would find in this line; None: they have to look at it."""
        if line[:2] != b"S|":
            return None
        called, _, written = line[2:].partition(b"|")
        target, squares = self._at.get(called, NOBODY)
        found = squares.get(written)
        if found is None or target == shooter or position.boards[target][found[0]] != WATER:
            return None
        return found[1]


def _coordinate(word: bytes, size: int) -> int:
    place = int(word) - 1 if NUMBER.fullmatch(word) else -1
    if not 0 <= place < size:
        raise RefusedShot(NO_SQUARE)
    return place


def square_name(x: int, y: int) -> str:
    """The square as people and the line H name it: a1 is the first."""
    return f"{COLUMNS[x]}{y + 1}"


# Writing.


def line_of(*fields: str) -> bytes:
    """A client's line with its end. No field can contain a separator or a line end, and the line fits every server."""
    text = "|".join(field.translate(NEVER_SENT).strip() for field in fields)
    return text.encode("utf-8", "surrogateescape")[:LONGEST_SENT] + b"\n"


def joined(name: bytes) -> bytes:
    return b"J|" + name


def left(name: bytes, reason: bytes) -> bytes:
    return b"L|%b|%b" % (name, reason)


def retry(words: bytes) -> bytes:
    """The name is refused; the client may try another one."""
    return b"E|" + words


def said(sender: bytes, text: bytes, to_all: bool = False) -> bytes:
    """A message; without a sender it is from the server. Long messages are cut."""
    return (b"M|%b|%b%b" % (sender, text, b"|All" if to_all else b""))[:LONGEST_LINE]


def results(state: bytes, rounds: int, rows: Sequence[tuple[bytes, int, int, int, bytes]]) -> list[bytes]:
    """F, and for each player a line R with score, skips, turns and status, best first."""
    ranked = sorted(rows, key=lambda row: -row[1])
    return [b"F|%b|%d|%d" % (state, rounds, len(rows)), *(b"R|%b|%d|%d|%d|%b" % row for row in ranked)]


def plain(text: str) -> bytes:
    """Return text that fits into one field of a line."""
    return " ".join(text.replace("|", "/").split()).encode(errors="replace")
