"""Damage: a store or a match that cannot be read any more is named as such, and is not said to come
back.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from structlog.testing import capture_logs

from botdrome.app import open_server
from botdrome.protocols import load_settings
from botdrome.server.settings import BadSetting
from botdrome.store.entries import BrokenMatch, StoreDamaged, StoreUnavailable, Wanted
from botdrome.store.sqlite import check_file
from botdrome.store.store import check_store, open_store
from tests.store.damaging import RECORD, damage_record, file_of, make_unreadable
from tests.store.entries import a_match, play

pytestmark = pytest.mark.anyio


async def test_a_server_does_not_start_on_a_damaged_file_and_names_the_way_back(
    sqlite_url: str,
) -> None:
    await damage_record(sqlite_url, "m")
    with pytest.raises(
        BadSetting,
        match=r"^db: sqlite:///.*store\.db is damaged \(.*\); .*`botdrome admin backup FILE`",
    ):
        await open_server(load_settings({"db": sqlite_url, "port": 0}))


async def test_a_file_that_is_no_database_is_damaged_too(sqlite_url: str) -> None:
    file_of(sqlite_url).write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreDamaged, match=r"is damaged \(file is not a database\)"):
        check_store(sqlite_url)
    with pytest.raises(StoreDamaged, match="file is not a database"):
        await open_store(sqlite_url)


async def test_sound_stores_pass(sqlite_url: str, tmp_path: Path) -> None:
    check_store(sqlite_url)
    assert not list(tmp_path.iterdir()), "nothing was created"
    store = await open_store(sqlite_url)
    check_store(sqlite_url)
    await store.close()
    file_of(sqlite_url).write_bytes(b"")
    for url in (sqlite_url, "sqlite:///:memory:", "postgresql://nobody@nowhere/db"):
        check_store(url)


async def test_another_error_is_left_to_the_opening() -> None:
    class Locked(sqlite3.Connection):
        def execute(self, *_: object) -> sqlite3.Cursor:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error

    check_file(sqlite3.connect(":memory:", factory=Locked), "a store")


async def test_the_check_ends_after_its_time() -> None:
    given_up = Event()

    class Large(sqlite3.Connection):
        def execute(self, *_: object) -> sqlite3.Cursor:
            given_up.wait()
            raise sqlite3.OperationalError("interrupted")

        def interrupt(self) -> None:
            given_up.set()

    with capture_logs() as logs:
        check_file(sqlite3.connect(":memory:", factory=Large), "a store", seconds=0.0)
    assert [line["event"] for line in logs] == [
        "the store is large, so only a part of it was checked"
    ]


async def test_a_match_on_a_damaged_page_is_broken_and_the_others_are_not(sqlite_url: str) -> None:
    await damage_record(sqlite_url, "m")
    store = await open_store(sqlite_url)
    await play(store, a_match("other"))
    for read in (store.record("m"), store.flight("m", 0)):
        with pytest.raises(BrokenMatch, match=r"^match m is broken: the store is damaged there"):
            await read
    assert (await store.match("m")) is not None and await store.record("other")
    await store.close()


async def test_a_match_whose_row_makes_no_sense_is_broken(sqlite_url: str) -> None:
    store = await open_store(sqlite_url)
    await play(store, a_match("m"), record=RECORD)
    await play(store, a_match("other"))
    make_unreadable(sqlite_url, "m")
    with pytest.raises(BrokenMatch, match=r"^match m is broken"):
        await store.match("m")
    with pytest.raises(BrokenMatch, match=r"^match m is broken"):
        await store.flight("m", 0)
    with capture_logs() as logs:
        assert [entry.id for entry in await store.matches(Wanted())] == ["other"]
    assert [(line["event"], line["match"]) for line in logs] == [
        ("a match is broken in the store", "m")
    ]
    last = b""
    with pytest.raises(BrokenMatch, match="these matches are broken and were left out: m"):
        async for line in store.export():
            last = line
    assert b'"matches":1' in last, "all others were exported"
    await store.close()


async def test_a_store_that_is_away_is_not_damaged(sqlite_url: str) -> None:
    store = await open_store(sqlite_url)
    with closing(sqlite3.connect(file_of(sqlite_url))) as other:
        other.execute("DROP TABLE records")
    with pytest.raises(StoreUnavailable) as problem:
        await store.record("m")
    assert not isinstance(problem.value, StoreDamaged)
    await store.close()
