"""Compile the modules in which a busy server spends its time with mypyc.

    python -m tools.native [--first] [--if-possible]

The extension modules go to a copy of the package in `.venv/native`. Put it on the PYTHONPATH to use it. The tool does nothing if
the copy is newer than all sources.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCE = Path(__file__).parents[1] / "src" / "botdrome"
ENVIRONMENT = Path(sys.prefix)
TARGET = ENVIRONMENT / "native"
SIGNPOST = Path(sysconfig.get_path("purelib")) / "_botdrome_native.pth"
"""Its name sorts before the file that points to the sources, so Python reads it first."""
BUSY = {
    "games": ("reading", "shots"),
    "match": ("applying", "board", "course", "input_log", "match", "player_clocks", "resuming"),
    "wire": ("half_pairs", "token_bucket", "vocabulary", "writers"),
    "wire/battlebot": ("conversation", "messages", "states"),
    "wire/boats": ("conversation", "lines", "writer"),
    "wire/duel": ("conversation", "messages"),
    "wire/framing": ("streams", "websocket"),
    "wire/nodes": ("link", "nats"),
    "server": ("session",),
    "server/battlebot": ("host",),
    "server/boats": ("game", "players", "port", "room", "statistics"),
    "server/bomber": ("judging", "room", "routes"),
    "server/duel": ("hall",),
    "server/lobby": ("clients", "matchmaker"),
    "server/network": (
        "body_budget", "dispatcher", "http", "loop_timers", "loop_watch", "peer", "rate_limit", "shares", "steady_clock", "tcp",
        "timeouts", "traffic", "websocket",
    ),
    "server/nodes": ("arriving", "carrying", "link_delay", "links", "moving", "nats", "resumed"),
    "server/tables": (
        "audience", "flight_records", "input_keeper", "kept_table", "match_writer", "metronome", "move_times", "resumed_table",
        "running_tables", "subscriber", "table",
    ),
    "server/workers": ("turns",),
    "store": ("rows",),
    "api/socketio": ("websocket",),
}  # fmt: skip
"""The modules in which a server under load spends its time, and modules that subclass their classes.

Modules with msgspec classes are left out, since mypyc loses the options of such a class.
"""
MODULES = [f"botdrome/{room}/{module}.py" for room, modules in BUSY.items() for module in modules]
FLAGS = {"MYPYC_OPT_LEVEL": "2", "MYPYC_DEBUG_LEVEL": "0"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.native", description="compile the busy modules")
    parser.add_argument("--first", action="store_true", help="use the compiled modules everywhere in this environment")
    parser.add_argument("--if-possible", action="store_true", help="succeed on a machine that cannot compile")
    options = parser.parse_args()
    if not can_compile():
        if not is_fresh():
            shutil.rmtree(TARGET, ignore_errors=True)
        sys.stderr.write(
            "No C compiler or no Python headers, so nothing is compiled. On Debian: apt-get install gcc python3-dev\n"
        )
        return 0 if options.if_possible else 1
    if problem := "" if is_fresh() else build():
        sys.stderr.write(f"{problem}\nThe modules could not be compiled.\n")
        return 1
    if options.first:
        SIGNPOST.write_text(f"{TARGET}\n")
    return 0


def can_compile() -> bool:
    compiler = str(sysconfig.get_config_var("CC") or "cc").split()[0]
    return shutil.which(compiler) is not None and Path(sysconfig.get_path("include"), "Python.h").exists()


def is_fresh() -> bool:
    files = [Path(__file__), *(file for file in SOURCE.rglob("*") if file.suffix != ".pyc")]
    return TARGET.exists() and max(file.stat().st_mtime for file in files) < TARGET.stat().st_mtime


def build() -> str:
    """Compile all modules or none. Return the compiler's output if it failed, or an empty text."""
    began = time.time()
    with TemporaryDirectory(dir=ENVIRONMENT) as folder:
        copy = Path(folder) / "native"
        shutil.copytree(SOURCE, copy / "botdrome", ignore=shutil.ignore_patterns("__pycache__"))
        done = subprocess.run(
            [sys.executable, "-m", "mypyc", "--strict", *MODULES],
            cwd=copy, env=os.environ | FLAGS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            return done.stdout
        for leftover in ("build", ".mypy_cache"):
            shutil.rmtree(copy / leftover)
        os.utime(copy, (began, began))  # files saved during the build are not in the copy
        shutil.rmtree(TARGET, ignore_errors=True)
        copy.rename(TARGET)
    return ""


if __name__ == "__main__":
    sys.exit(main())
