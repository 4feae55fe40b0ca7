"""`bot:NAME` in a game of an organiser: a registered bot with an address, which need not wait."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from botdrome.server.lobby import url_bots
from botdrome.server.lobby.url_bots import challenge
from botdrome.store.entries import Wanted
from tests.server.calling.hosts import answer
from tests.server.clients import PATIENCE, client, registered, server
from tests.server.clients import bot as native_bot
from tests.server.lobby.url_hosts import url_bot, with_address
from tests.server.rooms.cube.clients import NOOP, Organiser, bot, fence, game, organiser, saying

pytestmark = pytest.mark.anyio


async def test_a_registered_bot_with_an_address_is_called(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        url_bot(move=lambda *_: NOOP) as ada,
        bot(saying(NOOP)) as ann,
        organiser(house) as one,
    ):
        await with_address(house, "ada", ada, "battlecube")
        game_id = await one.new_game(("A", ann.url), ("ada", "bot:ada"), maxNumOfTicks=2)
        end = (await one.until("GAME_ENDED"))[-1][1]
        assert {score["name"]: score["url"] for score in end["scores"]} == {
            "A": ann.url,
            "ada": "bot:ada",
        }
        assert [message["state"]["tick"] for message in ada.messages][:1] == [0], (
            "in the native tongue"
        )
        match = await house.arena.store.match(game_id)
        assert match is not None and "ada" in match.players


async def test_one_that_is_connected_is_called_too(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        client(house, "/connect") as carrier,
        organiser(house) as one,
    ):
        login = await registered(house, "far away", "battlecube")
        await carrier.send({"name": "far away", "password": login["password"]})
        await carrier.receive()
        await one.emit("NEW_GAME", game(("far away", "bot:far away")))
        call = await carrier.receive()
        secret = json.loads(call["body"])["challenge"]
        await carrier.send(
            {"call": call["call"], "status": 200, "body": json.dumps({"challenge": secret})}
        )
        call = await carrier.receive()
        assert json.loads(call["body"])["state"]["tick"] == 0
        await carrier.send({"call": call["call"], "status": 200, "body": json.dumps(NOOP)})
        assert (await one.until("GAME_ENDED"))[-1][1]["winner"]["url"] == "bot:far away"


async def test_one_that_does_not_run_is_not_beaten(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as ada, organiser(house) as one:
        await with_address(house, "ada", ada, "battlecube")
        ada.instead = lambda *_: answer(b"no")
        await one.emit("NEW_GAME", game(("B", "house:random"), ("ada", "bot:ada")))
        assert (await one.error())["details"] == "The bot ada does not answer"


async def test_one_that_plays_something_else_or_no_more_is_not_here(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as ada, organiser(house) as one:
        await with_address(house, "ada", ada, "gomoku")
        await registered(house, "bea", "battlecube")
        for name in ("ada", "bea", "nobody"):
            await one.emit("NEW_GAME", game((name, f"bot:{name}")))
            assert (await one.error())["details"] == f"The bot {name} does not wait here for a game"


# How much it plays.

FOR_LONG = {"maxNumOfTicks": 2, "speed": 60_000}


async def answered(one: Organiser, wanted: dict[str, Any]) -> str:
    await one.emit("NEW_GAME", wanted)
    return (await one.receive())[0]


async def test_it_plays_no_more_games_at_once_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds for organisers and for clients that wait for the bot by name."""
    monkeypatch.setattr(url_bots, "MOST_MATCHES", 2)
    async with (
        server(tmp_path) as house,
        url_bot(move=lambda *_: NOOP) as ada,
        organiser(house) as one,
        organiser(house) as two,
    ):
        await with_address(house, "ada", ada, "battlecube")
        players, busy = (("B", "house:random"), ("ada", "bot:ada")), "ada plays 2 matches already"
        first, second = [await each.new_game(*players, **FOR_LONG) for each in (one, two)]
        asked = len(ada.host.asked)
        for each in (one, two):
            await fence(each)
            await each.emit("NEW_GAME", game(*players))
            assert (await each.until("ERROR"))[-1][1]["details"] == f"The bot {busy}"
        async with native_bot(
            house, await registered(house, "cyd", "battlecube") | {"opponent": "ada"}
        ) as cyd:
            assert await cyd.receive() == {"error": busy}
        assert sum("challenge" in json.loads(each.body) for each in ada.host.asked[asked:]) == 0, (
            "it is not even asked"
        )
        await one.emit("STOP_GAME", {"id": first})
        await one.until("GAME_ENDED")
        assert await one.new_game(*players) not in (first, second)


async def test_challenges_count_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_bots, "MOST_MATCHES", 1)
    async with server(tmp_path) as house, url_bot() as ada, organiser(house) as one:
        await with_address(house, "ada", ada, "battlecube")
        ada.instead = lambda *_: b"HTTP/1.1 200 OK\r\n"
        await one.emit("NEW_GAME", game(("ada", "bot:ada")))
        await one.emit("NEW_GAME", game(("ada", "bot:ada")))
        assert (await one.error())["details"] == "The bot ada plays 1 match already"


async def test_a_bot_whose_game_did_not_start_is_free_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url_bots, "MOST_MATCHES", 1)
    async with (
        server(tmp_path) as house,
        url_bot(move=lambda *_: NOOP) as ada,
        organiser(house) as one,
    ):
        await with_address(house, "ada", ada, "battlecube")
        players = ("B", "house:random"), ("ada", "bot:ada")
        for other, words in (
            ("bot:nobody", "The bot nobody does not wait here for a game"),
            ("house:x", "There is no bot house:x"),
        ):
            await one.emit("NEW_GAME", game(*players, (other.removeprefix("bot:"), other)))
            assert (await one.error())["details"] == words
        await one.new_game(*players, **FOR_LONG)


async def test_no_game_starts_for_an_organiser_that_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url_bots, "MOST_MATCHES", 1)
    left = asyncio.Event()

    async def asked(*words: Any) -> str:
        await asyncio.wait_for(left.wait(), PATIENCE)
        return await challenge(*words)

    async with (
        server(tmp_path) as house,
        url_bot(move=lambda *_: NOOP) as ada,
        organiser(house) as two,
    ):
        await with_address(house, "ada", ada, "battlecube")
        monkeypatch.setattr(url_bots, "challenge", asked)
        async with organiser(house) as one:
            await one.emit("NEW_GAME", game(("ada", "bot:ada")))
            await fence(one)
        left.set()
        async with asyncio.timeout(PATIENCE):
            while await answered(two, game(("ada", "bot:ada"))) == "ERROR":
                pass
        assert len(await house.arena.store.matches(Wanted(status=None))) == 1, (
            "the one of the second organiser"
        )
