"""Habits of clients that the original of duel arena put up with: each of them once, through a
socket.
"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.network.connection import Traffic
from botdrome.server.rooms.duel import DuelRoom
from botdrome.wire.duel import SURPLUS
from tests.patience import until
from tests.server.rooms.duel.clients import (
    FIND,
    FREE,
    Duellist,
    arena,
    connected,
    free,
    held_back,
    pair,
    play_rows,
    seated,
)

pytestmark = pytest.mark.anyio

OK = {"status": "ok"}


# Closing one's own side first, as `nc -N` does when its input is over.


async def test_a_login_is_answered_though_nothing_more_can_come(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
        one.writer.write(framed({"username": "ada"}, FIND))
        one.writer.write_eof()
        assert await one.until_closed() == [OK, FREE]
        assert not house.arena.duel.online("ada")


async def test_a_login_that_fails_is_answered_too(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
        await house.arena.register("gomoku", "ada", "me")
        one.writer.write(framed({"username": "ada"}))
        one.writer.write_eof()
        assert [message["status"] for message in await one.until_closed()] == ["error"]


async def test_nobody_makes_way_for_one_who_cannot_play(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        async with connected(house) as deaf:
            deaf.writer.write(framed({"username": one.name}))
            deaf.writer.write_eof()
            assert await deaf.until_closed() == [OK, FREE]
        await play_rows(one, two, question)


async def test_in_a_match_it_is_the_same_as_going(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, _):
        one.writer.write_eof()
        assert [(await two.receive())["event"] for _ in range(3)] == [
            "win",
            "win",
            "player_is_free",
        ]
        assert await one.until_closed() == []


async def test_whoever_goes_without_a_login_is_just_gone(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
        one.writer.write(b"\0\0")
        one.writer.write_eof()
        assert await one.until_closed() == []


# Asking for an opponent.


async def test_to_ask_again_before_the_match_begins_is_no_wish_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some ask with the login, and again when they are told that they are free."""
    begin = held_back(monkeypatch)
    async with arena(tmp_path) as house, connected(house) as one, connected(house) as two:
        one.name, two.name = "ada", "bob"
        for each in (one, two):
            await each.bytes(framed({"username": each.name}, FIND, FIND))
            assert [await each.receive() for _ in range(2)] == [OK, FREE]
        await until(house.arena.tables.live)
        for each in (one, two):
            await each.send(FIND)
        async with free(house, "cid"):
            begin()  # what came before this one has been read
        monkeypatch.undo()
        await play_a_match(*await seated(one, two))
        assert not house.arena.tables.live()
        await nobody_else_waits(house)


async def test_a_wish_that_came_with_the_login_is_fulfilled_by_the_match_that_runs(
    tmp_path: Path,
) -> None:
    async with arena(tmp_path) as house, pair(house) as (old, two, _), connected(house) as new:
        new.name = old.name
        await new.bytes(framed({"username": new.name}, FIND))
        assert [await new.receive() for _ in range(2)] == [
            OK,
            {"event": "starting_game", "against": two.name},
        ]
        await play_a_match(new, two, await new.expect("get_move"))
        await nobody_else_waits(house)


async def nobody_else_waits(house: RunningServer) -> None:
    async with free(house, "cid") as cid, free(house, "dan") as dan:
        await cid.send(FIND)
        await dan.send(FIND)
        await seated(cid, dan)


async def play_a_match(one: Duellist, two: Duellist, question: Any) -> None:
    await play_rows(one, two, question)
    await play_rows(two, one, await two.expect("get_move"))
    assert [await each.receive() for each in (one, two)] == [FREE, FREE]


# Answers.


async def test_some_answer_everything_twice_at_any_speed(tmp_path: Path) -> None:
    async with (
        arena(tmp_path, message_burst=3, message_rate=0.001) as house,
        pair(house) as (one, two, question),
    ):
        await play_rows_twice(one, two, question)
        await play_rows_twice(two, one, await two.expect("get_move"))
        assert [await each.receive() for each in (one, two)] == [FREE, FREE]


async def test_but_not_any_number_of_times(tmp_path: Path) -> None:
    async with (
        arena(tmp_path, message_burst=3, message_rate=0.001) as house,
        pair(house) as (one, two, question),
    ):
        await one.answer(question, 7, 7)
        await two.expect("get_move")
        await one.bytes(
            framed(*[{"event": "make_move", "id": "old", "x": 1, "y": 1}] * (SURPLUS + 4))
        )
        assert await one.until_closed() == [{"status": "error", "message": "too many messages"}]
        assert [(await two.receive())["event"] for _ in range(3)] == [
            "win",
            "win",
            "player_is_free",
        ]


async def play_rows_twice(one: Duellist, two: Duellist, question: Any) -> None:
    for step in range(9):
        mover, other = (one, two) if step % 2 == 0 else (two, one)
        move = {"event": "make_move", "id": question["id"], "x": step // 2, "y": step % 2}
        await mover.bytes(framed(move, move | {"x": 9}))
        if step < 8:
            question = await other.expect("get_move")
    await one.expect("win")
    await two.expect("lose")


@pytest.mark.parametrize(
    "more", ['"score": NaN', '"score": -Infinity', '"score": 1e999', '"said": "\\ud83d"']
)
async def test_python_s_own_kind_of_json_is_read(tmp_path: Path, more: str) -> None:
    async with arena(tmp_path) as house, connected(house) as one, free(house, "bob") as bob:
        one.name = "ada"
        await one.send_frame(f'{{"username": "ada", {more}}}'.encode())
        assert [await one.receive() for _ in range(2)] == [OK, FREE]
        await one.send_frame(f'{{"event": "find_opponent", {more}}}'.encode())
        await bob.send(FIND)
        mover, other, question = await seated(one, bob)
        await mover.send_frame(
            f'{{"event": "make_move", "id": "{question["id"]}", "x": 3, "y": 4, {more}}}'.encode()
        )
        assert (await other.expect("get_move"))["board"]["_moves"] == [[3, 4]]


@pytest.mark.parametrize("number", ["NaN", "Infinity", '"\\ud83d"'])
async def test_what_is_no_number_even_there_may_be_said_again(tmp_path: Path, number: str) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await one.send_frame(
            f'{{"event": "make_move", "id": "{question["id"]}", "x": {number}, "y": 4}}'.encode()
        )
        await one.answer(question, 5, 5)
        assert (await two.expect("get_move"))["board"]["_moves"] == [[5, 5]]


async def test_half_a_letter_is_no_name(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
        await one.send_frame(b'{"username": "\\ud83d"}')
        assert await one.until_closed() == [
            {"status": "error", "message": "username has printable characters only"}
        ]


def framed(*messages: Any) -> bytes:
    bodies = [json.dumps(message).encode() for message in messages]
    return b"".join([len(body).to_bytes(4, "big") + body for body in bodies])


class Nowhere:
    """A connection without a peer."""

    address = "127.0.0.1"
    traffic = Traffic()

    def network_time(self) -> float:
        return 0.0

    def delay(self) -> float:
        return 0.0

    def send(self, messages: list[bytes]) -> None:
        pass

    def close(self, code: int = 1000, reason: str = "") -> None:
        pass


async def test_any_number_may_come_under_one_name_before_the_match_begins(tmp_path: Path) -> None:
    async with arena(tmp_path) as house:
        hall = house.server_of(DuelRoom)
        sessions = [hall.connect(Nowhere()) for _ in range(3000)]
        for one, successor in pairwise(sessions):
            one.successor = successor
            one.lost()
        assert sessions[0].present
        sessions[-1].lost()
        assert not sessions[0].present
