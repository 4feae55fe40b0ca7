"""Gomocup's protocol for gomoku engines, as the manager speaks it: lines on standard input and
output. Its openings. No I/O.
"""

import re

from botdrome.games.game import Raw, View

FREESTYLE = 0
"""The rule: five or more in a row win."""
AGAINST_AN_ENGINE = 1
NO_MATCH_LIMIT = 0
UNLIMITED = 2_147_483_647
"""The time left if a match has no limit of its own."""
WIN_LENGTH = 5
"""Engines know no other."""
REMARKS = ("MESSAGE", "DEBUG", "SUGGEST")
"""Lines that an engine may write at any time."""
STARTED = re.compile("OK\\b")
NUMBER = re.compile("[+-]?[0-9]{1,3}")
EXAMPLE = (
    "an opening is x,y of each stone, counted from the centre of the board, such as 0,0, 1,-1, 2,3"
)
POINT = re.compile(r"(\d+)\s*,\s*(\d+)")


class GomocupError(Exception):
    """The engine reported an error, or did not keep to the protocol; the text is for its author."""


class BadOpening(Exception):
    """A line that is no opening; the text names the line and gives an example."""


def read_openings(text: str, size: int) -> dict[int, list[list[int]]]:
    """Return the openings of a file, by the number of the line: the points of their stones on a
    board of this size.

    Each line is an opening: pairs of x,y counted from the centre, with commas in between. Empty
    lines are passed over.
    """
    lines = {number: line.strip() for number, line in enumerate(text.splitlines(), 1)}
    openings = {number: _points(number, line, size // 2) for number, line in lines.items() if line}
    if not openings:
        raise BadOpening(f"there are no openings; {EXAMPLE}")
    return openings


def _points(number: int, line: str, centre: int) -> list[list[int]]:
    words = [word.strip() for word in line.split(",")]
    if len(words) % 2:
        raise BadOpening(
            f"line {number}: {len(words)} numbers are no pairs of x,y: {line[:80]!r}; {EXAMPLE}"
        )
    for word in words:
        if not NUMBER.fullmatch(word):
            raise BadOpening(f"line {number}: {word[:80]!r} is no whole number; {EXAMPLE}")
    steps = [centre + int(word) for word in words]
    return [list(pair) for pair in zip(steps[::2], steps[1::2], strict=True)]


class GomocupManager:
    """The manager's side. A board is told move by move where that is possible, otherwise whole."""

    def __init__(self) -> None:
        self._limit: int | None = None
        self._memory = 0
        self._size = 0
        """The size of the board with which the engine was started; 0: it was not."""
        self._known: list[list[int]] | None = None
        """The stones that the engine has on its board, in order; None: no board has begun."""

    def begin(self, limit: int | None, memory: int) -> None:
        """Begin a match.

        `limit` is the time for a move in ms; `memory` the bytes that the engine may use, 0 for no
        limit.
        """
        self._limit, self._memory, self._known = limit, memory, None

    def is_new_board(self, view: View) -> bool:
        """True if the stones do not continue those of the last question."""
        return self._known is None or view["moves"][: len(self._known)] != self._known

    def start(self, view: View) -> list[str]:
        """Begin a board. The engine answers OK, which `read_start` checks."""
        size = view["size"]
        started, self._size, self._known = self._size, size, []
        return ["RESTART" if started == size else f"START {size}"]

    def information(self) -> list[str]:
        """Tell the limits and the rule. The engine does not answer."""
        return [
            f"INFO timeout_turn {UNLIMITED if self._limit is None else self._limit}",
            f"INFO timeout_match {NO_MATCH_LIMIT}",
            f"INFO max_memory {self._memory}",
            f"INFO game_type {AGAINST_AN_ENGINE}",
            f"INFO rule {FREESTYLE}",
        ]

    def ask(self, view: View) -> list[str]:
        """Ask for a move. The engine answers with a point, which `read_move` reads."""
        stones: list[list[int]] = view["moves"]
        before, self._known = self._known or [], stones
        return [f"INFO time_left {UNLIMITED}", *_question(view, stones, before)]

    def read_start(self, line: str) -> bool:
        """Return True for OK and False for a line that does not matter."""
        if STARTED.match(line):
            return True
        return self._is_remark(line)

    def read_move(self, line: str) -> Raw | None:
        """Return the move, or None for a line that does not matter."""
        if found := POINT.fullmatch(line):
            x, y = int(found[1]), int(found[2])
            self._known = [*(self._known or []), [x, y]]
            return {"x": x, "y": y}
        self._is_remark(line)
        return None

    def _is_remark(self, line: str) -> bool:
        """Return False for a remark. Raise GomocupError for every other line."""
        word = line.partition(" ")[0].upper()
        if not line or word in REMARKS:
            return False
        if word in ("ERROR", "UNKNOWN"):
            raise GomocupError(f"the engine answered {line!r}")
        raise GomocupError(f"the engine wrote {line[:80]!r} in place of a move such as 7,8")


def _question(view: View, stones: list[list[int]], before: list[list[int]]) -> list[str]:
    if not stones:
        return ["BEGIN"]
    if stones[:-1] == before:
        return [f"TURN {stones[-1][0]},{stones[-1][1]}"]
    own = "XO"[view["you"]]
    return [
        "BOARD",
        *(f"{x},{y},{1 if view['board'][y][x] == own else 2}" for x, y in stones),
        "DONE",
    ]
