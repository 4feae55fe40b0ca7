"""Battlecube games of organisers, over real sockets: bots that are called, the house's and those
that wait, in any mix.
"""

import asyncio
import gzip
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from botdrome.app import RunningServer
from tests.server.clients import PATIENCE, leap, server
from tests.server.rooms.cube.clients import (
    NOOP,
    Asked,
    Bot,
    Organiser,
    Reply,
    bot,
    fence,
    game,
    organiser,
    saying,
    starts,
)

pytestmark = pytest.mark.anyio

CORNERS = starts(A=(0, 0, 0), B=(3, 3, 3))
EAST = [{"task": "MOVE", "direction": "+X"}]
WEST = [{"task": "MOVE", "direction": "-X"}]


def names(events: list[tuple[str, Any]]) -> list[str]:
    return [event for event, _ in events]


def losses(events: list[tuple[str, Any]]) -> dict[str, Any]:
    return {payload["name"]: payload for event, payload in events if event == "PLAYER_LOST"}


class Patient:
    """A bot that answers when it is let to."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[Asked] = asyncio.Queue()
        self._answers: asyncio.Queue[Any] = asyncio.Queue()

    async def __call__(self, asked: Asked) -> Reply:
        self.asked.put_nowait(asked)
        return Reply(json.dumps(await self._answers.get()).encode())

    async def answer(self, plan: Any = NOOP) -> Asked:
        """The question that it answers so."""
        asked = await asyncio.wait_for(self.asked.get(), PATIENCE)
        self.let(plan)
        return asked

    def let(self, plan: Any) -> None:
        """Answer the current or the next call."""
        self._answers.put_nowait(plan)


# A game.


async def test_a_game_from_its_start_to_its_record(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        bot(saying(EAST, NOOP)) as ann,
        bot(saying(NOOP, EAST)) as bob,
    ):
        async with organiser(house) as one:
            game_id = await one.new_game(
                ("A", ann.url), ("B", bob.url), playerStartPositions=CORNERS
            )
            events = await one.until("GAME_ENDED")
        assert losses(events)["B"] == {
            "cause": "Player moved out of bounds",
            "name": "B",
            "id": game_id,
        }
        assert events[-1][1]["winner"] == {"name": "A", "url": ann.url, "highScore": 2, "score": 2}
        match = await house.arena.store.match(game_id)
        assert match is not None
        assert match.players == ("A", "B")
        assert match.options == {
            "edge": 4,
            "ticks": 3,
            "tasks": 1,
            "starts": [[0, 0, 0], [3, 3, 3]],
        }


async def test_a_game_without_players(tmp_path: Path) -> None:
    async with server(tmp_path) as house, organiser(house) as one:
        await one.emit("NEW_GAME", game(speed=1))
        assert names(await one.until("GAME_ENDED")) == ["GAME_STARTED", "NEXT_TICK", "GAME_ENDED"]


async def test_one_player_wins_after_one_tick_unless_it_dies(tmp_path: Path) -> None:
    async with server(tmp_path) as house, bot(saying(NOOP, WEST)) as ann, organiser(house) as one:
        await one.new_game(("A", ann.url), playerStartPositions=CORNERS[:1])
        end = (await one.until("GAME_ENDED"))[-1][1]
        assert (end["result"], end["winner"]["score"]) == ("WINNER_FOUND", 1)
        await one.new_game(("A", ann.url), playerStartPositions=CORNERS[:1])
        end = (await one.until("GAME_ENDED"))[-1][1]
        assert (end["result"], end["scores"][0]["score"]) == ("TIE", 0)


async def test_unknown_events_are_ignored(tmp_path: Path) -> None:
    async with server(tmp_path) as house, organiser(house) as one:
        await one.emit("HELLO", 1)
        await one.emit("LIST_GAMES")
        assert await one.receive() == ("GAMES", {"games": []})


# Bots that fail.


async def failing(reply: Reply, house: RunningServer) -> Any:
    """Why a bot that answers so loses, while another plays on."""

    async def answer(_: Asked) -> Reply:
        return reply

    async with (
        bot(answer) as ann,
        bot(saying(NOOP)) as bob,
        organiser(house) as one,
    ):
        await one.new_game(("A", ann.url), ("B", bob.url), playerStartPositions=CORNERS)
        events = await one.until("GAME_ENDED")
        assert events[-1][1].get("winner", {"name": "nobody"})["name"] == (
            "B" if losses(events) else "nobody"
        )
        return losses(events).get("A")


@pytest.mark.parametrize(
    ("reply", "details"),
    [
        (Reply(b""), "the answer is empty"),
        (Reply(b"", 204), "the answer is empty"),
        (Reply(b"<html>"), "the answer is not JSON"),
        (Reply(b"\xef\xbb\xbf" + json.dumps(NOOP).encode()), "the answer is not JSON"),
        (Reply(status=None), "the connection was closed without an answer"),
        (Reply(b"", 302), "the answer is a redirect that leads nowhere"),
        (Reply(b"[" + b" " * 70_000 + b"]"), "65536"),
    ],
)
async def test_no_answer_is_a_loss_with_readable_words(
    shared: RunningServer, reply: Reply, details: str
) -> None:
    lost = await failing(reply, shared)
    assert lost["cause"] == "CONNECTION_ERROR"
    assert details in lost["details"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(json.dumps(NOOP).encode(), 500, {"Content-Type": "text/html"}),
        Reply(gzip.compress(json.dumps(NOOP).encode()), 200, {"Content-Encoding": "gzip"}),
    ],
)
async def test_only_the_body_of_an_answer_counts(shared: RunningServer, reply: Reply) -> None:
    assert await failing(reply, shared) is None


async def test_addresses_that_cannot_be_called_lose_in_the_first_tick(tmp_path: Path) -> None:
    async with server(tmp_path) as house, bot(saying(NOOP)) as bob, organiser(house) as one:
        with capture_logs() as logs:
            await check_refused_addresses(bob, one)
        assert any("--allow-bots 10.0.0.1" in entry.get("why", "") for entry in logs)


SECRET = "hunter2"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(f"{SECRET} is no JSON".encode()),
        Reply(json.dumps({"password": SECRET}).encode()),
        Reply(json.dumps(SECRET).encode()),
        Reply(json.dumps([SECRET]).encode()),
        Reply(json.dumps([{SECRET: SECRET}]).encode()),
        Reply(json.dumps([{"task": "NOOP", SECRET: SECRET}]).encode()),
        Reply(json.dumps([{"task": {"password": SECRET}}]).encode()),
        Reply(json.dumps([{"task": "MOVE", "direction": SECRET}]).encode()),
        Reply(json.dumps([{"task": "BOMB", "x": SECRET, "y": 1, "z": 1}]).encode()),
        Reply(json.dumps([{"task": SECRET}, {"task": SECRET}]).encode()),
        Reply(b"", 302, {"Location": f"http://{SECRET}.invalid/"}),
        Reply(b"", 302, {"Location": f"http://10.0.0.1/{SECRET}"}),
        Reply(b"", 302, {"Location": f"ftp://{SECRET}/"}),
        Reply(SECRET.encode(), 200, {"Content-Encoding": SECRET}),
    ],
)
async def test_the_answer_of_a_service_on_this_machine_is_not_repeated(
    shared: RunningServer, reply: Reply
) -> None:
    """Otherwise an organiser could scan the ports of the server's machine."""
    assert SECRET not in json.dumps(await failing(reply, shared))


async def check_refused_addresses(bob: Bot, one: Organiser) -> None:
    urls = {"F": "ftp://127.0.0.1/", "L": "localhost:4702", "P": "http://10.0.0.1/", "B": bob.url}
    await one.new_game(*urls.items())
    events = await one.until("GAME_ENDED")
    lost = losses(events)
    assert list(lost) == ["F", "L", "P"]
    assert {payload["cause"] for payload in lost.values()} == {"CONNECTION_ERROR"}
    assert "10.0.0.1 may not be called" in lost["P"]["details"]


async def test_a_bot_that_hangs_costs_its_own_game_its_limit_and_no_other_anything(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(server(tmp_path, cube_limit=30.0))
        hanging, bob = [
            await stack.enter_async_context(bot(answer)) for answer in (Patient(), saying(NOOP))
        ]
        one, two = [await stack.enter_async_context(organiser(house)) for _ in range(2)]
        await one.new_game(("A", hanging.url), ("B", bob.url))
        for _ in range(3):
            await two.new_game(
                ("B", bob.url),
                ("C", bob.url),
                playerStartPositions=starts(B=(0, 0, 0), C=(3, 3, 3)),
            )
            assert (await two.until("GAME_ENDED"))[-1][1]["result"] == "TIE"
        assert names(await fence(one)) == ["NEXT_TICK"], "the others were over before that limit"
        leap(30.0)
        lost = losses(await one.until("GAME_ENDED"))["A"]
        assert lost["cause"] == "CONNECTION_ERROR"
        assert "30000 ms" in lost["details"]
