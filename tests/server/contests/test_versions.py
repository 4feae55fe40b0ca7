"""Versions in contests: the document decides whether a new version may replace the old one."""

import asyncio
from pathlib import Path

import pytest

from botdrome.app import RunningServer
from botdrome.server.contests.contests import MOST_VERSIONS
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.patience import until
from tests.server.clients import bot, play_noughts, server
from tests.server.contests.entrants import entered, open_contest, stored_cup
from tests.server.contests.test_bombers import ROOM
from tests.server.rooms.boats.clients import BOARD, boat_server, line
from tests.server.rooms.bomber.clients import api

pytestmark = pytest.mark.anyio

CHANGED = (
    "ada has changed since the contest started: version 1, now 2; "
    "only `versions = true` in [entry] of the document would allow that"
)


async def here(house: RunningServer, name: str, version: str = "") -> None:
    """Wait until a bot waits for its match, and the version of the first bot is known."""
    cup = house.contests
    await until(
        lambda: name not in cup.awaited("cup") and cup.known("cup").entrants[0].version == version
    )


async def test_another_version_is_refused_after_the_start(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house)
        ada, _ = await entered(house, "ada", "bob")
        for version in ("0", "1"):
            async with bot(house, ada | {"version": version}):
                await until(lambda: house.contests.known("cup").entrants[0].version == version)
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada | {"version": "2"}) as one:
            assert await one.receive() == {"error": CHANGED}
        async with bot(house, ada) as one:
            assert await one.receive() == {"error": CHANGED.replace("now 2", "now unknown")}
        async with bot(house, ada | {"version": "1"}):
            await here(house, "ada", "1")


async def test_a_new_version_replaces_the_old_one_where_the_document_allows_it(
    tmp_path: Path,
) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, entry={"versions": True})
        ada, bob = await entered(house, "ada", "bob")
        await house.contests.act("cup", "start", "operator")
        async with bot(house, ada | {"version": "1"}) as old:
            await here(house, "ada", "1")
            async with bot(house, ada | {"version": "2"}) as new:
                assert await old.receive() == {
                    "error": "another version of ada has taken its place in the contest 'cup'"
                }
                async with bot(house, bob) as two:
                    await asyncio.gather(new.receive(), two.receive())
                    async with bot(house, ada | {"version": "3"}) as newest:
                        await here(house, "bob", "3")
                        await asyncio.gather(play_noughts(new, "ada"), play_noughts(two, "bob"))
                        await asyncio.gather(new.send({"again": True}), two.send({"again": True}))
                        assert await new.receive() == {
                            "error": "version 2 of ada was replaced in the contest by 3"
                        }
                        assert "match" in await newest.receive()
        matches = [
            await house.arena.store.match(result.match)
            for result in (await stored_cup(house)).results.values()
        ]
        assert matches[0] is not None and set(matches[0].versions) == {"2", ""}
        details = [
            one.detail for one in (await stored_cup(house)).log if one.action == "new version"
        ]
        assert details == [
            "ada: version unknown became 1",
            "ada: version 1 became 2",
            "ada: version 2 became 3",
        ]


async def test_versions_of_a_bot_are_limited(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await open_contest(house, entry={"versions": True})
        ada, _ = await entered(house, "ada", "bob")
        entry = await house.arena.store.bot("ada")
        assert entry is not None
        for number in range(MOST_VERSIONS + 1):
            await house.contests.enter("cup", entry, "ada", version=f"v{number}")
        async with bot(house, ada | {"version": "w"}) as one:
            assert await one.receive() == {
                "error": "ada has had 100 versions in the contest, and no more are allowed"
            }


async def test_players_on_lines_are_refused_too(tmp_path: Path) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(max=2)) as house:
        await open_contest(house, game="battleship")
        ada, _ = await entered(house, "ada", "bob", game="battleship")
        await house.contests.act("cup", "start", "operator")
        async with line(house) as one:
            one.send(f"J|ada|{BOARD}|{ada['password']}|1")
            await here(house, "ada", "1")
        async with line(house) as one:
            await one.receive()
            one.send(f"J|ada|{BOARD}|{ada['password']}|2")
            assert await one.receive() == f"E|{CHANGED}"


async def test_users_of_the_bomberman_api_are_refused_too(tmp_path: Path) -> None:
    async with server(tmp_path, bomber_port=0, bomber_rooms=ROOM) as house, api(house) as web:
        await open_contest(house, game="bomberman", players=2, options={"rounds": 3})
        ada, _ = await entered(house, "ada", "bob", game="bomberman")
        entry = await house.arena.store.bot("ada")
        assert entry is not None
        await house.contests.enter("cup", entry, "ada", version="1")
        await house.contests.act("cup", "start", "operator")
        told = await web.post({"user_name": "ada", "password": ada["password"], "version": "2"})
        assert (told["information"], told["detail"]) == ("VERSION_REFUSED", CHANGED)
        assert "user_id" in await web.post(
            {"user_name": "ada", "password": ada["password"], "version": "1"}
        )
