"""A store is one server's: a second one would take the running matches of the first for those of one that crashed."""

from pathlib import Path

import pytest

from botdrome.app import open_house
from botdrome.server.settings import BadSetting, Settings
from botdrome.store import postgres as postgres_store
from botdrome.store.opening import open_store
from botdrome.store.store import BotEntry, StoreUnavailable

pytestmark = pytest.mark.anyio


async def test_a_store_is_claimed_by_one_server_until_that_is_closed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_store, "CLAIMING", "10ms")
    first, second = await open_store(url), await open_store(url)
    await first.claim()
    with pytest.raises(StoreUnavailable, match="another server is using this store"):
        await second.claim()
    await second.register(BotEntry("ada", "gomoku", "x", 1, "hash"))
    assert await first.bot("ada") is not None, "others may read and write"
    await second.close()
    await first.close()
    third = await open_store(url)
    await third.claim()
    await third.close()


async def test_a_second_server_on_a_store_does_not_start(tmp_path: Path) -> None:
    settings = Settings(port=0, db=f"sqlite:///{tmp_path}/store.db", duel_port=0, xbs_port=0)
    house = await open_house(settings)
    try:
        with pytest.raises(BadSetting, match=r"db: .*another server is using this store"):
            await open_house(settings)
    finally:
        await house.close()
