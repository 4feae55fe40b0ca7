"""Match files and bots for tests of the commands."""

from pathlib import Path

from botdrome.match.match import Match
from botdrome.match.record import match_file
from tests.match.recorded_matches import lost_by_bob

FIRST_FREE = """
def bot(view):
    free = [[r, c] for r in range(3) for c in range(3) if not view["board"][r][c]]
    return {"mark": view["marks"][view["you"]], "space": free[0]}
"""
AS_RECORDED = """
MOVES = {1: [1, 1], 3: [2, 2]}

def bot(view):
    stones = sum(mark != "" for row in view["board"] for mark in row)
    return {"mark": "O", "space": MOVES[stones]}
"""


def saved(
    folder: Path,
    name: str = "lost.jsonl",
    match: Match | None = None,
    names: tuple[str, ...] = ("ada", "bob.py"),
) -> str:
    """Write a match file: by default a match of noughts and crosses that player 1,
    bob.py, loses.
    """
    path = folder / name
    path.write_bytes(match_file(match or lost_by_bob(), names))
    return str(path)


def bot_file(folder: Path, code: str, name: str = "bob.py") -> str:
    path = folder / name
    path.write_text(code)
    return str(path)
