"""The load: clients of all five protocols that play on and on, and a contest that runs through
everything.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from itertools import count
from time import monotonic
from typing import Any

import httpx

from botdrome.client.protocol_clients import DuelStream
from tests.chaos.arena import ClusterProcesses
from tests.chaos.native_bots import NativeBot
from tests.faults import battlebots, boaters, bombers, cubes, duellists
from tests.faults.diary import Diary
from tests.faults.trying import BREAKS, Address, Group, ended
from tests.server.rooms.cube.clients import NOOP, bot, saying

NOUGHTS, BUMBLEBOTS = "noughts-and-crosses", "bumblebots"
CUP = "cup"
BOTS, FLYERS, ENTRANTS, DUELLISTS = 16, 4, 6, 4
THINK, CONTEST_THINK, DUEL_THINK = 0.05, 0.2, 0.02
"""Seconds of thought before a move."""
PAUSE = 0.2
"""Seconds between two visits of a client that connects for each game."""
FOREVER = 1 << 30
MOST_BOARDS = 80
NUMBERS = count(1)
KINDS = ("noughts", "bumblebots", "contest", "battlebot", "duel", "boats", "bomberman", "cube")
"""The headings in the diary that must go on after every failure."""


class TimedDiary(Diary):
    """Knows when each kind of client was last told a result."""

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, float] = {}

    def note(self, protocol: str, client: str, facts: Any) -> None:
        super().note(protocol, client, facts)
        self.last[protocol] = monotonic()


class PatientDuellist(duellists.Player):
    """Has another name after some boards, since the server shows the latest 100 of a player."""

    def __init__(self, address: Address, diary: Diary, group: Group) -> None:
        super().__init__(address, diary, group, "")
        self._boards = self._port = 0
        """`_port`: that of its connection; 0: the server has told it nothing there."""
        self.lost: list[tuple[float, int]] = []
        """When it lost its connection, and the port of that. A client that leaves loses none."""

    async def visit(self) -> None:
        self._boards = self._port = 0
        self._name = f"duellist {next(NUMBERS)}"
        try:
            await super().visit()
        finally:
            if self._boards < MOST_BOARDS:
                self.lost.append((monotonic(), self._port))

    async def _heed(self, one: DuelStream, message: dict[str, Any]) -> None:
        self._port = one.writer.get_extra_info("sockname")[1]
        await asyncio.sleep(DUEL_THINK)
        self._boards += message.get("event") in ("win", "lose")
        if self._boards >= MOST_BOARDS and message.get("event") == "player_is_free":
            raise ConnectionError("it goes")
        await super()._heed(one, message)


class Load:
    def __init__(self, arena: ClusterProcesses) -> None:
        self._arena, self.diary = arena, TimedDiary()
        self.bots: list[NativeBot] = []
        self.entrants: list[NativeBot] = []
        """Those of the native bots that play the contest."""
        self.duellists: list[PatientDuellist] = []
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._stack = AsyncExitStack()

    @property
    def native(self) -> list[NativeBot]:
        return self.bots + self.entrants

    def silent_since(self, moment: float) -> list[str]:
        """Return the kinds of clients that were told no result since then.

        A contest that is over has none.
        """
        kinds = [
            kind
            for kind in KINDS
            if kind != "contest" or not all(bot.over for bot in self.entrants)
        ]
        return [kind for kind in kinds if self.diary.last.get(kind, 0.0) <= moment]

    async def register(self, name: str, game: str) -> dict[str, Any]:
        """Return the login of a new bot."""
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            answer = await client.post(
                f"{self._arena.url}/api/v1/bots",
                json={"game": game, "name": name, "owner": "chaos"},
            )
        return {
            "gameType": game.upper().replace("-", "_"),
            "name": name,
            "password": answer.json()["password"],
        }

    async def start(self, games: int) -> None:
        """Pairs of the contest play so many games."""
        await self.enlist(BOTS, "bot", NOUGHTS, "noughts", THINK)
        await self.enlist(FLYERS, "bee", BUMBLEBOTS, "bumblebots", 0.0, options={"ticks": 20})
        document = {"name": CUP, "game": NOUGHTS, "games": games, "penalties": {"wait": 300.0}}
        await asyncio.to_thread(self._arena.order, "POST", "/contests", {"document": document})
        await self._act("open")
        for number in range(ENTRANTS):
            login = await self.register(f"cup{number}", NOUGHTS) | {"contest": CUP}
            self.entrants.append(
                NativeBot(self._arena, self.diary, "contest", login, CONTEST_THINK)
            )
        self._tasks += [asyncio.create_task(one.play(self._stop)) for one in self.native]
        while len((await self.contest())["entrants"]) < ENTRANTS:
            await asyncio.sleep(0.1)
        await self._act("start")
        self._tasks += [
            asyncio.create_task(self._keep_visiting(visit)) for visit in await self._visits()
        ]

    async def enlist(
        self, size: int, name: str, game: str, kind: str, think: float, **wish: Any
    ) -> None:
        for number in range(size):
            login = await self.register(f"{name}{number}", game) | wish
            self.bots.append(NativeBot(self._arena, self.diary, kind, login, think))

    async def _visits(self) -> list[Callable[[], Awaitable[None]]]:
        """Clients that know nothing of nodes: when they are cut off, they connect again."""
        address, diary, group = self._arena, self.diary, Endless()
        old = [battlebots.Bot(address, diary, group, name) for name in ("cleo", "dan")]
        for one in old:
            await one.register()
        self.duellists = [PatientDuellist(address, diary, group) for _ in range(DUELLISTS)]
        sailors = [
            boaters.Sailor(address, diary, group, one, two)
            for one, two in (("gus", "hal"), ("hal", "gus"))
        ]
        users = bombers.Users(address, diary, group, ("ivy", "joe"))
        stays = await self._stack.enter_async_context(bot(saying(NOOP)))
        leaves = await self._stack.enter_async_context(
            bot(saying([{"task": "MOVE", "direction": "+X"}]))
        )
        game = cubes.Game(address, diary, group, stays, leaves)
        return [
            users.visit,
            game.visit,
            *(one.visit for one in old),
            *(one.visit for one in self.duellists),
            *(one.visit for one in sailors),
        ]

    async def _keep_visiting(self, visit: Callable[[], Awaitable[None]]) -> None:
        while not self._stop.is_set():
            with suppress(*BREAKS, ValueError, KeyError, AssertionError):  # half an answer
                await visit()
            await asyncio.sleep(PAUSE)

    async def contest(self) -> Any:
        return await asyncio.to_thread(self._arena.get, f"/contest-documents/{CUP}?fixtures=none")

    async def _act(self, action: str) -> None:
        await asyncio.to_thread(
            self._arena.order, "POST", f"/contest-actions/{CUP}", {"action": action}
        )

    async def finish(self, patience: float) -> str:
        """Play the contest to its end, and stop. Return the state of the contest."""
        for one in self.entrants:
            one.think = 0.0
        until = monotonic() + patience
        while (state := (await self.contest())["state"]) != "over" and monotonic() < until:
            await asyncio.sleep(0.5)
        self._stop.set()
        await asyncio.wait(self._tasks, timeout=10)
        await ended(*self._tasks)
        await self._stack.aclose()
        return str(state)


class Endless(Group):
    """A group that never has enough results."""

    def __init__(self) -> None:
        super().__init__(FOREVER)

    def told(self, name: str) -> None:
        pass
