"""`bot:NAME` in a game of an organiser: a registered bot with an address, which need not wait."""

import json
from pathlib import Path

import pytest

from tests.server.calling.hosts import answer
from tests.server.clients import client, registered, server
from tests.server.cubes import NOOP, bot, game, organiser, saying
from tests.server.url_hosts import url_bot, with_address

pytestmark = pytest.mark.anyio


async def test_a_registered_bot_with_an_address_is_called(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot(move=lambda *_: NOOP) as ada, bot(saying(NOOP)) as ann, organiser(house) as one:
        await with_address(house, "ada", ada, "battlecube")
        game_id = await one.new_game(("A", ann.url), ("ada", "bot:ada"), maxNumOfTicks=2)
        end = (await one.until("GAME_ENDED"))[-1][1]
        assert {score["name"]: score["url"] for score in end["scores"]} == {"A": ann.url, "ada": "bot:ada"}
        assert [message["state"]["tick"] for message in ada.messages][:1] == [0], "in the native tongue"
        match = await house.arena.store.match(game_id)
        assert match is not None and "ada" in match.players


async def test_one_that_is_connected_is_called_too(tmp_path: Path) -> None:
    async with server(tmp_path) as house, client(house, "/connect") as carrier, organiser(house) as one:
        login = await registered(house, "far away", "battlecube")
        await carrier.send({"name": "far away", "password": login["password"]})
        await carrier.receive()
        await one.emit("NEW_GAME", game(("far away", "bot:far away")))
        call = await carrier.receive()
        secret = json.loads(call["body"])["challenge"]
        await carrier.send({"call": call["call"], "status": 200, "body": json.dumps({"challenge": secret})})
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
