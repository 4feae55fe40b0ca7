"""Programs of every kind, good and bad, for tests that run them for real."""

import sys
from pathlib import Path

GOOD = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "authentication" in message:
        me = message["name"]
    elif me in message["state"]["waitingFor"]:
        state = message["state"]
        mark = next(mark for mark, name in state["marks"].items() if name == me)
        free = [[r, c] for r in range(3) for c in range(3) if not state["board"][r][c]]
        print(json.dumps({"mark": mark, "space": free[0]}), flush=True)
"""
POLITE = (
    'import json\nprint(json.dumps({"gameType": "X", "name": "x", "password": "y"}), flush=True)'
    + GOOD
)
TALKATIVE = 'import sys\nprint("thinking", file=sys.stderr, flush=True)' + GOOD
DEAF = "import time\ntime.sleep(600)"
CRASHING = "import sys\nsys.stdin.readline()\nraise ValueError('no idea')"
SILENT_END = "import os, sys\nos.close(1)\nsys.stdin.read()"
KILLED = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
RUBBISH = "print('hello world', flush=True)\nimport time; time.sleep(600)"
BOTTOMLESS = "print('[' * 100_000, flush=True)\nimport time; time.sleep(600)"
FLOODING = "import sys\nwhile True: sys.stdout.write('5\\n' * 1000)"
ENDLESS_LINE = "import sys\nwhile True: sys.stdout.write('5' * 100000)"
CHATTING = "import sys, time\nfor _ in range(300): print(5)\nsys.stdout.flush()\ntime.sleep(600)"
NOISY = (
    "import sys\nsys.stderr.write('e' * 1_000_000 + '\\nthe end')\nsys.stderr.flush()\n"
    "sys.stdin.readline()\nsys.exit(3)"
)


def program(folder: Path, code: str, name: str = "prog.py") -> str:
    """The code as an entrant."""
    path = folder / name
    path.write_text(code)
    return f"cmd:{sys.executable} {path}"
