"""A client over a real socket, at a scripted server."""

import asyncio

import pytest

from botdrome.bots.house import HOUSE
from botdrome.client.boats_client import BoatsClient, BotPlayer, ClientOptions, Reconnection
from botdrome.client.boats_game import LogMessage, NotPossible, Phase
from botdrome.games.chance import Chance
from tests.client.boat_server import BLANK, FLEET, GAME, PATIENCE, RUNNING, line_server, start
from tests.server.clients import deaf_port

pytestmark = pytest.mark.anyio


class Logbook:
    """Waits for a client to come to where it should."""

    def __init__(self, client: BoatsClient) -> None:
        self.client = client
        self.said: list[LogMessage] = []
        self.losses = 0
        self._change = asyncio.Event()
        client.tell, client.lost = self._tell, self._lost

    def _tell(self, said: list[LogMessage]) -> None:
        self.said += said
        self._change.set()

    def _lost(self) -> None:
        self.losses += 1
        self._change.set()

    async def until(self, phase: Phase) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.client.boats.phase is not phase:
                self._change.clear()
                await self._change.wait()

    async def until_lost(self, times: int = 1) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.losses < times:
                self._change.clear()
                await self._change.wait()


def sailing(port: int, bot: str = "", **options: object) -> BoatsClient:
    bot_player = BotPlayer(HOUSE["battleship"][bot], 1) if bot else None
    client = BoatsClient(ClientOptions(port=port, **options), bot_player, Chance(1))  # type: ignore[arg-type]
    client.name = client.options.user or bot
    return client


async def test_a_person_joins_after_a_refusal_and_sends_taunts_once() -> None:
    async with line_server() as server:
        client = sailing(server.port, token="abc", taunts=[b"T|hit|ouch\n"])
        log = Logbook(client)
        await client.connect()
        caller = await server.caller()
        caller.say(GAME)
        await log.until(Phase.OFFERED)
        client.boats.fleet = FLEET
        await client.join("ada")
        assert await caller.hear() == f"J|ada|{FLEET}|abc"
        caller.say("E|name in use")
        await log.until(Phase.OFFERED)
        assert client.boats.refusal == "name in use"
        await client.join("Ada B.")
        await client.join("not twice")
        assert await caller.hear() == f"J|Ada B.|{FLEET}|abc"
        caller.say("J|Ada B.")
        assert await caller.hear() == "T|hit|ouch"
        assert client.name == "Ada B."
        client.leave()
        assert await caller.hear() == "L"
        assert await caller.hear() == ""


async def test_a_server_that_grew_tired_of_waiting_is_called_again() -> None:
    """No line is lost while a player lays out boats for long."""
    async with line_server() as server:
        client = sailing(server.port)
        log = Logbook(client)
        await client.connect()
        caller = await server.caller()
        caller.say(GAME)
        await log.until(Phase.OFFERED)
        await caller.hang_up()
        await log.until_lost()
        client.boats.fleet = FLEET
        await client.join("ada")
        caller = await server.caller()
        caller.say(GAME)
        assert await caller.hear() == f"J|ada|{FLEET}"
        client.close()


async def test_a_bot_joins_at_once_and_takes_another_name_if_it_must() -> None:
    async with line_server() as server:
        client = sailing(server.port, "random")
        Logbook(client)
        await client.connect()
        caller = await server.caller()
        caller.say(GAME)
        assert (await caller.hear()).startswith("J|random|")
        caller.say("E|name in use")
        assert (await caller.hear()).startswith("J|random2|")
        caller.say("J|random2", "J|bob", *start("random2", "bob"))
        assert (await caller.hear()).startswith("S|bob|")
        client.close()


async def test_a_bot_that_was_given_a_name_keeps_it() -> None:
    async with line_server() as server:
        client = sailing(server.port, "random", user="ada", fleet=FLEET)
        log = Logbook(client)
        await client.connect()
        caller = await server.caller()
        caller.say(GAME)
        assert await caller.hear() == f"J|ada|{FLEET}"
        caller.say("E|invalid name")
        await log.until(Phase.OFFERED)
        assert client.boats.refusal == "invalid name"
        client.leave()
        assert await caller.hear() == ""


async def test_a_bot_comes_back_with_its_own_name() -> None:
    async with line_server() as server:
        client = sailing(server.port, "random")
        log = Logbook(client)
        reconnection = Reconnection(client, (0.0, 0.0))
        await client.connect()
        caller = await server.caller()
        caller.say(GAME)
        fleet = (await caller.hear()).split("|")[2]
        caller.say("J|random", "J|bob", *start("bob", "random"))
        await log.until(Phase.PLAYING)
        await caller.hang_up()
        await log.until_lost()
        assert await reconnection.retry()
        caller = await server.caller()
        caller.say(RUNNING)
        assert await caller.hear() == "J|random"
        caller.say(
            "J|random",
            f"Y|{fleet}",
            "J|bob",
            f"B|bob||{BLANK}|0|0",
            "S|bob|random",
            "N|random",
            f"B|random||{BLANK}|0|0",
        )
        assert (await caller.hear()).startswith("S|bob|")
        assert client.boats.fleet == fleet
        reconnection.reset()
        await caller.hang_up()
        await log.until_lost(2)
        assert await reconnection.retry()
        caller = await server.caller()
        caller.say(RUNNING)
        assert await caller.hear() == "J|random"
        caller.say("E|name in use")
        await log.until(Phase.OFFERED)
        assert client.name == "random", "it does not become somebody else"
        client.close()


async def test_the_way_back_ends() -> None:
    with deaf_port() as port:
        client = sailing(port, "random")
        assert not await Reconnection(client, (0.0, 0.0)).retry()
        with pytest.raises(OSError):
            await client.connect()
    client.send(b"nobody hears it\n")
    client.close()
    assert not client.connected


async def test_a_room_is_asked_for_by_its_title() -> None:
    async with line_server() as server:
        client = sailing(server.port, "random", room="Big sea")
        Logbook(client)
        await client.connect()
        caller = await server.caller()
        caller.say(GAME)
        assert await caller.hear() == "G|Big sea"
        caller.say(GAME.replace("A game", "Big sea"))
        assert (await caller.hear()).startswith("J|random|")
        client.close()


async def test_a_room_that_there_is_not() -> None:
    async with line_server() as server:
        client = sailing(server.port, room="Big sea")
        log = Logbook(client)
        await client.connect()
        caller = await server.caller()
        caller.say(GAME)
        assert await caller.hear() == "G|Big sea"
        caller.say(GAME)
        await caller.hang_up()
        await log.until_lost()
        assert client.problem == "the server has no game 'Big sea', only 'A game'"


async def test_the_board_of_a_player_who_chooses_none() -> None:
    async with line_server() as server:
        for options in ({"fleet": FLEET}, {"border": 100}, {}):
            client = sailing(server.port, **options)
            log = Logbook(client)
            await client.connect()
            (await server.caller()).say(GAME)
            await log.until(Phase.OFFERED)
            assert len(client.fleet()) == 100
            client.close()
        bad = sailing(server.port, "random", fleet="AAA")
        log = Logbook(bad)
        await bad.connect()
        (await server.caller()).say(GAME)
        await log.until(Phase.OFFERED)
        assert bad.problem == "this game's boards have 100 squares, not 3"
        with pytest.raises(NotPossible):
            bad.fleet()
        bad.close()
