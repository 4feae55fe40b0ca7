"""REST: the same reads, as plain JSON."""

from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest
from structlog.testing import capture_logs

from botdrome.catalogue import CATALOGUE
from botdrome.server.arena import Arena
from botdrome.server.lobby.clients import NOBODY, bot_owner
from botdrome.server.tables.flight_records import FlightRecord
from botdrome.store.store import Store
from tests.api.conftest import SharedArena
from tests.api.tables import NOON, HandTables, entry_of, mark, played_by_the_house, played_noughts

pytestmark = pytest.mark.anyio

LEFT_COLUMN = [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)]
BODY = "the body is not what it should be: "
ODD_NAMES = ["Ann", " sp ace/ü.$ ", "a/b/c", "a//b", "100%", "a?b#c", "名前", "bots", "x+y&z=1"]


async def get(http: httpx.AsyncClient, path: str, **params: Any) -> Any:
    response = await http.get(f"/api/v1/{path}", params=params)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()


async def error(
    http: httpx.AsyncClient, path: str, method: str = "GET", **rest: Any
) -> tuple[int, str]:
    response = await http.request(method, f"/api/v1/{path}", **rest)
    assert response.headers["content-type"] == "application/json"
    assert response.json().keys() == {"error"}
    return response.status_code, response.json()["error"]


async def register(http: httpx.AsyncClient, name: str, game: str = "gomoku") -> str:
    response = await http.post("/api/v1/bots", json={"game": game, "name": name, "owner": "me"})
    assert response.status_code == 201
    assert response.json()["bot"]["name"] == name
    password: str = response.json()["password"]
    return password


# Bots.


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_a_bot_of_any_name_can_be_registered_and_read(shared: SharedArena, name: str) -> None:
    password = await register(shared.http, name, "NOUGHTS_AND_CROSSES")
    assert await shared.arena.holder(name, password) is not None
    bot = await get(shared.http, f"bots/{quote(name, safe='')}")
    assert (bot["name"], bot["game"], bot["gameType"], bot["owner"]) == (
        name,
        "noughts-and-crosses",
        "NOUGHTS_AND_CROSSES",
        "me",
    )
    assert bot["registered"].endswith("Z")
    assert "password" not in bot
    assert "token" not in str(bot)


async def test_bots_are_listed(http: httpx.AsyncClient) -> None:
    for number in range(3):
        await register(http, f"g{number}")
    await register(http, "b", "battleship")
    page = await get(http, "bots", game="gomoku", limit=2, offset=1)
    assert (
        [bot["name"] for bot in page["bots"]],
        page["total"],
        page["limit"],
        page["offset"],
    ) == (["g1", "g2"], 3, 2, 1)
    assert (await get(http, "bots", owner="nobody"))["bots"] == []
    assert (await get(http, "bots"))["total"] == 4


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b'{"game": "gomoku", "name": ""}', 400, "a name must not be empty"),
        (b'{"game": "gomoku", "name": "taken"}', 409, "Bot already registered with that name"),
        (b'{"game": "chess", "name": "n"}', 404, "there is no game 'chess'; there "
                                                 "are " + ", ".join(CATALOGUE)),
        (b'{"name": "n"}', 400, BODY + "Object missing required field `game`"),
        (b'{"game": "gomoku", "name": 5}', 400, BODY + "Expected `str`, got `int` - at `$.name`"),
        (b'{"game": "gomoku", "name": "n", "admin": true}', 400, BODY + "Object contains unknown "
                                                                        "field `admin`"),
        (b'{"game": "gomoku", "name": [%b1]}' % (b"1," * 6000), 400, BODY + "it has more than 6000 "
                                                                            "values"),
        (b"{", 400, BODY + "Input data was truncated"),
        (b"\xff", 400, BODY + "JSON is malformed: invalid character (byte 0)"),
        (b'{"game": "gomoku", "name": "n", "owner": "' + b"x" * 201 + b'"}', 400, "an owner has at most 200 characters"),
        (b"x" * 200_000, 413, "the body of a request may have 102400 bytes at most"),
    ],
)  # fmt: skip
async def test_a_registration_that_cannot_be(
    reader: httpx.AsyncClient, body: bytes, status: int, words: str
) -> None:
    await reader.post("/api/v1/bots", json={"game": "gomoku", "name": "taken"})
    assert await error(reader, "bots", "POST", content=body) == (status, words)


# Matches.


async def test_a_match_is_read_in_full(http: httpx.AsyncClient, store: Store) -> None:
    await played_noughts(store, entry_of("m1", "Ann", "Bob", contest="cup"), LEFT_COLUMN)
    assert await get(http, "matches/m1") == {
        "id": "m1",
        "game": "noughts-and-crosses",
        "gameType": "NOUGHTS_AND_CROSSES",
        "players": ["Ann", "Bob"],
        "contest": "cup",
        "pace": "usual",
        "status": "ended",
        "started": "2026-11-14T23:46:40.000Z",
        "ended": "2026-11-14T23:46:45.000Z",
        "result": {"victor": "Ann", "reason": "complete"},
        "verdict": "Ann has three in a row: [0, 0], [1, 0], [2, 0]",
        "void": None,
        "seats": [
            {
                "seat": 0,
                "bot": "Ann",
                "place": 1,
                "score": 1.0,
                "cause": "complete",
                "version": None,
                "headline": "won at step 5",
            },
            {
                "seat": 1,
                "bot": "Bob",
                "place": 2,
                "score": 0.0,
                "cause": "complete",
                "version": None,
                "headline": "lost at step 5",
            },
        ],
        "options": {},
        "reason": None,
        "view": {
            "you": None,
            "toMove": [],
            "marks": ["X", "O"],
            "board": [["X", "", "O"], ["X", "O", ""], ["X", "", ""]],
        },
    }


@pytest.mark.parametrize("game", CATALOGUE)
async def test_matches_of_all_games_can_be_read(shared: SharedArena, game: str) -> None:
    await played_by_the_house(shared.store, entry_of(game, "Ann", "Bob", game=game))
    match = await get(shared.http, f"matches/{game}")
    assert (match["game"], match["status"]) == (game, "ended")
    assert match["view"]
    assert match["result"]["reason"]
    assert len(match["seats"]) == 2


async def test_matches_are_filtered_and_counted(http: httpx.AsyncClient, store: Store) -> None:
    for number in range(4):
        players = ("Ann", "Bob & Co/1") if number % 2 else ("Ann", "Cid")
        await played_noughts(
            store,
            entry_of(
                f"m{number}", *players, contest="cup" if number else None, started=NOON + number
            ),
            LEFT_COLUMN,
        )
    store.begin(entry_of("now", "Ann", "Dan", game="gomoku", started=NOON + 9))

    async def found(**params: Any) -> tuple[str, int]:
        page = await get(http, "matches", **params)
        return " ".join(match["id"] for match in page["matches"]), page["total"]

    assert await found() == ("now m3 m2 m1 m0", 5)
    assert await found(limit=2, offset=1) == ("m3 m2", 5)
    assert await found(game="gomoku") == await found(status="running") == ("now", 1)
    assert await found(bot=["Ann", "Bob & Co/1"]) == ("m3 m1", 2)
    assert await found(any_bot=["Dan", "Cid"]) == ("now m2 m0", 3)
    assert await found(contest="cup", status="ended") == ("m3 m2 m1", 3)
    assert await found(status="aborted") == ("", 0)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("matches?limit=0", 400, "limit is a number from 1 to 1000, not '0'"),
        ("matches?limit=1001", 400, "limit is a number from 1 to 1000, not '1001'"),
        ("matches?limit=-1", 400, "limit is a number from 1 to 1000, not '-1'"),
        ("matches?offset=1e3", 400, "offset is a number from 0 to 2147483647, not '1e3'"),
        ("matches?offset=99999999999999999999", 400, "offset is a number from 0 to 2147483647, not "
                                                     "'99999999999999999999'"),
        ("matches?limit=%D9%A3", 400, "limit is a number from 1 to 1000, not '٣'"),
        ("matches?status=lost", 400, "status is one of running, ended, aborted, not 'lost'"),
        ("bots?colour=red", 400, "there is no parameter 'colour'; there are game, owner, name, sort, "
                                 "limit, offset"),
        ("matches?game=chess", 404, "there is no game 'chess'; there are " + ", ".join(CATALOGUE)),
        ("matches?bot=a%00b", 400, "a text must not contain the character NUL"),
        ("matches/a%00b", 400, "a text must not contain the character NUL"),
        ("games?limit=5", 400, "there is no parameter 'limit'"),
        ("matches/unknown", 404, "there is no match 'unknown'"),
        ("matches/unknown/record", 404, "there is no match 'unknown'"),
        ("bots/unknown", 404, "there is no bot 'unknown'"),
        ("contests/chess", 404, "there is no game 'chess'; there are " + ", ".join(CATALOGUE)),
        ("contests/gomoku/unknown", 404, "there are no matches in a contest 'unknown' of gomoku"),
        ("contests/gomoku/unknown?method=odd", 400, "method is one of ambitious, balanced, "
                                                    "punitive, not 'odd'"),
        ("nothing", 404, "GET /api/v1/nothing: not found"),
        ("matches/m/seats/one/log", 404, "GET /api/v1/matches/m/seats/one/log: not found"),
    ],
)  # fmt: skip
async def test_what_cannot_be_is_said_in_words(
    reader: httpx.AsyncClient, path: str, status: int, words: str
) -> None:
    assert await error(reader, path) == (status, words)


async def test_other_methods_are_refused(http: httpx.AsyncClient) -> None:
    assert await error(http, "matches", "DELETE") == (
        405,
        "DELETE /api/v1/matches: method not allowed",
    )
    response = await http.put("/api/v1/bots")
    assert set(response.headers["allow"].split(", ")) >= {"GET", "HEAD"}


async def test_the_record_is_the_match_file(http: httpx.AsyncClient, store: Store) -> None:
    await played_noughts(store, entry_of("m", "Ann", "Bob"), LEFT_COLUMN)
    store.begin(entry_of("now", "Ann", "Bob"))
    response = await http.get("/api/v1/matches/m/record")
    assert (response.status_code, response.headers["content-type"]) == (200, "application/x-ndjson")
    assert response.content == await store.record("m")
    assert await error(http, "matches/now/record") == (
        404,
        "match now is still running; its record is stored when it ends",
    )
    await store.abort_running("crash", NOON)
    assert await error(http, "matches/now/record") == (404, "match now has no record")


async def test_a_running_match_shows_its_present_view(
    http: httpx.AsyncClient, store: Store, tables: HandTables
) -> None:
    entry = entry_of("now", "Ann", "Bob")
    store.begin(entry)
    tables.open(entry).submit(0, mark(0, 2, 2))
    match = await get(http, "matches/now")
    assert match["view"]["board"][2] == ["", "", "X"]
    assert match["seats"][0] == {
        "seat": 0,
        "bot": "Ann",
        "place": None,
        "score": None,
        "cause": None,
        "version": None,
    }


# The flight record is private.


async def test_the_flight_record_is_for_the_bot_at_the_seat(
    http: httpx.AsyncClient, store: Store
) -> None:
    ann, bob = await register(http, "Ann"), await register(http, "Bob")
    owners = tuple([bot_owner(bot) for bot in await store.bots()])
    flight = FlightRecord(1000)
    flight.came(7, b"[]", "accepted", 3)
    await played_noughts(
        store,
        entry_of("m", "Ann", "Bob", owners=owners),
        LEFT_COLUMN,
        flights=(b'{"early":1}\n', flight.packed("complete")),
    )
    shown = (
        '{"early":1}\n',
        '{"t":7,"dir":"in","message":"[]","verdict":"accepted","used":7,"step":3}\n'
        '{"cause":"complete"}\n',
    )
    for seat, token in enumerate((ann, bob)):
        response = await http.get(
            f"/api/v1/matches/m/seats/{seat}/log", headers={"Authorization": f"Bearer {token}"}
        )
        assert (response.status_code, response.headers["content-type"]) == (
            200,
            "application/x-ndjson",
        )
        assert response.text == shown[seat]

    async def refused(seat: int, token: str | None, match: str = "m") -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        return await error(http, f"matches/{match}/seats/{seat}/log", headers=headers)

    assert await refused(0, None) == (401, "a token is needed: Authorization: Bearer TOKEN")
    assert await refused(0, bob) == (403, "this is not the token of the bot at seat 0")
    assert await refused(2, ann) == (404, "match m has the seats 0 to 1")
    assert await refused(0, ann, "unknown") == (404, "there is no match 'unknown'")
    store.begin(entry_of("now", "Ann", "Guest", owners=(owners[0], NOBODY)))
    assert await refused(0, ann, "now") == (
        404,
        "match now is still running; flight records are stored at its end",
    )
    assert await refused(1, ann, "now") == (403, "this is not the token of the bot at seat 1")
    assert (await http.get("/api/v1/matches/m/seats/0/log")).headers["www-authenticate"] == "Bearer"


# Contests, tables and games.


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_a_contest_of_any_name(shared: SharedArena, name: str) -> None:
    await played_noughts(
        shared.store, entry_of(f"cup {name}", "Ann", "Bob", contest=name), LEFT_COLUMN
    )
    assert (await get(shared.http, "contests/noughts-and-crosses"))["contests"].count(name) == 1
    contest = await get(
        shared.http, f"contests/NOUGHTS_AND_CROSSES/{quote(name, safe='')}", method="balanced"
    )
    assert (contest["name"], contest["game"], contest["matches"]) == (
        name,
        "noughts-and-crosses",
        1,
    )
    assert contest["rankings"] == [
        {
            "place": 1,
            "bot": "Ann",
            "wins": 1,
            "draws": 0,
            "losses": 0,
            "played": 1,
            "score": 2,
            "note": "",
        },
        {
            "place": 2,
            "bot": "Bob",
            "wins": 0,
            "draws": 0,
            "losses": 1,
            "played": 1,
            "score": 0,
            "note": "",
        },
    ]


async def test_the_tables_that_run(http: httpx.AsyncClient, tables: HandTables) -> None:
    tables.open(entry_of("a", "Ann", "Bob", contest="cup"))
    tables.open(entry_of("b", "Cid", "Dan", game="gomoku", started=NOON + 5))
    live = await get(http, "live")
    assert [table["id"] for table in live["tables"]] == ["a", "b"]
    assert (
        live["tables"][0]
        | {"contest": "cup", "steps": 0, "spectators": 0, "players": ["Ann", "Bob"]}
        == live["tables"][0]
    )
    assert live["total"] == 2
    assert [table["id"] for table in (await get(http, "live", game="gomoku"))["tables"]] == ["b"]


async def test_the_games_on_offer(http: httpx.AsyncClient) -> None:
    games = {game["name"]: game for game in (await get(http, "games"))["games"]}
    assert games.keys() == CATALOGUE.keys()
    assert games["gomoku"]["gameType"] == "GOMOKU"
    assert games["noughts-and-crosses"]["players"] == [2, 2]
    assert "size" in [option["name"] for option in games["gomoku"]["options"]]
    assert games["battleship"]["terms"] == msgspec.to_builtins(CATALOGUE["battleship"].terms)
    assert "house:random" in games["bomberman"]["house"]


async def test_what_goes_wrong_inside_stays_inside(
    http: httpx.AsyncClient, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret of the database")

    arena.store.begin(entry_of("m", "Ann", "Bob"))
    monkeypatch.setattr(arena.tables, "watch", broken)
    with capture_logs() as logs:
        assert await error(http, "matches/m") == (500, "something went wrong in the server")
    assert "the secret of the database" in str(logs)
