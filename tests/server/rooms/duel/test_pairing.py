"""Pairing: at once or after a gathering time, with new opponents first, and across protocols."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.lobby import desk
from botdrome.server.rooms import duel
from botdrome.server.rooms.duel import WISH, DuelRoom
from tests.patience import until
from tests.server.clients import PATIENCE, Client, bot, client, leap, registered
from tests.server.rooms.duel.clients import (
    FIND,
    FREE,
    Duellist,
    arena,
    free,
    pair,
    play_rows,
    seated,
)

pytestmark = pytest.mark.anyio


async def play_out(one: Duellist, two: Duellist, question: Any) -> None:
    await play_rows(one, two, question)
    await play_rows(two, one, await two.expect("get_move"))
    assert [await each.receive() for each in (one, two)] == [FREE, FREE]


async def waits(house: RunningServer, one: Duellist) -> None:
    """Once it has asked, and is waiting."""
    await one.send(FIND)
    await until(lambda: any(seeker.name == one.name for seeker in house.desk.waiting(WISH)))


async def gathered(house: RunningServer, *several: Duellist) -> None:
    """All have asked, twice, and the window is still open."""
    hall = house.server_of(DuelRoom)
    for each in several:
        await each.send(FIND)
        await each.send(FIND)
    await until(lambda: len(hall._gathered) == len(several))


async def test_rather_somebody_else_than_the_last_opponent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duel, "REMATCH", PATIENCE)
    async with (
        arena(tmp_path) as house,
        pair(house) as (ada, bob, first),
        pair(house, "cid", "dan") as (cid, dan, second),
    ):
        await play_out(ada, bob, first)
        await play_out(cid, dan, second)
        for each in (ada, bob, cid, dan):
            await each.send(FIND)
        against = {
            each.name: (await each.expect("starting_game"))["against"]
            for each in (ada, bob, cid, dan)
        }
        assert {against["ada"], against["bob"]} == {"cid", "dan"}


async def test_the_last_opponent_again_if_nobody_else_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duel, "REMATCH", 0.05)
    async with arena(tmp_path) as house, pair(house) as (one, two, question), free(house, "cid"):
        await play_out(one, two, question)
        for each in (one, two):
            await each.send(FIND)
        await seated(one, two)


async def test_the_last_opponent_again_at_once_if_there_is_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duel, "REMATCH", 10 * PATIENCE)
    async with arena(tmp_path) as house, pair(house) as (one, two, question):
        await play_out(one, two, question)
        for each in (one, two):
            await each.send(FIND)
        await seated(one, two)


async def test_with_a_window_they_gather_first_and_mix(tmp_path: Path) -> None:
    async with (
        arena(tmp_path, duel_window=PATIENCE) as house,
        free(house, "ada") as ada,
        free(house, "bob") as bob,
    ):
        await gathered(house, ada, bob)
        leap(PATIENCE)
        await play_out(*await seated(ada, bob))
        async with free(house, "cid") as cid, free(house, "dan") as dan, free(house, "eve") as eve:
            await gathered(house, ada, bob, cid, dan, eve)
            await eve.close()
            await until(lambda: not house.arena.duel.online("eve"))
            leap(PATIENCE)
            against = {
                each.name: (await each.expect("starting_game"))["against"]
                for each in (ada, bob, cid, dan)
            }
        assert {against["ada"], against["bob"]} == {"cid", "dan"}


@pytest.mark.parametrize("lot", [0, 1])
async def test_whoever_is_left_over_meets_those_of_other_protocols(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lot: int
) -> None:
    """The first player is random there, too."""
    monkeypatch.setattr(desk, "randrange", lambda _: lot)
    async with arena(tmp_path, duel_window=0.05) as house, free(house, "ada") as ada:
        await waits(house, ada)
        async with bot(house, await registered(house, "bob", "gomoku")) as bob:
            assert await ada.receive() == {"event": "starting_game", "against": "bob"}
            assert (await bob.receive())["state"]["bots"] == [["ada", "bob"], ["bob", "ada"]][lot]


@pytest.mark.parametrize("lot", [0, 1])
async def test_a_house_bot_plays_those_who_find_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lot: int
) -> None:
    monkeypatch.setattr(desk, "randrange", lambda _: lot)
    async with arena(tmp_path, house_fill=True, house_wait=0.0) as house, free(house, "ada") as ada:
        await ada.send(FIND)
        assert (await ada.expect("starting_game"))["against"].startswith("house:")
        question = await ada.expect("get_move")
        assert len(question["board"]["_moves"]) == lot
        await ada.answer(question, 0, 14)
        assert len((await ada.expect("get_move"))["board"]["_moves"]) == lot + 2


class Native:
    """A gomoku bot on a WebSocket that plays in the row below."""

    def __init__(self, socket: Client, name: str) -> None:
        self.socket, self.name = socket, name

    async def play(self) -> Any:
        message = await self.socket.receive()
        while message["state"]["result"] is None:
            state = message["state"]
            if self.name in state["waitingFor"]:
                stones = len(state["moves"])
                await self.socket.send({"x": stones // 2, "y": 9 + stones % 2})
            message = await self.socket.receive()
        return message


async def played_by(one: Duellist) -> list[Any]:
    """All that a player in the row above hears."""
    heard = []
    while True:
        message = await one.receive()
        heard.append(message)
        if message["event"] == "get_move":
            stones = len(message["board"]["_moves"])
            await one.answer(message, stones // 2, 2 + stones % 2)
        if message == FREE:
            return heard


@pytest.mark.parametrize("first", ["duel", "native"])
async def test_a_framed_bot_and_one_on_a_websocket_at_one_table_with_a_spectator(
    tmp_path: Path, first: str
) -> None:
    async with arena(tmp_path, match_start_delay=0.2) as house, free(house, "ada") as ada:
        login = await registered(house, "bob", "gomoku")
        if first == "duel":
            await waits(house, ada)
        async with bot(house, login) as bob:
            if first == "native":
                await ada.send(FIND)
            await until(house.arena.tables.live)
            (table,) = house.arena.tables.live()
            async with client(house, f"/watch/{table.id}") as watcher:
                heard, last = await asyncio.gather(played_by(ada), Native(bob, "bob").play())
                seen, _, _ = await watcher.until_closed()
        results = [message for message in heard if message["event"] in ("win", "lose")]
        assert heard[0] == {"event": "starting_game", "against": "bob"}
        assert sorted(message["event"] for message in results) == ["lose", "win"]
        assert [len(message["board"]["_moves"]) for message in results] == [9, 9]
        assert last["state"]["result"]["reason"] == "complete"
        assert last["state"]["result"]["victor"] is None
        assert seen[0]["players"] == list(table.players)
        shown = [message["event"]["event"] for message in seen[1:]]
        assert (
            shown.count("played") == 18 and shown.count("board ended") == 2 and shown[-1] == "ended"
        )
        await house.arena.duel.folded()
        line = house.arena.duel.line("bob")
        assert line is not None and (line.wins, line.losses, line.total_games) == (1, 1, 2)
