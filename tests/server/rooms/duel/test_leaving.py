"""Players of duel arena that log in again, leave or move late."""

import asyncio
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.games.gomoku import Gomoku
from botdrome.match.terms import Pace, Terms
from tests.patience import until
from tests.server.clients import PATIENCE
from tests.server.rooms.duel.clients import (
    FIND,
    FREE,
    arena,
    connected,
    free,
    held_back,
    pair,
    play_rows,
    seated,
)
from tests.server.rooms.duel.test_traps import OK, frames

pytestmark = pytest.mark.anyio


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
                assert [await newer.receive() for _ in range(2)] == [
                    OK,
                    {"event": "starting_game", "against": two.name},
                ]
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
        await lines.folded()
        assert (lines.line(gone.name) or pytest.fail()).invalid_moves == 3 - board
        async with free(house, gone.name) as back:
            await back.send(FIND)
            await stays.send(FIND)
            await seated(back, stays)


async def test_whoever_goes_before_the_match_begins_has_lost_it(tmp_path: Path) -> None:
    async with (
        arena(tmp_path, match_start_delay=0.2) as house,
        free(house, "ada") as ada,
        free(house, "bob") as bob,
    ):
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
        stop = house.arena.tables.on_change(
            lambda: None if house.arena.tables.live() else over.set()
        )
        if house.arena.tables.live():
            await asyncio.wait_for(over.wait(), PATIENCE)
        stop()


# Time.


async def test_a_late_move_is_dropped_and_its_board_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = CATALOGUE["gomoku"].terms
    assert (terms.pace.limit, terms.pace.allowed(1)) == (5000, 5500)
    pace = Pace(60_000, grace=10, first=500)
    monkeypatch.setitem(
        CATALOGUE, "gomoku", CatalogueEntry(Gomoku(), Terms(pace, strikes=1, boards=2))
    )
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
    async with (
        arena(tmp_path) as house,
        pair(house) as (one, two, _),
        free(house, "cid") as cid,
        free(house, "dan") as dan,
    ):
        await dan.send(FIND)
        await house.close()
        for each in (one, two, cid, dan):
            assert await each.until_closed() == []


async def test_a_result_that_cannot_be_stored_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: Any) -> None:
        raise OSError("the disk is full")

    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await play_rows(one, two, question)
        monkeypatch.setattr(house.arena.store, "finish", fail)
        await two.answer(await two.expect("get_move"), 99, 99)
        assert [await each.until_closed() for each in (one, two)] == [[], []]
