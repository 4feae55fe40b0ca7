"""Ratings of versions: each has its own, and a new one starts from its parent."""

from typing import Any

import httpx
import pytest

from botdrome.api.leaderboard import (
    FEW,
    KEPT,
    BotVersions,
    TableResults,
    rated,
    rated_key,
    version_chains,
)
from botdrome.store.store import Store
from tests.api.tables import NOON
from tests.api.test_rest import get
from tests.api.test_rest_reports import GAME, names, play, register

pytestmark = pytest.mark.anyio


async def play_often(
    store: Store,
    first: int,
    games: int,
    version: str,
    players: str = "ada bob",
    places: Any = (1, 2),
) -> None:
    versions = (version, *[""] * (len(players.split()) - 1)) if version else ()
    for number in range(first, first + games):
        await play(store, f"m{number}", players, places, started=NOON + number, versions=versions)


async def test_each_version_has_a_rating_and_the_list_has_the_last(
    http: httpx.AsyncClient, store: Store
) -> None:
    await register(store, "ada", "bob", "cid")
    await play_often(store, 0, 20, "", "bob cid", (1, 1))
    await play_often(store, 20, 10, "", places=(2, 1))
    await play_often(store, 30, 10, "1.0")
    await play_often(store, 40, 1, "1.1")
    board = await get(http, f"games/{GAME}/leaderboard")
    assert names(board) == "bob cid ada" and [line["place"] for line in board["bots"]] == [
        1,
        2,
        None,
    ]
    ada = board["bots"][2]
    assert (ada["version"], ada["games"], ada["wins"], ada["provisional"]) == ("1.1", 1, 1, True)
    assert board["bots"][0]["version"] is None
    profile = await get(http, "profiles/ada")
    new, old, unnamed = profile["versions"]
    assert [(line["version"], line["games"]) for line in (new, old, unnamed)] == [
        ("1.1", 1),
        ("1.0", 10),
        (None, 10),
    ]
    assert new == profile["rating"] | {"place": None, "beatsNext": None}
    assert old["rating"] > unnamed["rating"] + 200 and abs(new["rating"] - old["rating"]) < 100
    assert new["high"] - new["low"] > 1.3 * (old["high"] - old["low"]), (
        "it starts with a wider interval"
    )
    points = [(point["version"], point["games"]) for point in profile["history"]]
    assert points[9:11] == [(None, 10), ("1.0", 1)] and points[-1] == ("1.1", 1)


async def test_a_version_that_is_new_at_a_table_starts_from_its_parent(
    http: httpx.AsyncClient, store: Store
) -> None:
    await register(store, "ada", "bob", "cid")
    await play_often(store, 0, 10, "1")
    await play_often(store, 10, 1, "2", "ada bob cid", (1, 2, 3))
    two = await get(http, f"games/{GAME}/leaderboard", players=2)
    ada, profile = two["bots"][0], await get(http, "profiles/ada", players=2)
    new, old = profile["versions"]
    assert (ada["version"], ada["games"], old["games"]) == ("2", 0, 10)
    assert new["rating"] == pytest.approx(old["rating"]) and new["high"] > old["high"]
    assert (await get(http, "matches/m0/players"))["players"][0]["rating"] == old["rating"]


async def test_a_bot_that_goes_back_to_an_old_version_is_listed_with_it(
    http: httpx.AsyncClient, store: Store
) -> None:
    await register(store, "ada", "bob")
    for first, version in enumerate(("1", "2", "1")):
        await play_often(store, first, 1, version)
    assert (await get(http, f"games/{GAME}/leaderboard"))["bots"][0]["version"] == "1"
    assert [line["version"] for line in (await get(http, "profiles/ada"))["versions"]] == ["2", "1"]


async def test_old_versions_are_rated_together(http: httpx.AsyncClient, store: Store) -> None:
    await register(store, "ada", "bob")
    for number in range(KEPT + 3):
        await play_often(store, number, 1, f"v{number}")
    lines = (await get(http, "profiles/ada"))["versions"]
    assert [(line["version"], line["games"]) for line in lines] == [
        *[(f"v{n}", 1) for n in range(6, 2, -1)],
        (None, 3),
    ]


def test_the_more_bots_the_fewer_versions_are_rated() -> None:
    versions, keys = (
        BotVersions(),
        [rated_key(bot, version) for bot in ("ada", "bob") for version in "12345"],
    )
    for at, key in enumerate(keys):
        versions.note(key, at)
    for most, kept in ((10, 5), (8, 4), (6, 3), (4, 2), (0, 2)):
        assert [len(chain) for chain in version_chains(versions, keys, most).of_bot.values()] == [
            kept,
            kept,
        ]
    few = version_chains(versions, keys, 0)
    assert (
        few.of_bot["ada"] == ["ada", "ada\n5"]
        and few.key("ada\n1") == "ada"
        and few.shown("ada") == "ada\n5"
    )
    assert few.parents == {"ada\n5": "ada", "bob\n5": "bob"} and few.shown("cid") is None


def test_a_bot_with_countless_versions_is_remembered_in_bounded_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("botdrome.api.leaderboard.MOST", 10)
    versions, table = BotVersions(), TableResults()
    for at in range(100):
        key = rated_key("ada", f"v{at}")
        versions.note(key, at)
        versions.note("bob", at)
        table.add({key: 1, "bob": 2}, True, "", {})
        table.move(versions.forget_old())
        assert len(table.lines) <= 12
    assert (
        table.record("ada").games + sum(table.record(f"ada\nv{at}").games for at in range(100))
        == 100
    )
    assert versions.current("ada") == "ada\nv99" and table.games_of("ada") == 100
    chains = version_chains(versions, table.lines, FEW)
    table.ratings = rated(table.blocks(), chains, {}, (100, 0), 300)
    assert chains.of_bot["ada"] == ["ada", *(f"ada\nv{at}" for at in range(96, 100))]
    assert table.record("ada").wins == 96
