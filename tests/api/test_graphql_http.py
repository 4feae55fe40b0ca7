"""GraphQL over HTTP: accepted and refused requests, with words and status."""

import json
from itertools import pairwise
from typing import Any

import httpx
import pytest
from graphql import get_introspection_query
from structlog.testing import capture_logs

from botdrome.api.app import Api
from botdrome.api.graphql.endpoint import prefers_html
from botdrome.api.graphql.executor import UNREADABLE
from botdrome.server.arena import Arena
from botdrome.server.workers.jobs import SharedSlots
from tests.api.asking import ask, refused
from tests.api.conftest import SharedArena

pytestmark = pytest.mark.anyio

BOTS = "query Q($game: GameType!) { bots(gameType: $game) { name } }"
GOMOKU = {"game": "GOMOKU"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}
SHOUTED = "Application/JSON; charset=utf-8"
NOT_JSON = "POST body sent invalid JSON."
WHICH = "Must provide the name of one of the operations in the query."
CHAIN = "ABCDEFGHIJKLMNOPQRSTUV"
FRAGMENTS = " ".join(f"fragment {a} on Query {{ ...{b} ...{b} }}" for a, b in pairwise(CHAIN))


@pytest.fixture
def arena(shared: SharedArena) -> Arena:
    return shared.arena


@pytest.fixture
def http(shared: SharedArena) -> httpx.AsyncClient:
    """Of one arena for all tests, since none changes anything."""
    return shared.http


@pytest.mark.parametrize(
    "request_",
    [
        {"method": "GET", "params": {"query": BOTS, "variables": json.dumps(GOMOKU)}},
        {"method": "GET", "params": {"query": BOTS, "variables": json.dumps(GOMOKU), "operationName": "Q"}},
        {"method": "POST", "json": {"query": BOTS, "variables": GOMOKU}},
        {"method": "POST", "json": {"query": BOTS, "variables": json.dumps(GOMOKU)}},
        {"method": "POST", "json": {"query": BOTS, "variables": GOMOKU, "operationName": "Q", "extensions": {}}},
        {"method": "POST", "json": {"query": BOTS + " query R { __typename "
                                                    "}", "variables": GOMOKU, "operationName": "Q"}},
        {"method": "POST", "data": {"query": BOTS, "variables": json.dumps(GOMOKU)}},
        {"method": "POST", "json": {"variables": GOMOKU}, "params": {"query": BOTS}},
        {"method": "POST", "content": b'{"query": "\n{\tbots(gameType: GOMOKU) {\n name } }\n'
                                      b'"}', "headers": JSON},
        {"method": "POST", "content": b'{"query": "{bots(gameType: '
                                      b'GOMOKU){name}}"}', "headers": {"Content-Type": SHOUTED}},
        {"method": "POST", "content": b"{ bots(gameType: GOMOKU) { name } "
                                      b"}", "headers": {"Content-Type": "application/graphql"}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/graphql", "/graphql/", "/graphql/any/where"])
async def test_a_query_may_come_in_many_forms(
    http: httpx.AsyncClient, path: str, request_: dict[str, Any]
) -> None:
    response = await http.request(url=path, **request_)
    assert (response.status_code, response.json()) == (200, {"data": {"bots": []}})


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"content": b"{", "headers": JSON}, NOT_JSON),
        ({"content": b'{"query": "{__typename}", "variables": {"x": '
                     b'NaN}}', "headers": JSON}, NOT_JSON),
        ({"content": b'{"query": "\xff"}', "headers": JSON}, NOT_JSON),
        ({"content": b'{"query": "{__typename}", "variables": {"x": '
                     b'"\\ud800"}}', "headers": JSON}, NOT_JSON),
        ({"content": b"[" * 50_000, "headers": JSON}, NOT_JSON),
        ({"content": b'{"query": "{__typename}", "variables": {"x": '
                     b'[%b1]}}' % (b"1," * 6000), "headers": JSON}, NOT_JSON),
        ({"content": b"5", "headers": JSON}, NOT_JSON),
        ({"content": b"", "headers": JSON}, "Must provide query string."),
        ({"content": b"{__typename}"}, "Must provide query string."),
        ({"content": b"query=\xff", "headers": FORM}, "POST body is not UTF-8 text."),
        ({"content": b"\xff", "headers": {"Content-Type": "application/graphql"}}, "POST body is not UTF-8 text."),
        ({"json": {"query": ["{__typename}"]}}, "The query and the name of its operation are "
                                                "strings."),
        ({"json": {"query": "{__typename}", "operationName": 5}}, "The query and the name of its "
                                                                  "operation are strings."),
        ({"json": {"query": "{__typename}", "variables": [1]}}, "Variables are invalid JSON."),
        ({"json": {"query": "{__typename}", "variables": "{"}}, "Variables are invalid JSON."),
        ({"json": {"query": "query A {__typename} query B {__typename}"}}, WHICH),
        ({"json": {"query": "query A {__typename}", "operationName": "B"}}, WHICH),
        ({"json": {"query": "fragment F on Query { __typename }"}}, None),
        ({"json": {"query": "subscription { liveTables { id } "
                            "}"}}, "Subscriptions are for WebSockets."),
        ({"json": {"query": f"{{ bots(gameType: GOMOKU, limit: {'9' * 4999}) {{ name }} "
                            f"}}"}}, UNREADABLE),
        ({"json": {"query": "{"}}, None),
        ({"json": {"query": "{ " * 3_000}}, None),
        ({"json": {"query": "{ nothing }"}}, None),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_is_refused(
    http: httpx.AsyncClient, request_: dict[str, Any], words: str | None
) -> None:
    response = await http.post("/graphql", **request_)
    assert response.status_code == 400
    (error, *_) = response.json()["errors"]
    assert error["message"] == words or (words is None and error["message"])
    assert "Traceback" not in response.text


async def test_a_body_has_a_largest_size(http: httpx.AsyncClient) -> None:
    for content in (b"x" * 102_401, chunks(b"x" * 60_000, b"x" * 60_000)):
        response = await http.post("/graphql", content=content, headers=JSON)
        assert response.status_code == 413
        assert (
            response.json()["errors"][0]["message"]
            == "the body of a request may have 102400 bytes at most"
        )


async def chunks(*parts: bytes) -> Any:
    for part in parts:
        yield part


async def test_a_compressed_body_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.post(
        "/graphql", content=b"\x1f\x8b", headers=JSON | {"Content-Encoding": "gzip"}
    )
    assert response.status_code == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
async def test_other_methods_are_refused(http: httpx.AsyncClient, method: str) -> None:
    response = await http.request(method, "/graphql")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, POST")


async def test_a_get_changes_nothing(http: httpx.AsyncClient) -> None:
    query = (
        'query A { __typename } mutation B { registerBot(gameType: GOMOKU, name: "n", owner: '
        '"") { password } }'
    )
    response = await http.get("/graphql", params={"query": query, "operationName": "B"})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert (
        await http.get("/graphql", params={"query": query, "operationName": "A"})
    ).status_code == 200
    assert (await ask(http, "{ bots(gameType: GOMOKU) { name } }"))["bots"] == []


async def test_bad_variables_are_an_answer_without_data(http: httpx.AsyncClient) -> None:
    response = await http.post("/graphql", json={"query": BOTS, "variables": {"game": "CHESS"}})
    assert response.status_code == 200
    assert response.json().keys() == {"errors"}


async def test_what_goes_wrong_inside_stays_inside(
    http: httpx.AsyncClient, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret of the database")

    monkeypatch.setattr(arena.tables, "live", broken)
    with capture_logs() as logs:
        response = await http.post("/graphql", json={"query": "{ liveTables { id } }"})
    assert response.status_code == 200
    assert response.json()["data"] is None
    assert response.json()["errors"][0]["message"] == "Something went wrong in the server."
    assert "secret" not in response.text
    assert "the secret of the database" in str(logs)


# Limits.


async def test_the_whole_schema_can_be_asked_for(http: httpx.AsyncClient) -> None:
    data = await ask(
        http,
        get_introspection_query(
            descriptions=True, specified_by_url=True, input_value_deprecation=True
        ),
    )
    types = {kind["name"]: kind for kind in data["__schema"]["types"]}
    games = [value["name"] for value in types["GameType"]["enumValues"]]
    assert games == [
        "NOUGHTS_AND_CROSSES",
        "BUMBLEBOTS",
        "GOMOKU",
        "BATTLESHIP",
        "BATTLECUBE",
        "BOMBERMAN",
    ]


NESTED = (
    'contest(gameType: GOMOKU, name: "c") { games(filters: {limit: 1}) { ... on Match { %s } } }'
)


def nested(times: int) -> str:
    query = "id"
    for _ in range(times):
        query = "contest { games(filters: {limit: 1}) { ... on Match { " + query + " } } }"
    return "{ " + NESTED % query + " }"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (nested(5), "The query is nested 13 deep; 12 is allowed."),
        ("{ games(gameType: GOMOKU) { ... on Match { contest { games { ... on Match { id } } } } } "
         "}", "The query may cost"),
        ("{ contests(gameType: GOMOKU) { games { ... on Match { id gameType status } } } "
         "}", "The query may cost"),
        ("{ games(gameType: GOMOKU) { ... on Match { record } } }", "The query may cost"),
        ("{ games(gameType: GOMOKU) { ... on AnyGame { turns(limit: 1) { step } } } "
         "}", "The query may cost"),
        ("{ " + " ".join(f"a{n}: __typename" for n in range(51)) + " }", "The query has 51 aliases;"
                                                                         " 50 are allowed."),
        ("{ " + " __typename" * 2_000 + " }", "Syntax Error: Document contains more than 2000 "
                                              "tokens"),
        ("{ ...A } " + FRAGMENTS + " fragment V on Query { __typename }", "The query may cost"),
        ("{ ...A } fragment A on Query { ...B } fragment B on Query { ...A "
         "}", "Cannot spread fragment"),
        ("mutation { " + " ".join(f'm{n}: revokeToken(name: "x") {{ name '
                                  f'}}' for n in range(50)) + "}", None),
        ("{ __schema { types { " + "fields { type { " * 4 + "name" + " } }" * 5 + " }", "Maximum introspection depth"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
async def test_a_query_may_not_ask_for_too_much(
    http: httpx.AsyncClient, query: str, words: str | None
) -> None:
    response = await http.post("/graphql", json={"query": query})
    if words is None:
        assert response.status_code == 200
        return
    assert response.status_code == 400
    assert response.json()["errors"][0]["message"].startswith(words)


async def test_a_query_may_ask_for_a_good_deal(http: httpx.AsyncClient) -> None:
    await ask(http, nested(4))
    full = (
        "id gameType bots { name owner dateRegistered gameType } contest { name gameType } "
        "result { victor { name owner dateRegistered } reason } board startTime "
        "marks { X { name owner } O { name owner } } turns { space mark time bot { name owner } }"
    )
    await ask(
        http,
        "{ contests(gameType: NOUGHTS_AND_CROSSES) { name games { ... on NoughtsAndCrossesGame { "
        "id } } } }",
    )
    await ask(
        http,
        f"{{ games(gameType: NOUGHTS_AND_CROSSES) {{ ... on NoughtsAndCrossesGame {{ {full} }} }} "
        f"}}",
    )
    query = (
        "query($limit: Int) { games(gameType: GOMOKU, filters: {limit: $limit}) { ... on "
        "Match "
        "{ record } } }"
    )
    await ask(http, query, limit=24)
    assert "The query may cost" in await refused(http, query)


async def test_too_many_that_wait_are_told_so(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena.workers, "_slots", SharedSlots(0))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(Api(arena)), base_url="http://arena"
    ) as http:
        response = await http.post("/graphql", json={"query": "{ __typename }"})
    assert response.status_code == 503


# Browsers.


@pytest.mark.parametrize(
    ("accept", "html"),
    [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True),
        ("text/html", True),
        ("application/json, text/html", False),
        ("text/html, application/json", True),
        ("text/html;q=0.5, application/json", False),
        ("application/json;q=0.5, text/html; q=0.7", True),
        ("text/html;q=odd", True),
        ("*/*", False),
        ("", False),
    ],
)
def test_a_browser_is_known_by_what_it_accepts(accept: str, html: bool) -> None:
    assert prefers_html(accept) is html
