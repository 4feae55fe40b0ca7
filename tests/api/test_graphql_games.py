"""Games, contests and tables in GraphQL, for all that is played."""

import json
from typing import Any

import httpx
import pytest

from botdrome.api.graphql.schema import MOST_GAMES
from botdrome.api.requests import GAME_TYPES
from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.record import read, verify
from botdrome.store.store import Store
from tests.api.asking import answered, ask, refused
from tests.api.tables import (
    NOON,
    HandTables,
    entry_of,
    keep,
    mark,
    played_by_the_house,
    played_noughts,
)

pytestmark = pytest.mark.anyio

LEFT_COLUMN = [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)]
IN_FULL = """
  __typename
  ... on Match {
    id gameType bots { name owner dateRegistered gameType } contest { name } startTime endTime status abortReason options state
    result { victor { name } reason } seats { seat bot { name } place score cause } record
  }
  ... on AnyGame { turns(limit: 3) { step time moves { bot { name } move } } }
  ... on NoughtsAndCrossesGame { board marks { X { name } O { name } } first: turns { space mark time bot { name } } }
"""
ONE = "query($type: GameType!, $id: ID!) { game(gameType: $type, id: $id) { " + IN_FULL + " } }"
LIST = (
    "query($type: GameType!, $filters: GameInput) { gamesCount(gameType: $type, filters: "
    "$filters) games(gameType: $type, filters: $filters) { ... on Match { id } } "
    "}"
)
NOUGHTS = "NOUGHTS_AND_CROSSES"


@pytest.mark.parametrize("game_type", GAME_TYPES)
async def test_every_game_can_be_read(
    http: httpx.AsyncClient, store: Store, game_type: str
) -> None:
    entry = entry_of("a match", "Ann", "Bob", game=GAME_TYPES[game_type], contest="cup", seed=7)
    await played_by_the_house(store, entry)
    kept = await store.match("a match")
    assert kept is not None
    assert kept.result is not None
    found = (await ask(http, ONE, type=game_type, id="a match"))["game"]

    assert (found["id"], found["gameType"], found["status"]) == ("a match", game_type, "ENDED")
    assert found["bots"][0] == {
        "name": "Ann",
        "owner": "",
        "dateRegistered": None,
        "gameType": game_type,
    }
    assert found["contest"] == {"name": "cup"}
    assert found["startTime"] == "Sat Nov 14 2026 23:46:40 GMT+0000 (UTC)"
    assert [seat["place"] for seat in found["seats"]] == list(kept.result.places)
    assert [seat["cause"] for seat in found["seats"]] == list(kept.result.causes)
    assert found["state"] == json.loads(json.dumps(kept.view))
    verify(read(found["record"].encode()), CATALOGUE[entry.game].game)
    winner = kept.result.winner
    assert found["result"]["victor"] == (
        None if winner is None else {"name": entry.players[winner]}
    )


async def test_turns_come_with_their_moves_and_times(http: httpx.AsyncClient, store: Store) -> None:
    await played_by_the_house(store, entry_of("g", "Ann", "Bob", game="gomoku", seed=3))
    query = (
        'query($limit: Int, $offset: Int) { game(gameType: GOMOKU, id: "g") { ... on AnyGame '
        "{ "
        "turns(limit: $limit, offset: $offset) { step time moves { bot { name } move } } } } "
        "}"
    )
    turns = (await ask(http, query))["game"]["turns"]
    assert len(turns) > 10
    assert [move["bot"]["name"] for turn in turns[:3] for move in turn["moves"]] == [
        "Ann",
        "Bob",
        "Ann",
    ]
    assert turns[0]["time"] == str(NOON)
    assert (await ask(http, query, limit=2, offset=1))["game"]["turns"] == turns[1:3]
    assert (
        await refused(http, query, offset=-1) == "Skip value must be non-negative, but received: -1"
    )


async def test_secret_moves_are_not_among_the_turns(http: httpx.AsyncClient, store: Store) -> None:
    await played_by_the_house(store, entry_of("s", "Ann", "Bob", game="battleship", seed=3))
    found = (await ask(http, ONE, type="BATTLESHIP", id="s"))["game"]
    assert found["turns"][0]["moves"] == []
    assert found["turns"][1]["moves"]


REASONS = {
    "complete": ("complete", "Ann"),
    "disconnect": ("disconnect", "Bob"),
    "timeout": ("timeout", "Bob"),
    "illegal": ("Didn't write unit tests", "Bob"),
}


@pytest.mark.parametrize("way", REASONS)
async def test_reasons_have_the_words_of_the_native_protocol(
    http: httpx.AsyncClient, store: Store, way: str
) -> None:
    row = CATALOGUE["noughts-and-crosses"]
    match = Match(row.game, 2, row.terms, 0)
    match.start()
    if way == "complete":
        for player, (time, *space) in enumerate(LEFT_COLUMN):
            match.submit(player % 2, mark(player % 2, *space), time)
    elif way == "disconnect":
        match.leave(0, 100)
    elif way == "timeout":
        match.wake(match.deadline or 0)
    else:
        for time in range(3):
            match.submit(0, "nonsense", time)
    entry = entry_of("m", "Ann", "Bob")
    store.begin(entry)
    await keep(store, entry, match)
    reason, victor = REASONS[way]
    assert (await ask(http, ONE, type=NOUGHTS, id="m"))["game"]["result"] == {
        "reason": reason,
        "victor": {"name": victor},
    }


async def test_bumblebots_has_its_own_words(http: httpx.AsyncClient, store: Store) -> None:
    await played_by_the_house(store, entry_of("b", "Ann", "Bob", game="bumblebots"))
    assert (await ask(http, ONE, type="BUMBLEBOTS", id="b"))["game"]["result"][
        "reason"
    ] == "BUMBLEBOTS_FULL_TIME"


async def test_a_running_game_shows_its_present_position(
    http: httpx.AsyncClient, store: Store, tables: HandTables
) -> None:
    entry = entry_of("now", "Ann", "Bob", contest="cup")
    store.begin(entry)
    tables.open(entry).submit(0, mark(0, 1, 1))
    found = (await ask(http, ONE, type=NOUGHTS, id="now"))["game"]
    assert (found["status"], found["result"], found["endTime"], found["record"]) == (
        "RUNNING",
        None,
        None,
        None,
    )
    assert found["board"] == found["state"]["board"] == [["", "", ""], ["", "X", ""], ["", "", ""]]
    assert found["marks"] == {"X": {"name": "Ann"}, "O": {"name": "Bob"}}
    assert found["first"] == []
    assert found["seats"][1] == {
        "seat": 1,
        "bot": {"name": "Bob"},
        "place": None,
        "score": None,
        "cause": None,
    }
    assert len(tables.tables["now"].audience) == 0


async def test_a_game_that_a_crash_ended_shows_what_is_known(
    http: httpx.AsyncClient, store: Store
) -> None:
    store.begin(entry_of("lost", "Ann", "Bob"))
    await store.abort_running("the server was restarted", NOON + 60_000)
    found = (await ask(http, ONE, type=NOUGHTS, id="lost"))["game"]
    assert (found["status"], found["abortReason"]) == ("ABORTED", "the server was restarted")
    assert (found["result"], found["state"], found["record"], found["first"]) == (
        None,
        None,
        None,
        [],
    )
    assert found["board"] == [["", "", ""]] * 3


async def test_games_can_be_filtered_counted_and_paged(
    http: httpx.AsyncClient, store: Store
) -> None:
    for number in range(5):
        players = ("Ann", "Bob") if number % 2 else ("Ann", "Cid")
        contest = "cup" if number < 3 else None
        await played_noughts(
            store,
            entry_of(f"m{number}", *players, contest=contest, started=NOON + number),
            LEFT_COLUMN,
        )
    store.begin(entry_of("now", "Ann", "Dan", started=NOON + 10))
    store.begin(entry_of("other game", "Eve", "Fay", game="gomoku"))

    async def found(**filters: Any) -> tuple[str, int]:
        data = await ask(http, LIST, type=NOUGHTS, filters=filters)
        return " ".join(game["id"] for game in data["games"]), data["gamesCount"]

    assert await found() == ("m4 m3 m2 m1 m0", 5)
    assert await found(limit=2) == ("m4 m3", 5)
    assert await found(limit=-2, offset=1) == ("m3 m2", 5)
    assert await found(limit=0, contest="cup") == ("m2 m1 m0", 3)
    assert await found(bots=["Ann", "Cid"]) == ("m4 m2 m0", 3)
    assert await found(bots=["Bob", "Cid"]) == ("", 0)
    assert await found(anyBots=["Bob", "Nobody"]) == ("m3 m1", 2)
    assert await found(status="RUNNING") == ("now", 1)
    assert await found(status="ANY", limit=2) == ("now m4", 6)
    assert await found(status="ABORTED") == ("", 0)
    assert await found(status=None, limit=None, offset=None, bots=None, contest=None) == (
        "m4 m3 m2 m1 m0",
        5,
    )


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"bots": []}, "a list of bots must have names in it, and nothing else"),
        ({"anyBots": [None]}, "a list of bots must have names in it, and nothing else"),
        ({"contest": "a\0b"}, "a text must not contain the character NUL"),
        ({"bots": ["a\0b"]}, "a text must not contain the character NUL"),
    ],
)
async def test_filters_that_cannot_be_are_refused(
    http: httpx.AsyncClient, filters: dict[str, Any], words: str
) -> None:
    query = LIST.replace("gamesCount(gameType: $type, filters: $filters) ", "")
    assert await refused(http, query, type=NOUGHTS, filters=filters) == words


async def test_all_games_are_given_and_where_a_list_is_cut_short_it_says_so(
    http: httpx.AsyncClient, store: Store
) -> None:
    for number in range(MOST_GAMES + 3):
        store.begin(entry_of(f"m{number}", "Ann", "Bob", started=NOON + number))
    running: dict[str, Any] = {"status": "RUNNING"}
    query = (
        "query ($filters: GameInput) { games(gameType: NOUGHTS_AND_CROSSES, filters: "
        "$filters) "
        "{ ... on Match { id } } }"
    )
    whole = await answered(http, query, filters=running | {"offset": 3})
    assert (len(whole["data"]["games"]), list(whole)) == (MOST_GAMES, ["data"])
    cut = await answered(http, query, filters=running | {"limit": MOST_GAMES + 2})
    assert len(cut["data"]["games"]) == MOST_GAMES
    truncated = {"path": ["games"], "returned": MOST_GAMES, "total": MOST_GAMES + 2}
    assert cut["extensions"] == {"truncated": [truncated]}
    rest = await answered(http, query, filters=running | {"offset": MOST_GAMES})
    assert [game["id"] for game in rest["data"]["games"]] == ["m2", "m1", "m0"]


async def test_a_game_of_another_type_is_not_found(http: httpx.AsyncClient, store: Store) -> None:
    store.begin(entry_of("m", "Ann", "Bob"))
    assert await ask(http, ONE, type="GOMOKU", id="m") == {"game": None}
    assert await ask(http, ONE, type=NOUGHTS, id="unknown") == {"game": None}


async def test_rankings_by_three_methods(http: httpx.AsyncClient, store: Store) -> None:
    draw = [
        (1, 0, 0),
        (2, 1, 1),
        (3, 1, 0),
        (4, 2, 0),
        (5, 0, 2),
        (6, 0, 1),
        (7, 2, 1),
        (8, 2, 2),
        (9, 1, 2),
    ]
    for number, pair in enumerate(("Ann Bob", "Ann Dan", "Dan Ann")):
        await played_noughts(
            store, entry_of(f"won {number}", *pair.split(), contest="cup"), LEFT_COLUMN
        )
    for number, pair in enumerate(("Bob Cid", "Cid Bob")):
        await played_noughts(store, entry_of(f"drawn {number}", *pair.split(), contest="cup"), draw)
    query = (
        'query($method: RankingMethod) { contest(gameType: NOUGHTS_AND_CROSSES, name: "cup") '
        "{ "
        "gamesCount rankings(method: $method) { bot { name } wins draws losses played score } "
        "} }"
    )

    async def ranking(**variables: Any) -> list[tuple[str, int]]:
        rankings = (await ask(http, query, **variables))["contest"]["rankings"]
        return [(rank["bot"]["name"], rank["score"]) for rank in rankings]

    assert await ranking() == [("Ann", 6), ("Dan", 3), ("Cid", 2), ("Bob", 2)]
    assert await ranking(method=None) == await ranking(method="AMBITIOUS") == await ranking()
    assert await ranking(method="BALANCED") == [("Ann", 4), ("Dan", 2), ("Cid", 2), ("Bob", 2)]
    assert await ranking(method="PUNITIVE") == [("Ann", 6), ("Cid", 4), ("Bob", 4), ("Dan", 3)]
    assert (await ask(http, query))["contest"]["gamesCount"] == 5


async def test_contests_can_be_paged(http: httpx.AsyncClient, store: Store) -> None:
    for number in range(4):
        store.begin(entry_of(f"m{number}", "Ann", "Bob", contest=f"cup {number}"))
    query = "{ contests(gameType: NOUGHTS_AND_CROSSES, limit: 2, offset: 1) { name gameType } }"
    names = [contest["name"] for contest in (await ask(http, query))["contests"]]
    assert names == ["cup 1", "cup 2"]


async def test_the_tables_that_run(http: httpx.AsyncClient, tables: HandTables) -> None:
    tables.open(entry_of("late", "Ann", "Bob", started=NOON + 5))
    tables.open(entry_of("early", "Cid", "Dan", game="gomoku", contest="cup"))
    query = (
        "query($type: GameType) { liveTables(gameType: $type) { id gameType bots { name } "
        "contest { name } startTime steps spectators } }"
    )
    early, late = (await ask(http, query))["liveTables"]
    assert early == {
        "id": "early",
        "gameType": "GOMOKU",
        "bots": [{"name": "Cid"}, {"name": "Dan"}],
        "contest": {"name": "cup"},
        "startTime": "Sat Nov 14 2026 23:46:40 GMT+0000 (UTC)",
        "steps": 0,
        "spectators": 0,
    }
    assert late["contest"] is None
    assert (await ask(http, query, type="GOMOKU"))["liveTables"] == [early]
