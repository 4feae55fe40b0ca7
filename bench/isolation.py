"""Measure what a process of its own costs a bot in Python: the time of a move with and without it,
in one run.

python -m bench.isolation [MATCHES]
"""

import sys
import tempfile
from pathlib import Path

from botdrome.client.program import CannotStart, check_sandbox
from botdrome.client.sandbox import SANDBOXED
from botdrome.offline.isolation import Isolation
from botdrome.offline.tournament import TournamentPlan, play_all

BOTS = {
    "noughts-and-crosses": """
def bot(view):
    row, column = next((r, c) for r in range(3) for c in range(3) if not view["board"][r][c])
    return {"mark": view["marks"][view["you"]], "space": [row, column]}
""",
    "gomoku": """
def bot(view):
    return next({"x": x, "y": y} for y, row in enumerate(view["board"]) for x, cell in enumerate(row) if cell == ".")
""",
    "bomberman": "def bot(view): return {'action': 'WAIT'}",
}


def mean_time(game: str, bot: str, isolation: Isolation, matches: int) -> float:
    """Return the microseconds of a move."""
    plan = TournamentPlan(
        game, (bot, "house:random"), ("bot", "random"), 2, matches, 1, isolation=isolation
    )
    moves, seconds = 0, 0.0
    for outcome in play_all(plan, 1):
        effort = outcome.efforts[outcome.fixture.entrants.index(0)]
        moves, seconds = moves + effort.moves, seconds + effort.seconds
    return seconds / max(1, moves) * 1e6


def main() -> None:
    matches = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    ways = {"in process": Isolation(in_process=True), "own process": Isolation()}
    try:
        check_sandbox()
        ways["sandbox"] = Isolation(sandbox=True, limits=SANDBOXED)
    except CannotStart as problem:
        print(problem)
    with tempfile.TemporaryDirectory() as folder:
        for game, code in BOTS.items():
            path = Path(folder) / f"{game.replace('-', '_')}.py"
            path.write_text(code)
            times = {
                name: min(mean_time(game, str(path), way, matches) for _ in range(3))
                for name, way in ways.items()
            }
            extra = times["own process"] - times["in process"]
            print(
                f"{game}: "
                + ", ".join(f"{name} {time:.0f} us a move" for name, time in times.items())
                + f"; extra {extra:.0f} us"
            )


if __name__ == "__main__":
    main()
