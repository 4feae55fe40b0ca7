"""Boats are laid out on the screen of `botdrome boats`."""

import pytest

from tests.cli.test_boats_screen import seated

pytestmark = pytest.mark.anyio


async def test_boats_are_laid_out_with_keys() -> None:
    async with seated() as desk:
        await desk.see("join?")
        await desk.type("y")
        await desk.see("choose your board")
        await desk.type("1")
        await desk.see("next A5, to the east")
        await desk.type("eg1\r")
        await desk.see("A5 does not fit from g1 to the east")
        await desk.type("ef1\r")
        await desk.see("next B4", "1 . . . . . A A A A A")
        await desk.type("sj1\r")
        await desk.see("B4 would lie over A at j1")
        await desk.type("d")
        await desk.see("B4 is not placed yet")
        await desk.type("sa1\r")
        await desk.see("next C3, to the south")
        await desk.type("u")
        await desk.see("next B4")
        await desk.type("sa2\rsc2\rse2\reg9\r")
        await desk.see("all boats are placed", "9 . . . . . . E E . .")
        await desk.type("sd")
        await desk.see("user name")
        await desk.type("ada\r")
        fleet = (await desk.caller.hear()).split("|")[2]
    assert (
        fleet == ".....AAAAAB.C.D.....B.C.D.....B.C.D.....B........." + "." * 36 + "EE" + "." * 12
    )


async def test_boats_are_laid_out_with_the_mouse() -> None:
    async with seated((70, 40), user="ada") as desk:
        await desk.see("join?")
        await desk.type("y")
        await desk.see("1 your own")
        await desk.click("1 your own")
        await desk.see("next A5, to the east")
        await desk.click("a b c", 0, 1)
        await desk.see("1 A A A A A .", "next B4")
        await desk.click("your own")
        await desk.type("s")
        await desk.see("B4 to the south from")
        await desk.click("a b c", 0, 2)
        await desk.see("next C3, to the south", "2 B .", "5 B .")
        await desk.click("a b c", 0, 2, button=3)
        await desk.see("next C3, to the east")
        await desk.type("\x1b")
        await desk.see("choose your board")
        await desk.type("q")
        await desk.ends()


async def test_random_boards_fit_the_screen_and_are_drawn_anew() -> None:
    async with seated((120, 60), border=60) as desk:
        await desk.see("join?")
        await desk.type("y")
        before = await desk.see("9 random")
        assert "1 lay out your own  2-9 take that board" in before
        board = "\n".join(before.split("\n")[4:8])
        await desk.type("r")
        await desk.see("9 random", without=board)
        await desk.resize(30, 20)
        await desk.see("own  2 take")
        await desk.type("5")
        await desk.resize(120, 60)
        await desk.see("9 random")
        await desk.click("5 random", 3, 5)
        await desk.see("user name")
        await desk.type("\x1b")
        await desk.ends()
