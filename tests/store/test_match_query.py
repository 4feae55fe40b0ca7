"""The contract of every store: lists of matches, counts and contests."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import product
from typing import Any

import pytest

from botdrome.store import queries
from botdrome.store.entries import ContestLine, MatchEntry, Status, Wanted
from botdrome.store.store import Store, open_store
from tests.store.entries import GAME, a_match, an_end, play
from tests.store.postgres import new_database

pytestmark = pytest.mark.anyio

TABLES: list[tuple[str, ...]] = [
    ("ada", "bob"),
    ("bob", "ada"),
    ("carl", "dora"),
    ("ada", "carl", "dora"),
    ("ada", "ada"),
]


Filled = tuple[Store, list[MatchEntry]]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
async def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Filled]:
    """One store of each database for all tests that only read."""
    async with AsyncExitStack() as stack:
        url = f"sqlite:///{tmp_path_factory.mktemp('filled')}/store.db"
        if request.param == "postgres":
            server = request.getfixturevalue("postgres")
            url = await stack.enter_async_context(new_database(server))
        store = await open_store(url)
        yield store, await fill(store)
        await store.close()


async def fill(store: Store) -> list[MatchEntry]:
    """Some of everything; the newest first."""
    matches = []
    for number, (players, game, contest) in enumerate(
        product(TABLES, (GAME, "gomoku"), (None, "cup", "league"))
    ):
        match = a_match(
            f"m{number:02}", players, started=1000 + number // 2, game=game, contest=contest
        )
        store.begin(match)
        if number % 3:
            places = tuple(range(1, len(players) + 1))
            await store.finish(
                an_end(match.id, places, status="ended" if number % 3 == 1 else "aborted")
            )
        found = await store.match(match.id)
        assert found
        matches.append(found)
    return matches[::-1]


def fits(match: MatchEntry, question: Wanted) -> bool:
    return (
        question.game in (None, match.game)
        and question.contest in (None, match.contest)
        and question.status in (None, match.status)
        and all(name in match.players for name in question.all_of)
        and (not question.any_of or any(name in match.players for name in question.any_of))
    )


def questions() -> list[Wanted]:
    groups: list[tuple[str, ...]] = [
        (),
        ("ada",),
        ("bob", "ada"),
        ("ada", "ada"),
        ("nobody", "carl", "bob"),
    ]
    statuses: list[Status | None] = [None, "running", "ended", "aborted"]
    return [
        Wanted(game, contest, all_of, any_of, status)
        for game, contest, status in product((None, GAME), (None, "cup"), statuses)
        for all_of, any_of in product(groups, groups)
    ]


@pytest.mark.parametrize("many", [queries.MANY, 1])
async def test_every_combination_of_conditions(
    filled: Filled, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of seats matters only where one of several players took part."""
    monkeypatch.setattr(queries, "MANY", many)
    store, matches = filled
    asked = [one for one in questions() if many > 1 or len(one.any_of) > 1]
    for question in asked:
        expected = [match for match in matches if fits(match, question)]
        assert await store.matches(question) == expected, question
        assert await store.count(question) == len(expected), question


async def test_pages(filled: Filled) -> None:
    store, matches = filled
    first = await store.matches(Wanted(limit=7))
    second = await store.matches(Wanted(limit=7, offset=7))
    rest = await store.matches(Wanted(offset=14))
    assert first + second + rest == matches
    assert await store.matches(Wanted(limit=0)) == []
    assert await store.matches(Wanted(offset=1000)) == []
    assert await store.count(Wanted(limit=7, offset=7)) == len(matches)
    assert await store.matches(Wanted(limit=10**30)) == matches
    assert await store.matches(Wanted(offset=10**30)) == []
    with_ada = [match for match in matches if "ada" in match.players]
    assert await store.matches(Wanted(all_of=["ada"], limit=5, offset=3)) == with_ada[3:8]


@pytest.mark.parametrize("wrong", [{"limit": -1}, {"offset": -1}])
async def test_negative_pages_are_refused(filled: Filled, wrong: dict[str, Any]) -> None:
    store, _ = filled
    with pytest.raises(ValueError, match="negative"):
        await store.matches(Wanted(**wrong))


async def test_what_is_not_there_is_not_found(filled: Filled) -> None:
    store, _ = filled
    for odd in ("nobody", "", "a\0b", "\ud800", "' OR 1=1 --", "x" * 10_000, "%"):
        assert await store.count(Wanted(game=odd)) == 0
        assert await store.count(Wanted(contest=odd)) == 0
        assert await store.count(Wanted(all_of=[odd])) == 0
        assert await store.count(Wanted(any_of=[odd, odd + "!"])) == 0
        assert await store.match(odd) is None
        assert await store.record(odd) is None
        assert await store.contests(odd) == []
        assert await store.meetings(GAME, odd) == ({}, {})
        assert await store.contest_lines(odd, odd) == []


async def test_ten_thousand_names_in_one_question(store: Store) -> None:
    await play(store, a_match("m"))
    names = [f"bot {number}" for number in range(10_000)]
    assert await store.count(Wanted(any_of=[*names, "ada"])) == 1
    assert await store.count(Wanted(all_of=[*names, "ada"])) == 0


async def test_contests_are_listed_by_their_first_match(store: Store) -> None:
    await play(store, a_match("1", started=30, contest="late"))
    await play(store, a_match("2", started=20, contest="early"))
    await play(store, a_match("3", started=10, contest="other game", game="gomoku"))
    await play(store, a_match("4", started=40, contest="early"))
    await play(store, a_match("5", started=5))
    store.begin(a_match("6", started=25, contest="just begun"))
    assert await store.contests(GAME) == ["early", "just begun", "late"]
    assert await store.contests("gomoku") == ["other game"]


async def test_lines_of_a_contest_count_what_has_ended(store: Store) -> None:
    cup: dict[str, Any] = {"contest": "cup"}
    await play(store, a_match("win", **cup), 1, 2)
    await play(store, a_match("draw", **cup), 1, 1)
    await play(store, a_match("turned", ("bob", "ada"), **cup), 2, 1)
    await play(store, a_match("three", ("ada", "bob", "carl"), **cup), 1, 1, 3)
    await play(store, a_match("broken off", **cup), 1, 2, status="aborted")
    await play(store, a_match("elsewhere", contest="league"), 1, 2)
    await play(store, a_match("another game", game="gomoku", **cup), 1, 2)
    store.begin(a_match("still going", ("ada", "dora"), **cup))
    assert await store.contest_lines(GAME, "cup") == [
        ContestLine("ada", wins=2, draws=2, losses=0),
        ContestLine("bob", wins=0, draws=2, losses=2),
        ContestLine("carl", wins=0, draws=0, losses=1),
    ]


async def test_meetings_count_what_runs_or_has_ended_in_the_order_of_the_players(
    store: Store,
) -> None:
    cup: dict[str, Any] = {"contest": "cup"}
    await play(store, a_match("1", **cup))
    await play(store, a_match("2", ("bob", "ada"), **cup))
    await play(store, a_match("3", **cup), status="aborted")
    await play(store, a_match("4", contest="league"))
    await play(store, a_match("5", ("ada", "bob", "carl"), **cup), 1, 2, 3)
    store.begin(a_match("6", **cup))
    ended = {("ada", "bob"): 1, ("bob", "ada"): 1, ("ada", "bob", "carl"): 1}
    assert await store.meetings(GAME, "cup") == (ended, {("ada", "bob"): 1})
    await store.abort_running("over", 1)
    assert await store.meetings(GAME, "cup") == (ended, {})
