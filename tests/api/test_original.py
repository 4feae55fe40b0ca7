"""The original's API: recorded requests are sent again.

A table lists all differences and their reasons.
"""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.store.store import Store
from tests.api.tables import entry_of, played_by_the_house, played_noughts

RECORDING = [
    json.loads(line)
    for line in Path(__file__).with_name("battlebot-graphql-doc.jsonl").read_text().splitlines()
]
CUP, ANN, BOB = "cup-ad8b", "Ann-ad8b", "Bob-ad8b"
LEFT_COLUMN = ((0, 0), (1, 1), (1, 0), (0, 2), (2, 0))
FULL_BOARD = ((0, 0), (1, 1), (1, 0), (2, 0), (0, 2), (0, 1), (2, 1), (2, 2), (1, 2))

OTHER_WORDS = {
    "register null name",
    "register unknown game variable",
    "register unknown game literal",
    "register without owner",
    "documented example (gameType subselection)",
    "games unknown filter",
    "syntax error",
    "unknown field",
}
"""The same error in the words of another GraphQL library, which points a column further at times.
"""

NULL = {"data": {"registerBot": None}}
RANKINGS = next(line["body"] for line in RECORDING if line["label"] == "contest ranking null")
REFUSED: dict[str, Any] = {"errors": [{}]}

DIFFERENCES: dict[str, tuple[int, Any]] = {
    "register empty name": (200, NULL | REFUSED),
    "register 10k name": (200, NULL | REFUSED),
    "documented example, raw newlines in JSON": (200, {"data": {"registerBot": {"password": "…"}}}),
    "games bots []": (200, {"data": {"games": None}} | REFUSED),
    "games BUMBLEBOTS": (200, {"data": {"games": [{"__typename": "AnyGame"}]}}),
    "contest ranking AMBITIOUS": (200, RANKINGS),
    "contest ranking BALANCED": (
        200,
        {"data": {"contest": {"rankings": [{"score": 3}, {"score": 3}]}}},
    ),
    "contest ranking PUNITIVE": (
        200,
        {"data": {"contest": {"rankings": [{"score": 5}, {"score": 5}]}}},
    ),
    'contest ranking "punitive"': (400, REFUSED),
    'contest ranking "nonsense"': (400, REFUSED),
    "GET /bots": (200, None),
    "introspection": (
        200,
        {
            "data": {
                "__schema": {"queryType": {"name": "Query"}, "mutationType": {"name": "Mutation"}}
            }
        },
    ),
}
"""Names have a length, and one at least; line breaks are tolerated; an empty list has other words;
all games can be read; the method is an enum, as it was in the end; there is a page of bots; and the
schema has grown.
"""


@pytest.fixture
async def played(store: Store) -> None:
    """The games that were in the original's database."""
    start = 1_794_709_635_000
    old = entry_of("0000000000000000", "Amy", "Ben", contest="cup-6247", started=start - 100_000)
    await played_noughts(store, old, [(10, *space) for space in LEFT_COLUMN])
    for match_id, began, contest, times, spaces, leaver in (
        ("bce30f4da78f34d9", 300, None, (373, 378, 379, 379, 380), LEFT_COLUMN, None),
        ("5f90eda5c818e03c", 700, CUP, (744, 750, 751, 751, 760), LEFT_COLUMN, None),
        (
            "758884dfc09883a3",
            1100,
            CUP,
            (1130, 1131, 1134, 1134, 1137, 1138, 1138, 1140, 1140),
            FULL_BOARD,
            None,
        ),
        ("26addf76f3a20f97", 1400, CUP, (1502, 1503), LEFT_COLUMN[:2], 0),
    ):
        entry = entry_of(match_id, ANN, BOB, contest=contest, started=start + began)
        turns = [(time - began, *space) for time, space in zip(times, spaces, strict=True)]
        await played_noughts(store, entry, turns, leaver)
    bumble = entry_of("bumblebots", "Bea", "Bor", game="bumblebots")
    await played_by_the_house(store, bumble)


@pytest.mark.anyio
async def test_it_answers_as_the_original_did(http: httpx.AsyncClient, played: None) -> None:
    for line in RECORDING:
        response = await ask(http, line["request"])
        status, expected = DIFFERENCES.get(line["label"], (line["status"], line["body"]))
        assert response.status_code == status, line["label"]
        if line["request"]["path"].startswith("/graphql"):
            assert response.headers["content-type"] == line["content_type"], line["label"]
            assert response.headers.get("allow") == line["allow"], line["label"]
        if isinstance(expected, dict):
            seen = comparable(response.json(), line["label"])
            wanted = comparable(expected, line["label"])
            if line["label"] in DIFFERENCES:
                assert contains(seen, wanted), line["label"]
            else:
                assert seen == wanted, line["label"]


async def ask(http: httpx.AsyncClient, request: dict[str, Any]) -> httpx.Response:
    data = request.get("data")
    known: dict[str, Any] = {key: request.get(key) for key in ("params", "json", "headers")}
    body: dict[str, Any] = {"data": data} if isinstance(data, dict) else {"content": data}
    return await http.request(request["method"], request["path"], **known, **body)


def comparable(value: Any, label: str) -> Any:
    """Remove values that differ each time: passwords, today's date, and some messages."""
    if isinstance(value, list):
        return [comparable(item, label) for item in value]
    if not isinstance(value, dict):
        return value
    blank = {"password", "dateRegistered"} | (
        {"message", "locations"} if label in OTHER_WORDS else set()
    )
    checked = {
        "password": "[0-9a-f]{64}|…",
        "dateRegistered": r"\w{3} \w{3} \d\d \d{4} \d\d:\d\d:\d\d GMT\+0000 \(UTC\)",
    }
    for key in value.keys() & checked.keys():
        assert re.fullmatch(checked[key], value[key])
    return {key: "…" if key in blank else comparable(item, label) for key, item in value.items()}


def contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and contains(whole[key], item) for key, item in part.items()
        )
    if isinstance(part, list):
        return len(whole) == len(part) and all(
            contains(*pair) for pair in zip(whole, part, strict=True)
        )
    return bool(whole == part)


@pytest.mark.anyio
async def test_the_types_of_the_original_are_all_there(http: httpx.AsyncClient) -> None:
    recorded = next(line for line in RECORDING if line["label"] == "introspection")
    answer = (await ask(http, recorded["request"])).json()["data"]["__schema"]["types"]
    assert all(kind in answer for kind in recorded["body"]["data"]["__schema"]["types"])
