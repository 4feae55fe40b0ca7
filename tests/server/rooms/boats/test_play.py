"""Boat games from the first shot to the last line, over real sockets."""

import asyncio
from pathlib import Path

import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.store.entries import Wanted
from tests.patience import until
from tests.server.clients import registered
from tests.server.rooms.boats.clients import (
    BOARD,
    FLEET,
    Line,
    boat_server,
    line,
    sailor,
    sailors,
    squares,
    the_room,
)

pytestmark = pytest.mark.anyio

EMPTY = "." * 100
TRIO = BoatRoomSettings(max=3)


REFUSED_SHOTS = [
    ("S|nobody|1|1", "invalid target player name"),
    ("S||1|1", "invalid target player name"),
    ("S", "invalid target player name"),
    ("S|4|1|1", "invalid target player name"),
    ("S|ann|1|1", "don't shoot at yourself stupid!"),
    ("S|bob|1|1", "that spot has already been shot"),
    ("S|bob|0|1", "illegal coordinates"),
    ("S|bob|11|1", "illegal coordinates"),
    ("S|bob|a|1", "illegal coordinates"),
    ("S|bob|1", "illegal coordinates"),
    ("S|bob|-1|1", "illegal coordinates"),
    ("S|bob|99999999999999999999|1", "illegal coordinates"),
]


async def test_a_refused_shot_is_explained_and_the_turn_told_again(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, TRIO) as house,
        sailors(house, "ann", "bob", "bill") as (ann, bob, bill),
    ):
        ann.send("S|bob|1|1")
        await ann.expect(f"B|bob||{squares([], {'0': [(1, 1)]})}|0|0", "N|bob")
        bob.send("K")
        await bill.until("N|bill")
        bill.send("K")
        assert (await ann.until("N|ann"))[-3:] == ["N|bill", "K|bill|", "N|ann"]
        for shot, words in REFUSED_SHOTS:
            ann.send(shot)
            await ann.expect(f"M||{words}", "N|ann")
        ann.send("S|bi|+2|02")
        await ann.expect(f"B|bill||{squares([], {'0': [(2, 2)]})}|0|1", "N|bob")
        assert "M||" not in "".join(await bill.until("N|bob"))


async def test_out_of_turn_it_is_said_and_nothing_else_happens(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, sailors(house, "ann", "bob") as (ann, bob):
        bob.send("S|ann|1|1", "K|let me", "S|nobody|1|1")
        await bob.expect(*["M||it is not your turn!"] * 3)
        ann.send("K|after you")
        await ann.expect("K|ann|after you", "N|bob")
        await bob.expect("K|ann|after you", "N|bob")


async def test_targets_go_by_name_by_its_beginning_and_by_number(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, TRIO) as house,
        sailors(house, "ann", "bob", "bobby") as (ann, bob, bobby),
    ):
        turns = [
            (ann, "bob", "bob", "N|bob"),
            (bob, "BOBB", "bobby", "N|bobby"),
            (bobby, "1", "ann", "N|ann"),
            (ann, "3", "bobby", "N|bob"),
        ]
        for number, (shooter, target, hit, turn) in enumerate(turns, 1):
            shooter.send(f"S|{target}|{number}|1")
            told = await shooter.until(turn)
            assert told[-2].startswith(f"B|{hit}||")
            for other in {ann, bob, bobby} - {shooter}:
                await other.until(turn)


async def test_a_hit_is_told_with_both_boards_and_a_miss_with_one(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, sailors(house, "ann", "bob") as (ann, bob):
        bob.send(
            "T|hit|ouch", "T|Miss|ha", "T|miss|", "T|hit|", "T|hit|lucky", "T|other|x", "P|set"
        )
        await bob.expect("P|set")
        ann.send("S|bob|6|3")
        board = squares([(6, 3)])
        await ann.expect(
            "H|ann|bob|f3", "M|bob|lucky", f"B|ann||{EMPTY}|1|0", f"B|bob||{board}|0|0", "N|bob"
        )
        await bob.expect("H|ann|bob|f3", f"B|ann||{EMPTY}|1|0", f"B|bob||{board}|0|0", "N|bob")
        bob.send("S|ann|1|1")
        await bob.expect(f"B|ann||{squares([], {'0': [(1, 1)]})}|1|0", "N|ann")


async def play_out(house: RunningServer, ann: Line, bob: Line) -> None:
    """Ann hits with every shot, and bob skips."""
    for x, y in FLEET:
        ann.send(f"S|bob|{x}|{y}")
        await bob.until("N|bob")
        bob.send("K")
        if (x, y) != FLEET[-1]:
            await ann.until("N|ann")


async def test_a_game_ends_with_the_round_and_with_the_results_and_the_close(
    tmp_path: Path,
) -> None:
    async with boat_server(tmp_path) as house, sailors(house, "ann", "bob") as (ann, bob):
        await play_out(house, ann, bob)
        ending = ["K|bob|", "F|finished|17|2", "R|ann|17|0|17|", "R|bob|0|17|17|"]
        assert (await ann.rest())[-4:] == ending
        assert (await bob.rest())[-4:] == ending
        (match,) = await house.arena.store.matches(Wanted())
        assert (match.players, match.status, match.game) == (("ann", "bob"), "ended", "battleship")
        assert match.result is not None
        assert match.result.scores == (17, 0)
        flight = await house.arena.store.flight(match.id, 0)
        assert flight is not None
        assert b"S|bob|6|3" in flight
        assert b"J|ann|" in flight


async def test_a_lower_goal_ends_it_earlier(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(goal=2)) as house,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        for x, y in FLEET[:2]:
            ann.send(f"S|bob|{x}|{y}")
            await bob.until("N|bob")
            bob.send("K")
        assert (await ann.rest())[-3:] == ["F|finished|2|2", "R|ann|2|0|2|", "R|bob|0|2|2|"]


async def test_a_turn_has_its_time(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(turn_limit=0.05)) as house,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        assert (await ann.until("N|bob"))[-2:] == ["K|ann|out of time", "N|bob"]
        assert (await bob.until("N|ann"))[-2:] == ["K|bob|out of time", "N|ann"]


async def test_without_a_limit_nobody_is_skipped_who_is_there(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(turn_limit=0, absence=0.05)) as house,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        assert the_room(house).games[0].table.match.deadline is None
        await bob.close()
        ann.send("K")
        assert (await ann.until("N|ann"))[-2:] == ["K|bob|disconnected", "N|ann"]


async def test_whoever_is_absent_is_waited_for_a_little_and_may_come_back(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(max=3, absence=0.05)) as house,
        sailors(house, "ann", "bob", "carl") as (ann, bob, carl),
    ):
        bob.send("T|hit|back soon", "L|brb")
        assert await bob.rest() == ["brb"]
        await ann.expect(f"B|bob|brb|{EMPTY}|0|0")
        ann.send("S|bob|6|3")
        await ann.expect(
            "H|ann|bob|f3",
            "M|bob|back soon",
            f"B|ann||{EMPTY}|1|0",
            f"B|bob|brb|{squares([(6, 3)])}|0|0",
            "N|bob",
        )
        await ann.expect("K|bob|brb", "N|carl")
        async with line(house) as again:
            await again.receive()
            again.send("J|bob")
            await again.expect(
                "J|bob",
                f"Y|{BOARD}",
                "J|ann",
                f"B|ann||{EMPTY}|1|0",
                "J|carl",
                f"B|carl||{EMPTY}|0|0",
            )
            back = f"B|bob||{squares([(6, 3)])}|0|1"
            await again.expect("S|ann|bob|carl", "N|carl", back, "M||bob reconnected|All")
            await ann.expect(back, "M||bob reconnected|All")
            carl.send("K")
            await again.expect("K|carl|", "N|ann")


async def test_the_board_that_comes_back_has_its_boats_and_its_misses(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(absence=100)) as house,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        ann.send("S|bob|6|3")
        await bob.until("N|bob")
        bob.send("K")
        await ann.until("N|ann")
        ann.send("S|bob|1|1")
        await bob.until("N|bob")
        bob.send("")
        assert await bob.rest() == []
        assert (await ann.until("B|bob|disconnected|"))[-1].startswith(
            "B|bob|disconnected|0........"
        )
        async with line(house) as again:
            await again.receive()
            again.send("J|bob")
            assert (await again.until("Y|"))[-1] == "Y|0" + BOARD[1:]


async def test_a_table_that_all_have_left_is_over(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(tables=1)) as house,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        await ann.close()
        await bob.until("B|ann|disconnected|")
        await bob.close()
        await until(lambda: not the_room(house).games)
        (match,) = await house.arena.store.matches(Wanted())
        assert match.result is not None
        assert match.result.causes == ("disconnect", "disconnect")
        async with line(house) as next_one:
            assert "|N|2|2|0|" in await next_one.receive()


async def test_the_leader_who_leaves_does_not_rob_the_other_of_its_last_turn(
    tmp_path: Path,
) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(goal=1)) as house,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        ann.send("S|bob|6|3")
        await bob.until("N|bob")
        await ann.close()
        await bob.until("B|ann|disconnected|")
        bob.send("S|ann|6|3")
        ending = ["F|finished|1|2", "R|ann|1|0|1|disconnected", "R|bob|1|0|1|"]
        assert (await bob.rest())[-3:] == ending


async def test_when_all_are_sunk_or_gone_it_ends_in_the_middle_of_a_round(tmp_path: Path) -> None:
    small = BoatRoomSettings(width=8, height=8, boats="A2")
    board = "AA" + "." * 62
    async with (
        boat_server(tmp_path, small) as house,
        sailors(house, "ann", "bob", board=board) as (ann, bob),
    ):
        ann.send("S|bob|1|1")
        await bob.until("N|bob")
        bob.send("K")
        await ann.until("N|ann")
        ann.send("S|bob|2|1")
        await bob.until("N|bob")
        await ann.close()
        ending = ["F|finished|2|2", "R|ann|2|0|2|disconnected", "R|bob|0|1|1|"]
        assert (await bob.rest())[-3:] == ending
        (match,) = await house.arena.store.matches(Wanted())
        assert (
            match.status == "ended" and match.result is not None and match.result.places == (1, 2)
        )


async def test_before_the_start_whoever_leaves_is_taken_off_the_list(tmp_path: Path) -> None:
    async with boat_server(tmp_path, TRIO) as house, sailor(house, "ann") as ann:
        async with sailor(house, "bob") as bob:
            bob.send("S|ann|1|1", "K", "L|no time")
            assert await bob.rest() == [
                "J|ann",
                "M||game hasn't started",
                "M||game hasn't started",
                "no time",
            ]
        await ann.expect("J|bob", "L|bob|no time")
        async with sailor(house, "carl"):
            await ann.expect("J|carl")
        await ann.expect("L|carl|")
        async with sailor(house, "dora") as dora:
            dora.send("P")
            assert await dora.rest() == ["J|ann", "protocol error"]
        await ann.expect("J|dora", "L|dora|")


async def test_when_the_server_stops_all_are_told_the_results_so_far(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, TRIO) as house,
        sailors(house, "ann", "bob", "carl") as (ann, _, _),
        sailor(house, "dora") as dora,
    ):
        ann.send("S|bob|6|3")
        await ann.until("N|bob")
        await house.desk.close()
        assert await ann.rest() == [
            "F|aborted|1|3",
            "R|ann|1|0|1|",
            "R|bob|0|0|0|",
            "R|carl|0|0|0|",
        ]
        assert await dora.rest() == ["F|aborted|0|1", "R|dora|0|0|0|"]
        (match,) = await house.arena.store.matches(Wanted())
        assert (match.status, match.reason) == ("aborted", "the server was stopped")
        async with line(house) as late:
            assert (await late.rest())[-1] == "game is full"


async def test_guests_and_registered_bots_sit_at_one_table(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, sailor(house, "ann") as ann, line(house) as robot:
        token = (await registered(house, "robot", "battleship"))["password"]
        await robot.receive()
        robot.send(f"J|robot|{BOARD}|{token}")
        started = await ann.until("N|")
        assert sorted(started[-2].split("|")[1:]) == ["ann", "robot"]
        assert token not in "".join(started)


async def test_nine_play_at_one_table(tmp_path: Path) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(max=9)) as house:
        ships = [
            Line(*await asyncio.open_connection("127.0.0.1", house.ports["xbs"])) for _ in range(9)
        ]
        for number, ship in enumerate(ships):
            ship.send(f"J|ship{number}|{BOARD}")
            await ship.until(f"J|ship{number}")
        starts = [(await ship.until("N|"))[-11:] for ship in ships]
        assert all(start == starts[0] for start in starts)
        order = starts[0][-2].split("|")[1:]
        assert sorted(order) == [f"ship{number}" for number in range(9)]
        assert [start.split("|")[1] for start in starts[0][:9]] == order
        for turn, name in enumerate(order):
            ship = ships[int(name[-1])]
            ship.send(f"S|{order[turn - 1]}|6|3")
            await ship.until(f"N|{order[(turn + 1) % 9]}")
        for ship in ships:
            await ship.close()
