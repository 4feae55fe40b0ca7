"""A voyage over a real socket, to a server that says what the test wants."""

import asyncio

import pytest

from botdrome.bots.house import HOUSE
from botdrome.client.boats import Phase, Said
from botdrome.client.boats_lines import Unsuited
from botdrome.client.boats_pilot import Pilot
from botdrome.client.boats_voyage import Charter, Voyage, WayBack
from botdrome.games.chance import Chance
from tests.client.boat_server import BLANK, FLEET, GAME, PATIENCE, RUNNING, line_server, start
from tests.server.clients import deaf_port

pytestmark = pytest.mark.anyio


class Logbook:
    """Waits for a voyage to come to where it should."""

    def __init__(self, voyage: Voyage) -> None:
        self.voyage = voyage
        self.said: list[Said] = []
        self.losses = 0
        self._change = asyncio.Event()
        voyage.tell, voyage.lost = self._tell, self._lost

    def _tell(self, said: list[Said]) -> None:
        self.said += said
        self._change.set()

    def _lost(self) -> None:
        self.losses += 1
        self._change.set()

    async def until(self, phase: Phase) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.voyage.boats.phase is not phase:
                self._change.clear()
                await self._change.wait()

    async def until_lost(self, times: int = 1) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.losses < times:
                self._change.clear()
                await self._change.wait()


def sailing(port: int, bot: str = "", **charter: object) -> Voyage:
    pilot = Pilot(HOUSE["battleship"][bot], 1) if bot else None
    voyage = Voyage(Charter(port=port, **charter), pilot, Chance(1))  # type: ignore[arg-type]
    voyage.name = voyage.charter.user or bot
    return voyage


async def test_a_person_joins_after_a_refusal_and_sends_taunts_once() -> None:
    async with line_server() as server:
        voyage = sailing(server.port, token="abc", taunts=[b"T|hit|ouch\n"])
        log = Logbook(voyage)
        await voyage.connect()
        caller = await server.caller()
        caller.say(GAME)
        await log.until(Phase.INVITED)
        voyage.boats.fleet = FLEET
        await voyage.join("ada")
        assert await caller.hear() == f"J|ada|{FLEET}|abc"
        caller.say("E|name in use")
        await log.until(Phase.INVITED)
        assert voyage.boats.refusal == "name in use"
        await voyage.join("Ada B.")
        await voyage.join("not twice")
        assert await caller.hear() == f"J|Ada B.|{FLEET}|abc"
        caller.say("J|Ada B.")
        assert await caller.hear() == "T|hit|ouch"
        assert voyage.name == "Ada B."
        voyage.leave()
        assert await caller.hear() == "L"
        assert await caller.hear() == ""


async def test_a_server_that_grew_tired_of_waiting_is_called_again() -> None:
    """Whoever lays out boats for long finds that nothing is lost."""
    async with line_server() as server:
        voyage = sailing(server.port)
        log = Logbook(voyage)
        await voyage.connect()
        caller = await server.caller()
        caller.say(GAME)
        await log.until(Phase.INVITED)
        await caller.hang_up()
        await log.until_lost()
        voyage.boats.fleet = FLEET
        await voyage.join("ada")
        caller = await server.caller()
        caller.say(GAME)
        assert await caller.hear() == f"J|ada|{FLEET}"
        voyage.close()


async def test_a_bot_joins_at_once_and_takes_another_name_if_it_must() -> None:
    async with line_server() as server:
        voyage = sailing(server.port, "random")
        Logbook(voyage)
        await voyage.connect()
        caller = await server.caller()
        caller.say(GAME)
        assert (await caller.hear()).startswith("J|random|")
        caller.say("E|name in use")
        assert (await caller.hear()).startswith("J|random2|")
        caller.say("J|random2", "J|bob", *start("random2", "bob"))
        assert (await caller.hear()).startswith("S|bob|")
        voyage.close()


async def test_a_bot_that_was_given_a_name_keeps_it() -> None:
    async with line_server() as server:
        voyage = sailing(server.port, "random", user="ada", fleet=FLEET)
        log = Logbook(voyage)
        await voyage.connect()
        caller = await server.caller()
        caller.say(GAME)
        assert await caller.hear() == f"J|ada|{FLEET}"
        caller.say("E|invalid name")
        await log.until(Phase.INVITED)
        assert voyage.boats.refusal == "invalid name"
        voyage.leave()
        assert await caller.hear() == ""


async def test_a_bot_comes_back_with_its_own_name() -> None:
    async with line_server() as server:
        voyage = sailing(server.port, "random")
        log = Logbook(voyage)
        way_back = WayBack(voyage, (0.0, 0.0))
        await voyage.connect()
        caller = await server.caller()
        caller.say(GAME)
        fleet = (await caller.hear()).split("|")[2]
        caller.say("J|random", "J|bob", *start("bob", "random"))
        await log.until(Phase.PLAYING)
        await caller.hang_up()
        await log.until_lost()
        assert await way_back.take()
        caller = await server.caller()
        caller.say(RUNNING)
        assert await caller.hear() == "J|random"
        caller.say("J|random", f"Y|{fleet}", "J|bob", f"B|bob||{BLANK}|0|0", "S|bob|random", "N|random", f"B|random||{BLANK}|0|0")
        assert (await caller.hear()).startswith("S|bob|")
        assert voyage.boats.fleet == fleet
        way_back.renew()
        await caller.hang_up()
        await log.until_lost(2)
        assert await way_back.take()
        caller = await server.caller()
        caller.say(RUNNING)
        assert await caller.hear() == "J|random"
        caller.say("E|name in use")
        await log.until(Phase.INVITED)
        assert voyage.name == "random", "it does not become somebody else"
        voyage.close()


async def test_the_way_back_ends() -> None:
    with deaf_port() as port:
        voyage = sailing(port, "random")
        assert not await WayBack(voyage, (0.0, 0.0)).take()
        with pytest.raises(OSError):
            await voyage.connect()
    voyage.send(b"nobody hears it\n")
    voyage.close()
    assert not voyage.connected


async def test_a_room_is_asked_for_by_its_title() -> None:
    async with line_server() as server:
        voyage = sailing(server.port, "random", room="Big sea")
        Logbook(voyage)
        await voyage.connect()
        caller = await server.caller()
        caller.say(GAME)
        assert await caller.hear() == "G|Big sea"
        caller.say(GAME.replace("A game", "Big sea"))
        assert (await caller.hear()).startswith("J|random|")
        voyage.close()


async def test_a_room_that_there_is_not() -> None:
    async with line_server() as server:
        voyage = sailing(server.port, room="Big sea")
        log = Logbook(voyage)
        await voyage.connect()
        caller = await server.caller()
        caller.say(GAME)
        assert await caller.hear() == "G|Big sea"
        caller.say(GAME)
        await caller.hang_up()
        await log.until_lost()
        assert voyage.problem == "the server has no game 'Big sea', only 'A game'"


async def test_the_board_of_a_player_who_chooses_none() -> None:
    async with line_server() as server:
        for charter in ({"fleet": FLEET}, {"border": 100}, {}):
            voyage = sailing(server.port, **charter)
            log = Logbook(voyage)
            await voyage.connect()
            (await server.caller()).say(GAME)
            await log.until(Phase.INVITED)
            assert len(voyage.fleet()) == 100
            voyage.close()
        bad = sailing(server.port, "random", fleet="AAA")
        log = Logbook(bad)
        await bad.connect()
        (await server.caller()).say(GAME)
        await log.until(Phase.INVITED)
        assert bad.problem == "this game's boards have 100 squares, not 3"
        with pytest.raises(Unsuited):
            bad.fleet()
        bad.close()
