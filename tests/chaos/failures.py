"""The failures, and what is measured and must hold at each of them."""

import asyncio
import os
import re
import signal
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from random import Random
from time import monotonic, time
from typing import Any, NamedTuple

import asyncpg  # type: ignore[import-untyped]

from tests.chaos.arena import NEW, ClusterProcesses, stop_and_continue
from tests.chaos.load import Load
from tests.chaos.native_bots import NativeBot
from tests.chaos.slow_matches import SlowMatches, slow_logins

SLOW, DRAINED = 300, 50
"""Slow matches on a node that dies, and on one that is drained."""
AT_DEATH, AT_FREEZE = 1.0, 3.0
"""Seconds in which the matches of a dead or frozen node must run elsewhere."""
FROZEN = 10.0
"""Seconds for which a node is stopped."""
PATIENCE = 60.0


RESUMED = re.compile(r"were taken over .*resumed=(\d+)")
TAKEN_OVER = re.compile(r"^(\S+Z) .*were taken over", re.MULTILINE)
"""Lines of the log."""


class Moment(NamedTuple):
    steady: float
    clock: float
    """As in the log."""


class Bystanders:
    """Bots in matches at other nodes than the one that fails: connections and tables.

    They must not notice.
    """

    def __init__(self, arena: ClusterProcesses, load: Load, victim: int) -> None:
        holders = arena.holders()
        at = dict[str, list[NativeBot]]()
        for bot in load.native:
            at.setdefault(bot.match, []).append(bot)
        self._bots = [
            (bot, match)
            for match, players in at.items()
            if match
            and len(players) == 2
            and _are_elsewhere({holders.get(player.ends, victim) for player in players}, victim)
            for bot in players
        ]
        self._duellists, self._duel = load.duellists, arena.clients_at("duel")
        if not _are_elsewhere({holders.get(ends, victim) for ends in self._duel}, victim):
            self._duel = set()
        self._since = monotonic()

    def __len__(self) -> int:
        return len(self._bots) + len(self._duel)

    def problems(self) -> list[str]:
        hurt = [
            (bot.name, match)
            for bot, match in self._bots
            if any(when > self._since for when, at in bot.lost if at == match)
        ]
        found = [
            f"{name} was cut off in {match}, though both players and the table were at another node"
            for name, match in hurt
        ]
        lost = {port for one in self._duellists for when, port in one.lost if when > self._since}
        if gone := {ends for ends in self._duel if ends[1] in lost}:
            found.append(
                f"{len(gone)} clients of duel arena were cut off, though their connections were at "
                "another node"
            )
        return found


def _are_elsewhere(places: set[int], victim: int) -> bool:
    """Whether all are at one node, and not at the one that fails."""
    return len(places) == 1 and victim not in places


class Chaos:
    """A run. `problems` are promises that did not hold, `missed` are times."""

    def __init__(self, arena: ClusterProcesses, load: Load, seed: int) -> None:
        self.arena, self.load, self._random = arena, load, Random(seed)
        self.problems: list[str] = []
        self.missed: list[str] = []
        self.known = set[str]()
        """Slow matches."""
        self._logins: list[dict[str, Any]] = []

    def say(self, words: str) -> None:
        print(f"  {words}", flush=True)

    # Nodes.

    def _fail(self, victim: int, act: Callable[[], Any]) -> tuple[Bystanders, Moment]:
        """No client runs between the look at the connections and the failure."""
        bystanders = Bystanders(self.arena, self.load, victim)
        act()
        return bystanders, Moment(monotonic(), time())

    def _judge(self, bystanders: Bystanders) -> None:
        self.problems += bystanders.problems()
        self.say(f"{len(bystanders)} bystanders, {len(bystanders.problems())} of them cut off")

    async def kill(self) -> None:
        victim = self._random.choice(sorted(self.arena.nodes))
        bystanders, _ = self._fail(victim, lambda: os.kill(victim, signal.SIGKILL))
        await asyncio.to_thread(self.arena.until_whole)
        self._judge(bystanders)

    async def freeze(self) -> None:
        victim = self._random.choice(sorted(self.arena.nodes))
        bystanders, began = self._fail(victim, lambda: os.kill(victim, signal.SIGSTOP))
        await asyncio.sleep(AT_FREEZE)
        self._cut_off(self.load.native, victim)
        await self._continue(victim, began)
        await asyncio.to_thread(self.arena.until_whole)
        self._judge(bystanders)

    def _cut_off(self, bots: Iterable[NativeBot], victim: int) -> None:
        """The clients of a frozen node get no answer, and connect again.

        Else they would notice only when it goes on.
        """
        holders = self.arena.holders()
        for bot in bots:
            if holders.get(bot.ends) == victim:
                bot.cut_off()

    async def _continue(self, victim: int, began: Moment) -> None:
        await asyncio.sleep(max(0.0, began.steady + FROZEN - monotonic()))
        os.kill(victim, signal.SIGCONT)

    async def kill_with_slow_matches(self) -> None:
        slow, node, victim = await self._slow_matches(SLOW)
        length = len(self.arena.log)
        bystanders, began = self._fail(victim, lambda: os.kill(victim, signal.SIGKILL))
        await self._time_takeover(slow, node, length, began, AT_DEATH)
        await self._end(slow)
        self._judge(bystanders)

    async def freeze_with_slow_matches(self) -> None:
        slow, node, victim = await self._slow_matches(SLOW)
        length = len(self.arena.log)
        bystanders, began = self._fail(victim, lambda: os.kill(victim, signal.SIGSTOP))
        await self._time_takeover(slow, node, length, began, AT_FREEZE, victim)
        await self._continue(victim, began)
        await self._end(slow)
        self._judge(bystanders)

    async def drain(self, number: int | None = None) -> None:
        """Drain a node as for an update: its matches move, then it is stopped, and starts again."""
        slow, node, victim = await self._slow_matches(DRAINED, number)
        holders = self.arena.holders()
        here = [bot for bot in (*self.load.bots, *slow.bots) if holders.get(bot.ends) == victim]
        began = monotonic()
        await self._set_draining([node], True)
        moved = await self._until_none_is_at(node, slow, began, 20.0)
        self.say(f"{DRAINED} slow matches were at other nodes after {moved:.2f} s")
        os.kill(victim, signal.SIGTERM)
        await asyncio.to_thread(self.arena.until_whole)
        cut = [bot for bot in here if any(when > began for when, _ in bot.lost)]
        self.say(f"{len(cut)} of {len(here)} native bots at that node were cut off")
        if cut:
            self.problems.append(
                f"draining cut off {len(cut)} of {len(here)} native bots, such as {cut[0].name}"
            )
        await self._end(slow)

    # Slow matches.

    async def _slow_matches(
        self, count: int, number: int | None = None
    ) -> tuple[SlowMatches, str, int]:
        """Begin slow matches at one node: that of this number, or any.

        Return them, the name of the node and its process.
        """
        self._logins = self._logins or await slow_logins(self.load)
        nodes = sorted(
            (await asyncio.to_thread(self.arena.get, "/nodes"))["nodes"], key=itemgetter("name")
        )
        node = self._random.choice(nodes) if number is None else nodes[number]
        slow = SlowMatches(self.load, self.arena, node["url"], self._logins, count)
        others = [one["name"] for one in nodes if one is not node]
        await self._set_draining(others, True)  # else the matches would spread over all nodes
        await slow.open()
        for other in others:
            await self._until_none_is_at(other, slow, monotonic(), PATIENCE)
        await self._set_draining(others, False)
        await self._until_spread()
        return slow, node["name"], self.arena.process_of(node)

    async def _set_draining(self, nodes: Iterable[str], draining: bool) -> None:
        for node in nodes:
            await asyncio.to_thread(
                self.arena.order, "PUT", f"/nodes/{node}", {"draining": draining}
            )

    async def _until_spread(self) -> None:
        """Wait until each node has matches again, so that there are bystanders."""
        until = monotonic() + PATIENCE
        while not all(
            one["tables"] > 2
            for one in (await asyncio.to_thread(self.arena.get, "/nodes"))["nodes"]
        ):
            if monotonic() > until:
                self.problems.append(
                    f"matches did not spread over all nodes within {PATIENCE:.0f} s"
                )
                return
            await asyncio.sleep(0.1)

    async def _until_none_is_at(
        self, node: str, slow: SlowMatches, began: float, patience: float
    ) -> float:
        """Return the seconds until other nodes have all slow matches."""
        connection = await asyncpg.connect(self.arena.postgres.url)
        query = "SELECT count(*) FROM matches WHERE id = ANY($1) AND node LIKE $2"
        try:
            while left := await connection.fetchval(query, list(slow.matches), f"{node}.%"):
                if monotonic() > began + patience:
                    self.problems.append(
                        f"{left} of {len(slow.matches)} slow matches are still at {node} after "
                        f"{patience:.0f} s"
                    )
                    return float("inf")
                await asyncio.sleep(0.02)
        finally:
            await connection.close()
        return monotonic() - began

    async def _time_takeover(
        self,
        slow: SlowMatches,
        node: str,
        length: int,
        began: Moment,
        limit: float,
        frozen: int = 0,
    ) -> None:
        """Read the times in the log of the nodes, since this process is busy with its bots."""
        await self._until_none_is_at(node, slow, began.steady, PATIENCE)
        while sum(map(int, RESUMED.findall(new := self.arena.log[length:]))) < len(slow.matches):
            await asyncio.sleep(0.05)
            if monotonic() > began.steady + PATIENCE:
                break
        resumed = (
            max(datetime.fromisoformat(line).timestamp() for line in TAKEN_OVER.findall(new))
            - began.clock
        )
        if frozen:
            self._cut_off((*slow.bots, *self.load.native), frozen)
        back = await slow.returned(began.steady, PATIENCE)
        words = f"{len(slow.matches)} matches ran at other nodes after {resumed:.2f} s"
        most, last = back[len(back) * 95 // 100], back[-1]
        self.say(f"{words} ({limit:.0f} s: {'reached' if resumed <= limit else 'missed'})")
        self.say(
            f"95 % of the {len(slow.bots)} bots were back in their matches after {most:.2f} s, all "
            f"after {last:.2f} s"
        )
        if resumed > limit:
            self.missed.append(f"{words}, not within {limit:.0f} s")
        if last == float("inf"):
            self.problems.append(
                f"not all bots of {len(slow.matches)} slow matches came back within {PATIENCE:.0f} "
                "s"
            )

    async def _end(self, slow: SlowMatches) -> None:
        await slow.finish()
        self.known |= slow.matches
        if silent := [bot for bot in slow.bots if not bot.over]:
            self.problems.append(
                f"{len(silent)} of {len(slow.bots)} bots were told no result of their slow matches"
            )
        await asyncio.to_thread(self.arena.until_whole)

    # Engines.

    async def restart_nats(self) -> None:
        self.arena.nats.stop()
        self.arena.nats.start()

    async def freeze_nats(self) -> None:
        await asyncio.to_thread(stop_and_continue, self.arena.nats.process.pid, 5)

    async def restart_postgres(self) -> None:
        await self.away_postgres(0)

    async def away_postgres(self, seconds: float = 20) -> None:
        await asyncio.to_thread(self.arena.postgres.stop)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(self.arena.postgres.start)


Failure = Callable[[Chaos], Awaitable[None]]
FAILURES: dict[str, Failure] = {
    **{f"kill -9 of a node ({number + 1})": Chaos.kill for number in range(10)},
    "a node stands still for 10 s": Chaos.freeze,
    f"kill -9 of a node with {SLOW} matches": Chaos.kill_with_slow_matches,
    f"a node with {SLOW} matches stands still": Chaos.freeze_with_slow_matches,
    "a node is drained for an update": Chaos.drain,
    "NATS restarts": Chaos.restart_nats,
    "NATS stands still for 5 s": Chaos.freeze_nats,
    "PostgreSQL restarts": Chaos.restart_postgres,
    "PostgreSQL is away for 20 s": Chaos.away_postgres,
}


def _update(number: int, version: Path) -> Failure:
    async def drained(chaos: Chaos) -> None:
        chaos.arena.next_version(version)
        await chaos.drain(number)

    return drained


def updates(old: Path) -> dict[str, Failure]:
    """A rolling update from an old version to this one, node by node, and back."""
    steps = [(number, *version) for version in (("new", NEW), ("old", old)) for number in range(3)]
    return {
        f"node {number + 1} is drained for the {name} version": _update(number, folder)
        for number, name, folder in steps
    }
