"""Where the original of duel arena got stuck, or let others wait: each of them once."""

import asyncio
import json
import socket
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from botdrome.formats import FORMATS, Format
from botdrome.games.gomoku import Gomoku
from botdrome.match.terms import Pace, Terms
from botdrome.server.duel.hall import WISH
from tests.server.clients import PATIENCE, leap
from tests.server.duellists import FIND, FREE, Duellist, arena, connected, free, held_back, pair, play_rows, seated, until

pytestmark = pytest.mark.anyio

OK = {"status": "ok"}


async def frames(one: Duellist, *messages: Any) -> None:
    """All in one piece."""
    bodies = [json.dumps(message).encode() for message in messages]
    await one.bytes(b"".join([len(body).to_bytes(4, "big") + body for body in bodies]))


# Framing.


@pytest.mark.parametrize("header", [b"\xff\xff\xff\xff", b"\x00\x01\x00\x01", b"\x00\x00\x00\x00"])
async def test_a_length_that_cannot_be_is_answered_at_once_and_not_waited_for(tmp_path: Path, header: bytes) -> None:
    async with arena(tmp_path) as house, connected(house) as stranger, free(house, "ada") as ada:
        for each in (stranger, ada):
            await each.bytes(header)
            (answer,) = await asyncio.wait_for(each.until_closed(), PATIENCE)
            assert answer == {
                "status": "error",
                "message": f"a frame of {int.from_bytes(header, 'big')} bytes: it has 1 to 65536",
            }


async def test_the_answer_arrives_even_if_more_was_on_its_way(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
        await one.bytes(b"\xff\xff\xff\xff" + b"x" * 300_000)
        assert [message["status"] for message in await one.until_closed()] == ["error"]


async def test_the_longest_frame_is_read(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
        await one.frame(json.dumps({"username": "ada", "more": ""}).encode().ljust(65536))
        assert await one.receive() == OK


async def test_a_frame_byte_by_byte(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
        body = b'{"username": "ada"}'
        for byte in len(body).to_bytes(4, "big") + body:
            await one.bytes(bytes([byte]))
        assert [await one.receive() for _ in range(2)] == [OK, FREE]


async def test_whoever_sends_a_broken_frame_is_gone_and_not_paired_any_more(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, free(house, "zombie") as zombie, free(house, "ada") as ada, free(house, "bob") as bob:
        await zombie.send(FIND)
        await zombie.frame(b"null")
        assert [message["message"] for message in await zombie.until_closed()] == ["the frame says null"]
        assert not house.arena.duel.online("zombie")
        await ada.send(FIND)
        await bob.send(FIND)
        await seated(ada, bob)


async def test_a_client_that_sends_the_header_and_the_body_apart_loses_no_time(tmp_path: Path) -> None:
    """As the original's clients do, with Nagle's algorithm on: each body then waits for word that its header has come."""
    async with arena(tmp_path) as house:
        times = []
        for attempt in range(3):
            async with pair(house, f"ada {attempt}", f"bob {attempt}") as (one, two, first):
                for each in (one, two):
                    each.writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
                began, question = monotonic(), first
                for step in range(30):
                    mover, other = (one, two) if step % 2 == 0 else (two, one)
                    move = {"event": "make_move", "id": question["id"], "x": 2 * step % 15, "y": 2 * step // 15}
                    body = json.dumps(move).encode()
                    await mover.bytes(len(body).to_bytes(4, "big"))
                    await mover.bytes(body)
                    question = await other.expect("get_move")
                times.append((monotonic() - began) / 30)
        assert min(times) < 0.02, "with the trap it is 0.04 at least"


async def test_a_flood_is_cut_off_but_quick_answers_are_none(tmp_path: Path) -> None:
    async with arena(tmp_path, message_burst=5, message_rate=0.001) as house, pair(house) as (one, two, question):
        await play_rows(one, two, question)
        await play_rows(two, one, await two.expect("get_move"))
        assert [await each.receive() for each in (one, two)] == [FREE, FREE]
        await frames(one, *[{"event": "chat"}] * 6)
        assert await one.until_closed() == [{"status": "error", "message": "too many messages"}]


# Login.


async def test_a_bad_login_is_closed_at_once_without_waiting_for_the_next_client(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
        await one.send({"user": "x"})
        (answer,) = await asyncio.wait_for(one.until_closed(), PATIENCE)
        assert answer == {"status": "error", "message": 'log in first: {"username": "NAME"}'}


async def test_whoever_says_nothing_is_sent_away(tmp_path: Path) -> None:
    async with arena(tmp_path, limits_login=0.05) as house, connected(house) as one:
        await one.bytes(b"\0\0")
        assert await one.until_closed() == [{"status": "error", "message": "no login within 0.05 seconds"}]


async def test_somebody_who_has_logged_in_may_take_its_time(tmp_path: Path) -> None:
    limits = {"limits_login": PATIENCE, "limits_waiting": PATIENCE}
    async with arena(tmp_path, **limits) as house, connected(house) as nobody, free(house, "ada") as ada:
        await ada.send(FIND)
        await until(lambda: house.desk.waiting(WISH))
        leap(PATIENCE)
        await nobody.until_closed()
        async with free(house, "bob") as bob:
            await bob.send(FIND)
            await seated(ada, bob)


@pytest.mark.parametrize("name", ["", "x" * 2000, 5, None, ["a"], {"a": 1}, "a\0b", "house:threes"])
async def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: Any) -> None:
    async with arena(tmp_path) as house, connected(house) as one:
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


async def test_find_opponent_together_with_the_login(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, connected(house) as one, connected(house) as two:
        one.name, two.name = "ada", "bob"
        for each in (one, two):
            await frames(each, {"username": each.name}, FIND, FIND)
            assert [await each.receive() for _ in range(2)] == [OK, FREE]
        await seated(one, two)


async def test_find_opponent_during_a_match_is_remembered(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await one.send(FIND)
        await play_rows(one, two, question)
        await two.send(FIND)
        await play_rows(two, one, await two.expect("get_move"))
        assert [await each.receive() for each in (one, two)] == [FREE, FREE]
        await seated(one, two)


async def test_the_newest_login_takes_over_a_running_match(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (old, two, question):
        await old.answer(question, 7, 7)
        await two.answer(await two.expect("get_move"), 7, 8)
        asked = await old.expect("get_move")
        async with connected(house) as new:
            await new.send({"username": old.name})
            assert await new.receive() == OK
            assert await new.receive() == {"event": "starting_game", "against": two.name}
            anew = await new.expect("get_move")
            assert anew["board"] == asked["board"] and anew["id"] != asked["id"]
            assert await old.until_closed() == []
            await new.answer(asked, 0, 0)
            await new.answer(anew, 8, 8)
            assert (await two.expect("get_move"))["board"]["_moves"] == [[7, 7], [7, 8], [8, 8]]
            async with connected(house) as newer:
                await newer.send({"username": old.name})
                assert [await newer.receive() for _ in range(2)] == [OK, {"event": "starting_game", "against": two.name}]
                assert await new.until_closed() == []


async def test_the_newest_login_takes_over_a_match_that_is_about_to_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = held_back(monkeypatch)
    async with arena(tmp_path) as house, free(house, "ada") as old, free(house, "bob") as bob:
        await old.send(FIND)
        await bob.send(FIND)
        async with connected(house) as new:
            new.name = "ada"
            await until(house.arena.tables.live)
            await new.send({"username": "ada"})
            assert await new.receive() == OK
            assert await old.until_closed() == []
            begin()
            await seated(new, bob)


async def test_two_of_one_name_never_meet(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, free(house, "ada") as old:
        await old.send(FIND)
        async with free(house, "ada") as new:
            await new.send(FIND)
            assert await old.until_closed() == []
            async with free(house, "bob") as bob:
                await bob.send(FIND)
                await seated(new, bob)


# Going away.


@pytest.mark.parametrize("to_move", [True, False])
@pytest.mark.parametrize("board", [1, 2])
async def test_whoever_stays_has_won_at_once(tmp_path: Path, to_move: bool, board: int) -> None:
    async with arena(tmp_path) as house, pair(house) as (first, second, asked):
        one, two, question = first, second, asked
        if board == 2:
            await play_rows(first, second, asked)
            one, two, question = second, first, await second.expect("get_move")
        await one.answer(question, 3, 4)
        await two.expect("get_move")
        gone, stays = (two, one) if to_move else (one, two)
        await gone.close()
        wins = [await stays.expect("win") for _ in range(3 - board)]
        assert await stays.receive() == FREE
        assert [win["board"]["_id"] for win in wins] == [1, 2][board - 1 :]
        assert [win["board"]["_moves"] for win in wins] == [[[3, 4]], []][: 3 - board]
        lines = house.arena.duel
        assert (lines.line(gone.name) or pytest.fail()).invalid_moves == 3 - board
        async with free(house, gone.name) as back:
            await back.send(FIND)
            await stays.send(FIND)
            await seated(back, stays)


async def test_whoever_goes_before_the_match_begins_has_lost_it(tmp_path: Path) -> None:
    async with arena(tmp_path, match_start_delay=0.2) as house, free(house, "ada") as ada, free(house, "bob") as bob:
        await ada.send(FIND)
        await bob.send(FIND)
        await until(house.arena.tables.live)
        await ada.close()
        heard = [await bob.receive() for _ in range(4)]
        if heard[1]["event"] == "get_move":
            heard = [*heard, await bob.receive()]
        assert [message["event"] for message in heard if message["event"] != "get_move"] == [
            "starting_game", "win", "win", "player_is_free",
        ]  # fmt: skip


async def test_both_go(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, _):
        await one.close()
        await two.close()
        over = asyncio.Event()
        stop = house.arena.tables.on_change(lambda: None if house.arena.tables.live() else over.set())
        if house.arena.tables.live():
            await asyncio.wait_for(over.wait(), PATIENCE)
        stop()


# Time.


async def test_a_late_move_is_dropped_and_its_board_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = FORMATS["gomoku"].terms
    assert (terms.pace.limit, terms.pace.allowed(1)) == (5000, 5500)
    pace = Pace(60_000, grace=10, first=500)
    monkeypatch.setitem(FORMATS, "gomoku", Format(Gomoku(), Terms(pace, strikes=1, boards=2)))
    began = monotonic()
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        assert question["timeout"] == 0.5
        await one.answer(question, None, None)
        invalid = await one.expect("invalid_move")
        assert monotonic() - began >= 0.5
        assert (invalid["x"], invalid["y"], invalid["board"]["_moves"]) == (None, None, [])
        await one.expect("lose")
        await one.answer(question, 1, 1)
        await two.expect("win")
        await two.answer(await two.expect("get_move"), 2, 2)
        assert (await one.expect("get_move"))["board"]["_moves"] == [[2, 2]]


# The end.


async def test_a_server_that_stops_closes_without_a_word(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, _), free(house, "cid") as cid, free(house, "dan") as dan:
        await dan.send(FIND)
        await house.close()
        for each in (one, two, cid, dan):
            assert await each.until_closed() == []


async def test_a_result_that_cannot_be_stored_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_: Any) -> None:
        raise OSError("the disk is full")

    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await play_rows(one, two, question)
        monkeypatch.setattr(house.arena.store, "finish", fail)
        await two.answer(await two.expect("get_move"), 99, 99)
        assert [await each.until_closed() for each in (one, two)] == [[], []]
