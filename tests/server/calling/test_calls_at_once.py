"""How many calls run at once, for a host and in all."""

import asyncio

import pytest

from botdrome.server.calling.bot_connection import BotAnswer, Outcome, TooLate
from tests.patience import PATIENCE
from tests.server.calling.hosts import Asked, answer, callers, host
from tests.server.calling.test_bot_caller import LIMIT, SHORT, silence

pytestmark = pytest.mark.anyio


class ConnectionLimits:
    """A bot that counts how many calls it has at once, and lets them go when told."""

    def __init__(self) -> None:
        self.inside, self.most = 0, 0
        self.full, self.let_go = asyncio.Event(), asyncio.Event()

    async def __call__(self, writer: asyncio.StreamWriter, _: Asked) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == 3:
            self.full.set()
        await self.let_go.wait()
        self.inside -= 1
        writer.write(answer())


@pytest.mark.parametrize("setting", ["calls_per_host", "calls_per_port"])
async def test_so_many_calls_at_once_and_the_others_wait(setting: str) -> None:
    limits = ConnectionLimits()
    async with host(limits) as bot, callers(None, **{setting: 3}) as ours:
        calls = [asyncio.ensure_future(ours.post(bot.url, b"", LIMIT)) for _ in range(20)]
        await limits.full.wait()
        limits.let_go.set()
        assert {(await call).status for call in calls} == {200}
    assert limits.most == 3


async def test_the_limit_of_a_host_holds_over_all_its_ports() -> None:
    limits = ConnectionLimits()
    async with host(limits) as one, host(limits) as two, callers(calls_per_host=3) as ours:
        calls = [
            asyncio.ensure_future(ours.post(bot.url, b"", LIMIT))
            for bot in (one, two)
            for _ in range(5)
        ]
        await limits.full.wait()
        limits.let_go.set()
        await asyncio.gather(*calls)
    assert limits.most == 3


async def test_a_bot_that_hangs_costs_those_on_other_ports_nothing() -> None:
    async with host(silence) as hung, host() as good, callers(calls_per_port=2) as ours:
        hanging = [asyncio.ensure_future(ours.post(hung.url, b"", LIMIT)) for _ in range(10)]
        assert (await ours.post(good.url, b"", LIMIT)).status == 200
        for call in hanging:
            call.cancel()


async def test_time_in_the_queue_counts_towards_the_limit() -> None:
    async with host(silence) as bot, callers(calls_per_port=1) as ours:
        first = asyncio.ensure_future(ours.post(bot.url, b"", LIMIT))
        await bot.heard.wait()
        with pytest.raises(TooLate):
            await ours.post(bot.url, b"", SHORT)
        first.cancel()
    assert len(bot.asked) == 1


async def test_a_call_that_replaces_another_takes_its_place() -> None:
    async def first_never(writer: asyncio.StreamWriter, asked: Asked) -> None:
        if asked.body == b"first":
            await asyncio.Event().wait()
        writer.write(answer(b"to " + asked.body))

    async with host(first_never) as bot, callers(calls_per_port=2) as ours:
        await asyncio.gather(*[ours.post(bot.url, b"", LIMIT) for _ in range(2)])
        told: asyncio.Queue[Outcome] = asyncio.Queue()
        calls = ours.calls(bot.url, LIMIT, told.put_nowait)
        for _ in range(3):
            calls.ask(b"first")
            calls.ask(b"second")
            outcome = await asyncio.wait_for(told.get(), PATIENCE)
            assert isinstance(outcome, BotAnswer) and outcome.body == b"to second"
        limits = ours._pool.endpoint("127.0.0.1", bot.port, "")._port_limit
        assert (limits.running, told.qsize()) == (0, 0)


async def test_a_call_on_an_idle_connection_lets_the_next_in_when_it_is_over() -> None:
    async with host() as bot, callers(calls_per_port=1) as ours:
        await ours.post(bot.url, b"", LIMIT)
        told: asyncio.Queue[Outcome] = asyncio.Queue()
        for _ in range(2):
            ours.calls(bot.url, LIMIT, told.put_nowait).ask(b"")
        for _ in range(2):
            assert isinstance(await asyncio.wait_for(told.get(), PATIENCE), BotAnswer)


async def test_a_call_on_an_idle_connection_that_is_cancelled_closes_it() -> None:
    async with host() as bot, callers() as ours:
        await ours.post(bot.url, b"", LIMIT)
        (connection,) = ours._pool._connections
        calls = ours.calls(bot.url, LIMIT, lambda _: None)
        calls.ask(b"")
        assert not connection.usable and connection._transport is not None
        calls.cancel()
        assert connection._transport.is_closing()
