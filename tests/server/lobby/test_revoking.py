"""A token that is revoked or changed ends the sessions that were opened with it, on all
protocols.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.lobby.registry import Registry
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.store.entries import BotEntry, hashed
from botdrome.store.store import open_store
from tests.server.calling.hosts import Asked
from tests.server.clients import NOTICES, bot, client, registered, server, unhurried
from tests.server.lobby.url_hosts import url_bot, with_address
from tests.server.rooms.boats.clients import boat_server, sailor
from tests.server.rooms.bomber.clients import STEPS, room
from tests.server.rooms.duel.clients import FIND, arena, free
from tests.store.entries import a_bot

pytestmark = pytest.mark.anyio

Change = Callable[[RunningServer, str], Awaitable[Any]]


async def found(house: RunningServer, name: str) -> BotEntry:
    entry = await house.arena.store.bot(name)
    assert entry is not None
    return entry


async def revoke(house: RunningServer, name: str) -> None:
    await house.arena.revoke(await found(house, name))


async def rotate(house: RunningServer, name: str) -> None:
    await house.arena.rotate(await found(house, name))


CHANGES = pytest.mark.parametrize("change", [revoke, rotate])


@CHANGES
async def test_a_native_bot_that_waits_is_closed_without_a_word(
    tmp_path: Path, change: Change
) -> None:
    async with server(tmp_path) as house, bot(house, await registered(house, "ann")) as ann:
        await change(house, "ann")
        assert await ann.until_closed() == ([], 1000, "the token was changed")
        assert len(house.desk.registry.clients) == 0


async def test_a_native_bot_that_plays_leaves_its_match(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        logins = [await registered(house, name) for name in ("ann", "bob")]
        with unhurried("noughts-and-crosses"):
            async with bot(house, logins[0]) as ann, bot(house, logins[1]) as bob:
                await ann.receive()
                await bob.receive()
                await revoke(house, "ann")
                assert (await bob.until_closed())[0][-1]["state"]["result"]["victor"] == "bob"
                await ann.until_closed()
        async with client(house) as again:
            await again.send(logins[0])
            assert (await again.receive())["authentication"] == "failed"
        assert len(house.desk.registry.clients) == 0


async def test_sessions_of_others_and_of_the_new_token_go_on(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ann")
        async with bot(house, await registered(house, "bob", "gomoku")) as bob:
            _, token = await house.arena.rotate(await found(house, "ann"))
            async with bot(house, login | {"password": token}):
                assert len(house.desk.registry.clients) == 2
                await house.arena.move(await found(house, "ann"), None)
                assert len(house.desk.registry.clients) == 2
            await bob.socket.ping()


async def test_a_duellist_is_closed_without_a_word(tmp_path: Path) -> None:
    async with arena(tmp_path) as house:
        token = (await registered(house, "ann", "gomoku"))["password"]
        async with free(house, "ann", password=token) as ann, free(house, "bob") as bob:
            await ann.send(FIND)
            await bob.send(FIND)
            await ann.expect("starting_game")
            await revoke(house, "ann")
            assert [message["event"] for message in await ann.until_closed()] in ([], ["get_move"])
            assert (await bob.receive())["event"] == "starting_game"
            assert "win" in [(await bob.receive())["event"] for _ in range(2)]


async def test_a_boat_is_closed_without_a_word(tmp_path: Path) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(auto_start=False)) as house:
        token = (await registered(house, "ann", "battleship"))["password"]
        async with sailor(house, "ann", token) as ann, sailor(house, "bob") as bob:
            await revoke(house, "ann")
            await ann.expect("J|bob")
            assert await ann.rest() == []
            await bob.expect("J|ann", "L|ann|")


async def test_nobody_acts_for_a_bomberman_user_without_a_token(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS) as (house, one):
        token = (await registered(house, "Ann", "bomberman"))["password"]
        ann = await one.register("Ann", password=token)
        await rotate(house, "Ann")
        assert (await one.state())["users"] == []
        assert (await one.act(ann, "WAIT"))["information"] == "UNKNOWN_USER"
        await one.begin("Bob", "Cid")


async def test_a_tunnel_is_closed(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ann")
        async with client(house, "/connect") as tunnel:
            await tunnel.send({"name": "ann", "password": login["password"]})
            assert (await tunnel.receive())["connected"] == "ann"
            await revoke(house, "ann")
            assert await tunnel.until_closed() == (
                [{"error": "the token was changed"}],
                1008,
                "the token was changed",
            )


@CHANGES
async def test_a_bot_with_a_url_that_plays_leaves_its_match(tmp_path: Path, change: Change) -> None:
    """While it is being asked for a move, too."""
    asked = asyncio.Event()

    def say_nothing(*_: object) -> bytes:
        asked.set()
        return b""

    async with server(tmp_path) as house, url_bot() as called:
        await with_address(house, "called", called)
        with unhurried("noughts-and-crosses"):
            async with bot(house, await registered(house, "ann") | {"opponent": "called"}) as ann:
                await ann.receive()
                called.instead = say_nothing
                await ann.send({"mark": "X", "space": [0, 0]})
                await asked.wait()
                await change(house, "called")
                assert (await ann.until_closed())[0][-1]["state"]["result"]["victor"] == "ann"
        assert len(house.desk.registry.clients) == 0 and not called.ended.qsize()


async def test_a_bot_with_a_url_does_not_come_without_a_token(tmp_path: Path) -> None:
    """It is revoked while it is being asked whether it comes."""
    asked, go_on = asyncio.Event(), asyncio.Event()
    async with server(tmp_path) as house, url_bot() as called:

        async def slowly(writer: asyncio.StreamWriter, message: Asked) -> None:
            asked.set()
            await go_on.wait()
            await called(writer, message)

        await with_address(house, "called", called)
        called.host._say = slowly
        async with bot(
            house, await registered(house, "ann") | {"opponent": "called"} | NOTICES
        ) as ann:
            await asked.wait()
            await revoke(house, "called")
            go_on.set()
            assert "called does not answer" in (await ann.receive())["error"]


async def test_a_bot_that_is_read_while_it_is_changed_is_read_again(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/store.db")
    await store.register(a_bot("ann", token_hash=hashed("old")))
    registry, read, changed = Registry(store), store.bot, asyncio.Event()

    async def slowly(name: str) -> BotEntry | None:
        entry = await read(name)
        if not changed.is_set():
            await store.change_token("ann", hashed("new"))
            registry.forget("ann")
            changed.set()
        return entry

    store.bot = slowly  # type: ignore[method-assign]
    entry = await registry.find("ann")
    assert entry is not None and entry.token_hash == hashed("new")
    assert registry.known("ann") == entry
    await store.close()
