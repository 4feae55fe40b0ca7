"""Bans hold in all five protocols, each of which says so in its own terms; and over a restart."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import time
from typing import Any

import pytest
from msgspec.structs import replace

from botdrome.app import RunningServer
from tests.server.battlebot.people import person
from tests.server.clients import NOTICES, bot, client, registered, server
from tests.server.lobby.url_hosts import url_bot, with_address
from tests.server.operator.clients import TOKEN, Office, office
from tests.server.rooms.boats.clients import BOARD, boat_server, line, sailor
from tests.server.rooms.bomber.clients import STEPS, api
from tests.server.rooms.cube.clients import NOOP, fence, game, organiser, saying
from tests.server.rooms.cube.clients import bot as cube_bot
from tests.server.rooms.duel.clients import connected, free

pytestmark = pytest.mark.anyio

NAME = {"kind": "name", "subject": "bob", "reason": "it cheats"}
ADDRESS = {"kind": "address", "subject": "127.0.0.1", "reason": "a flood"}
BANS = pytest.mark.parametrize(
    ("ban", "words"),
    [
        (NAME, "bob is banned from this server: it cheats"),
        (ADDRESS, "your address is banned from this server: a flood"),
        ({"kind": "address", "subject": "127.0.0.0/8"}, "your address is banned from this server"),
    ],
)


@asynccontextmanager
async def open_to_all(folder: Path) -> AsyncIterator[tuple[RunningServer, Office]]:
    """A server of all protocols, and its operator."""
    settings: dict[str, Any] = {"operator_token": TOKEN, "duel_port": -1, "bomber_rooms": STEPS}
    async with boat_server(folder, **settings) as house, office(house) as one:
        yield house, one


@BANS
async def test_native_bots_are_refused_when_they_log_in(
    tmp_path: Path, ban: Any, words: str
) -> None:
    async with open_to_all(tmp_path) as (house, operator):
        login = await registered(house, "bob")
        async with bot(house, login | NOTICES) as here:
            await operator.have("POST", "/bans", ban)
            assert await here.until_closed() == ([{"error": words}], 1008, words)
        for extra, answer in (
            (NOTICES, {"authentication": "failed", "why": words}),
            ({}, {"authentication": "failed"}),
        ):
            async with client(house) as again:
                await again.send(login | extra)
                assert (await again.until_closed())[0] == [answer]


@BANS
async def test_duellists_are_refused_with_an_error(tmp_path: Path, ban: Any, words: str) -> None:
    async with open_to_all(tmp_path) as (house, operator):
        async with free(house, "bob") as here:
            await operator.have("POST", "/bans", ban)
            assert await here.until_closed() == [{"status": "error", "message": words}]
        async with connected(house) as again:
            await again.send({"username": "bob"})
            assert await again.until_closed() == [{"status": "error", "message": words}]


@BANS
async def test_boats_are_sent_off_with_a_line(tmp_path: Path, ban: Any, words: str) -> None:
    async with open_to_all(tmp_path) as (house, operator):
        async with sailor(house, "bob") as here:
            await operator.have("POST", "/bans", ban)
            assert await here.rest() == [words]
        async with line(house) as again:
            await again.receive()
            again.send(f"J|bob|{BOARD}")
            assert await again.rest() == [words]


@BANS
async def test_bomberman_users_are_declined(tmp_path: Path, ban: Any, words: str) -> None:
    async with open_to_all(tmp_path) as (house, operator), api(house) as one:
        user = await one.register("bob", password="secret")
        await operator.have("POST", "/bans", ban)
        assert (await one.act(user, "UP"))["information"] == "UNKNOWN_USER"
        told = await one.post({"user_name": "bob", "password": "secret"})
        assert (told["response"], told["information"], told["detail"]) == (
            "DECLINED",
            "BANNED",
            words,
        )


@BANS
async def test_battlecube_games_with_them_are_refused(tmp_path: Path, ban: Any, words: str) -> None:
    async with open_to_all(tmp_path) as (house, operator), cube_bot(saying(NOOP)) as called:
        await operator.have("POST", "/bans", ban)
        async with organiser(house) as one:
            await one.emit("NEW_GAME", game(("bob", called.url)))
            assert (await one.error())["details"].lower() == words
            assert await fence(one) == []


async def test_a_banned_organiser_is_hung_up_on(tmp_path: Path) -> None:
    async with open_to_all(tmp_path) as (house, operator), organiser(house) as one:
        await fence(one)
        await operator.have("POST", "/bans", ADDRESS)
        await one.closed()


async def test_a_tunnel_of_a_banned_bot_is_closed(tmp_path: Path) -> None:
    async with open_to_all(tmp_path) as (house, operator):
        login = await registered(house, "bob")
        words = "bob is banned from this server: it cheats"
        async with client(house, "/connect") as here:
            await here.send({"name": "bob", "password": login["password"]})
            assert (await here.receive())["connected"] == "bob"
            await operator.have("POST", "/bans", NAME)
            assert (await here.until_closed())[0] == [{"error": words}]
        async with client(house, "/connect") as again:
            await again.send({"name": "bob", "password": login["password"]})
            assert (await again.until_closed())[0] == [{"error": words}]


async def test_names_that_look_like_a_banned_one_are_banned_as_well(tmp_path: Path) -> None:
    async with open_to_all(tmp_path) as (house, operator):
        await operator.have("POST", "/bans", NAME | {"subject": "bоb (guest)"})
        await operator.have("POST", "/bans", NAME)
        for name in ("bob", "b\u043eb", " bob "):
            async with connected(house) as one:
                await one.send({"username": name})
                assert "is banned" in (await one.until_closed())[0]["message"]
        async with free(house, "bobby"):
            pass


async def test_bans_are_kept_listed_and_lifted(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        for ban in (NAME, ADDRESS | {"subject": "2001:db8::7"}):
            await one.have("POST", "/bans", ban)
        await one.have(
            "POST", "/bans", {"kind": "name", "subject": "eve", "until": "2100-01-01T00:00:00Z"}
        )
    async with server(tmp_path, operator_token=TOKEN, duel_port=-1) as house, office(house) as one:
        shown = await one.get("/bans")
        bans = {
            (ban["kind"], ban["subject"]): (ban["reason"], ban["until"]) for ban in shown["bans"]
        }
        assert bans == {
            ("name", "bob"): ("it cheats", None),
            ("address", "2001:db8::/64"): ("a flood", None),
            ("name", "eve"): ("", "2100-01-01T00:00:00.000Z"),
        }
        assert (shown["total"], len((await one.get("/bans?limit=2&offset=2"))["bans"])) == (3, 1)
        async with connected(house) as eve:
            await eve.send({"username": "eve"})
            words = "eve is banned from this server, until 2100-01-01 00:00 UTC"
            assert await eve.until_closed() == [{"status": "error", "message": words}]
        await one.have("DELETE", "/bans", {"kind": "name", "subject": "bob"})
        async with free(house, "bob"):
            pass
        assert await one.refused("DELETE", "/bans", {"kind": "name", "subject": "bob"}) == (
            404,
            "the name 'bob' is not banned",
        )
        actions = [action for action, _, _ in await one.audited()]
        assert actions == ["ban name", "ban address", "ban name", "lift ban of name"]


async def test_a_ban_ends_by_itself(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN, duel_port=-1) as house, office(house) as one:
        await one.have("POST", "/bans", NAME | {"until": "2100-01-01T00:00:00"})
        bans = house.desk.registry.bans
        bans._add(replace(bans.all[0], until=int(time() * 1000) - 1))
        assert (await one.get("/bans"))["total"] == 0
        async with free(house, "bob"):
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("ban", "words"),
    [
        ({"kind": "name", "subject": " "}, "the name is empty"),
        (
            {"kind": "address", "subject": "bob"},
            "'bob' is neither an address (192.0.2.7) nor a network (192.0.2.0/24)",
        ),
        (
            {"kind": "name", "subject": "b", "until": "soon"},
            "until is a moment like 2026-12-31T23:59:00Z, not 'soon'",
        ),
        (
            {"kind": "name", "subject": "b", "until": "2000-01-01T00:00:00Z"},
            "until is in the past: 2000-01-01T00:00:00Z",
        ),
        (
            {"kind": "name", "subject": "b", "until": "9999-12-31T23:59:59-01:00"},
            "until is a moment like 2026-12-31T23:59:00Z, not '9999-12-31T23:59:59-01:00'",
        ),
        ({"kind": "name", "subject": "b" * 501}, "the name has at most 500 characters, not 501"),
        (
            {"kind": "name", "subject": "b", "reason": "r" * 501},
            "the reason has at most 500 characters, not 501",
        ),
    ],
)
async def test_a_ban_that_makes_no_sense_is_explained(tmp_path: Path, ban: Any, words: str) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        assert await one.refused("POST", "/bans", ban) == (400, words)
        assert (await one.get("/bans"))["total"] == 0


@pytest.mark.parametrize("name", ["BOB", "b\N{CYRILLIC SMALL LETTER O}B", "Bob "])
async def test_another_spelling_is_banned_too(tmp_path: Path, name: str) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        async with bot(house, person("BOB")) as here:
            await one.have("POST", "/bans", NAME)
            assert (await here.until_closed())[1] == 1008
        async with client(house) as again:
            await again.send(person(name))
            assert (await again.receive())["why"] == "bob is banned from this server: it cheats"


async def test_a_network_of_ipv4_may_be_written_in_ipv6(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        ban = await one.have(
            "POST", "/bans", {"kind": "address", "subject": "::ffff:127.0.0.0/104"}
        )
        assert ban["subject"] == "127.0.0.0/8"
        async with client(house) as again:
            await again.send(person("bob"))
            assert "your address is banned" in (await again.receive())["why"]


async def test_people_are_refused_with_the_reason(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as operator:
        async with bot(house, person("bob")) as here:
            assert [client["name"] for client in await operator.clients()] == ["bob"]
            await operator.have("POST", "/bans", NAME)
            words = "bob is banned from this server: it cheats"
            assert (await here.until_closed())[0] == [{"error": words}]
        async with client(house) as again:
            await again.send(person("bob"))
            assert (await again.until_closed())[0] == [{"authentication": "failed", "why": words}]


async def test_a_banned_bot_is_called_no_more(tmp_path: Path) -> None:
    async with (
        server(tmp_path, operator_token=TOKEN, limits_waiting=0.1) as house,
        office(house) as operator,
        url_bot() as called,
    ):
        await with_address(house, "bob", called)
        await operator.have("POST", "/bans", NAME)
        async with bot(
            house, await registered(house, "ada") | {"opponent": "bob"} | NOTICES
        ) as one:
            assert await one.receive() == {"error": "no opponent came within 0.1 seconds"}
