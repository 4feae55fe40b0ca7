"""Versions of bots: named in the login of any protocol, stored with each match, and shown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.lobby.registry import PROTOCOLS
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.store.entries import Wanted
from tests.patience import until
from tests.server.calling.hosts import answer
from tests.server.clients import NOTICES, PATIENCE, bot, client, registered, server
from tests.server.lobby.url_hosts import url_bot, with_address
from tests.server.rooms.boats.clients import boat_server, sailor
from tests.server.rooms.bomber.clients import STEPS, api
from tests.server.rooms.duel.clients import FIND, arena, free

pytestmark = pytest.mark.anyio


async def versions(house: RunningServer) -> dict[str, str]:
    """The version of each player in the only match."""
    (match,) = await house.arena.store.matches(Wanted())
    return {name: match.version(player) for player, name in enumerate(match.players)}


async def test_a_native_bot_meets_one_of_duel_arena(tmp_path: Path) -> None:
    login = {"version": "n1"}
    async with (
        arena(tmp_path) as house,
        free(house, "dora", version="d 2") as dora,
        bot(house, await registered(house, "nat", "gomoku") | login) as nat,
        httpx.AsyncClient(base_url=house.url, trust_env=False, timeout=PATIENCE) as http,
    ):
        await dora.send(FIND)
        await nat.receive()
        assert await versions(house) == {"nat": "n1", "dora": "d 2"}
        (match,) = (await http.get("/api/v1/matches")).json()["matches"]
        assert {seat["bot"]: seat["version"] for seat in match["seats"]} == await versions(house)
        query = (
            f'{{ game(gameType: GOMOKU, id: "{match["id"]}") {{ ... on AnyGame {{ seats {{ '
            f"version }} }} }} }}"
        )
        told = (await http.post("/graphql", json={"query": query})).json()["data"]["game"]
        assert {seat["version"] for seat in told["seats"]} == {"n1", "d 2"}


async def test_house_bots_have_no_version(tmp_path: Path) -> None:
    login = {"version": "7", "opponent": "house:random"}
    async with server(tmp_path) as house, bot(house, await registered(house, "ada") | login) as ada:
        await ada.receive()
        assert await versions(house) == {"ada": "7", "house:random": ""}


async def test_a_bad_version_is_refused(tmp_path: Path) -> None:
    async with server(tmp_path) as house, client(house) as one:
        await one.send(await registered(house, "ada") | {"version": 7})
        words = "version is text of at most 64 printable characters, not 7"
        assert (await one.until_closed())[0] == [{"authentication": "failed", "why": words}]


async def test_boats_name_it_after_their_token(tmp_path: Path) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(title="Tea")) as house:
        token = (await registered(house, "ann", "battleship"))["password"]
        async with sailor(house, "ann", token, "v3") as ann, sailor(house, "bob"):
            await ann.until("N|")
            assert await versions(house) == {"ann": "v3", "bob": ""}


async def test_a_user_of_the_bomberman_api_registers_with_it(tmp_path: Path) -> None:
    async with server(tmp_path, bomber_rooms=STEPS) as house, api(house) as http:
        await http.register("ada", version="3")
        await http.register("bob")
        assert await versions(house) == {"ada": "3", "bob": ""}


@pytest.mark.parametrize(("told", "named"), [("1.5", "1.5"), (5, None)])
async def test_a_bot_with_a_url_names_it_when_it_answers_the_challenge(
    tmp_path: Path, told: Any, named: str | None
) -> None:
    async with server(tmp_path) as house, url_bot() as called:
        await with_address(house, "called", called)
        called.instead = answering(told)
        async with bot(
            house, await registered(house, "ada") | NOTICES | {"opponent": "called"}
        ) as ada:
            message = await ada.receive()
            if named is None:
                assert message == {"error": "called does not answer"}
            else:
                assert (await versions(house))["called"] == named


def answering(version: Any) -> Callable[[Any, Any], bytes | None]:
    def instead(_: Any, message: Any) -> bytes | None:
        told = {"challenge": message.get("challenge"), "version": version}
        return answer(json.dumps(told).encode()) if "challenge" in message else None

    return instead


async def test_the_protocol_of_a_bot_is_stored_also_if_the_server_stops_at_once(
    tmp_path: Path,
) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada")
        async with bot(house, login):
            pass
        timer = house.desk.registry._timer
    assert timer is not None and timer.cancelled()  # nothing is begun after the end
    async with server(tmp_path) as house:
        notes = await house.desk.store.notes(PROTOCOLS)
        assert notes == {"ada": {"protocol": "battlebot"}}
        async with bot(house, login):
            await until(lambda: not house.desk.registry._unstored)
