"""The pages of `botdrome boats` when one leaves, comes back or cannot play."""

from typing import Any

import pytest
from textual import events

from tests.cli.test_boats_screen import playing, seated
from tests.client.boat_server import BLANK, FLEET, GAME, RUNNING, start

pytestmark = pytest.mark.anyio


async def test_those_who_are_away_are_marked() -> None:
    async with playing("ada", "bob") as desk:
        desk.caller.say(f"B|bob|disconnected|{BLANK}|0|0")
        await desk.see("(disconnected)", "server: bob is away: disconnected")


async def test_nothing_that_others_write_reaches_the_terminal_as_a_command() -> None:
    async with playing("ada", "bob") as desk:
        desk.caller.say(
            "M|b\x1b[31mob|[red]hi\x1b]0;x\x07[/red]|All", "\x1b[2J", f"B|bob|a\x1bway|{BLANK}|0|0"
        )
        text = await desk.see("b␛[31mob:[All] [red]hi␛]0;x␇[/red]", "server: ␛[2J", "(a␛way)")
        assert "\x1b" not in text


async def test_leaving_is_asked_for() -> None:
    async with playing("ada", "bob") as desk:
        await desk.type("q")
        await desk.see("leave the game?")
        await desk.type("n")
        await desk.see("Message  Taunts")
        await desk.type("qy")
        assert await desk.caller.hear() == "L"
        await desk.ends()
        assert not desk.app.client.boats.finished


async def test_ctrl_c_leaves_at_once() -> None:
    async with playing("ada", "bob") as desk:
        await desk.type("m")
        await desk.type("\x03")
        assert await desk.caller.hear() == "L"
        await desk.ends()


async def test_a_person_is_asked_whether_to_rejoin() -> None:
    async with playing("bob", "ada") as desk:
        await desk.caller.hang_up()
        await desk.see("the connection to the server is lost", "rejoin?")
        await desk.type("y")
        caller = await desk.server.caller()
        caller.say(RUNNING)
        assert await caller.hear() == "J|ada"
        caller.say("E|name in use")
        await desk.see("name in use", "user name")
        await desk.type("ada\r")
        assert await caller.hear() == "J|ada"
        caller.say(
            "J|ada",
            f"Y|{FLEET}",
            "J|bob",
            f"B|bob||{BLANK}|3|0",
            "S|bob|ada",
            "N|ada",
            f"B|ada||{BLANK}|0|0",
        )
        await desk.see("your turn", "(3, 0%)")
        caller.say("booted")
        await caller.hang_up()
        await desk.see("booted", "rejoin?")
        await desk.type("n")
        await desk.ends()


async def test_a_server_that_is_gone_for_good() -> None:
    async with playing("bob", "ada") as desk:
        await desk.server.close()
        await desk.see("the connection to the server is lost", "rejoin?")
        await desk.type("y")
        await desk.see("Connection refused", "rejoin?")
        await desk.type("n")
        await desk.ends()


async def test_a_bot_gives_up_when_the_server_is_gone_for_good() -> None:
    async with seated(bot="random") as desk:
        await desk.caller.hear()
        desk.caller.say("J|random", "J|bob", *start("bob", "random"))
        await desk.see("2 random (you)")
        await desk.server.close()
        await desk.ends()
        assert desk.app.problem == "the connection to the server is lost"


async def test_a_name_that_no_line_can_carry_and_one_that_is_pasted() -> None:
    async with seated(fleet=FLEET) as desk:
        await desk.see("join?")
        await desk.type("y")
        await desk.see("user name")
        await desk.type("a|b\r")
        await desk.see("a name is a word of letters", "user name")
        desk.app.post_message(events.Paste("Cap'n R.\n"))
        await desk.see("Cap'n R.")
        await desk.type("\r")
        assert await desk.caller.hear() == f"J|Cap'n R.|{FLEET}"


async def test_boats_that_leave_no_room_for_chance_are_laid_out_by_hand() -> None:
    async with seated(game="G|1.2.0|Crowded|N|2|2|0|40|8|8|5|A8|B8|C8|D8|E8") as desk:
        await desk.see("join?")
        await desk.type("y")
        text = await desk.see("1 your own", "more than half of a board")
        assert "by chance" not in text
        await desk.type("2")
        await desk.type("1")
        await desk.see("next A8")


async def test_who_comes_to_a_running_game_names_the_seat() -> None:
    async with seated(game=RUNNING) as desk:
        await desk.see("the game has started")
        await desk.type("y")
        await desk.see("user name")
        await desk.type("ada\r")
        assert await desk.caller.hear() == "J|ada"
        desk.caller.say("game is already started")
        await desk.caller.hang_up()
        await desk.see("game is already started", "rejoin?")


async def test_who_lays_out_for_long_is_connected_again() -> None:
    async with seated(user="ada") as desk:
        await desk.see("join?")
        await desk.type("y")
        await desk.see("choose your board")
        await desk.caller.hang_up()
        await desk.type("2")
        caller = await desk.server.caller()
        caller.say(GAME)
        assert (await caller.hear()).startswith("J|ada|")
        caller.say("J|ada")
        await desk.see("waiting for the start")


async def test_a_bot_plays_on_the_screen_and_comes_back_by_itself() -> None:
    async with seated(bot="random") as desk:
        assert (await desk.caller.hear()).startswith("J|random|")
        desk.caller.say("J|random", "J|bob", *start("random", "bob"))
        assert (await desk.caller.hear()).startswith("S|bob|")
        await desk.see("1 * random (you)")
        await desk.click("2 bob", 3, 5)
        await desk.caller.hang_up()
        caller = await desk.server.caller()
        caller.say(RUNNING)
        assert await caller.hear() == "J|random"
        caller.say(
            "J|random", f"Y|{FLEET}", "J|bob", f"B|bob||{BLANK}|0|0", "S|random|bob", "N|random"
        )
        assert (await caller.hear()).startswith("S|bob|")
        caller.say("F|finished|1|2", "R|random|1|0|1|", "R|bob|0|0|1|")
        await desk.ends()
        assert desk.app.problem == "" and desk.app.client.boats.results


@pytest.mark.parametrize("words", ["game is full", ""])
async def test_a_bot_that_is_turned_away_ends(words: str) -> None:
    async with seated(bot="random") as desk:
        desk.caller.say(*([words] if words else []))
        await desk.caller.hang_up()
        await desk.ends()
        assert desk.app.problem == (words or "the server has closed the connection")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fleet": "AAA"}, "the board that was given: this game's boards have 100 squares, not 3"),
        ({"room": "Big sea"}, "the server has no game 'Big sea', only 'A game'"),
    ],
)
async def test_what_was_given_and_does_not_suit(options: dict[str, Any], problem: str) -> None:
    async with seated(**options) as desk:
        if "room" in options:
            assert await desk.caller.hear() == "G|Big sea"
            desk.caller.say(GAME)
        else:
            await desk.see("join?")
            await desk.type("y")
        await desk.ends()
        assert desk.app.problem == problem


async def test_a_game_that_cannot_be_read_is_said() -> None:
    async with seated(game="G|1|2|3") as desk:
        await desk.see("the server offers a board of 0 by 0")
        await desk.type("q")
        await desk.ends()
