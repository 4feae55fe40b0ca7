"""Replays, and records that cannot be played."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest

from botdrome.api.replays import headlines_of_match, steps_of
from botdrome.api.requests import known_problem
from botdrome.server.failures import STORE_DAMAGED
from botdrome.store.entries import BrokenMatch, Finish, StoreDamaged
from botdrome.store.store import Store
from tests.api.asking import refused
from tests.api.tables import NOON, entry_of, played_noughts
from tests.store.damaging import make_unreadable

pytestmark = pytest.mark.anyio

AGAIN = "match m is broken: its record cannot be played again: "
SPACES = [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)]


@pytest.fixture
async def lines(store: Store) -> AsyncIterator[list[bytes]]:
    await played_noughts(store, entry_of("m", "Ann", "Bob"), SPACES)
    record = await store.record("m")
    assert record is not None
    yield record.splitlines(keepends=True)


def changed(lines: list[bytes], number: int, **keys: object) -> bytes:
    """The record without its checks and its end, and with another line."""
    plain = [msgspec.json.decode(line) | {"news": ""} for line in lines[:6]]
    plain[number] |= keys
    return b"".join(msgspec.json.encode(line) + b"\n" for line in plain)


async def test_the_turns_of_a_record(lines: list[bytes]) -> None:
    found = steps_of("m", b"".join(lines))
    assert [(turn.t, turn.step, *turn.moves) for turn in found] == [
        (100, 0, 0),
        (200, 1, 1),
        (300, 2, 0),
        (400, 3, 1),
        (500, 4, 0),
    ]
    assert found[0].moves[0] == {"mark": "X", "space": [0, 0]}


async def test_headlines_of_a_record(lines: list[bytes]) -> None:
    record = b"".join(lines)
    assert headlines_of_match(record) == (
        ("won at step 5", "lost at step 5"),
        "Ann has three in a row: [0, 0], [1, 0], [2, 0]",
    )
    assert headlines_of_match(record, seconds=-1) == ((), "")
    assert headlines_of_match(changed(lines, 0, game="chess")) == ((), "")
    assert headlines_of_match(changed(lines, 2, say="nonsense")) == (
        (),
        "",
    )  # without that move the match has no end


async def test_what_was_refused_is_no_turn(lines: list[bytes]) -> None:
    assert [turn.t for turn in steps_of("m", changed(lines, 2, say="nonsense"))] == [100, 400, 500]


@pytest.mark.parametrize(
    ("number", "keys", "words"),
    [
        (0, {"botdrome": 99}, AGAIN + "line 1: this is not a match file of version 1"),
        (0, {"game": "chess"}, AGAIN + "line 1: there is no game 'chess'"),
        (0, {"options": {"size": 5}}, AGAIN + "line 1: noughts-and-crosses has no option 'size'"),
        (
            0,
            {"rules": 99},
            AGAIN
            + "line 1: it was played by version 99 of the rules of noughts-and-crosses, and this "
            "is 1",
        ),
        (1, {"by": 7}, AGAIN + "line 2: it cannot be played: "),
    ],
)
async def test_a_record_that_cannot_be_played(
    lines: list[bytes], number: int, keys: dict[str, object], words: str
) -> None:
    with pytest.raises(BrokenMatch) as raised:
        steps_of("m", changed(lines, number, **keys))
    assert str(raised.value).startswith(words)


async def test_it_is_said_in_words(
    http: httpx.AsyncClient, store: Store, lines: list[bytes]
) -> None:
    entry = await store.match("m")
    assert entry is not None and entry.view is not None
    store.begin(entry_of("b", "Ann", "Bob"))
    await store.finish(
        Finish("b", "ended", NOON, entry.result, entry.view, changed(lines, 3, by=7))
    )
    query = (
        '{ game(gameType: NOUGHTS_AND_CROSSES, id: "b") { ... on NoughtsAndCrossesGame { '
        "turns "
        "{ mark } } } }"
    )
    assert (await refused(http, query)).startswith(
        "match b is broken: its record cannot be played again"
    )
    response = await http.get("/watch/b/events")
    assert response.status_code == 500
    assert response.json()["error"].startswith(
        "match b is broken: its record cannot be played again"
    )


async def test_a_broken_match_is_named_everywhere(
    http: httpx.AsyncClient, lines: list[bytes], tmp_path: Path
) -> None:
    make_unreadable(f"sqlite:///{tmp_path / 'store.db'}", "m")
    words = "match m is broken: the store is damaged there; its operator may have a backup"
    for path in ("", "/record", "/film", "/players", "/seats/0/log"):
        answer = await http.get(f"/api/v1/matches/m{path}", headers={"Authorization": "Bearer x"})
        assert (answer.status_code, answer.json()) == (500, {"error": words}), path
    answer = await http.get("/watch/m/events")
    assert (answer.status_code, answer.json()) == (500, {"error": words})
    assert (
        await refused(http, '{ game(gameType: NOUGHTS_AND_CROSSES, id: "m") { __typename } }')
        == words
    )
    assert (await http.get("/api/v1/matches")).json()["matches"] == []


async def test_a_store_that_is_damaged_elsewhere_does_not_come_back_later() -> None:
    problem = known_problem(StoreDamaged("sqlite:///store.db: database disk image is malformed"))
    assert problem is not None and (problem.status, problem.words) == (500, STORE_DAMAGED)
