"""Opening: URLs, folders, versions; and backups."""

import asyncio
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest
from structlog.testing import capture_logs

from botdrome.store import schema
from botdrome.store.entries import BadStoreUrl, StoreUnavailable, Wanted
from botdrome.store.sqlite import make_private
from botdrome.store.store import backup_sqlite, open_store
from tests.store.entries import a_bot, a_match, play

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "url",
    [
        "",
        "store.db",
        "/tmp/store.db",
        "mysql://somebody:secret@host/db",
        "sqlite://",
        "sqlite://host/file",
        "sqlite:///file?mode=ro",
        "sqlite+aiosqlite:///file",
        "postgres:secret@host",
        "postgresql+psycopg2://somebody:secret@host/db",
        "postgresql://somebody:secret@host:port/db",
        "mysql://somebody:secret@with/slash@host/db",
        "postgresql://host:x/db?password=secret&x=y",
        "postgresql://somebody:secret@host/db?sslmode=perhaps",
    ],
)
async def test_what_is_no_url_of_a_store_is_named_without_its_password(url: str) -> None:
    with pytest.raises(BadStoreUrl) as refusal:
        await open_store(url)
    assert "secret" not in str(refusal.value)
    assert str(refusal.value).startswith(re.sub("secret(@with/slash)?", "***", url))


async def test_a_server_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as refusal:
        await open_store(f"postgresql://somebody:secret@/db?host={tmp_path}")
    assert "secret" not in str(refusal.value)
    assert f"postgresql://somebody:***@/db?host={tmp_path}" in str(refusal.value)


async def test_a_database_that_is_not_there_is_named(postgres_url: str) -> None:
    with pytest.raises(StoreUnavailable, match=r'@/elsewhere.*"elsewhere" does not exist'):
        await open_store(postgres_url.replace("@/postgres", "@/elsewhere"))


async def test_folders_are_made(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/deep/down here/ä?.db".replace("?", "%3F"))
    await store.close()
    assert (tmp_path / "deep" / "down here").is_dir()


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Ada, this is no database. " * 100)
    with pytest.raises(StoreUnavailable, match=r"letter\.txt.*not a database"):
        await open_store(f"sqlite:///{file}")
    assert file.read_text().startswith("Dear Ada")


async def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=str(tmp_path)):
        await open_store(f"sqlite:///{tmp_path}")
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="file/below"):
        await open_store(f"sqlite:///{tmp_path}/file/below/store.db")


async def test_a_store_in_memory_is_forgotten() -> None:
    one, two = await open_store("sqlite:///:memory:"), await open_store("sqlite:///:memory:")
    await one.register(a_bot("ada"))
    assert await one.bots() and not await two.bots()
    await one.close()
    await two.close()


async def test_many_open_a_new_store_at_once(url: str) -> None:
    stores = await asyncio.gather(*(open_store(url) for _ in range(4)))
    for number, store in enumerate(stores):
        await play(store, a_match(f"m{number}"))
    assert [await store.count(Wanted()) for store in stores] == [4] * 4
    for store in stores:
        await store.close()


async def test_a_store_of_a_newer_version_is_left_alone(url: str) -> None:
    await (await open_store(url)).close()
    await _run(url, "UPDATE alembic_version SET version_num = 'from the future'")
    with pytest.raises(StoreUnavailable, match="newer version of Botdrome"):
        await open_store(url)


@pytest.mark.parametrize("version", ["first", "nodes"])
async def test_a_store_that_is_too_old_names_the_way_to_the_new_version(
    url: str, version: str
) -> None:
    await (await open_store(url)).close()
    await _run(url, f"UPDATE alembic_version SET version_num = '{version}'")
    with pytest.raises(StoreUnavailable, match=f"'{version}', is too old: export it with"):
        await open_store(url)


async def test_a_later_version_adds_to_the_tables(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(url)
    await store.register(a_bot("ada"))
    await store.close()
    later = {
        "one": "ALTER TABLE bots ADD COLUMN colour SMALL;",
        "two": "CREATE INDEX by_colour ON bots (colour);",
    }
    monkeypatch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS | later)
    for _ in range(2):
        store = await open_store(url)
        assert await store.bots() == [a_bot("ada")]
        await store.close()
    await _run(url, "UPDATE bots SET colour = 'red' WHERE name = 'ada'")
    await _run(url, "DROP INDEX by_colour")


async def _run(url: str, statement: str) -> None:
    if url.startswith("sqlite"):
        with closing(
            sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        ) as connection:
            connection.execute(statement)
    else:
        connection = await asyncpg.connect(url)
        await connection.execute(statement)
        await connection.close()


async def test_a_file_keeps_a_write_ahead_log(sqlite_url: str) -> None:
    await (await open_store(sqlite_url)).close()
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_a_backup_while_it_is_written_to(sqlite_url: str, tmp_path: Path) -> None:
    store = await open_store(sqlite_url)
    target = tmp_path / "backups" / "monday.db"
    for number in range(300):
        store.begin(a_match(f"m{number}"))
    playing = asyncio.gather(*(play(store, a_match(f"n{number}")) for number in range(300)))
    await asyncio.to_thread(backup_sqlite, sqlite_url, target)
    await playing
    await store.close()
    assert [file.name for file in target.parent.iterdir()] == ["monday.db"]
    copy = await open_store(f"sqlite:///{target}")
    for match in await copy.matches(Wanted(status="ended")):
        assert match.result and await copy.record(match.id)
    await play(copy, a_match("new"))
    await copy.close()
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_backup_replaces_nothing(tmp_path: Path) -> None:
    target = tmp_path / "there.db"
    target.touch()
    with pytest.raises(FileExistsError, match=r"there\.db"):
        backup_sqlite(f"sqlite:///{tmp_path}/store.db", target)


def test_there_is_no_backup_of_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"nowhere\.db"):
        backup_sqlite(f"sqlite:///{tmp_path}/nowhere.db", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadStoreUrl, match="sqlite:///FILE"):
        backup_sqlite("postgresql://host/db", tmp_path / "copy.db")


def modes(folder: Path) -> dict[str, str]:
    return {file.name: oct(file.stat().st_mode & 0o777) for file in folder.iterdir()}


async def test_only_the_owner_reads_a_store_and_its_backups(tmp_path: Path) -> None:
    """It has the seeds of running matches."""
    before = os.umask(0)
    try:
        store = await open_store(f"sqlite:///{tmp_path}/new/store.db")
        await store.claim()
        await store.register(a_bot("ada"))
        await asyncio.to_thread(
            backup_sqlite, f"sqlite:///{tmp_path}/new/store.db", tmp_path / "new" / "copy.db"
        )
        names = {"store.db", "store.db-wal", "store.db-shm", "store.db-server", "copy.db"}
        assert modes(tmp_path / "new") == dict.fromkeys(names, "0o600")
        await store.close()
    finally:
        os.umask(before)


async def test_a_store_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    first = await open_store(url)
    await first.register(a_bot("ada"))
    for file in tmp_path.iterdir():
        file.chmod(0o644)
    second = await open_store(url)
    assert modes(tmp_path) == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm"), "0o600")
    await first.close()
    await second.close()


async def test_a_folder_in_the_place_of_a_store_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(StoreUnavailable, match="unable to open"):
        await open_store(f"sqlite:///{folder}")
    assert modes(tmp_path) == {"shared": "0o777"}


async def test_a_store_of_another_user_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_ours(*_: Any) -> None:
        raise PermissionError("Operation not permitted")

    (tmp_path / "store.db").touch(0o644)
    monkeypatch.setattr(Path, "chmod", not_ours)
    with capture_logs() as logs:
        make_private(tmp_path / "store.db")
    assert [line["event"] for line in logs] == ["other users of this machine can read the store"]
