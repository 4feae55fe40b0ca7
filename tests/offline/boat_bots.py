"""Small boat bots that shoot square by square, one for each way to come to a trial."""

import sys
from pathlib import Path

ROWS = """
def rows(width, height, boats):
    lines = [(boat[0] * int(boat[1])).ljust(width, ".") for boat in boats]
    return lines + ["." * width] * (height - len(lines))
"""
NATIVE = (
    ROWS
    + """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "authentication" in message:
        me = message["name"]
        continue
    state = message["state"]
    if me not in state["waitingFor"]:
        continue
    if state["phase"] == "placement":
        move = {"board": rows(state["width"], state["height"], state["boats"])}
    else:
        board = "".join(state["boards"][1])
        y, x = divmod(board.index("."), state["width"])
        move = {"x": x, "y": y}
    print(json.dumps(move), flush=True)
"""
)
FUNCTION = (
    ROWS
    + """
def bot(view):
    if view["phase"] == "placement":
        return {"board": rows(view["width"], view["height"], view["boats"])}
    y, x = divmod("".join(view["boards"][1]).index("."), view["width"])
    return {"x": x, "y": y}
"""
)
NAMED = {"native": NATIVE, "function": FUNCTION}


def walker(folder: Path, kind: str) -> str:
    """The bot as an entrant."""
    path = folder / f"{kind}_walker.py"
    path.write_text(NAMED[kind])
    return str(path) if kind == "function" else f"cmd:{sys.executable} {path}"
