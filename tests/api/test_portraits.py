"""Faces in the list of bots, habits and comparisons of bots, over REST."""

from itertools import count
from typing import Any

import httpx
import pytest

from botdrome.api.rest import portraits
from botdrome.server.lobby.registry import PROTOCOLS
from botdrome.store.entries import BotEntry, Note
from botdrome.store.store import Store
from tests.api.tables import NOON, entry_of, played_by_the_house, played_noughts
from tests.api.test_rest import error, get
from tests.api.test_rest_reports import names, play, register

pytestmark = pytest.mark.anyio

NOUGHTS = "noughts-and-crosses"
CENTRE_LOST = [(100, 1, 1), (200, 0, 0), (300, 2, 2), (400, 0, 1), (500, 2, 1), (600, 0, 2)]


async def bots_of(store: Store, game: str, *names: str) -> None:
    for name in names:
        await store.register(BotEntry(name, game, "me", NOON, None))


async def test_bots_have_a_face(http: httpx.AsyncClient, store: Store) -> None:
    await register(store, "ada", "bob", "idle")
    for number in range(60):
        places = (1, 2) if number % 3 else (2, 1)
        await play(store, f"m{number}", "ada bob", places, started=NOON + number)
    await play(store, "late", "bob guest", (1, 2), started=NOON + 99_000)
    await store.keep([Note(PROTOCOLS, "bob", {"protocol": "duel arena"})])
    body = {"game": "gomoku", "name": "zoe", "language": "Rust"}
    assert (await http.post("/api/v1/bots", json=body)).status_code == 201
    found = {bot["name"]: bot for bot in (await get(http, "bots"))["bots"]}
    ada, bob, idle = found["ada"], found["bob"], found["idle"]
    assert (ada["games"], ada["wins"], ada["losses"], ada["provisional"]) == (60, 40, 20, False)
    assert ada["low"] < ada["rating"] < ada["high"]
    assert (bob["protocol"], bob["language"], found["zoe"]["language"]) == (
        "duel arena",
        None,
        "Rust",
    )
    assert bob["seen"] == "2026-11-14T23:48:19.000Z" and idle["seen"] is idle["rating"] is None
    profile = await get(http, "profiles/ada")
    assert profile["bot"] == ada and profile["rating"]["rating"] == ada["rating"]


@pytest.mark.parametrize(
    ("sort", "first"),
    [("-rating", "ada bob"), ("rating", "bob ada"), ("-seen", "bob ada"), ("-games", "ada bob"),
     ("protocol", "ada bob"), ("language", "bob ada")],
)  # fmt: skip
async def test_bots_are_sorted_and_unknown_values_come_last(
    http: httpx.AsyncClient, store: Store, sort: str, first: str
) -> None:
    await register(store, "idle", "ada", "bob")
    for number in range(60):
        await play(store, f"m{number}", "ada bob", (1, 2), started=NOON + number)
    await play(store, "late", "bob guest", (1, 2), started=NOON + 99_000)
    await play(store, "more", "ada house:random", (1, 2), started=NOON + 50)
    for name, protocol, language in (("ada", "Battlebot", "Rust"), ("bob", "duel arena", "Go")):
        await store.keep([Note(PROTOCOLS, name, {"protocol": protocol})])
        await store.keep([Note("languages of bots", name, {"language": language})])
    assert names(await get(http, "bots", sort=sort)) == f"{first} idle"
    page = await get(http, "bots", sort=sort, limit=1, offset=1)
    assert (names(page), page["total"]) == (first.split()[1], 3)


async def test_bots_by_their_names(http: httpx.AsyncClient, store: Store) -> None:
    await register(store, "ada", "bob", "cid")
    assert names(await get(http, "bots", name=["cid", "nobody", "ada", "cid"])) == "cid ada"


async def test_openings_are_told_with_their_results(http: httpx.AsyncClient, store: Store) -> None:
    await bots_of(store, NOUGHTS, "ada", "bob")
    for number in range(3):
        entry = entry_of(f"m{number}", "ada", "bob", started=NOON + number)
        await played_noughts(store, entry, CENTRE_LOST)
    await played_noughts(
        store,
        entry_of("m3", "bob", "ada", started=NOON + 9),
        [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)],
    )
    habits = await get(http, "habits/ada")
    assert (habits["kind"], habits["matches"]) == ("openings", 4)
    assert habits["habits"] == [
        line("opens with the centre", 3, (0, 0, 3), "m2"),
        line("answers a corner with the centre", 1, (0, 0, 1), "m3"),
    ]
    assert (await error(http, "habits/nobody"))[0] == 404


def line(words: str, times: int, results: tuple[int, int, int], match: str) -> dict[str, Any]:
    wins, draws, losses = results
    counts = {"wins": wins, "draws": draws, "losses": losses}
    return {"words": words, "times": times, "match": match} | counts


async def test_deaths_are_told_and_a_game_without_either_tells_nothing(
    http: httpx.AsyncClient, store: Store
) -> None:
    await bots_of(store, "battlecube", "cube", "other")
    await bots_of(store, "bumblebots", "bee")
    for seed in range(4):
        entry = entry_of(f"c{seed}", "cube", "other", game="battlecube", seed=seed)
        await played_by_the_house(store, entry)
    habits = await get(http, "habits/cube")
    assert (habits["kind"], habits["matches"]) == ("deaths", 4)
    assert sum(habit["times"] for habit in habits["habits"]) == 4
    known = {"moved out of the cube", "stepped on a bomb", "crashed into another bot", "survives"}
    assert {habit["words"] for habit in habits["habits"]} <= known
    assert await get(http, "habits/bee") == {"kind": "none", "matches": 0, "habits": []}


async def test_a_match_without_a_record_is_left_out(http: httpx.AsyncClient, store: Store) -> None:
    await register(store, "ada", "bob")
    await play(store, "broken", "ada bob", (1, 2))
    assert await get(http, "habits/ada") == {"kind": "openings", "matches": 0, "habits": []}


async def test_two_bots_are_compared(http: httpx.AsyncClient, store: Store) -> None:
    await register(store, "ada", "bob", "cid", "eve")
    for number in range(60):
        await play(store, f"m{number}", "ada bob", (1, 2) if number % 3 else (2, 1))
        await play(store, f"n{number}", "cid ada", (2, 1) if number % 3 else (1, 2))
    for number in range(3):
        await play(store, f"o{number}", "bob cid", (1, 1))
    found = await get(http, "comparison", bot=["ada", "bob"])
    assert [bot["name"] for bot in found["bots"]] == ["ada", "bob"]
    met = found["met"]
    assert (met["games"], met["wins"], met["draws"], met["losses"]) == (60, 40, 0, 20)
    assert 0.5 < found["expected"] < 0.9
    (common,) = found["common"]
    assert (common["name"], common["first"]["games"], common["second"]["draws"]) == ("cid", 60, 3)
    strangers = await get(http, "comparison", bot=["ada", "eve"])
    assert (strangers["met"], strangers["expected"], strangers["common"]) == (None, None, [])
    for bots, status in ((["ada"], 400), (["ada", "ada"], 400), (["ada", "nobody"], 404)):
        assert (await http.get("/api/v1/comparison", params={"bot": bots})).status_code == status


async def test_words_of_matches_are_kept_and_replays_are_bounded(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portraits, "REMEMBERED", 1)
    words = ("opens with the centre", "answers the centre with a corner")
    for match in ("one", "two"):
        await played_noughts(store, entry_of(match, "ada", "bob"), CENTRE_LOST)
        assert await portraits.told(store, match, until=0.0) == ()  # no time is left
        assert await portraits.told(store, match, until=1e9) == words
    assert await portraits.told(store, "two", until=0.0) == words
    assert await portraits.told(store, "one", until=0.0) == ()  # forgotten


async def test_a_replay_stops_when_its_time_is_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at the clock takes 0.2 s: before the match, at its start, and after each input."""
    now = count()
    monkeypatch.setattr(portraits, "process_time", lambda: next(now) * 0.2)
    for match in ("late", "long"):
        await played_noughts(store, entry_of(match, "ada", "bob"), CENTRE_LOST)
    assert await portraits.told(store, "late", until=0.3) == ()
    assert next(now) == 3, "the replay stopped after its first input"
    assert len(await portraits.told(store, "late", until=9.0)) == 2  # the next request had time
    begun = next(now) * 0.2
    assert await portraits.told(store, "long", until=begun + 0.75) == ()
    assert await portraits.told(store, "long", until=1e9) == ()  # it is not tried again
