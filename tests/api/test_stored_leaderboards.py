"""Leaderboards that go on from stored counts, on both databases."""

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from botdrome.api import leaderboard
from botdrome.api.leaderboard import GameResults, TableRatings, results_of, stored_counts
from botdrome.store.changes import Plan, Run
from botdrome.store.entries import MatchEntry, Source, StoreUnavailable
from botdrome.store.store import Store, StoreReader, keep_leaderboard, open_reader, open_store
from tests.store.conftest import postgres as postgres
from tests.store.conftest import postgres_url as postgres_url
from tests.store.conftest import sqlite_url as sqlite_url
from tests.store.conftest import store as store
from tests.store.conftest import url as url
from tests.store.entries import GAME, a_bot, a_match, an_end, play

pytestmark = pytest.mark.anyio


class Process:
    """The part of a worker process that leaderboards need."""

    def __init__(self, reader: StoreReader) -> None:
        self.store = reader
        self.keep = keep_leaderboard
        self.saved: list[int] = []

    async def _keep(self, source: Source, game: str, version: str, last: int, data: bytes) -> None:
        self.saved.append(last)
        await self.keep(source, game, version, last, data)

    async def results(self) -> GameResults:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(leaderboard, "keep_leaderboard", self._keep)
            return await results_of(GAME, self.store)


Start = Callable[[], Awaitable[Process]]


@pytest.fixture
async def start(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Start a process, which knows only what is stored. Each match is stored at once."""
    monkeypatch.setattr(leaderboard, "UNSAVED", 1)
    monkeypatch.setattr(leaderboard, "PAUSES", 0)
    readers = []

    async def started() -> Process:
        readers.append(await open_reader(store.source))
        return Process(readers[-1])

    yield started
    for reader in readers:
        await reader.close()


async def counted_anew(store: Store) -> GameResults:
    """Return the results of a process that finds nothing stored."""
    reader = await open_reader(store.source)
    await change(store, "DELETE FROM leaderboards")
    results = await Process(reader).results()
    await reader.close()
    return results


def shown(results: GameResults) -> bytes:
    """Return all counts, in the order in which they are rated."""
    tables = results.counts.tables.items()
    plain = {place: replace(table, ratings=TableRatings()) for place, table in tables}
    return msgspec.msgpack.encode(replace(results.counts, tables=plain))


async def change(store: Store, statement: str) -> None:
    def plan() -> Plan[None]:
        yield Run(statement, {})

    await store.journal.enter(plan)


async def begin(store: Store, match: MatchEntry) -> None:
    store.begin(match)
    await store.journal.settled()


async def play_some(store: Store, first: int, matches: int) -> None:
    for number in range(first, first + matches):
        names = ("ada", "bob") if number % 2 else ("bob", "cid", "house:best")
        await play(
            store,
            a_match(
                f"m{number}",
                names,
                1000 + number,
                versions=("1.1" if number % 4 else "1", *[""] * (len(names) - 1)),
                contest="cup" if number % 3 else None,
                seed=f"{number // 6:032x}",
            ),
            *([1, 2, 2][: len(names)] if number % 5 else [1, 1, 2][: len(names)]),
        )


async def register(store: Store) -> None:
    for name in ("ada", "bob", "cid"):
        await store.register(a_bot(name))


def counting(process: Process, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the list of the numbers of all matches that are read from now on."""
    read: list[int] = []
    reports, seatings = process.store.reports, process.store.reports.seatings

    async def seen(game: str, after: int, last: int) -> Any:
        read.extend(range(after + 1, last + 1))
        return await seatings(game, after, last)

    monkeypatch.setattr(reports, "seatings", seen)
    return read


async def test_a_new_process_reads_only_matches_since_and_has_the_same_results(
    store: Store, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    await register(store)
    await play_some(store, 0, 30)
    await begin(store, a_match("runs", started=1030))
    old = await start()
    table = (await old.results()).table("{}", 2)
    await old.results()
    assert old.saved[-1] == 31 and table.ratings.at
    await play(store, a_match("runs", started=1030))
    await play_some(store, 31, 10)
    new = await start()
    read = counting(new, monkeypatch)
    results = await new.results()
    assert read == list(range(32, 42)) and new.saved[-1] == 41
    anew = await counted_anew(store)
    assert shown(results) == shown(anew)
    for size in (2, 3):
        one, two = (replace(of.table("{}", size).ratings, at=1) for of in (results, anew))
        assert one == two and len(one.strengths) > 2


async def test_stored_ratings_are_shown_until_there_are_other_results(
    store: Store, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    await register(store)
    await play_some(store, 0, 30)
    old = await start()
    ratings = (await old.results()).table("{}", 3).ratings
    await play_some(store, 31, 1)
    await old.results()
    monkeypatch.setattr(leaderboard, "rate", None)
    assert (await (await start()).results()).table("{}", 3).ratings == ratings


async def test_an_imported_bot_counts_from_its_registration(store: Store, start: Start) -> None:
    await register(store)
    await play(store, a_match("guest", ("dan", "eve"), 500))
    await play(store, a_match("early", ("ada", "dan"), 1000))
    process = await start()
    assert (await process.results()).matches("{}") == 0
    await store.register(a_bot("late", 800))
    await process.results()
    assert process.saved == [2]
    await store.register(a_bot("dan", 1000))
    assert (await process.results()).matches("{}") == (await (await start()).results()).matches(
        "{}"
    )
    assert (await process.results()).matches("{}") == 1
    await store.register(a_bot("eve", 501))
    assert (await process.results()).matches("{}") == 1


OUTDATED = [
    "UPDATE leaderboards SET version = 'older'",
    "UPDATE leaderboards SET data = substr(data, 1, 99)",
    "DELETE FROM leaderboards",
    "DELETE FROM bots WHERE name = 'cid'",
    "DELETE FROM matches WHERE number = 30",
]


@pytest.mark.parametrize("damage", OUTDATED)
async def test_counts_that_do_not_fit_are_counted_again(
    store: Store, start: Start, damage: str
) -> None:
    await register(store)
    await play_some(store, 0, 30)
    await (await start()).results()
    await change(store, damage)
    assert shown(await (await start()).results()) == shown(await counted_anew(store))


class Killed(BaseException):
    """The process ends here."""


async def test_bots_are_rated_at_once_when_they_are_counted_again(
    store: Store, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard, "PAUSES", 1e9)
    await register(store)
    await play_some(store, 0, 30)
    process = await start()
    assert (await process.results()).table("{}", 2).ratings.strengths
    await change(store, "DELETE FROM bots WHERE name = 'cid'")
    assert (await process.results()).table("{}", 2).ratings.strengths


@pytest.mark.parametrize("damage", OUTDATED)
async def test_a_process_that_is_killed_while_it_counts_again_need_not_begin_again(
    store: Store, start: Start, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(leaderboard, "AT_ONCE", 7)
    await register(store)
    await play_some(store, 0, 30)
    await (await start()).results()
    await change(store, damage)
    killed = await start()
    seatings = killed.store.reports.seatings

    async def killed_at_the_third_read(game: str, after: int, last: int) -> Any:
        if after == 14:
            raise Killed
        return await seatings(game, after, last)

    monkeypatch.setattr(killed.store.reports, "seatings", killed_at_the_third_read)
    with pytest.raises(Killed):
        await killed.results()
    new = await start()
    read = counting(new, monkeypatch)
    results = await new.results()
    assert read[0] == 15
    assert shown(results) == shown(await counted_anew(store))


async def test_a_process_stores_its_counts_without_the_server(store: Store, start: Start) -> None:
    """They may be megabytes, which would block its event loop."""
    await register(store)
    await play_some(store, 0, 30)
    process = await start()
    await store.close()
    await process.results()
    assert (await stored_counts(GAME, process.store)).last == 30


async def test_a_version_reads_only_its_own_counts(store: Store) -> None:
    keep = partial(keep_leaderboard, store.source, GAME)
    kept = partial(store.reports.leaderboard, GAME)
    await keep("1", 20, b"more")
    assert (await kept("1"), await kept("2")) == (b"more", None)
    await keep("2", 5, b"newer")
    assert (await kept("1"), await kept("2")) == (None, b"newer")


async def test_a_leaderboard_is_shown_if_nothing_can_be_stored(
    store: Store, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    await register(store)
    await play_some(store, 0, 30)
    process = await start()

    async def away(*_: object) -> None:
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(process, "keep", away)
    assert (await process.results()).matches("{}") == 30
    monkeypatch.setattr(leaderboard, "LARGEST_ROW", 10)
    large = await start()
    assert (await large.results()).matches("{}") == 30 and large.saved == []
    assert (await stored_counts(GAME, large.store)).last == 0


async def test_nothing_is_stored_before_there_is_enough_to_store(
    store: Store, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard, "UNSAVED", 31)
    monkeypatch.setattr(leaderboard, "AT_ONCE", 7)
    await register(store)
    await play_some(store, 0, 30)
    process = await start()
    await process.results()
    assert process.saved == []
    await play_some(store, 30, 30)
    await process.results()
    assert process.saved == [37], "in the middle: a process that is killed need not begin again"
    assert (await stored_counts(GAME, process.store)).last == 37


async def test_a_match_that_another_node_stores_late_is_counted(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number was taken before that of a match that is stored already."""
    store = await open_store(postgres_url)
    await register(store)
    await play_some(store, 0, 3)
    for _ in range(2):
        await change(store, "SELECT nextval('matches_number_seq')")
    await play_some(store, 3, 2)
    process = Process(await open_reader(store.source))
    results = await process.results()
    assert results.matches("{}") == 5 and results.counts.missing.keys() == {4, 5}
    await change(store, "SELECT setval('matches_number_seq', 3)")
    await play(store, a_match("over"))
    await begin(store, a_match("runs"))
    await process.results()
    assert results.matches("{}") == 6
    assert (results.counts.running, results.counts.missing) == ({5}, {})
    await play(store, a_match("runs"))
    assert (await process.results()).matches("{}") == 7
    await change(store, "SELECT setval('matches_number_seq', 9)")
    await play_some(store, 5, 1)
    await process.results()
    assert results.counts.missing.keys() == {8, 9}
    monkeypatch.setattr(leaderboard, "LATE", 0)
    await process.results()
    assert results.counts.missing == {}
    await process.store.close()
    await store.close()


async def test_a_match_that_becomes_void_counts_no_more(store: Store, start: Start) -> None:
    await register(store)
    await play_some(store, 0, 8)
    await begin(store, a_match("runs"))
    process = await start()
    results = await process.results()
    before = results.table("{}", 2).ratings.strengths
    await play(store, a_match("late", ("bob", "ada"), 1100))
    await process.results()
    counted = results.matches("{}")
    await change(store, "UPDATE matches SET void = 'why' WHERE id IN ('late', 'runs')")
    await store.finish(an_end("runs"))
    for _ in range(2):
        await process.results()
        assert results.matches("{}") == counted - 1
    assert results.table("{}", 2).ratings.strengths == before
    assert results.counts.running == set() and len(results.counts.void) == 2
    anew = await counted_anew(store)
    assert results.counts.tables["{}", 2].lines == anew.counts.tables["{}", 2].lines
    (opponent,), _ = await store.reports.opponents("cid", 0, "games", True, 1, 0)
    assert opponent.name == "bob"
    assert await store.reports.meetings_of("ada", 1100, 9) == []


async def rated_beside(results: GameResults) -> None:
    assert results.rating is not None
    await results.rating
    assert results.rating is None


async def test_many_bots_are_rated_beside_the_requests(
    store: Store, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard, "FEW", 1)
    await register(store)
    await play_some(store, 0, 30)
    process = await start()
    results = await process.results()
    first = results.table("{}", 2).ratings
    assert {one.margin for one in first.strengths.values()} == {None}, "not yet"
    assert results.table("{}", 2).ratings is first and results.table("{}", 3).ratings.at
    await rated_beside(results)
    third = results.table("{}", 3).ratings
    assert {one.margin for one in third.strengths.values()} == {None}, "one table at a time"
    await rated_beside(results)
    assert results.table("{}", 3).ratings != third
    second = results.table("{}", 2).ratings
    assert None not in {one.margin for one in second.strengths.values()}
    await play_some(store, 30, 5)
    await process.results()
    assert results.table("{}", 2).ratings is second, "meanwhile the last ratings stand"
    await rated_beside(results)
    assert results.table("{}", 2).ratings.state > second.state
    stored = await stored_counts(GAME, process.store)
    await process.results()
    assert stored.tables["{}", 2].ratings == second
    assert (await stored_counts(GAME, process.store)).tables["{}", 2].ratings != second


async def test_a_thread_that_fails_leaves_the_last_ratings(
    store: Store, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard, "FEW", 1)
    await register(store)
    await play_some(store, 0, 30)
    results = await (await start()).results()
    monkeypatch.setattr(leaderboard, "LARGEST", "no size")
    first = results.table("{}", 2).ratings
    await rated_beside(results)
    assert results.counts.tables["{}", 2].ratings is first
