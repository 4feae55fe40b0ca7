"""Other processes read the store by connections that cannot change anything."""

import pytest

from botdrome.store import store as stores
from botdrome.store.entries import StoreUnavailable, Unstorable
from botdrome.store.store import Store, open_reader, reader
from tests.store.entries import a_bot, a_match, an_end

pytestmark = pytest.mark.anyio


async def test_a_reader_sees_what_was_stored_before(store: Store) -> None:
    await store.register(a_bot("ada"))
    store.begin(a_match("m"))
    await store.journal.settled()
    other = await open_reader(store.source)
    assert await other.bot("ada") == await store.bot("ada")
    running = await other.match("m")
    assert running is not None and running.status == "running"
    await store.finish(an_end("m"))
    ended = await other.match("m")
    assert ended is not None and ended.status == "ended"
    assert await other.record("m") == await store.record("m")
    await other.close()


async def test_a_reader_cannot_write(store: Store) -> None:
    other = await open_reader(store.source)
    with pytest.raises((StoreUnavailable, Unstorable), match=r"readonly|read-only"):
        await other.fetch("DELETE FROM bots", {})
    await other.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await other.bot("ada")


async def test_one_reader_is_kept_open(store: Store) -> None:
    one = await reader(store.source)
    assert await reader(store.source) is one
    await one.close()

    stores._open.clear()
