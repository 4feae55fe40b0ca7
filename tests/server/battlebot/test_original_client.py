"""Battlebot's own client, unchanged: it gets only states, or the connection is closed."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from websockets.exceptions import ConnectionClosed, InvalidStatus

from botdrome.app import RunningServer
from botdrome.catalogue import CATALOGUE
from botdrome.contest.lobby import Wish
from botdrome.server.failures import STORE_AWAY
from botdrome.store.entries import StoreUnavailable
from tests.patience import PAUSE, until
from tests.server.battlebot.original_client import (
    State,
    first_free,
    log_in,
    nonsense,
    nothing,
    play,
    play_on,
)
from tests.server.clients import (
    NOTICES,
    PATIENCE,
    Client,
    bot,
    client,
    pair,
    registered,
    server,
    unhurried,
)

pytestmark = pytest.mark.anyio

GAME = "noughts-and-crosses"


def address(house: RunningServer) -> str:
    return house.url.replace("http", "ws", 1)


async def until_waiting(
    house: RunningServer, wish: Wish, players: int, work: list[asyncio.Task[None]]
) -> None:
    """Wait until this number of clients waits for newcomers and no match runs."""
    async with asyncio.timeout(PATIENCE):
        while len(house.desk.waiting(wish)) < players or house.desk.tables.live():
            assert not any(task.done() for task in work), [
                task.exception() for task in work if task.done()
            ]
            await asyncio.sleep(PAUSE)


async def test_in_a_contest_all_meet_also_one_that_comes_late(tmp_path: Path) -> None:
    """The contest is complete for two when the third comes; then everybody plays everybody else
    five times each way.
    """
    wish, results = Wish(GAME, contest="cup"), dict[str, list[State]](ada=[], bob=[], cleo=[])
    async with server(tmp_path, contest_wait=0.0, limits_waiting=0.001) as house:
        logins = {name: await registered(house, name) | {"contest": "cup"} for name in results}

        def begin(name: str) -> asyncio.Task[None]:
            return asyncio.create_task(play_on(address(house), logins[name], results[name]))

        work = [begin("ada"), begin("bob")]
        await until_waiting(house, wish, 2, work)
        assert [len(results[name]) for name in results] == [10, 10, 0]
        work.append(begin("cleo"))
        await until_waiting(house, wish, 3, work)
        assert [len(results[name]) for name in results] == [20, 20, 20]
        met = Counter(tuple(state["bots"]) for states in results.values() for state in states)
        assert met == {(one, two): 10 for one in results for two in results if one != two}, (
            "each game was told to two"
        )
        for task in work:
            task.cancel()
        await asyncio.wait(work)


async def test_it_waits_in_silence_for_as_long_as_nobody_comes(tmp_path: Path) -> None:
    async with server(tmp_path, limits_waiting=0.001) as house:
        work = asyncio.create_task(play(address(house), await registered(house, "ada")))
        other = await registered(house, "zoe", "gomoku") | NOTICES
        await until(lambda: house.desk.waiting(Wish(GAME)))
        async with bot(house, other) as zoe:
            assert (await zoe.receive())["error"] == "no opponent came within 0.001 seconds"
        assert not work.done()
        last = await play(address(house), await registered(house, "bob"))
        assert await asyncio.wait_for(work, PATIENCE) == last
        assert last["result"] == {"reason": "complete", "victor": "ada"}


@pytest.mark.parametrize("contest", [{}, {"contest": "cup"}])
async def test_while_a_server_drains_it_waits_in_silence(
    tmp_path: Path, contest: dict[str, Any]
) -> None:
    """It connects again after any close, at once and for ever, so it is closed when the drain is
    over, without a word.
    """
    with unhurried(GAME):
        async with (
            server(tmp_path, drain=3600.0) as house,
            pair(house) as (one, _),
            client(house) as late,
        ):
            cleo, dan = [
                await registered(house, name, "gomoku") | contest for name in ("cleo", "dan")
            ]
            waiting = await log_in(address(house), cleo)
            closing = asyncio.create_task(house.close())
            await until(lambda: house.desk.closing)
            with pytest.raises(InvalidStatus) as refused:
                await log_in(address(house), dan)
            assert (refused.value.response.status_code, refused.value.response.body) == (
                503,
                b"the server is stopping",
            )
            await late.send(dan)
            assert (await late.receive())["authentication"] == "OK", "it had connected before"
            for socket in (waiting, late.socket):
                await asyncio.wait_for(
                    await socket.ping(), PATIENCE
                )  # a message or a close would come before the pong
            await one.socket.close()
            await asyncio.wait_for(closing, PATIENCE)
            for quiet in (Client(waiting), late):
                assert await quiet.until_closed() == ([], 1000, "")


async def test_a_match_that_the_server_cuts_off_ends_with_a_state(tmp_path: Path) -> None:
    async with server(tmp_path, drain=0.0) as house:
        logins = [await registered(house, name) for name in ("ada", "bob")]
        work = [asyncio.create_task(play(address(house), login, nothing)) for login in logins]
        await until(house.desk.tables.live)
        await house.desk.close()
        for state in await asyncio.gather(*work):
            assert state["result"] == {"reason": "disconnect", "victor": None}


@pytest.mark.parametrize(
    ("loser", "reason"),
    [(first_free, "complete"), (nothing, "timeout"), (nonsense, "Didn't write unit tests")],
)
async def test_every_end_is_a_state_for_both(
    tmp_path: Path, loser: Any, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = CATALOGUE[GAME]
    limit = 10 if loser is nothing else 3_600_000
    monkeypatch.setitem(
        CATALOGUE,
        GAME,
        replace(row, terms=replace(row.terms, pace=replace(row.terms.pace, limit=limit))),
    )
    async with server(tmp_path) as house:
        ada, bob = await registered(house, "ada"), await registered(house, "bob")
        first = asyncio.create_task(play(address(house), ada, loser))
        await until(lambda: house.desk.waiting(Wish(GAME)))
        second = await play(address(house), bob)
        assert await first == second
        assert second["result"]["reason"] == reason
        assert second["result"]["victor"] == ("ada" if loser is first_free else "bob")


async def test_an_opponent_that_leaves_ends_the_game_with_a_state(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        work = asyncio.create_task(play(address(house), await registered(house, "ada"), nothing))
        socket = await log_in(address(house), await registered(house, "bob"))
        await asyncio.wait_for(socket.recv(), PATIENCE)
        await socket.close()
        assert (await work)["result"] == {"reason": "disconnect", "victor": "ada"}


async def test_messages_without_end_are_answered_by_a_close_alone(tmp_path: Path) -> None:
    async with server(tmp_path, message_rate=1.0, message_burst=20) as house:
        socket = await log_in(address(house), await registered(house, "ada"))
        for _ in range(40):
            await socket.send("{}")
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), PATIENCE)
        assert socket.close_code == 1008


async def test_a_contest_that_cannot_be_read_closes_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any) -> Any:
        raise OSError("no space left on device")

    async with server(tmp_path) as house:
        monkeypatch.setattr(house.arena.store, "meetings", fails)
        socket = await log_in(address(house), await registered(house, "ada") | {"contest": "cup"})
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), PATIENCE)
        assert (socket.close_code, socket.close_reason) == (1011, "")


@pytest.mark.parametrize(
    ("features", "told"),
    [({}, ([{"authentication": "failed"}], 1000)), (NOTICES, ([{"error": STORE_AWAY}], 1013))],
)
async def test_a_login_while_the_store_is_away_fails(
    tmp_path: Path, features: dict[str, Any], told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> Any:
        raise StoreUnavailable

    async with server(tmp_path) as house:
        login = await registered(house, "ada") | features
        monkeypatch.setattr(house.arena.store, "bot", away)
        async with client(house) as one:
            await one.send(login)
            assert (await one.until_closed())[:2] == told


async def test_extras_are_for_the_bot_that_asked(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob = [
            await registered(house, name, "bumblebots") | {"options": {"ticks": 1}}
            for name in ("ada", "bob")
        ]
        async with bot(house, ada | {"features": ["extras"]}) as one, bot(house, bob) as two:
            extended, _, _ = await one.until_closed()
            plain, _, _ = await two.until_closed()
            assert len(extended) == len(plain) == 2
            for more, less in zip(extended, plain, strict=True):
                assert more["ticks"] == 1 and set(more["record"]) == {"ada", "bob"}
                assert json.dumps(
                    {key: more[key] for key in more if key not in ("ticks", "record")}
                ) == json.dumps(less)
            assert (
                json.dumps(plain[-1]["result"])
                == '{"victor": null, "reason": "BUMBLEBOTS_FULL_TIME"}'
            )


async def test_illegal_turns_are_told_with_the_turn_and_the_count(tmp_path: Path) -> None:
    with unhurried(GAME):
        async with server(tmp_path) as house, pair(house) as (ada, _):
            await ada.send({"mark": "X", "space": [3, 0]})
            told = await ada.receive()
            assert list(told) == ["state", "turn"]
            assert list(told["turn"]) == ["mark", "space", "name", "time", "valid"]
