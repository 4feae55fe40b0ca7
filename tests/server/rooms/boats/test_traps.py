"""Weaknesses of the original: no action of one client may affect another."""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.patience import until
from tests.server.rooms.boats.clients import BOARD, boat_server, line, sailor, sailors, the_room

pytestmark = pytest.mark.anyio


async def test_half_a_line_holds_up_nobody(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path) as house,
        line(house) as half,
        sailors(house, "ann", "bob") as (ann, bob),
    ):
        await half.receive()
        half.write(b"J|half|....")
        bob.write(b"M||half a mess")
        ann.send("S|bob|1|1")
        await ann.until("N|bob")
        bob.write(b"age\nK\n")
        await ann.expect("M|bob|half a message|All", "K|bob|", "N|ann")
        half.write(BOARD[4:].encode() + b"\n")
        await half.expect("J|half")


async def test_lines_may_come_byte_by_byte_or_all_at_once(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, BoatRoomSettings(max=3)) as house,
        line(house) as slow,
        line(house) as hasty,
    ):
        await slow.receive()
        for byte in f"J|slow|{BOARD}\r\n".encode():
            slow.write(bytes([byte]))
            await asyncio.sleep(0)
        await slow.expect("J|slow")
        await hasty.receive()
        hasty.send("G", f"J|hasty|{BOARD}", "T|hit|ouch", "M||hello", "P|last", "L|bye", "G")
        answers = await hasty.rest()
        assert answers[1:] == ["J|hasty", "J|slow", "P|last", "bye"]
        await slow.expect("J|hasty", "M|hasty|hello|All", "L|hasty|bye")


async def test_who_does_not_read_is_cut_off_and_the_game_goes_on(tmp_path: Path) -> None:
    """It asks for more than it takes."""
    async with boat_server(
        tmp_path, BoatRoomSettings(absence=0), message_rate=1e9, message_burst=10**9
    ) as house:
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.setblocking(False)
        await asyncio.get_running_loop().sock_connect(deaf, ("127.0.0.1", house.ports["xbs"]))
        await asyncio.get_running_loop().sock_sendall(deaf, f"J|deaf|{BOARD}\n".encode())
        await until(lambda: any(group.players for group in the_room(house).groups))
        async with sailor(house, "ann") as ann:
            await ann.until("N|")
            (game,) = the_room(house).games
            asks = f"P|{'x' * 4000}\n".encode() * 100
            while not game.absent:
                with suppress(ConnectionError):
                    await asyncio.get_running_loop().sock_sendall(deaf, asks)
                await asyncio.sleep(0)
            await ann.until("B|deaf|comm error|")
            ann.send("K")
            await ann.until("K|deaf|comm error")
        deaf.close()


async def test_what_a_closed_connection_had_sent_is_nobodys(tmp_path: Path) -> None:
    """In the original, the next client that got the same descriptor was taken to have said it."""
    async with boat_server(tmp_path, BoatRoomSettings(max=3)) as house, sailor(house, "ann") as ann:
        for number in range(5):
            async with line(house) as gone:
                await gone.receive()
                gone.write(b"L|bye\n" + f"J|ghost|{BOARD}\nM||boo\nM||half".encode())
                assert await gone.rest() == ["bye"]
            async with line(house) as fresh:
                assert (await fresh.receive()).startswith("G|")
                fresh.send(f"P|{number}")
                await fresh.expect(f"P|{number}")
        async with sailor(house, "bob"):
            await ann.expect("J|bob")


async def test_a_connection_that_breaks_in_the_middle_of_a_line_says_nothing(
    tmp_path: Path,
) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(max=3)) as house, sailor(house, "ann") as ann:
        async with sailor(house, "bob") as bob:
            bob.write(b"M||never fin")
        await ann.expect("J|bob", "L|bob|")


async def test_a_line_that_is_too_long_comes_in_pieces(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, sailors(house, "ann", "bob") as (ann, bob):
        ann.send("M||" + "y" * 5000, "K")
        await bob.expect("M|ann|" + "y" * 4088, "K|ann|", "N|bob")
        await ann.expect("protocol error", "K|ann|", "N|bob")


async def test_a_flood_ends_its_own_connection(tmp_path: Path) -> None:
    limits = {"message_rate": 1.0, "message_burst": 50}
    async with boat_server(tmp_path, **limits) as house, sailors(house, "ann", "bob") as (ann, bob):
        ann.send(*["Z"] * 200)
        told = await ann.rest()
        assert told[-1] == "too many messages"
        assert set(told[:-1]) == {"protocol error"}
        assert 40 <= len(told) <= 60
        assert (await bob.receive()).startswith("B|ann|disconnected|")


async def test_as_much_may_follow_a_j_at_once_as_may_follow_its_answer(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, line(house) as one:
        await one.receive()
        one.send(
            f"J|ann|{BOARD}", *[f"T|hit|taunt {number}" for number in range(300)], "P|all said"
        )
        await one.expect("J|ann", "P|all said")


async def test_a_flood_before_the_answer_to_a_j(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, line(house) as one:
        await one.receive()
        one.send(f"J|ann|{BOARD}", *["P|x"] * 500)
        assert (await one.rest())[-1] == "too many messages"
        assert the_room(house).gathering is not None
        async with sailor(house, "ann"):
            pass


async def test_shots_do_not_count_as_a_flood(tmp_path: Path) -> None:
    limits = {"message_rate": 0.001, "message_burst": 3}
    async with boat_server(tmp_path, **limits) as house, sailors(house, "ann", "bob") as (ann, bob):
        for number in range(20):
            ann.send(f"S|bob|{number % 10 + 1}|{number // 10 + 1}")
            await bob.until("N|bob")
            bob.send("K")
            await ann.until("N|ann")


async def test_too_many_connections_from_one_address_are_not_let_in(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, limits_connections_per_address=2) as house,
        line(house) as one,
        line(house) as two,
    ):
        await one.receive()
        await two.receive()
        async with line(house) as three:
            with suppress(ConnectionResetError):
                assert await three.receive() == ""
        one.send("P|still here")
        await one.expect("P|still here")


async def test_taunts_are_bounded(tmp_path: Path) -> None:
    async with boat_server(tmp_path) as house, sailors(house, "ann", "bob") as (ann, bob):
        bob.send(*[f"T|miss|{'z' * 4000}"] * 50, "P|set")
        await bob.expect("P|set")
        kept = the_room(house).games[0].players[1].taunts
        assert sum(map(len, kept._texts[b"miss"])) <= 16 << 10
        ann.send("S|bob|1|1")
        assert (await ann.receive()).startswith("M|bob|zzz")
