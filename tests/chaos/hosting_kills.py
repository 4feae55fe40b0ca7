"""Kill a runner, its server, and both, ten times while uploaded bots play on the ladder, and
compare what was told with what is stored.

Exit code 1: a promise did not hold.
"""

import argparse
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random, randrange
from time import monotonic, sleep
from typing import Any

from botdrome.client.guard import descendants
from botdrome.client.rest import RestServer, ServerProblem
from botdrome.wire.upload import PackedFile, packed
from tests.chaos.arena import TOKEN
from tests.kit.hosted import FIRST_FREE, GAME

KILLS = 10
BOTS = ("ada", "bea", "cyd", "dan")
CALM = 3.0
"""Seconds of play before each kill."""
PATIENCE = 180.0
PLAYED = 5
"""Matches that must end after each kill before the next one."""
LADDER = ("--ladder-wait", "0.2", "--ladder-per-hour", "3600")
SERVE = (
    "serve", "--house", "--hosting-uploads", "everybody", "--hosting-per-day", "1000",
    "--duel-port", "-1", "--boats-port", "-1", "--drain", "0", "--log-level", "error",
)  # fmt: skip
BOTDROME = [sys.executable, "-c", "from botdrome.cli.app import main; main()"]


class Site:
    """A server, a runner and what authors, spectators and the operator were told."""

    def __init__(self, folder: Path, ladder: Sequence[str] = LADDER) -> None:
        self._folder, self._db, self._ladder = folder, folder / "site.db", ladder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.rest = RestServer(f"http://127.0.0.1:{self._port}", timeout=5.0)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.tokens: dict[str, str] = {}
        self.pushed: list[tuple[str, int]] = []
        self.told: dict[str, Any] = {}
        """The results that REST has shown, by match."""
        self.problems: list[str] = []

    def start(self, name: str, *words: str) -> None:
        env = os.environ | {"BOTDROME_OPERATOR_TOKEN": TOKEN, "NO_COLOR": "1"}
        with (self._folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [*BOTDROME, *words], stdout=log, stderr=log, env=env
            )

    def start_server(self) -> None:
        ports = ("--port", str(self._port), "--db", f"sqlite:///{self._db}")
        self.start("server", *SERVE, *self._ladder, *ports)
        self.until("the server answers", lambda: bool(self.told_now()))

    def start_runner(self) -> None:
        """A new token ends the pause of a runner that was lost often."""
        added = self.rest.get("operator/runners", TOKEN, {"name": "ant"})
        token = self._folder / "token"
        token.write_text(added["token"])
        words = ("--token", str(token), "--cache", str(self._folder / "builds"))
        self.start("runner", "runner", "--server", self.rest.url, *words)

    def kill(self, names: tuple[str, ...]) -> None:
        """End processes at once. All that they have started must be gone soon."""
        found = {self.processes[name].pid for name in names}
        found.update(*(descendants(pid) for pid in found))
        for name in names:
            self.processes[name].kill()
        for name in names:
            self.processes.pop(name).wait()
        self.until("no process is left", lambda: not any(map(lives, found)))

    def stop(self, name: str) -> None:
        process = self.processes.pop(name)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        until = monotonic() + PATIENCE
        while not self._holds(holds):
            if monotonic() > until:
                self.problems.append(f"{what}: not within {PATIENCE:g} s")
                return
            sleep(0.1)

    def _holds(self, holds: Callable[[], bool]) -> bool:
        try:
            return holds()
        except (ServerProblem, OSError):
            return False

    def told_now(self) -> dict[str, Any]:
        """Note the latest results that the server tells."""
        found = self.rest.get("matches?status=ended&limit=100")
        for one in found["matches"]:
            if (result := one["result"]) and self.told.setdefault(one["id"], result) != result:
                self.problems.append(f"{one['id']} was told in two ways")
        return dict(found)

    def push(self, name: str, version: str) -> None:
        archive = packed({"bot.py": PackedFile(f"{FIRST_FREE}# {version}".encode())})
        added = self.rest.get(f"uploads/{name}?version={version}", self.tokens[name], archive)
        self.pushed.append((name, added["number"]))

    def uploads(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.rest.get(f"uploads/{name}", self.tokens[name])["uploads"]
        return found

    def all_play(self) -> bool:
        newest = [self.uploads(name)[0] for name in self.tokens]
        return all(one["active"] and one["runner"] for one in newest)

    def rows(self, query: str) -> list[Any]:
        database = sqlite3.connect(f"file:{self._db}?mode=ro", uri=True)
        try:
            return database.execute(query).fetchall()
        finally:
            database.close()

    def ended(self) -> int:
        """Matches of two hosted bots or of one and a house bot that have ended and count."""
        counted = "SELECT count(*) FROM matches WHERE status = 'ended' AND void IS NULL"
        return int(self.rows(counted)[0][0])

    def leaderboard(self) -> Any:
        """Return it without the time at which it was counted."""
        found = self.rest.get(f"games/{GAME}/leaderboard?limit=100")
        return found | {"rated": None}

    def count_again(self) -> None:
        """Restart the server without what it has counted."""
        self.stop("server")
        with sqlite3.connect(self._db) as database:
            database.execute("DELETE FROM leaderboards")
        self.start_server()


def lives(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def play(site: Site, seed: int) -> None:
    chance = Random(seed)
    site.start_server()
    site.start_runner()
    for name in BOTS:
        site.tokens[name] = site.rest.register(GAME, name, "")
        site.push(name, "v0")
    site.until("all bots play", site.all_play)
    for number in range(1, KILLS + 1):
        names = [("runner",), ("server",), ("runner", "server")][number % 3]
        before = site.ended()
        site.until("matches are played", lambda: site.ended() >= before + PLAYED)
        site.told_now()
        site.push(chance.choice(BOTS), f"v{number}")
        sleep(CALM * chance.random())
        began, before = monotonic(), site.ended()
        site.kill(names)
        if "server" in names:
            site.start_server()
        if "runner" in names:
            site.start_runner()
        site.until("matches are played again", lambda: site.ended() >= before + PLAYED)
        site.until("all bots play again", site.all_play)
        again = monotonic() - began
        print(f"{number}. {' and '.join(names)}: all bots play {again:.1f} s later", flush=True)


def compare(site: Site) -> None:
    """Compare what was told with what is stored, after the runner has stopped."""
    site.stop("runner")
    site.until("no bot is leased", lambda: not any(one["runner"] for one in all_uploads(site)))
    site.until("no match runs", lambda: site.rest.get("matches?status=running")["total"] == 0)
    site.told_now()
    states = {(one["bot"], one["number"]): one["state"] for one in all_uploads(site)}
    site.problems += [
        f"version {number} of {name} is {states.get((name, number), 'lost')}"
        for name, number in site.pushed
        if states.get((name, number)) != "accepted"
    ]
    logs = site.rows("SELECT bot, match FROM bot_logs")
    if len(logs) != len(set(logs)):
        site.problems.append("a log is stored twice")
    board = site.leaderboard()
    site.count_again()
    if board != (again := site.leaderboard()):
        site.problems.append(f"the leaderboard was {board}, and counted again {again}")
    if board["matches"] != site.ended():
        site.problems.append(f"{board['matches']} matches are rated, {site.ended()} count")
    for match, result in site.told.items():
        if site.rest.get(f"matches/{match}")["result"] != result:
            site.problems.append(f"the result of {match} that was told is not stored")
    void = site.rows("SELECT count(*) FROM matches WHERE void IS NOT NULL")[0][0]
    site.stop("server")
    print(
        f"{len(site.pushed)} versions, {len(site.told)} results told, {site.ended()} matches that "
        f"count, {void} void"
    )


def all_uploads(site: Site) -> list[dict[str, Any]]:
    return [one | {"bot": name} for name in site.tokens for one in site.uploads(name)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.hosting_kills")
    parser.add_argument("--seed", type=int, default=randrange(1000))
    seed, began = parser.parse_args().seed, monotonic()
    print(f"{KILLS} kills with --seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="botdrome-kills-") as folder:
        Path(folder).chmod(0o755)
        site = Site(Path(folder))
        try:
            play(site, seed)
            compare(site)
        finally:
            for name in list(site.processes):
                site.stop(name)
    if left := list(descendants(os.getpid())):
        site.problems.append(f"processes are left: {left}")
    for problem in site.problems:
        print(f"PROBLEM: {problem}")
    verdict = f"{len(site.problems)} promises did not hold" if site.problems else "all held"
    print(f"{verdict}; this took {monotonic() - began:.0f} s")
    return bool(site.problems)


if __name__ == "__main__":
    sys.exit(main())
