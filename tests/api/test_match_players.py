"""The players of a match over REST."""

from functools import partial

import httpx
import pytest

from botdrome.server.arena import Arena
from botdrome.server.lobby.clients import ConnectedClient
from botdrome.server.network.connection import Traffic
from botdrome.store.store import Store
from tests.api.tables import HandTables, entry_of
from tests.api.test_rest import error, get
from tests.api.test_rest_reports import GAME, play, register

pytestmark = pytest.mark.anyio


async def test_players_have_owners_and_ratings_where_they_are_known(
    http: httpx.AsyncClient, store: Store
) -> None:
    await register(store, "ada")
    for number in range(3):
        await play(store, f"m{number}", "ada house:best", (1, 2))
    await play(store, "m", "ada guest", (1, 2))
    ada, guest = (await get(http, "matches/m/players"))["players"]
    assert (ada["name"], ada["owner"], ada["protocol"]) == ("ada", "owner of ada", None)
    assert ada["rating"] > (await get(http, "matches/m0/players"))["players"][1]["rating"]
    assert guest == {"name": "guest", "owner": None, "rating": None, "protocol": None}


async def test_players_of_a_running_match_have_protocols(
    http: httpx.AsyncClient, store: Store, arena: Arena, tables: HandTables
) -> None:
    entry = entry_of("m", "ada", "bob", game=GAME)
    store.begin(entry)
    tables.open(entry)
    for name, match in [("ada", "m"), ("bob", "another")]:
        client = ConnectedClient(
            "battlebot", name, GAME, "127.0.0.1", Traffic(), lambda _: None, partial(str, match)
        )
        arena.clients.enter(client)
    shown = (await get(http, "matches/m/players"))["players"]
    assert [player["protocol"] for player in shown] == ["battlebot", None]


async def test_no_match_has_no_players(http: httpx.AsyncClient) -> None:
    assert await error(http, "matches/none/players") == await error(http, "matches/none")
