"""Leaderboards: fixed ratings of house bots, sets of options, settled ratings, and blocks of
contests.
"""

import httpx
import pytest

from botdrome.store.store import Store
from tests.api.test_rest import error, get
from tests.api.test_rest_reports import GAME, names, play, register

pytestmark = pytest.mark.anyio


async def test_only_settled_ratings_have_places(http: httpx.AsyncClient, store: Store) -> None:
    await register(store, "ada", "bob", "new", "eve", "far")
    for number in range(60):
        await play(store, f"m{number}", "ada bob", (1, 2) if number % 3 else (2, 1))
        await play(store, f"f{number}", "eve far", (1, 2) if number % 4 else (2, 1))
    for number in range(3):
        await play(store, f"n{number}", "new ada", (1, 2))
    lines = (await get(http, f"games/{GAME}/leaderboard"))["bots"]
    assert [
        (line["name"], line["place"], line["group"], line["provisional"]) for line in lines
    ] == [
        ("ada", 1, 0, False),
        ("bob", 2, 0, False),
        ("eve", None, 1, False),
        ("far", None, 1, False),
        ("new", None, 0, True),
    ]
    assert lines[4]["rating"] > lines[0]["rating"]


async def test_house_bots_have_fixed_ratings_which_newcomers_do_not_move(
    http: httpx.AsyncClient, store: Store
) -> None:
    await register(store, "idle", *(f"beginner{number}" for number in range(10)))
    for number in range(20):
        await play(store, f"m{number}", "idle house:threat", (1, 2) if number % 2 else (2, 1))
    rated = {line["name"]: line for line in (await get(http, f"games/{GAME}/leaderboard"))["bots"]}
    house, idle = rated["house:threat"], rated["idle"]
    assert house["rating"] == pytest.approx(1625) and house["low"] == house["high"]
    assert house["fixed"] and not house["provisional"]
    assert idle["rating"] == pytest.approx(1625, abs=5) and not idle["fixed"]
    for number in range(100):
        await play(store, f"b{number}", f"house:threat beginner{number % 10}", (1, 2))
    after = {line["name"]: line for line in (await get(http, f"games/{GAME}/leaderboard"))["bots"]}
    assert after["idle"]["rating"] == pytest.approx(idle["rating"], abs=0.1)
    assert after["beginner0"]["rating"] < 1300


async def test_each_set_of_options_has_a_leaderboard_and_the_standard_one_is_first(
    http: httpx.AsyncClient, store: Store
) -> None:
    await register(store, "ada", "bob")
    for number in range(3):
        await play(store, f"large{number}", "bob ada", (1, 2), options={"size": 19})
    await play(store, "same", "bob ada", (1, 2), options={"size": 19, "win_length": 5})
    await play(store, "usual", "ada bob", (1, 2))
    await play(store, "spelt out", "ada bob", (1, 2), options={"size": 15})
    board = await get(http, f"games/{GAME}/leaderboard")
    assert (board["options"], board["matches"], names(board)) == ({}, 2, "ada bob")
    assert board["optionSets"] == [
        {"options": {}, "matches": 2},
        {"options": {"size": 19}, "matches": 4},
    ]
    large = await get(http, f"games/{GAME}/leaderboard", options='{"size": "19"}')
    assert (large["options"], large["matches"], names(large)) == ({"size": 19}, 4, "bob ada")
    profile = await get(http, "profiles/ada", options='{"size":19}')
    assert (profile["rating"]["losses"], len(profile["history"]), profile["options"]) == (
        4,
        4,
        {"size": 19},
    )
    assert (await get(http, f"games/{GAME}/leaderboard", options='{"size":20}'))["matches"] == 0
    for bad in ("19", '{"depth":3}', "{"):
        status, words = await error(http, f"games/{GAME}/leaderboard?options={bad}")
        assert (status, words) == (
            400,
            f"options is a JSON object with options of gomoku, such as {{}}, not {bad!r}",
        )


async def test_matches_of_a_contest_on_one_seed_are_one_block(
    http: httpx.AsyncClient, store: Store
) -> None:
    """Both seatings of a seed have the same winner: eight such blocks tell less than sixteen
    matches.
    """
    await register(store, "ada", "bob", "cid", "dan")
    for number in range(16):
        seed = number // 2
        places = (1, 2) if seed % 2 else (2, 1)
        await play(store, f"c{number}", "ada bob", places, contest="cup", seed=f"{seed:032x}")
        await play(store, f"l{number}", "cid dan", places, seed=f"{seed:032x}")
    lines = {line["name"]: line for line in (await get(http, f"games/{GAME}/leaderboard"))["bots"]}
    clustered, alone = (lines[name]["high"] - lines[name]["low"] for name in ("ada", "cid"))
    assert clustered > 1.3 * alone
    one, two = [(await get(http, f"profiles/{name}"))["history"][-1] for name in ("ada", "cid")]
    assert one["games"] == two["games"] == 16
    assert one["high"] - one["low"] > 1.3 * (two["high"] - two["low"])
