"""Ids of boards: reserved in the store before they are used, and never given twice."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from botdrome.server.rooms.duel import BLOCK, NoBoardIds
from botdrome.store.entries import Note
from botdrome.store.store import Store, open_store
from tests.server.rooms.duel.clients import open_board_ids

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(f"sqlite:///{tmp_path / 'test.db'}")
    yield store
    await store.close()


async def test_ids_rise_by_one(store: Store) -> None:
    ids = await open_board_ids(store)
    assert [ids.take(2), ids.take(2), ids.take(1), ids.take(2)] == [1, 3, 5, 6]


async def test_after_a_crash_no_id_is_given_again(store: Store) -> None:
    ids = await open_board_ids(store)
    given = {ids.take(2) for _ in range(BLOCK // 2)}
    again = await open_board_ids(store)
    assert again.take(2) > max(given) + 1


async def test_after_a_good_end_they_go_on_from_the_last_one(store: Store) -> None:
    ids = await open_board_ids(store)
    ids.take(2)
    await ids.close()
    with pytest.raises(NoBoardIds):
        ids.take(2)
    assert (await open_board_ids(store)).take(2) == 3


async def test_a_node_without_the_hall_stores_none(store: Store) -> None:
    before = await open_board_ids(store)
    before.leave()
    now = await open_board_ids(store)
    await before.reserve()
    await before.close()
    assert (await open_board_ids(store)).take(2) > now.take(2) > before.left


async def test_the_counter_of_an_older_version_goes_on(store: Store) -> None:
    await store.keep([Note("duel boards", "", {"last": 14})])
    assert (await open_board_ids(store)).take(2) == 15


async def test_there_are_none_while_the_store_cannot_reserve_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, keep, open_again = await open_board_ids(store), store.keep, asyncio.Event()

    async def held(notes: Any) -> None:
        await open_again.wait()
        await keep(notes)

    monkeypatch.setattr(store, "keep", held)
    while not ids.low:
        ids.take(1)
    reserving = asyncio.ensure_future(ids.reserve())
    await asyncio.sleep(0)
    assert not ids.low, "it is being done"
    ids.take(ids.left)
    with pytest.raises(NoBoardIds, match="2 ids are needed and 0 are reserved"):
        ids.take(2)
    open_again.set()
    await reserving
    assert ids.take(2) == BLOCK + 1
