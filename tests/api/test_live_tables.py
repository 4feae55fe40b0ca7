"""Subscriptions to the running tables: equal subscriptions share one list."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from botdrome.api.live_tables import GROUP, MOST_TABLES, TableLists, live_tables
from tests.api.tables import HandTables, entry_of
from tests.patience import until

pytestmark = pytest.mark.anyio


class Press:
    """Makes issues, and counts them."""

    def __init__(self, tables: HandTables) -> None:
        self._tables, self.made = tables, 0
        self.problem: Exception | None = None

    async def __call__(self) -> bytes:
        self.made += 1
        if self.problem is not None:
            raise self.problem
        return b" ".join(sorted(table.id.encode() for table in self._tables.live()))


@pytest.fixture
def press(tables: HandTables) -> Press:
    return Press(tables)


async def test_every_game_is_among_the_tables_however_many_there_are(tables: HandTables) -> None:
    for number in range(MOST_TABLES + 5):
        tables.open(entry_of(f"m{number:03}", "ada", "bob"))
    late = entry_of("late", "ada", "bob", game="gomoku")
    tables.open(late)
    found, total = live_tables(tables)
    assert (len(found), total) == (MOST_TABLES, MOST_TABLES + 6)
    assert late.id in [table.id for table in found]


async def following(
    lists: TableLists, press: Press, many: int, words: bytes = b""
) -> list[AsyncGenerator[bytes, None]]:
    """Subscribers that know that there are no tables."""
    followers = [lists.follow(words, press) for _ in range(many)]
    assert [await anext(one) for one in followers] == [b""] * many
    return followers


async def left(*followers: AsyncGenerator[bytes, None]) -> None:
    for one in followers:
        await one.aclose()


async def test_an_issue_is_made_once_for_all(
    tables: HandTables, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    followers = await following(TableLists(tables), press, 3 * GROUP + 1)
    assert press.made == 1
    monkeypatch.setattr("botdrome.api.live_tables.PAUSE", 0)
    news = [asyncio.ensure_future(anext(one)) for one in followers]
    await asyncio.sleep(0)
    tables.open(entry_of("a", "Ann", "Bob"))
    assert await asyncio.gather(*news) == [b"a"] * len(followers)
    assert press.made == 2
    await left(*followers)
    assert not tables.tellers


async def test_other_words_are_another_bulletin(tables: HandTables, press: Press) -> None:
    lists = TableLists(tables)
    followers = [*await following(lists, press, 2), *await following(lists, press, 2, b"other")]
    assert (press.made, len(tables.tellers)) == (2, 2)
    await left(*followers)


async def test_who_comes_late_is_told_how_it_is_now(
    tables: HandTables, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = TableLists(tables)
    first = await following(lists, press, 1)
    tables.open(entry_of("a", "Ann", "Bob"))
    monkeypatch.setattr("botdrome.api.live_tables.PAUSE", 0)
    late = lists.follow(b"", press)
    assert await anext(late) == b"a"
    await left(*first, late)


async def test_what_has_not_changed_is_not_told(
    tables: HandTables, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.api.live_tables.PAUSE", 0)
    (one,) = await following(TableLists(tables), press, 1)
    news = asyncio.ensure_future(anext(one))
    for made in (2, 3):
        tables._tell()
        await until(lambda made=made: press.made == made)  # type: ignore[misc]
    tables.open(entry_of("a", "Ann", "Bob"))
    assert await news == b"a"
    await left(one)


async def test_who_is_slow_is_told_the_latest(
    tables: HandTables, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.api.live_tables.PAUSE", 0)
    (slow,) = await following(TableLists(tables), press, 1)
    for made, name in enumerate("abc", 2):
        tables.open(entry_of(name, "Ann", "Bob"))
        await until(lambda made=made: press.made == made)  # type: ignore[misc]
    assert await anext(slow) == b"a b c"
    await left(slow)


async def test_one_that_cannot_be_made_ends_for_all(
    tables: HandTables, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.api.live_tables.PAUSE", 0)
    lists = TableLists(tables)
    followers = await following(lists, press, 2)
    news = [asyncio.ensure_future(anext(one)) for one in followers]
    press.problem = ValueError("no")
    tables._tell()
    assert [type(each) for each in await asyncio.gather(*news, return_exceptions=True)] == [
        ValueError
    ] * 2
    assert not tables.tellers
    with pytest.raises(ValueError, match="no"):
        await anext(lists.follow(b"", press))
    assert not tables.tellers
    press.problem = None
    await left(*await following(lists, press, 1))


async def test_who_leaves_while_it_waits_keeps_nobody_waiting(
    tables: HandTables, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.api.live_tables.PAUSE", 0)
    followers = await following(TableLists(tables), press, 3)
    gone, *others = [asyncio.ensure_future(anext(one)) for one in followers]
    await asyncio.sleep(0)
    gone.cancel()
    tables.open(entry_of("a", "Ann", "Bob"))
    assert await asyncio.gather(*others) == [b"a"] * 2
    await left(*followers)
