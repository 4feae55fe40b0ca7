"""`botdrome boats` in terminals with few lines: the question and the keys are always visible."""

from pathlib import Path

import pytest

from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.cli.test_boats_screen import playing, seated
from tests.cli.test_boats_terminal import Player, at_sea, opponent
from tests.client.boat_server import BLANK, GAME

pytestmark = pytest.mark.anyio

USUAL = BoatRoomSettings(title="GamePage", turn_limit=0)
MANY = [f"player{number}" for number in range(12)]


async def see_at_the_bottom(player: Player, *texts: str) -> None:
    """The first of these in the last line, or in the last two where it is too long for one."""
    await player.see(*texts)
    assert texts[0] in "".join(player.terminal.text.split("\n")[-2:]), player.terminal.text


@pytest.mark.parametrize(("columns", "lines"), [(80, 17), (80, 16), (80, 12), (60, 10)])
async def test_every_page_shows_its_bottom_line(tmp_path: Path, columns: int, lines: int) -> None:
    async with at_sea(tmp_path, columns=columns, lines=lines, plan=USUAL) as (ada, port):
        await see_at_the_bottom(ada, "join?", "title")
        ada.press("y")
        await see_at_the_bottom(ada, "1 lay out your own", "1 your own")
        ada.press("1")
        await see_at_the_bottom(ada, "South", "next A5")
        ada.press("s")
        await see_at_the_bottom(ada, "A5 to the south from (like e5):")
        ada.press("a1\r")
        await see_at_the_bottom(ada, "South", "next B4")
        ada.press("\x1b")
        await see_at_the_bottom(ada, "1 lay out your own", "choose your board")
        ada.press("2")
        await see_at_the_bottom(ada, "user name", "Who are you?")
        ada.press("ada\r")
        await see_at_the_bottom(ada, "Message", "waiting for the start")
        bob = opponent(port, fleet="")
        await see_at_the_bottom(ada, "Shoot", "your turn", " a b c", "---", "Quit")
        ada.press("s")
        await see_at_the_bottom(ada, "shoot bob at (like e5):")
        ada.press("a1\r")
        await see_at_the_bottom(ada, "Shoot", "your turn")
        ada.terminal.resize(columns, 40)
        await see_at_the_bottom(ada, "Shoot", "10 . . .")
        ada.terminal.resize(columns, lines)
        await see_at_the_bottom(ada, "Shoot", "your turn", " a b c", "---")
        bob.cancel()


async def test_what_is_too_long_for_a_narrow_terminal_goes_on_in_the_next_line() -> None:
    async with playing("ada", "bob", size=(40, 12)) as desk:
        await desk.see("Shoot  sKip  Message", "Redraw  Quit")
        await desk.type("k")
        await desk.see("skip this turn; reason", "do not skip):")
        await desk.type("because of the weather")
        await desk.see("the weather")
        await desk.type("\x1b")
        await desk.see("Redraw  Quit")


async def test_long_lists_scroll_and_leave_the_bottom_alone() -> None:
    async with seated((60, 10), user="ada") as desk:
        await desk.see("join?", "title")
        desk.press("end")
        await desk.see("join?", "17 points")
        await desk.type("y")
        await desk.see("choose your board")
        await desk.type("2")
        await desk.caller.hear()
        desk.caller.say("J|ada", *(f"J|{name}" for name in MANY))
        await desk.see("title", "Quit", without="player11")
        await desk.type("\t")
        desk.press("end")
        await desk.see("the keys scroll the text", "13. player11", "Quit")
        desk.caller.say(
            "S|" + "|".join(["ada", *MANY]),
            *(f"B|{name}||{BLANK}|0|0" for name in ["ada", *MANY]),
            "N|ada",
        )
        await desk.see("your turn", "Quit")
        desk.caller.say("F|finished|9|13", *(f"R|{name}|1|0|9|" for name in ["ada", *MANY]))
        await desk.see("name", "finished after 9 rounds", "Quit", without="player11")
        await desk.type("\t")
        desk.press("end")
        await desk.see("player11", "Quit")


async def test_one_board_by_chance_is_no_range() -> None:
    async with seated((30, 20)) as desk:
        await desk.see("join?")
        await desk.type("y")
        await desk.see("2 take", "Quit", without="2-2")


async def test_boats_that_were_laid_out_stay_when_other_boards_are_looked_at() -> None:
    async with seated(user="ada") as desk:
        await desk.see("join?")
        await desk.type("y1ea1\r")  # ahead of the pages
        await desk.see("next B4")
        await desk.type("\x1b")
        await desk.see("choose your board", "1 your own", "1 A A A A A . . . . .")
        await desk.type("r1")
        await desk.see("next B4", "1 A A A A A . . . . .")
        await desk.type("u")
        await desk.see("next A5", without="A A A")


async def test_boats_that_were_laid_out_for_another_game_are_not_kept() -> None:
    async with seated(user="ada") as desk:
        await desk.see("join?")
        await desk.type("y")
        await desk.see("choose your board")
        await desk.type("1ea1\r")
        await desk.see("next B4")
        desk.app.client.boats.hear(b"G|1.2.0|Other|N|2|2|0|5|8|8|2|A3|B2")
        await desk.type("\x1b")
        await desk.see("Other: choose your board", without="1 A A A A A")
        await desk.type("1")
        await desk.see("next A3")


async def test_the_newest_message_stays_in_sight_when_the_terminal_shrinks() -> None:
    async with playing("bob", "ada", size=(80, 40)) as desk:
        desk.caller.say(*(f"M|bob|line {number}" for number in range(9)))
        await desk.see("has started", "bob: line 8")
        await desk.resize(60, 10)
        await desk.see("bob: line 8", "Quit", without="line 5")
        desk.caller.say("M|bob|the newest")
        await desk.see("bob: the newest")


async def test_who_comes_back_is_asked_for_that() -> None:
    async with seated(user="ada", rejoin=True) as desk:
        await desk.see("rejoin your game?  Yes  No", without="join?")
        await desk.type("y")
        assert await desk.caller.hear() == "J|ada"


async def test_who_comes_back_too_late_is_offered_the_next_game() -> None:
    async with seated(user="ada", rejoin=True, taunts=(b"T|hit|ouch\n",)) as desk:
        await desk.see("rejoin your game?")
        await desk.type("y")
        assert await desk.caller.hear() == "J|ada"
        desk.caller.say("invalid board")
        await desk.caller.hang_up()
        await desk.see(
            "the game that you were in is over",
            "look at the next game?  Yes  No",
            without="rejoin?",
        )
        await desk.type("y")
        caller = await desk.server.caller()
        caller.say(GAME)
        await desk.see("title    A game", "join?")
        await desk.type("y")
        await desk.see("choose your board")
        await desk.type("2")
        assert len(await caller.hear()) == len(f"J|ada|{BLANK}")
        caller.say("J|ada")
        assert await caller.hear() == "T|hit|ouch"
