"""What one message costs, in calls of functions of the package.

Times are noise on a busy machine, these counts are not. A change that needs more calls raises the
number here, and its commit says why.
"""

import asyncio
import gc
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from math import inf
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.network import peer
from botdrome.server.network.steady_loop import AWAKE, EARLY, SteadyUvLoop
from botdrome.server.tables import timing
from tests.patience import until
from tests.server.clients import Client, bot, pair, registered, server
from tests.server.paths import SOURCES
from tests.server.rooms.boats import clients as boats
from tests.server.rooms.bomber import clients as bombers
from tests.server.rooms.cube import clients as cubes
from tests.server.rooms.duel import clients as duellists

pytestmark = pytest.mark.anyio

BUDGETS = {
    "a move of noughts and crosses": 25,
    "a duel move": 22,
    "a boat shot": 22,
    "a Bomberman action": 30,
    "a Battlecube tick of two bots": 112,
    "a Bumblebots beat": 50,
    "a login with pairing": 161,
    "the end of a match": 113,
    "an idle second": 2,
}
"""Calls of functions of the package in the server's event loop, on Python 3.11; for the idle second,
wake-ups of the loop.
"""

RESUMED = CO_ASYNC_GENERATOR | CO_COROUTINE | CO_GENERATOR
CLIENTS = f"{SOURCES}client/"
INPUT = "Peer.data_received"
ELSEWHERE = ("Statistics.", "RunningServer.")
"""What is not a cost of messages: statistics are folded at their own time, and the test asks where
the server is.
"""


class CallCount:
    """Counts entries of functions: no comprehensions, and no resumptions of coroutines."""

    def __init__(self, entrance: str = "") -> None:
        """`entrance` is the function of the package that begins what is counted; empty: any, except
        those in ELSEWHERE.
        """
        self._entrance = entrance
        self.functions: Counter[str] = Counter()
        self._entered: set[FrameType] = set()

    def count(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(SOURCES):
            return
        if code.co_filename.startswith(CLIENTS):
            return
        if code.co_name.startswith("<") and code.co_name != "<lambda>":
            return
        if code.co_flags & RESUMED:
            if frame in self._entered:
                return
            self._entered.add(frame)
        first = outermost(frame)
        if first != self._entrance if self._entrance else first.startswith(ELSEWHERE):
            return
        self.functions[f"{code.co_filename.removeprefix(SOURCES)} {code.co_qualname}"] += 1

    @contextmanager
    def counting(self) -> Iterator[None]:
        gc.disable()
        sys.setprofile(self.count)
        try:
            yield
        finally:
            sys.setprofile(None)
            gc.enable()

    def check(self, what: str, times: int = 1) -> None:
        calls = self.functions.total() / times
        listed = "\n".join(f"{count:4} {name}" for name, count in self.functions.most_common())
        print(f"{what}: {calls:g} calls\n{listed}")
        if sys.version_info[:2] == (3, 11):
            assert calls <= BUDGETS[what], f"{what} takes {calls:g} calls:\n{listed}"


def outermost(frame: FrameType | None) -> str:
    """The name of the first function of the package on a stack."""
    name = ""
    while frame is not None:
        if frame.f_code.co_filename.startswith(SOURCES):
            name = frame.f_code.co_qualname
        frame = frame.f_back
    return name


@pytest.fixture(autouse=True)
def clocks_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is counted that depends on how long something takes."""
    now = monotonic()
    monkeypatch.setattr(peer, "BURST", 3600.0)
    monkeypatch.setattr(peer, "monotonic", lambda: now)
    monkeypatch.setattr(timing, "PERIOD", 3_600_000)
    monkeypatch.setattr(timing, "LATE", 3_600_000)
    monkeypatch.setattr(timing, "DELAY", 3_600_000)


async def count_of(work: Callable[[], Awaitable[object]], entrance: str = "") -> CallCount:
    count = CallCount(entrance)
    with count.counting():
        await work()
    return count


async def counted(
    what: str,
    house: RunningServer,
    work: Callable[[], Awaitable[object]],
    times: int = 1,
    entrance: str = INPUT,
) -> None:
    """No timer rings meanwhile."""
    await house.arena.store.journal.settled()
    loop = asyncio.get_running_loop()
    now = loop.time()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "time", lambda: now)
        (await count_of(work, entrance)).check(what, times)


async def test_a_move_of_noughts_and_crosses(tmp_path: Path) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        await turn(ada, bob, "X", 0, 0)
        await turn(bob, ada, "O", 1, 0)
        await counted("a move of noughts and crosses", house, lambda: turn(ada, bob, "X", 0, 1))


async def turn(one: Client, two: Client, mark: str, row: int, column: int) -> None:
    await one.send({"mark": mark, "space": [row, column]})
    await one.receive()
    await two.receive()


async def test_the_end_of_a_match(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        async with pair(house, names=("eve", "dan")) as (eve, dan):  # fills caches
            await play_rows(eve, dan)
            await turn(eve, dan, "X", 2, 0)
        async with pair(house) as (ada, bob):
            await play_rows(ada, bob)
            end = partial(turn, ada, bob, "X", 2, 0)
            await counted("the end of a match", house, end, entrance="")


async def play_rows(one: Client, two: Client) -> None:
    for row in range(2):
        await turn(one, two, "X", row, 0)
        await turn(two, one, "O", row, 1)


async def test_a_login_with_pairing(tmp_path: Path) -> None:
    async with server(tmp_path) as house, AsyncExitStack() as stack:

        async def log_in(*logins: dict[str, Any]) -> None:
            bots = [await stack.enter_async_context(bot(house, login)) for login in logins]
            for one in bots:
                await one.receive()
            await house.arena.store.journal.settled()

        await log_in(*[await registered(house, name) for name in ("eve", "dan")])
        new = [
            await registered(house, name) for name in ("budget-1", "budget-2")
        ]  # no cache has them
        await counted("a login with pairing", house, lambda: log_in(*new), 2, "")


async def test_a_duel_move(tmp_path: Path) -> None:
    async with (
        duellists.arena(tmp_path) as house,
        duellists.pair(house, "ada", "bob") as (ada, bob, question),
    ):

        async def move(one: Any, two: Any, asked: Any, *cell: int) -> Any:
            await one.answer(asked, *cell)
            return await two.receive()

        asked = await move(bob, ada, await move(ada, bob, question, 7, 7), 0, 7)
        await counted("a duel move", house, lambda: move(ada, bob, asked, 7, 8))


async def test_a_boat_shot(tmp_path: Path) -> None:
    async with (
        boats.boat_server(tmp_path) as house,
        boats.sailors(house, "ada", "bob") as (ada, bob),
    ):

        async def shoot(one: Any, two: Any, target: str, cell: str) -> None:
            one.send(f"S|{target}|{cell}")
            await one.until("N|")
            await two.until("N|")

        await shoot(ada, bob, "bob", "1|1")
        await shoot(bob, ada, "ada", "1|1")
        await counted("a boat shot", house, lambda: shoot(ada, bob, "bob", "1|2"))


async def test_a_bomberman_action(tmp_path: Path) -> None:
    async with bombers.room(tmp_path) as (house, api):
        user, *_ = await api.begin("ada", "bob")
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        body = b'{"user_id":"%b","action":"STAY"}' % user.encode()
        head = b"POST /bomber/rest HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n"

        async def act() -> None:
            """Head and body come in one piece."""
            writer.write(head % len(body) + body)
            assert b"ACCEPTED" in await reader.readuntil(b"}")

        await act()
        await counted("a Bomberman action", house, act)
        writer.close()
        await writer.wait_closed()


async def test_a_battlecube_tick(tmp_path: Path) -> None:
    """From the answers of two bots to the next calls."""
    asked, answers = [0], asyncio.Semaphore(0)

    async def answer(_: cubes.Asked) -> cubes.Reply:
        asked[0] += 1
        await answers.acquire()
        return cubes.Reply(b'[{"task":"NOOP"}]')

    async with (
        server(tmp_path) as house,
        cubes.bot(answer) as ann,
        cubes.bot(answer) as ben,
        cubes.organiser(house) as one,
    ):
        players = ("Ann", ann.url), ("Ben", ben.url)
        await one.new_game(*players, maxNumOfTicks=20, speed=1, edgeLength=20)
        await until(lambda: asked[0] == 2)

        async def tick() -> None:
            expected = asked[0] + 2
            answers.release()
            answers.release()
            await one.until("NEXT_TICK")
            await until(lambda: asked[0] == expected)

        for _ in range(3):
            await tick()
        counts = [await count_of(tick) for _ in range(8)]
        # a timer may ring too early, which costs a few calls more
        min(counts, key=lambda count: count.functions.total()).check(
            "a Battlecube tick of two bots"
        )
        for _ in range(40):
            answers.release()
        await one.until("GAME_ENDED")


class SteppedClock:
    """The system's clock, until it is stopped and set by the test."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self.stopped: float | None = None

    def __call__(self) -> float:
        return monotonic() + self.ahead if self.stopped is None else self.stopped

    @contextmanager
    def stepping(self) -> Iterator[None]:
        self.stopped = self()
        try:
            yield
        finally:
            self.ahead, self.stopped = self.stopped - monotonic(), None


async def wake_ups(clock: SteppedClock, seconds: float) -> int:
    """Step from timer to timer. Return the number of steps."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SteadyUvLoop)
    until, steps, heap, watch = clock() + seconds, 0, loop._timers._heap, loop.watch
    while True:
        timer = heap[0][0] + loop.clock.left_out if heap else inf
        due = min(timer, watch._due)
        if due > until:
            return steps
        clock.stopped, steps = due, steps + 1
        if timer <= due + EARLY:
            loop._timers.ring()
        if watch._due <= due + EARLY:
            watch._timer.cancel()
            watch._beat()
        await asyncio.sleep(0)
        await asyncio.sleep(0)


def test_an_idle_second(tmp_path: Path) -> None:
    clock = SteppedClock()

    async def idle() -> float:
        async with server(tmp_path) as house:
            await house.arena.store.journal.settled()
            with clock.stepping():
                await wake_ups(clock, 2 * AWAKE)
                return await wake_ups(clock, 60) / 60

    with asyncio.Runner(loop_factory=lambda: SteadyUvLoop(clock)) as runner:
        assert runner.run(idle()) <= BUDGETS["an idle second"]


async def test_a_bumblebots_beat(tmp_path: Path) -> None:
    """Two bots that give no orders get the next position."""
    async with server(tmp_path) as house, pair(house, "bumblebots") as bots:

        async def beats() -> None:
            for one in (*bots, *bots, *bots):
                await one.receive()

        await beats()
        count = await count_of(beats, "TickTimers._go_off")
        count.check("a Bumblebots beat", count.functions["match/match.py Match.wake"])
