"""Small boat bots that shoot square by square, one for each way to come to a trial."""

import socket
import sys
from pathlib import Path

from tests.patience import PATIENCE

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
SHELL = (
    ROWS
    + """
import sys

print("I|Walker|1.5|walker", flush=True)
at = 0
for line in sys.stdin:
    kind, *fields = line.rstrip("\\n").split("|")
    if kind == "G":
        width, height, boats, at = int(fields[7]), int(fields[8]), fields[10:], 0
        print("J|walker|" + "".join(rows(width, height, boats)), flush=True)
    elif kind == "N" and fields[0] == "walker":
        print(f"S|Skipper|{at % width + 1}|{at // width + 1}", flush=True)
        at += 1
    elif kind == "R" and "--once" in sys.argv and fields[0] != "walker":
        break
    elif kind == "R" and fields[0] != "walker":
        print("L|bye", flush=True)
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
NAMED = {"native": NATIVE, "shell": SHELL, "function": FUNCTION}


def walker(folder: Path, kind: str, arguments: str = "") -> str:
    """The bot as an entrant."""
    path = folder / f"{kind}_walker.py"
    path.write_text(NAMED[kind])
    return str(path) if kind == "function" else f"cmd:{sys.executable} {path} {arguments}".strip()


class Sailor:
    """The other end of a connection to a trial."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._lines = self.socket.makefile("rb")

    def hear(self) -> str:
        """The next line; empty at the end."""
        return self._lines.readline().decode().rstrip("\n")

    def hear_until(self, kind: str) -> str:
        while line := self.hear():
            if line.startswith(kind):
                return line
        return ""

    def say(self, line: str) -> None:
        self.socket.sendall(line.encode() + b"\n")

    def close(self) -> None:
        self._lines.close()
        self.socket.close()


def boat_rows(width: int = 10, height: int = 10) -> str:
    rows = [boat.ljust(width, ".") for boat in ("AAAAA", "BBBB", "CCC", "DDD", "EE")]
    return "".join(rows + ["." * width] * (height - 5))


def sail(port: int, width: int = 10, height: int = 10) -> int:
    """Play one board square by square; how many shots it took."""
    sailor = Sailor(port)
    sailor.hear_until("G")
    sailor.say(f"J|walker|{boat_rows(width, height)}")
    at = 0
    while line := sailor.hear():
        if line == "N|walker":
            sailor.say(f"S|Skipper|{at % width + 1}|{at // width + 1}")
            at += 1
    sailor.close()
    return at
