"""`botdrome boats` without a screen: its options, its account of a game and its exit status, at
scripted and at real servers.
"""

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from botdrome.bots.house import HOUSE
from botdrome.cli.app import app
from botdrome.cli.boats.command import bot_called, client_for
from botdrome.cli.boats.headless import HeadlessGame, reason
from botdrome.cli.boats.pages import GamePage, LayoutPage, PlacingPage
from botdrome.cli.terminal import CommandFailed
from botdrome.client.boats_client import BoatsClient, ClientOptions, Reconnection
from botdrome.client.boats_game import Phase, taunts_in
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.cli.commands import all_commands
from tests.cli.test_host import BOTDROME
from tests.client.boat_server import BLANK, FLEET, GAME, PATIENCE, RUNNING, line_server, start
from tests.client.test_boats_client import Logbook
from tests.server.clients import deaf_port, registered, server
from tests.server.rooms.boats.clients import BOARD, boat_server, line

pytestmark = pytest.mark.anyio


def random_client(bot: str = "random", seed: int = 1, **options: Any) -> BoatsClient:
    return client_for(ClientOptions(**options), bot, headless=True, seed=seed)


class Told:
    """A game without a screen, and its output."""

    def __init__(self, client: BoatsClient) -> None:
        self.lines: list[str] = []
        self._account = HeadlessGame(client, self.lines.append, Reconnection(client, (0.0, 0.0)))

    async def run(self) -> bool:
        return await asyncio.wait_for(self._account.run(), PATIENCE)


def boats(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["boats", *words])
    return result.exit_code, result.output


def test_help_and_the_list_of_bots_are_no_failures() -> None:
    status, text = boats("play", "--help")
    assert status == 0
    assert "--static-board" in text
    status, text = boats("play", "--list-bots")
    assert status == 0
    assert all(bot in text for bot in HOUSE["battleship"])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--headless"], "--headless wants --bot"),
        (["--bot", "nobody"], "there is no bot 'nobody'"),
        (
            ["--headless", "--bot", "random", "--taunt-file", "not-there.ini"],
            "not-there.ini: No such file",
        ),
        (["--bot", "random"], "a screen wants a terminal"),
        (["--msa", "101"], "should be less than or equal to 100"),
        (
            ["--headless", "--bot", "random", "-l", "loud"],
            "there is no log level 'loud'; there are debug, info, warn",
        ),
        (
            ["--headless", "--bot", "random", "-f", "/nowhere/at/all"],
            "/nowhere/at/all: No such file",
        ),
    ],
)
def test_a_command_line_that_makes_no_sense(words: list[str], complaint: str) -> None:
    status, text = boats("play", *words)
    assert status != 0
    assert complaint in " ".join(text.split())


def test_a_test_counts_shots(tmp_path: Path) -> None:
    words = [
        "--positions",
        "3",
        "--width",
        "9",
        "--height",
        "8",
        "--seed",
        "5",
        "--jobs",
        "1",
        "--msa",
        "20",
    ]
    status, text = boats("test", "random", *words, "--test-db", str(tmp_path))
    assert status == 0
    assert "3 positions of 9 by 8" in text
    assert "average shots" in text
    assert list(tmp_path.iterdir())


def test_bots_are_called_in_any_case() -> None:
    assert bot_called("RANDOM")[0] == bot_called("house:Random")[0] == "random"


def test_taunts_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "taunts.ini"
    file.write_text("hit=ouch\nmiss=ha\n")
    assert taunts_in(file.read_text()) == [b"T|hit|ouch\n", b"T|miss|ha\n"]
    file.write_text("nonsense\n")
    status, text = boats("play", "--headless", "--bot", "random", "--taunt-file", str(file))
    assert (status, "line 1: a taunt is hit=TEXT" in text) == (2, True)


async def test_nobody_answers() -> None:
    with deaf_port() as port:
        for where in (("--port", str(port)), ("--host", "no-such-host.invalid")):
            words = ("play", "--headless", "--bot", "random", *where)
            assert (await asyncio.to_thread(boats, *words))[0] == 1
    assert reason(TimeoutError()) == "no answer"


async def test_an_account_of_a_game() -> None:
    async with line_server() as scripted:
        told = Told(random_client(port=scripted.port, user="ada", fleet=FLEET))
        running = asyncio.create_task(told.run())
        caller = await scripted.caller()
        caller.say(GAME)
        assert await caller.hear() == f"J|ada|{FLEET}"
        caller.say("J|ada", "J|bob", *start("bob", "ada"), f"B|ada||0{BLANK[1:]}|0|0", "N|ada")
        assert (await caller.hear()).startswith("S|bob|")
        caller.say(
            "H|ada|bob|c5",
            "M|bob|\x1bouch",
            "K|bob|asleep",
            "F|finished|2|2",
            "R|ada|1|0|2|",
            "R|bob|1|1|2|away",
        )
        assert await running
        assert told.lines == [
            "server: ada has joined",
            "server: bob has joined",
            "server: the game has started: bob, ada",
            "server: bob misses ada at a1",
            "server: ada hits bob at c5",
            "bob: ␛ouch",
            "server: bob skips: asleep",
            "server: the game is finished after 2 rounds",
            "     name  score  skips  turns  status",
            "  1  ada       1      0      2",
            "  1  bob       1      1      2  away",
        ]


async def test_an_aborted_game_is_no_success() -> None:
    async with line_server() as scripted:
        told = Told(random_client(port=scripted.port))
        running = asyncio.create_task(told.run())
        caller = await scripted.caller()
        caller.say(GAME)
        await caller.hear()
        caller.say("J|random", "F|aborted|0|1", "R|random|0|0|0|")
        assert not await running


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["G|1|2|3"], "the server offers a board of 0 by 0"),
        ([GAME, "E|invalid name"], "ada: invalid name"),
        ([GAME, "game is full"], "game is full"),
        ([GAME], "the connection to the server is lost"),
        ([GAME, "J|ada", "booted"], "booted"),
    ],
)
async def test_who_is_turned_away_says_why(lines: list[str], words: str) -> None:
    async with line_server() as scripted:
        told = Told(random_client(port=scripted.port, user="ada"))
        running = asyncio.create_task(told.run())
        caller = await scripted.caller()
        caller.say(lines[0])
        if len(lines) > 1:
            await caller.hear()
            caller.say(*lines[1:])
        if "E|" not in lines[-1]:
            await caller.hang_up()
        with pytest.raises(CommandFailed, match=words):
            await running


async def test_a_board_that_does_not_suit_is_not_sent() -> None:
    async with line_server() as scripted:
        told = Told(random_client(port=scripted.port, fleet="AAA"))
        running = asyncio.create_task(told.run())
        (await scripted.caller()).say(GAME)
        with pytest.raises(CommandFailed, match="100 squares, not 3"):
            await running


async def test_the_bot_comes_back_after_a_lost_connection() -> None:
    """At the first attempt its old connection still has the name; at the second it has the seat."""
    async with line_server() as scripted:
        told = Told(random_client(port=scripted.port))
        running = asyncio.create_task(told.run())
        caller = await scripted.caller()
        caller.say(GAME)
        await caller.hear()
        caller.say("J|random", "J|bob", *start("random", "bob"))
        await caller.hear()
        await caller.hang_up()
        caller = await scripted.caller()
        caller.say(RUNNING)
        assert await caller.hear() == "J|random"
        caller.say("E|name in use")
        caller = await scripted.caller()
        caller.say(RUNNING)
        assert await caller.hear() == "J|random"
        caller.say(
            "J|random", f"Y|{FLEET}", "J|bob", f"B|bob||{BLANK}|0|0", "S|random|bob", "N|random"
        )
        assert (await caller.hear()).startswith("S|bob|")
        caller.say("F|finished|1|2", "R|random|1|0|1|")
        await caller.hang_up()
        assert await running, "a line of the result is missing, and the game is over all the same"
        assert told.lines[-1] == "  1  random      1      0      1"


THREE = BoatRoomSettings(title="Three", max=3, min=3, width=8, height=9, boats="A3 B2")


async def test_house_bots_play_whole_games_at_our_server(tmp_path: Path) -> None:
    async with server(
        tmp_path, boats_port=-1, boats_rooms=(THREE, BoatRoomSettings(title="Two"))
    ) as house:
        port = house.ports["xbs"]
        three = [
            Told(random_client(port=port, bot="random", room="Three", seed=seed))
            for seed in range(3)
        ]
        assert await run_all(three) == [True] * 3
        assert {line.split()[1] for line in three[0].lines[-3:]} == {"random", "random2", "random3"}
        for bots in pairwise(HOUSE["battleship"]):
            pair = [
                Told(random_client(port=port, bot=bot, room="Two", user=f"p{at}"))
                for at, bot in enumerate(bots)
            ]
            assert await run_all(pair) == [True, True]


async def run_all(games: list[Told]) -> list[bool]:
    return list(await asyncio.gather(*(told.run() for told in games)))


async def test_a_log_has_every_line(tmp_path: Path) -> None:
    log = tmp_path / "client.log"
    async with boat_server(tmp_path, BoatRoomSettings(house_wait=0), house_fill=True) as house:
        words = (
            "boats",
            "play",
            "--headless",
            "--bot",
            "random",
            "-p",
            str(house.ports["xbs"]),
            "-l",
            "DEBUG",
            "-f",
            str(log),
        )
        process = await asyncio.create_subprocess_exec(
            *BOTDROME, *words, stdout=asyncio.subprocess.DEVNULL
        )
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    text = log.read_text()
    assert "INFO connected to 127.0.0.1, port" in text
    assert "DEBUG received b'G|" in text
    assert "DEBUG sent b'J|random|" in text


async def test_a_server_says_its_port_for_boat_games(tmp_path: Path) -> None:
    words = ("play", "--headless", "--bot", "random", "--server")
    async with boat_server(tmp_path, BoatRoomSettings(house_wait=0), house_fill=True) as house:
        status, text = await asyncio.to_thread(boats, *words, house.url)
        assert (status, "the game is finished" in text) == (0, True), text
    async with server(tmp_path) as house:
        status, text = await asyncio.to_thread(boats, *words, house.url)
        assert (status, "has no port for boat games" in text) == (1, True), text


async def test_a_registered_bot_plays_with_its_token(tmp_path: Path) -> None:
    async with server(tmp_path, boats_port=-1) as house:
        port = house.ports["xbs"]
        login = await registered(house, "ada", "battleship")
        stranger = Told(random_client(port=port, user="ada"))
        with pytest.raises(CommandFailed, match="ada"):
            await stranger.run()
        ada = Told(random_client(port=port, user="ada", token=login["password"]))
        assert await run_all([ada, Told(random_client(port=port, user="bob"))]) == [
            True,
            True,
        ]


async def test_a_player_comes_back_to_a_game_at_our_server(tmp_path: Path) -> None:
    """The connection breaks, and the seat is still there."""
    plan = BoatRoomSettings(title="Two", turn_limit=0, absence=0)
    async with server(tmp_path, boats_port=-1, boats_rooms=(plan,)) as house, line(house) as bob:
        client = client_for(ClientOptions(port=house.ports["xbs"], user="ada"))
        log = Logbook(client)
        await client.connect()
        await log.until(Phase.OFFERED)
        client.boats.fleet = FLEET
        await client.join("ada")
        await log.until(Phase.WAITING)
        bob.send(f"J|bob|{BOARD}")
        await log.until(Phase.PLAYING)
        client.close()
        await log.until_lost()
        client.boats.fleet = ""
        await client.rejoin()
        await log.until(Phase.PLAYING)
        assert client.boats.fleet == FLEET
        assert set(client.boats.players) == {"ada", "bob"}
        await bob.until("M||ada reconnected")
        client.leave()


def test_the_page_names_every_option_and_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "boats-in-the-terminal.md").read_text()
    command = dict(all_commands())["boats", "play"]
    for parameter in command.params:
        assert any(f"`{option}" in page for option in parameter.opts), (
            f"{parameter.opts} is not on the page"
        )
    for key in GamePage.KEYS | LayoutPage.KEYS | PlacingPage.KEYS:
        assert f"`{key.upper()}`" in page or f"`{key.capitalize()}`" in page, (
            f"{key} is not on the page"
        )
