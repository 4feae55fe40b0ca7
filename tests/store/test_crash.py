"""Acknowledged results survive a SIGKILL, and none is stored twice."""

import asyncio
import sys
from asyncio.subprocess import PIPE

import pytest

from botdrome.store.entries import Wanted
from botdrome.store.store import Store, open_store
from tests.store.entries import GAME, a_match, an_end, play

pytestmark = pytest.mark.anyio


async def told_before_the_kill(url: str, wait_for: int) -> set[str]:
    """The results that a process reports as stored until it is killed."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.store.finisher", url, stdout=PIPE
    )
    assert child.stdout
    told = [await child.stdout.readline() for _ in range(wait_for)]
    child.kill()
    rest = (await child.stdout.read()).splitlines(keepends=True)
    await child.wait()
    return {line.decode().strip() for line in told + rest if line.endswith(b"\n")}


async def ended(store: Store) -> dict[str, int]:
    """How often each match that has ended is there."""
    ids = [match.id for match in await store.matches(Wanted(status="ended"))]
    return {match_id: ids.count(match_id) for match_id in ids}


@pytest.mark.parametrize("wait_for", [1, 300])
async def test_what_was_told_is_there_once(url: str, wait_for: int) -> None:
    told = await told_before_the_kill(url, wait_for)
    assert len(told) >= wait_for
    store = await open_store(url)
    running = len(await store.matches(Wanted(status="running")))
    assert await store.abort_running("killed", 9000) >= running
    found = await ended(store)
    assert told <= set(found) and set(found.values()) == {1}
    for match_id in sorted(told)[:: max(1, len(told) // 20)]:
        end = an_end(match_id)
        match = await store.match(match_id)
        assert match and match.result == end.result and match.view == end.view
        assert await store.record(match_id) == end.record
        assert [await store.flight(match_id, player) for player in (0, 1)] == list(end.flights)
    assert await store.count(Wanted(status="running")) == 0
    assert await store.meetings(GAME, "cup") == ({("ada", "bob"): len(found)}, {})
    assert [(line.wins, line.losses) for line in await store.contest_lines(GAME, "cup")] == [
        (len(found), 0),
        (0, len(found)),
    ]
    await play(store, a_match("life goes on"))
    await store.close()
