"""Joining and returning to a boat game, and the refusals."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.server.clients import PATIENCE, leap, registered
from tests.server.rooms.boats.clients import (
    BOARD,
    Line,
    boat_rooms,
    boat_server,
    line,
    sailor,
    sailors,
    the_room,
)

pytestmark = pytest.mark.anyio

G = "G|1.2.0|Botdrome|{}|2|2|{}|17|10|10|5|A5|B4|C3|D3|E2"
WAITING = BoatRoomSettings(max=3, auto_start=False)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        ("J||" + BOARD, "protocol error"),
        ("J", "protocol error"),
        ("J|alice|" + BOARD[:-1], "invalid board"),
        ("J|alice|" + BOARD + ".", "invalid board"),
        ("J|alice", "invalid board"),
        ("J|alice|" + BOARD.replace(".", "0", 1), "invalid board"),
        ("J|alice|" + BOARD.replace(".", "x", 1), "invalid board"),
        ("J|alice|" + BOARD.replace("D", "d"), "invalid board"),
        ("J|alice|" + BOARD.replace(".", "F", 1), "invalid board"),
        ("J|alice|" + BOARD[:88] + "AAAAA.......", "invalid board"),
        ("J|alice|" + "." * 100, "invalid board"),
        ("X", "protocol error"),
        ("j|alice|" + BOARD, "protocol error"),
        ("S|bob|1|1", "protocol error"),
        ("K", "protocol error"),
        ("M||hello", "protocol error"),
        ("T|hit|ouch", "protocol error"),
        ("P", "protocol error"),
        ("P|  ", "protocol error"),
        ("|", "protocol error"),
        ("L|so long", "so long"),
    ],
)
async def test_a_client_that_says_this_before_joining_is_disconnected(
    shared: RunningServer, sent: str, answer: str
) -> None:
    async with line(shared) as one:
        await one.receive()
        one.send(sent)
        assert await one.rest() == [answer]


@pytest.mark.parametrize("sent", ["", "  ", "L", "L|"])
async def test_a_client_that_says_nothing_or_leaves_is_disconnected_without_a_word(
    shared: RunningServer, sent: str
) -> None:
    async with line(shared) as one:
        await one.receive()
        one.send(sent)
        assert await one.rest() == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a", "invalid name"),
        ("4 attempts", "invalid name"),
        ("Server", "invalid name"),
        ("ALL", "invalid name"),
        ("you", "invalid name"),
        ("me", "invalid name"),
        ("a(b", "invalid name"),
        ("tab\tbed", "invalid name"),
        ("\xe9tude", "invalid name"),
        ("1234567890 and more", "invalid name"),
        ("elevenbytes", "name too long"),
    ],
)
async def test_a_name_that_cannot_be_may_be_changed(
    shared: RunningServer, name: str, words: str
) -> None:
    async with line(shared) as one:
        await one.receive()
        one.send(f"J|{name}|{BOARD}", f"J|alice|{BOARD}", "L|bye")
        assert await one.rest() == [f"E|{words}", "J|alice", "bye"]


async def test_whoever_joins_hears_of_itself_first_and_then_of_the_others(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, WAITING) as house,
        sailor(house, "ann") as ann,
        sailor(house, "Ann") as other,
        sailor(house, "caf\xe9") as latin,
    ):
        await ann.expect("J|Ann", "J|caf\xe9")
        await other.expect("J|ann", "J|caf\xe9")
        await latin.expect("J|ann", "J|Ann")


async def test_a_name_in_use_may_be_changed_and_a_second_j_is_passed_over(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, WAITING) as house,
        sailor(house, "ann") as ann,
        line(house) as two,
    ):
        await two.receive()
        two.send(f"J|ann|{BOARD}", f"J|bob|{BOARD}", f"J|carl|{BOARD}", "P|still bob")
        await two.expect("E|name in use", "J|bob", "J|ann", "P|still bob")
        await ann.expect("J|bob")


async def test_fields_are_trimmed_and_surplus_ones_passed_over(tmp_path: Path) -> None:
    async with boat_server(tmp_path, WAITING) as house, line(house) as one:
        await one.receive()
        one.write(b" G |x\r\n")
        one.write(b" J |  ann\t| " + BOARD.encode() + b" \r and more\n")
        await one.expect(G.format("N", 0).replace("|2|2|", "|2|3|"), "J|ann")


async def test_a_room_that_waits_for_its_host_can_be_full(tmp_path: Path) -> None:
    plan = BoatRoomSettings(auto_start=False)
    async with (
        boat_server(tmp_path, plan) as house,
        line(house) as late,
        sailor(house, "ann"),
        sailor(house, "bob"),
    ):
        await late.receive()
        late.send(f"J|ann|{BOARD}")
        assert await late.rest() == ["game is full"]
        async with line(house) as later:
            assert await later.rest() == [G.format("N", 2), "game is full"]


async def test_who_was_here_before_the_room_was_full_may_still_ask_for_the_game(
    tmp_path: Path,
) -> None:
    plan = BoatRoomSettings(auto_start=False)
    async with (
        boat_server(tmp_path, plan) as house,
        line(house) as early,
        sailor(house, "ann"),
        sailor(house, "bob"),
    ):
        assert "|N|2|2|0|" in await early.receive()
        early.send("G", "P|still here", f"J|carl|{BOARD}")
        assert "|N|2|2|2|" in await early.receive()
        await early.expect("P|still here")
        assert await early.rest() == ["game is full"]


async def test_a_game_that_runs_can_be_joined_by_those_who_were_in_it_alone(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(tables=1)) as house,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        await bob.close()
        assert (await ann.receive()).startswith("B|bob|disconnected|")
        async with line(house) as one:
            await one.expect(G.format("Y", 2))
            one.send("J|ann", "J|carl")
            assert await one.rest() == ["E|name in use", "game is already started"]


async def test_a_registered_bot_needs_its_token(tmp_path: Path) -> None:
    async with boat_server(tmp_path, WAITING) as house, line(house) as one:
        token = (await registered(house, "robot", "battleship"))["password"]
        await registered(house, "drone", "bumblebots")
        await one.receive()
        one.send(
            f"J|robot|{BOARD}",
            f"J|robot|{BOARD}|guess",
            f"J|drone|{BOARD}|guess",
            f"J|robot|{BOARD}|{token}",
        )
        refused = "E|robot is a registered bot: its token is needed"
        await one.expect(
            refused, refused, "E|drone is a registered bot: its token is needed", "J|robot"
        )


async def left_by_a_registered_bot(house: RunningServer, robot: Line, ann: Line) -> str:
    """A game in which it has a seat, and is absent: its token."""
    token = str((await registered(house, "robot", "battleship"))["password"])
    await robot.receive()
    robot.send(f"J|robot|{BOARD}|{token}")
    await ann.until("N|")
    await robot.close()
    await ann.until("B|robot|disconnected|")
    return token


async def test_a_registered_bot_comes_back_with_its_token_alone(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(absence=100)) as house,
        line(house) as robot,
        sailor(house, "ann") as ann,
    ):
        token = await left_by_a_registered_bot(house, robot, ann)
        async with line(house) as again:
            await again.receive()
            again.send("J|robot", "J|robot||nonsense", f"J|robot||{token}")
            refused = "E|robot is a registered bot: its token is needed"
            await again.expect(refused, refused, "J|robot")
            assert (await again.receive()).startswith("Y|")


@asynccontextmanager
async def left_by_ann(tmp_path: Path, secret: str) -> AsyncIterator[tuple[RunningServer, Line]]:
    """A game in which she has a seat that is protected so, and is absent: its server, and the other
    player.
    """
    async with (
        boat_server(tmp_path, BoatRoomSettings(absence=100)) as house,
        sailor(house, "ann", secret) as ann,
        sailor(house, "bob") as bob,
    ):
        await bob.until("N|")
        await ann.close()
        await bob.until("B|ann|disconnected|")
        yield house, bob


async def test_the_secret_of_a_guest_protects_its_seat(tmp_path: Path) -> None:
    async with (
        left_by_ann(tmp_path, "my secret") as (house, _bob),
        line(house) as thief,
        line(house) as again,
    ):
        await thief.receive()
        await again.receive()
        thief.send("J|ann", "J|ann||my guess")
        await thief.expect("E|name in use", "E|name in use")
        again.send("J|ann||my secret")
        await again.expect("J|ann")
        assert (await again.until("M|"))[-1] == "M||ann reconnected|All"


async def test_nobody_who_takes_a_name_at_the_next_table_keeps_its_owner_from_coming_back(
    tmp_path: Path,
) -> None:
    async with (
        left_by_ann(tmp_path, "sec") as (house, _bob),
        sailor(house, "ann") as stranger,
        line(house) as again,
    ):
        await again.receive()
        again.send("J|ann||sec", "G")
        await again.expect("J|ann", f"Y|{BOARD}")
        assert (await again.until("G|"))[-1] == G.format("Y", 2)
        stranger.send("G")
        await stranger.expect(G.format("N", 1))


async def test_who_proves_that_an_empty_seat_is_its_own_comes_back_to_it_whatever_board_it_sends(
    tmp_path: Path,
) -> None:
    """Like a bot that has crashed and begins as it always does.

    A wrong secret proves nothing, nor does a seat that is taken.
    """
    other = BOARD[::-1]
    async with (
        left_by_ann(tmp_path, "sec") as (house, bob),
        line(house) as again,
        line(house) as more,
        line(house) as next_ann,
    ):
        await again.receive()
        again.send(f"J|ann|{other}|sec")
        await again.expect("J|ann", f"Y|{BOARD}")
        await more.receive()
        more.send("J|ann||sec", f"J|ann|{other}|sec", "G")
        await more.expect("E|name in use", "J|ann", G.format("N", 1))
        await more.close()
        await again.close()
        await bob.until("B|ann|disconnected|")
        await next_ann.receive()
        next_ann.send(f"J|ann|{other}|guess", "G")
        await next_ann.expect("J|ann", G.format("N", 1))


async def test_a_registered_bot_that_begins_again_is_back_in_its_game(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(absence=100)) as house,
        line(house) as robot,
        sailor(house, "ann") as ann,
    ):
        token = await left_by_a_registered_bot(house, robot, ann)
        async with line(house) as again:
            await again.receive()
            again.send(f"J|robot|{BOARD}|{token}")
            await again.expect("J|robot", f"Y|{BOARD}")


async def test_who_joins_and_stays_silent_keeps_its_place_and_who_does_not_join_is_closed(
    tmp_path: Path,
) -> None:
    async with (
        boat_server(tmp_path, WAITING, limits_waiting=PATIENCE) as house,
        sailor(house, "ann") as ann,
        line(house) as idle,
    ):
        await idle.expect(G.format("N", 1).replace("|2|2|", "|2|3|"))
        leap(PATIENCE)
        assert await idle.rest() == ["you did not join in time"]
        ann.send("P|here")
        await ann.expect("P|here")


async def test_a_ping_that_fills_a_line_is_cut_like_all_that_is_sent(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, line(house) as one:
        await one.receive()
        one.send("P|" + "x" * 4092, "P|" + "x" * 4093)
        await one.expect(*["P|" + "x" * 4092] * 2)


async def test_rooms_at_one_port_are_asked_for_by_title(tmp_path: Path) -> None:
    small = BoatRoomSettings(title="Small", width=8, height=8, boats="A3 B2", goal=2, max=4)
    own = BoatRoomSettings(title="Own", port=-1)
    async with (
        boat_server(tmp_path, BoatRoomSettings(), small, own) as house,
        line(house) as one,
        line(house, "xbs Own") as two,
    ):
        await one.expect(G.format("N", 0))
        one.send("G|Nowhere", "G|Small", "J|toolongname|x", "G|Own", "G|Small")
        await one.expect(G.format("N", 0), "G|1.2.0|Small|N|2|4|0|2|8|8|2|A3|B2", "E|name too long")
        await one.expect(*["G|1.2.0|Small|N|2|4|0|2|8|8|2|A3|B2"] * 2)
        one.send("J|ann|AAA..BB." + "." * 56)
        await one.expect("J|ann")
        await two.expect("G|1.2.0|Own|N|2|2|0|17|10|10|5|A5|B4|C3|D3|E2")
        assert set(house.ports) == {"http", "xbs", "xbs Own"}
        assert [
            len(room.gathering.players) if room.gathering else None
            for room in boat_rooms(house).rooms
        ] == [0, 1, 0]


async def test_any_number_of_tables_run_at_one_port(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path) as house,
        sailors(house, "ann", "bob"),
        sailors(house, "carl", "dora"),
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        assert len(the_room(house).games) == 3
        ann.send("M||only to this table", "K")
        await bob.expect("M|ann|only to this table|All", "K|ann|", "N|bob")


async def test_a_room_that_does_not_repeat_is_over_after_its_game(tmp_path: Path) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(repeat=False)) as house:
        async with sailors(house, "ann", "bob") as (ann, bob):
            the_room(house).games[0].abort()
            await ann.rest()
            await bob.rest()
        async with line(house) as late:
            assert (await late.rest())[-1] == "game is full"
