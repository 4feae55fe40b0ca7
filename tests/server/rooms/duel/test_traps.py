"""Where the original of duel arena got stuck, or let others wait: each of them once."""

import asyncio
import json
import socket
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.rooms.duel import WISH
from tests.patience import until
from tests.server.clients import PATIENCE, leap
from tests.server.rooms.duel.clients import (
    FIND,
    FREE,
    Duellist,
    arena,
    connected,
    free,
    pair,
    play_rows,
    seated,
)

pytestmark = pytest.mark.anyio

OK = {"status": "ok"}


async def frames(one: Duellist, *messages: Any) -> None:
    """All in one piece."""
    bodies = [json.dumps(message).encode() for message in messages]
    await one.bytes(b"".join([len(body).to_bytes(4, "big") + body for body in bodies]))


# Framing.


@pytest.mark.parametrize("header", [b"\xff\xff\xff\xff", b"\x00\x01\x00\x01", b"\x00\x00\x00\x00"])
async def test_a_length_that_cannot_be_is_answered_at_once_and_not_waited_for(
    shared: RunningServer, header: bytes
) -> None:
    async with connected(shared) as stranger, free(shared, "ada") as ada:
        for each in (stranger, ada):
            await each.bytes(header)
            (answer,) = await asyncio.wait_for(each.until_closed(), PATIENCE)
            assert answer == {
                "status": "error",
                "message": f"a frame of {int.from_bytes(header, 'big')} bytes: it has 1 to 65536",
            }


async def test_the_answer_arrives_even_if_more_was_on_its_way(shared: RunningServer) -> None:
    async with connected(shared) as one:
        await one.bytes(b"\xff\xff\xff\xff" + b"x" * 300_000)
        assert [message["status"] for message in await one.until_closed()] == ["error"]


async def test_the_longest_frame_is_read(shared: RunningServer) -> None:
    async with connected(shared) as one:
        await one.send_frame(json.dumps({"username": "ada", "more": ""}).encode().ljust(65536))
        assert await one.receive() == OK


async def test_a_frame_byte_by_byte(shared: RunningServer) -> None:
    async with connected(shared) as one:
        body = b'{"username": "ada"}'
        for byte in len(body).to_bytes(4, "big") + body:
            await one.bytes(bytes([byte]))
        assert [await one.receive() for _ in range(2)] == [OK, FREE]


async def test_whoever_sends_a_broken_frame_is_gone_and_not_paired_any_more(tmp_path: Path) -> None:
    async with (
        arena(tmp_path) as house,
        free(house, "zombie") as zombie,
        free(house, "ada") as ada,
        free(house, "bob") as bob,
    ):
        await zombie.send(FIND)
        await zombie.send_frame(b"null")
        assert [message["message"] for message in await zombie.until_closed()] == [
            "the frame says null"
        ]
        assert not house.arena.duel.online("zombie")
        await ada.send(FIND)
        await bob.send(FIND)
        await seated(ada, bob)


async def test_a_client_that_sends_the_header_and_the_body_apart_loses_no_time(
    tmp_path: Path,
) -> None:
    """As the original's clients do, with Nagle's algorithm on: each body then waits for word that
    its header has come.
    """
    async with arena(tmp_path) as house, pair(house) as (one, two, first):
        for each in (one, two):
            each.writer.get_extra_info("socket").setsockopt(
                socket.IPPROTO_TCP, socket.TCP_NODELAY, 0
            )
        question, times = first, []
        for step in range(30):
            mover, other = (one, two) if step % 2 == 0 else (two, one)
            move = {
                "event": "make_move",
                "id": question["id"],
                "x": 2 * step % 15,
                "y": 2 * step // 15,
            }
            body, began = json.dumps(move).encode(), monotonic()
            await mover.bytes(len(body).to_bytes(4, "big"))
            await mover.bytes(body)
            question = await other.expect("get_move")
            times.append(monotonic() - began)
        slower = max(min(times[::2]), min(times[1::2]))
        assert slower < 0.03, "with the trap each move of one of them takes 0.04 at least"


async def test_a_flood_is_cut_off_but_quick_answers_are_none(tmp_path: Path) -> None:
    async with (
        arena(tmp_path, message_burst=5, message_rate=0.001) as house,
        pair(house) as (one, two, question),
    ):
        await play_rows(one, two, question)
        await play_rows(two, one, await two.expect("get_move"))
        assert [await each.receive() for each in (one, two)] == [FREE, FREE]
        await frames(one, *[{"event": "chat"}] * 6)
        assert await one.until_closed() == [{"status": "error", "message": "too many messages"}]


# Login.


async def test_a_bad_login_is_closed_at_once_without_waiting_for_the_next_client(
    shared: RunningServer,
) -> None:
    async with connected(shared) as one:
        await one.send({"user": "x"})
        (answer,) = await asyncio.wait_for(one.until_closed(), PATIENCE)
        assert answer == {"status": "error", "message": 'log in first: {"username": "NAME"}'}


async def test_whoever_says_nothing_is_sent_away(tmp_path: Path) -> None:
    async with arena(tmp_path, limits_login=0.05) as house, connected(house) as one:
        await one.bytes(b"\0\0")
        assert await one.until_closed() == [
            {"status": "error", "message": "no login within 0.05 seconds"}
        ]


async def test_somebody_who_has_logged_in_may_take_its_time(tmp_path: Path) -> None:
    limits = {"limits_login": PATIENCE, "limits_waiting": PATIENCE}
    async with (
        arena(tmp_path, **limits) as house,
        connected(house) as nobody,
        free(house, "ada") as ada,
    ):
        await ada.send(FIND)
        await until(lambda: house.desk.waiting(WISH))
        leap(PATIENCE)
        await nobody.until_closed()
        async with free(house, "bob") as bob:
            await bob.send(FIND)
            await seated(ada, bob)


@pytest.mark.parametrize("name", ["", "x" * 2000, 5, None, ["a"], {"a": 1}, "a\0b", "house:threes"])
async def test_a_name_that_cannot_be_is_refused(shared: RunningServer, name: Any) -> None:
    async with connected(shared) as one:
        await one.send({"username": name})
        assert [message["status"] for message in await one.until_closed()] == ["error"]


async def test_a_registered_name_needs_its_token(tmp_path: Path) -> None:
    async with arena(tmp_path) as house:
        _, token = await house.arena.register("gomoku", "ada", "me")
        await house.arena.register("bumblebots", "bee", "me")
        for password in ({}, {"password": "wrong"}, {"password": 7}):
            async with connected(house) as thief:
                await thief.send({"username": "ada"} | password)
                words = "ada is a registered bot: its token is needed"
                assert await thief.until_closed() == [{"status": "error", "message": words}]
        async with free(house, "ada", password=token):
            async with connected(house) as thief:
                await thief.send({"username": "ada"})
                await thief.until_closed()
            assert house.arena.duel.online("ada")
        async with free(house, "judy", password="x"):
            pass
