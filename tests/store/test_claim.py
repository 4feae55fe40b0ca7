"""A store is one server's: a second one must not take the running matches of the first for those of
one that crashed.
"""

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from botdrome.app import open_server
from botdrome.protocols import load_settings
from botdrome.server.network.listening import listen
from botdrome.store.entries import BotEntry
from botdrome.store.store import open_store
from tests.store.entries import a_match

pytestmark = pytest.mark.anyio


async def test_a_store_is_claimed_by_one_server_until_that_is_closed(url: str) -> None:
    first, second = await open_store(url), await open_store(url)
    assert await first.claim()
    assert not await second.claim()
    await second.register(BotEntry("ada", "gomoku", "x", 1, "hash"))
    assert await first.bot("ada") is not None, "others may read and write"
    await second.close()
    await first.close()
    third = await open_store(url)
    assert await third.claim()
    await third.close()


async def test_matches_of_a_server_that_crashed_are_closed_before_the_first_port_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, seen = f"sqlite:///{tmp_path}/store.db", list[str]()
    crashed = await open_store(url)
    crashed.begin(a_match("m"))
    await crashed.match("m")

    async def looking(*words: Any) -> Any:
        entry = await crashed.match("m")
        seen.append(entry.status if entry else "gone")
        return await listen(*words)

    monkeypatch.setattr("botdrome.server.protocol.listen", looking)
    house = await open_server(
        load_settings(
            {
                "port": 0,
                "db": url,
                "duel_port": -1,
                "boats_port": -1,
                "bomber_port": 0,
                "cube_port": 0,
            }
        )
    )
    assert len(seen) >= 3 and set(seen) == {"aborted"}
    await house.close()
    await crashed.close()


async def test_a_second_server_on_a_store_leaves_alone_what_runs_at_the_first(
    tmp_path: Path,
) -> None:
    settings = load_settings(
        {
            "port": 0,
            "db": f"sqlite:///{tmp_path}/store.db",
            "duel_port": 0,
            "boats_port": 0,
            "bomber_port": 0,
            "cube_port": 0,
        }
    )
    house = await open_server(settings)
    store = house.arena.store
    store.begin(a_match("m"))
    await store.register(BotEntry("ada", "gomoku", "x", 1, "hash"))
    with capture_logs() as logs:
        await (await open_server(settings)).close()
    assert any("another server is using this store" in line["event"] for line in logs)
    entry = await store.match("m")
    assert entry is not None
    assert entry.status == "running"
    await house.close()
    again = await open_server(settings)
    entry = await again.arena.store.match("m")
    assert entry is not None
    assert entry.status == "aborted", "nobody else had it"
    await again.close()
