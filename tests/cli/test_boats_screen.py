"""The pages of `botdrome boats`, with keys and mouse, at a scripted server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from rich.console import RenderableType
from textual import events
from textual.pilot import Pilot as Hand
from textual.screen import Screen

from botdrome.bots.house import HOUSE
from botdrome.cli.boats.app import BoatsApp
from botdrome.client.boats_client import BoatsClient, BotPlayer, ClientOptions, Reconnection
from botdrome.games.chance import Chance
from tests.client.boat_server import (
    BLANK,
    FLEET,
    GAME,
    PATIENCE,
    Caller,
    LineServer,
    line_server,
    start,
)

pytestmark = pytest.mark.anyio


NAMES = {
    "\r": "enter",
    "\x1b": "escape",
    " ": "space",
    "\x08": "backspace",
    "\x03": "ctrl+c",
    "\t": "tab",
}


class WatchedApp(BoatsApp):
    """Tells when it has drawn something."""

    def __init__(self, client: BoatsClient) -> None:
        super().__init__(client, Reconnection(client, (0.0,)))
        self.drawn = asyncio.Event()
        self.ended = asyncio.Event()

    def exit(self, *args: Any, **kwargs: Any) -> None:
        super().exit(*args, **kwargs)
        self.ended.set()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)
        self.drawn.set()


class Desk:
    """A player at a screen, and the server at the other end."""

    def __init__(self, app: WatchedApp, server: LineServer, caller: Caller) -> None:
        self.app, self.server, self.caller = app, server, caller
        self._hand = Hand(app)

    @property
    def text(self) -> str:
        with self.app._context():
            return "\n".join(
                strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()
            )

    async def see(self, *texts: str, without: str = "\0") -> str:
        """Wait until all of these are on the screen, and that is not."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not all(text in self.text for text in texts) or without in self.text:
                    self.app.drawn.clear()
                    await self.app.drawn.wait()
        except TimeoutError:
            pytest.fail(f"{texts} is not to be seen:\n{self.text}")
        return self.text

    async def type(self, text: str) -> None:
        """As fast as a terminal sends it."""
        for letter in text:
            self.press(NAMES.get(letter, letter), letter if letter.isprintable() else None)

    def press(self, key: str, character: str | None = None) -> None:
        self.app.post_message(events.Key(key, character))

    async def click(self, text: str, column: int = 0, line: int = 0, button: int = 1) -> None:
        """So far from where this text is."""
        lines = self.text.split("\n")
        y = next(number for number, row in enumerate(lines) if text in row)
        with self.app._context():
            await self._hand.click(offset=(lines[y].index(text) + column, y + line), button=button)

    async def resize(self, width: int, height: int) -> None:
        with self.app._context():
            await self._hand.resize_terminal(width, height)

    async def ends(self) -> None:
        await asyncio.wait_for(self.app.ended.wait(), PATIENCE)


@asynccontextmanager
async def seated(
    size: tuple[int, int] = (80, 24), bot: str = "", game: str = GAME, **options: object
) -> AsyncIterator[Desk]:
    async with line_server() as server:
        bot_player = BotPlayer(HOUSE["battleship"][bot], 1) if bot else None
        client = BoatsClient(ClientOptions(port=server.port, **options), bot_player, Chance(1))  # type: ignore[arg-type]
        client.name = client.options.user or bot
        app = WatchedApp(client)
        running = asyncio.create_task(app.run_async(headless=True, size=size))
        try:
            caller = await server.caller()
            caller.say(game)
            yield Desk(app, server, caller)
        finally:
            app.leave()
            await asyncio.wait_for(running, PATIENCE)
        assert app.return_code == 0


@asynccontextmanager
async def playing(*names: str, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Desk]:
    """Ada, in a game that has started in this order of turns."""
    async with seated(size, user="ada", fleet=FLEET) as desk:
        await desk.see("join?")
        await desk.type("y")
        assert await desk.caller.hear() == f"J|ada|{FLEET}"
        desk.caller.say("J|ada", *(f"J|{name}" for name in names if name != "ada"), *start(*names))
        await desk.see("goal 17")
        yield desk


async def test_from_the_invitation_to_the_result() -> None:
    async with seated() as desk:
        await desk.see(
            "title    A game",
            "2 to 2, 0 have joined",
            "10 by 10",
            "A5  B4  C3  D3  E2",
            "17 points",
        )
        await desk.type("Y")
        await desk.see("1 your own", "2 random", "3 random")
        await desk.type("3")
        await desk.see("user name")
        await desk.type("all\r")
        _, name, fleet = (await desk.caller.hear()).split("|")
        assert (name, len(fleet)) == ("all", 100)
        desk.caller.say("E|invalid name")
        await desk.see("invalid name", "user name")
        await desk.type("ada\r")
        assert await desk.caller.hear() == f"J|ada|{fleet}"
        desk.caller.say("J|ada", "J|bob")
        await desk.see("waiting for the start", "1. ada (you)", "2. bob", "2 have joined")
        desk.caller.say(*start("ada", "bob"))
        await desk.see("1 * ada (you)", "2 bob", "your turn", "Shoot  sKip")
        desk.caller.say("F|finished|41|2", "R|bob|17|0|41|", "R|ada|9|1|41|")
        text = await desk.see("finished after 41 rounds", "1  bob", "17")
        assert "2  ada       9      1     41" in text
        await desk.type("q")
        await desk.ends()
    assert desk.app.client.boats.finished


async def test_no_means_no() -> None:
    async with seated() as desk:
        await desk.see("join?")
        await desk.type("n")
        await desk.ends()
        assert await desk.caller.hear() == "", "nothing was sent"


async def test_shots_with_keys_and_what_they_bring() -> None:
    async with playing("ada", "bob") as desk:
        await desk.type("se5\r")
        assert await desk.caller.hear() == "S|bob|5|5"
        board = f"{BLANK[:44]}X{BLANK[45:]}"
        desk.caller.say(
            "H|ada|bob|e5", "M|bob|ouch", f"B|ada||{BLANK}|1|0", f"B|bob||{board}|0|2", "N|bob"
        )
        await desk.see(
            "server: ada hits bob at e5",
            "bob: ouch",
            "(1, 0%)",
            "(0, 2 skips, 5%)",
            "2 * bob",
            "bob's turn",
        )
        await desk.see("bob's turn", without="Shoot")
        await desk.type("sa1\r")
        await desk.see("it is not your turn")
        desk.caller.say("N|ada")
        await desk.see("your turn")
        await desk.type("se5\r")
        await desk.see("e5 of bob has already been shot at")
        await desk.type("sz9\r")
        await desk.see("a square is from a1 to j10, not 'z9'")
        await desk.type("s\x1b")
        await desk.type("k\x1b")
        await desk.type("kno idea\r")
        assert await desk.caller.hear() == "K|no idea"


async def test_shots_with_the_mouse() -> None:
    async with playing("ada", "bob") as desk:
        await desk.click("1 * ada", 5, 4)
        await desk.see("don't shoot at yourself")
        await desk.type("s")
        await desk.see("shoot bob at")
        await desk.click("2 bob", 2, 0)
        await desk.click("2 bob", 2 + 2 * 9, 12)
        assert await desk.caller.hear() == "S|bob|10|10"
        await desk.see("Message  Taunts")


async def test_with_more_than_two_the_board_is_asked_for() -> None:
    async with playing("ada", "bob", "bea", "cy", size=(80, 40)) as desk:
        text = desk.text
        assert text.index("4 cy") > text.index("10 . ."), "the fourth board is below"
        await desk.type("sb\r")
        await desk.see("'b' is the beginning of several names")
        await desk.type("sbe\ra1\r")
        assert await desk.caller.hear() == "S|bea|1|1"
        desk.caller.say("N|bob", "N|ada", "M||your second")
        await desk.see("your second")
        await desk.type("s4\rb2\r")
        assert await desk.caller.hear() == "S|cy|2|2"
        desk.caller.say("N|ada", "M||your third")
        await desk.see("your third")
        await desk.click("4 cy", 2 + 2 * 2, 4)
        assert await desk.caller.hear() == "S|cy|3|2"


async def test_messages_come_while_something_is_asked() -> None:
    async with playing("bob", "ada") as desk:
        await desk.type("m")
        await desk.see("message to")
        await desk.type("bo")
        desk.caller.say("M|bob|are you there?|All", "N|ada")
        await desk.see(
            "bob:[All] are you there?", "your turn", "message to (name, number; Enter: all): bo"
        )
        await desk.type("\rno\x08\x08yes | sir\r")
        assert await desk.caller.hear() == "M|bob|yes / sir"
        await desk.see("ada:[bob] yes | sir")
        await desk.type("m\rhello\r")
        assert await desk.caller.hear() == "M||hello"
        await desk.type("mx\r")
        await desk.see("there is no player 'x'")
        await desk.type("m\x1b")


async def test_taunts_are_added_and_cleared() -> None:
    async with playing("bob", "ada") as desk:
        await desk.type("tahouch\rxamsplash\rchd")
        assert [await desk.caller.hear() for _ in range(3)] == [
            "T|hit|ouch",
            "T|miss|splash",
            "T|hit|",
        ]
        await desk.see("taunts for a hit cleared", "Message  Taunts")


async def test_messages_are_cleared_and_scrolled() -> None:
    async with playing("bob", "ada") as desk:
        desk.caller.say(*(f"M|bob|line {number}" for number in range(30)), "M||from the server")
        await desk.see("bob: line 29", "server: from the server")
        await desk.type("h")
        await desk.see("the game has started", "bob: line 0")
        await desk.type("d")
        await desk.see("bob: line 5", without="has started")
        desk.caller.say("M|bob|the newest")
        for key in ("pagedown", "up", "home", "end"):
            desk.press(key)
        await desk.see("bob: the newest")
        await desk.type("cpbo\r")
        await desk.see("server: from the server", without="line")
        await desk.type("cpserver\r")
        await desk.see("bob's turn", without="from the server")
        desk.caller.say("M|bob|again")
        await desk.see("bob: again")
        await desk.type("ca")
        await desk.see("Message", without="again")


async def test_the_own_board_shows_its_boats_when_asked() -> None:
    async with playing("bob", "ada") as desk:
        desk.caller.say(f"B|ada||{BLANK[:25]}X{BLANK[26:99]}0|0|0", "N|ada")
        await desk.see("your turn")
        assert "A A A A A" not in desk.text
        await desk.type("v")
        await desk.see("10 . A A A A A . . . 0", "3 . . . . . b . . E E")
        await desk.type("vr")
        await desk.see("10 . . . . . . . . . 0", without="A A A")


async def test_boards_scroll_and_wrap_as_the_terminal_changes() -> None:
    async with playing("ada", *(f"p{number}" for number in range(8)), size=(80, 24)) as desk:
        assert "7 p5" not in desk.text
        await desk.type("\t")
        desk.press("end")
        await desk.see("the keys scroll the boards", "9 p7")
        await desk.resize(240, 40)
        await desk.see("1 * ada (you)", "9 p7", "server: the game has started")
        await desk.resize(20, 20)
        desk.press("home")
        await desk.see("1 * ada (you", "   abcdefghij")
