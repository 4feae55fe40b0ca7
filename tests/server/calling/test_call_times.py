"""The times of a call that its bot is not charged for: the network, and waiting for other calls."""

import asyncio
from pathlib import Path

import pytest

from botdrome.server.calling import bot_caller, bot_connection
from tests.patience import until
from tests.server.calling.hosts import Asked, answer, callers, host
from tests.server.clients import bot, play_noughts, registered, server
from tests.server.lobby.test_url_bots import flight, over
from tests.server.lobby.url_hosts import url_bot, with_address

pytestmark = pytest.mark.anyio
LIMIT = 60.0


@pytest.mark.parametrize("measured", [0.08, None])
async def test_the_network_time_is_that_of_connecting_and_of_the_acknowledgement(
    monkeypatch: pytest.MonkeyPatch, measured: float | None
) -> None:
    monkeypatch.setattr(bot_connection, "tcp_round_trip", lambda transport: measured)
    monkeypatch.setattr(bot_caller, "source_of", lambda address: (address, False))
    async with host() as bot, callers() as ours:
        first, second = [await ours.post(bot.url, b"", LIMIT) for _ in range(2)]
        assert first.network >= second.network, "the second call uses the same connection"
        assert second.network == (measured or first.network / 2)
        assert first.network < LIMIT


async def test_a_call_knows_how_long_it_waited_for_others() -> None:
    both = asyncio.Event()

    async def in_turn(writer: asyncio.StreamWriter, asked: Asked) -> None:
        await both.wait()
        writer.write(answer())

    async with host(in_turn) as bot, callers(calls_per_port=1) as ours:
        calls = [asyncio.ensure_future(ours.post(bot.url, b"", LIMIT)) for _ in range(2)]
        await until(lambda: bot.asked)
        both.set()
        _, second = await asyncio.gather(*calls)
        assert second.waited > 0


async def test_a_call_on_this_machine_takes_no_network_time() -> None:
    async with host() as bot, callers() as ours:
        assert (await ours.post(bot.url, b"", LIMIT)).network < 0.001


async def test_a_bot_with_a_url_is_not_charged_for_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_connection, "tcp_round_trip", lambda transport: 0.08)
    async with server(tmp_path) as house, url_bot() as called:
        await with_address(house, "called", called)
        async with bot(house, await registered(house, "ada") | {"opponent": "called"}) as one:
            await play_noughts(one, "ada")
        (match,) = await over(house)
        answers = [line for line in await flight(house, match, "called") if line.get("dir") == "in"]
        assert {line["network"] for line in answers} == {80}
        assert all(
            line["charged"] == max(0, line["used"] - 80 - line.get("arena", 0)) for line in answers
        )
