"""`botdrome boats` in a real pseudo-terminal, at a real server: joined, played to the end and left
with keys and mouse.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from botdrome.bots.house import HOUSE
from botdrome.cli.boats.headless import HeadlessGame
from botdrome.client.boats_client import BoatsClient, BotPlayer, ClientOptions
from botdrome.games.chance import Chance
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.cli.screens import Terminal
from tests.server.clients import server

pytestmark = pytest.mark.anyio

SMALL = BoatRoomSettings(title="Small sea", width=8, height=8, boats="A3 B2", turn_limit=0)
BOB = "AAA.....BB" + "." * 54
"""A3 from a1, B2 from a2, both to the east."""


class Player:
    """A terminal that is waited for while the server runs on."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    async def see(self, *texts: str) -> str:
        return await asyncio.to_thread(self.terminal.see, *texts)

    async def end(self) -> int:
        return await asyncio.to_thread(self.terminal.end)

    def press(self, keys: str) -> None:
        self.terminal.press(keys)

    def click(self, text: str, column: int, line: int) -> None:
        """So far from where this text is."""
        lines = self.terminal.text.split("\n")
        y = next(number for number, row in enumerate(lines) if text in row)
        self.terminal.click(lines[y].index(text) + column, y + line)


@asynccontextmanager
async def at_sea(
    folder: Path, *words: str, plan: BoatRoomSettings = SMALL, columns: int = 80, lines: int = 24
) -> AsyncIterator[tuple[Player, int]]:
    """A player in a terminal, and the port of the server."""
    async with server(folder, boats_port=-1, boats_rooms=(plan,)) as house:
        port = house.ports["xbs"]
        terminal = Terminal(
            "boats", "play", "--port", str(port), *words, columns=columns, lines=lines
        )
        try:
            yield Player(terminal), port
        finally:
            terminal.close()


def opponent(port: int, user: str = "bob", fleet: str = BOB) -> "asyncio.Task[bool]":
    client = BoatsClient(
        ClientOptions(port=port, user=user, fleet=fleet),
        BotPlayer(HOUSE["battleship"]["random"], 1),
        Chance(1),
    )
    client.name = user
    return asyncio.create_task(HeadlessGame(client, lambda line: None).run())


async def lay_out(ada: Player) -> None:
    """A3 from a1 and B2 from h7, both to the south, after a change of mind."""
    ada.press("1")
    await ada.see("next A3, to the east")
    ada.press("sh1\r")
    await ada.see("next B2, to the south", "1 . . . . . . . A", "3 . . . . . . . A")
    ada.press("u")
    await ada.see("next A3, to the south")
    ada.press("sa1\r")
    await ada.see("next B2, to the south", "3 A .")
    ada.click("a b c", 14, 7)
    await ada.see("all boats are placed", "8 . . . . . . . B")
    ada.press("d")


async def shoot(ada: Player, square: str) -> None:
    ada.press(f"s{square}\r")
    await ada.see(f"ada hits bob at {square}", "your turn")


async def test_a_whole_game_with_keys_and_mouse_and_a_resize_in_the_middle(tmp_path: Path) -> None:
    async with at_sea(tmp_path) as (ada, port):
        await ada.see("Small sea", "8 by 8", "A3  B2", "5 points", "join?")
        ada.press("y")
        await ada.see("1 your own", "2 random", "Quit")
        await lay_out(ada)
        await ada.see("user name")
        ada.press("me\r")
        await ada.see("invalid name")
        ada.press("ada\r")
        await ada.see("waiting for the start", "1. ada (you)", "1 have joined")
        bob = opponent(port)
        await ada.see("your turn", "Shoot", "Quit")
        await shoot(ada, "a1")
        ada.click("1 bob" if "1 bob" in ada.terminal.text else "2 bob", 4, 3)
        await ada.see("ada hits bob at b1", "your turn")
        ada.press("m\rahoy\r")
        await ada.see("ada:[All] ahoy")
        second = "\n 2 bob" if "2 bob" in ada.terminal.text else "\n 2 * ada"
        ada.terminal.resize(38, 40)
        await ada.see(second, "Message")
        await shoot(ada, "c1")
        ada.terminal.resize(120, 30)
        await ada.see("-" * 120, " bob", "ada (you)", "Message")
        ada.press("v")
        await ada.see("8 . . . . . . . B")
        await shoot(ada, "a2")
        ada.press("sb2\r")
        await ada.see("finished after 5 rounds", "1  ada")
        assert await bob
        ada.press("q")
        assert await ada.end() == 0


async def test_leaving_is_not_a_regular_end(tmp_path: Path) -> None:
    async with at_sea(tmp_path, "--user", "ada") as (ada, port):
        await ada.see("join?")
        ada.press("y")
        await ada.see("2 random", "Quit")
        ada.press("2")
        await ada.see("waiting for the start")
        bob = opponent(port)
        await ada.see("goal 5")
        ada.press("q")
        await ada.see("leave the game?")
        ada.press("y")
        assert await ada.end() == 1
        bob.cancel()
        await asyncio.gather(bob, return_exceptions=True)


async def test_a_bot_plays_on_the_screen(tmp_path: Path) -> None:
    async with at_sea(tmp_path, "--bot", "hunter", "--seed", "3", "--user", "ada") as (ada, port):
        await ada.see("waiting for the start")
        bob = opponent(port)
        assert await bob
        assert await ada.end() == 0, "a bot leaves by itself"
        assert "score  skips  turns" in ada.terminal.text


async def test_nobody_is_there(tmp_path: Path) -> None:
    async with at_sea(tmp_path) as (ada, _):
        await ada.see("join?")
        ada.press("n")
        assert await ada.end() == 1
    terminal = Terminal("boats", "play", "--port", "1")
    status = await asyncio.to_thread(terminal.end)
    terminal.close()
    assert (status, "127.0.0.1:1: Connection refused" in terminal.text) == (1, True)


async def test_the_program_ends_with_its_terminal(tmp_path: Path) -> None:
    async with at_sea(tmp_path) as (player, _):
        await player.see("Small sea")
        assert await asyncio.to_thread(player.terminal.vanish) == 1
