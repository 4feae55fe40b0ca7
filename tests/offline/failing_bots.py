"""Bots in Python that fail in every way, for tests that run them for real."""

from pathlib import Path
from typing import Any

from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.terms import Pace, Terms
from botdrome.offline.isolation import ISOLATED, Isolation
from botdrome.offline.seats import make_seat
from botdrome.offline.table import OfflineTable

GAME = "noughts-and-crosses"
SOON, NEVER = Terms(Pace(1), strikes=3), Terms(Pace(3_600_000), strikes=3)
"""Limits that are reached, and limits that are not."""

PLAY = """
def play(view):
    row, column = next((r, c) for r in range(3) for c in range(3) if not view["board"][r][c])
    return {"mark": view["marks"][view["you"]], "space": [row, column]}
"""
SYS_EXIT = "import sys\ndef bot(view):\n    sys.exit(3)"
OS_EXIT = "import os\ndef bot(view):\n    print('about to leave')\n    os._exit(3)"
EXIT_IN_IMPORT = "import os\nos._exit(4)"
BAD_IMPORT = "import no_such_library\ndef bot(view): pass"
BAD_INIT = (
    "class Bot:\n    def __init__(self):\n        raise ValueError('no idea')\n"
    "    def move(self, view): pass"
)
BAD_BEGIN = (
    "class Bot:\n    def begin(self, match):\n        raise ValueError('no idea')\n"
    "    def move(self, view): pass"
)
NO_JSON = "def bot(view): return object()"
SEGFAULT = "import ctypes\ndef bot(view):\n    ctypes.string_at(0)"
SWALLOWS = """def bot(view):
    while True:
        try:
            while True: pass
        except BaseException: pass
"""
POWER = "def bot(view):\n    return 7**10**9"
STOPS = "import os, signal\ndef bot(view):\n    os.kill(os.getpid(), signal.SIGSTOP)"
CLOSES = "import os, time\ndef bot(view):\n    os.closerange(0, 100)\n    time.sleep(600)"
ANSWERS_ITSELF = """import os, time
def bot(view):
    for file in range(3, 10):
        try: os.write(file, b"5\\n")
        except OSError: pass
    time.sleep(600)
"""
FLOODS = "def bot(view):\n    for _ in range(1000): print('x' * 100_000)"
FLOODS_STDERR = (
    "import sys\ndef bot(view):\n    for _ in range(1000): sys.stderr.write('x' * 100_000)"
)
GREEDY = "def bot(view):\n    kept = []\n    while True: kept.append(bytearray(10_000_000))"
GREEDY_FAMILY = """import os, time
def bot(view):
    for _ in range(4):
        if not os.fork():
            kept = bytearray(os.urandom(1)) * 90_000_000
            time.sleep(600)
    time.sleep(600)
"""
FORK_BOMB = """import os, time
def bot(view):
    for _ in range(100):
        if not os.fork():
            break
    time.sleep(600)
"""
"""Bombs and floods have ends of their own, so that a limit that fails does no harm."""
THREAD_BOMB = """import threading, time
threading.stack_size(1 << 16)
def bot(view):
    for _ in range(700):
        threading.Thread(target=time.sleep, args=(600,)).start()
    time.sleep(600)
"""
SOCKET_BOMB = """import os, socket, time
def bot(view):
    for _ in range(8):
        if not os.fork():
            break
    kept = [socket.socketpair() for _ in range(110)]
    time.sleep(600)
"""
SLOW_IMPORT = "import time\ntime.sleep(600)"
FORKS = PLAY + "import os\ndef bot(view):\n    os.fork()\n    return play(view)"
FORKS_TWICE = (
    PLAY
    + """
import os
def bot(view):
    child = os.fork()
    if not child:
        read, write = os.pipe()
        if not os.fork():
            os.write(write, b"grandchild")
            os._exit(0)
        os.close(write)
        os._exit(os.read(read, 100) != b"grandchild")
    assert os.waitpid(child, 0)[1] == 0
    return play(view)
"""
)
"""The files of the child have the numbers that those of the runner had."""
THREADS = (
    PLAY
    + """
import signal, threading, time
def bot(view):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=time.sleep, args=(600,)).start()
    return play(view)
"""
)
THIEF = """
import gc
FLEET = ["AAAAA.....", "BBBB......", "CCC.......", "DDD.......", "EE........"] + ["." * 10] * 5
def bot(view):
    if view["phase"] == "placement":
        return {"board": FLEET}
    for found in gc.get_objects():
        if type(found).__name__ == "Match" and found.result is None and found.game.name == "battleship":
            fleet = found.position.fleets[1 - view["you"]]
            at = next(number for number, square in enumerate(fleet) if square in "ABCDE")
            return {"target": 1 - view["you"], "x": at % 10, "y": at // 10}
    raise LookupError("there is no match in memory")
"""
"""A battleship bot that reads the fleet of its opponent in the memory of its process."""
DAEMON = (
    PLAY
    + """
import os, signal, sys, time
def bot(view):
    read, write = os.pipe()
    if not os.fork():
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork():
            os._exit(0)
        os.write(write, str(os.getpid()).encode())
        time.sleep(600)
        os._exit(0)
    with open(PIDS, "a") as file:
        file.write(f"{os.getpid()} {os.read(read, 100).decode()}\\n")
    AFTER
    return play(view)
"""
)


def daemon(pids: Path, after: str = "pass") -> str:
    """A bot that starts a process which leaves its group and its parent, and writes down the two
    process ids.
    """
    return DAEMON.replace("PIDS", repr(str(pids))).replace("AFTER", after)


def played(
    folder: Path,
    code: str,
    terms: Terms = NEVER,
    isolation: Isolation = ISOLATED,
    opponent: str = "house:random",
) -> tuple[Match, OfflineTable, str]:
    """The match of a bot against another, its table, and the log of the bot."""
    path = folder / "my_bot.py"
    path.write_text(code)
    return played_by(str(path), terms, isolation, opponent)


def played_by(
    entrant: str, terms: Terms, isolation: Isolation, opponent: str, game: str = GAME
) -> tuple[Any, OfflineTable, str]:
    seats = [
        make_seat(bot, game, name, 1, isolation)
        for bot, name in ((entrant, "one"), (opponent, "two"))
    ]
    match = Match(CATALOGUE[game].game, 2, terms, 1)
    table = OfflineTable(match, seats, ("one", "two"))
    try:
        table.play()
    finally:
        for seat in seats:
            seat.close()
    assert match.result is not None
    return match, table, seats[0].log
