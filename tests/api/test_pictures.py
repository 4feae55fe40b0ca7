"""Pictures for previews of links, and matches as animations."""

from typing import Any

import httpx
import pytest

from botdrome.server.arena import Arena, ServerAddresses
from botdrome.store.entries import BotEntry
from botdrome.store.store import Store
from tests.api.tables import HandTables, entry_of, played_by_the_house, played_noughts
from tests.api.test_pages import HTML, words_of

pytestmark = pytest.mark.anyio

LEFT_COLUMN = [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)]
PICTURES = "/api/v1/pictures"


async def test_pages_have_their_pictures(
    http: httpx.AsyncClient, store: Store, arena: Arena
) -> None:
    arena.addresses = ServerAddresses("https://arena.example.org")
    await store.register(BotEntry("Ann/é", "gomoku", "me", 1, None))
    await played_noughts(store, entry_of("m", "Ann/é", "Bob", contest="the cup"), LEFT_COLUMN)
    for page, picture in (
        ("/", "/"),
        ("/tv", "/"),
        ("/matches/m", "/matches/m"),
        ("/embed/m", "/matches/m"),
        ("/matches/none", "/"),
        ("/games/gomoku", "/games/gomoku"),
        ("/bots/Ann%2F%C3%A9", "/bots/Ann/%C3%A9"),
        ("/bots/Bob", "/bots/Bob"),
        ("/bots/nobody", "/"),
        ("/contests/noughts-and-crosses/the%20cup", "/contests/noughts-and-crosses/the%20cup"),
        ("/contests/gomoku/none", "/"),
    ):
        shown = words_of((await http.get(page, headers=HTML)).text)
        assert shown["image"] == f"https://arena.example.org{PICTURES}{picture}", page
        answer = await http.get(PICTURES + picture)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png"), page
        assert answer.headers["cache-control"] == "public, max-age=60"
        assert answer.content.startswith(b"\x89PNG") and "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    "path",
    ["matches/none", "games/chess", "bots/nobody", "contests/gomoku/none", "contests/chess/none"],
)
async def test_there_is_no_picture_of_nothing(http: httpx.AsyncClient, path: str) -> None:
    assert (await http.get(f"{PICTURES}/{path}")).status_code == 404


async def test_a_running_match_is_drawn_as_it_stands(
    http: httpx.AsyncClient, store: Store, tables: HandTables
) -> None:
    entry = entry_of("m", "Ann", "Bob")
    store.begin(entry)
    tables.open(entry)
    assert (await http.get(f"{PICTURES}/matches/m")).status_code == 200
    assert (await http.get("/api/v1/matches/m/gif")).status_code == 409


@pytest.mark.parametrize("game", ["noughts-and-crosses", "gomoku"])
async def test_a_match_is_exported(http: httpx.AsyncClient, store: Store, game: str) -> None:
    await played_by_the_house(store, entry_of("m", "Ann", "Bob", game=game))
    answer = await http.get("/api/v1/matches/m/gif")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/gif")
    assert answer.content.startswith(b"GIF89a")


def settled(described: Any) -> Any:
    return described["paths"]["/api/v1/matches/{id}/gif"]["get"]["responses"]["200"]["content"]


async def test_pictures_are_in_the_description_of_the_interface(http: httpx.AsyncClient) -> None:
    described = (await http.get("/api/v1/openapi.json")).json()
    assert list(settled(described)) == ["image/gif"]
