"""A database of the last version with other tables is opened with all its data.

`last_version/` has the statements by which that version made its tables, and rows that it wrote.
"""

import json
import sqlite3
from base64 import b64decode
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from botdrome.contest.formats.format import FixtureResult
from botdrome.store.contest_journal import ContestReader
from botdrome.store.entries import Note, Wanted
from botdrome.store.schema import FIRST, Dialect, statements
from botdrome.store.store import Store, open_store
from tests.server.rooms.duel.clients import open_duel_leaderboard
from tests.store.entries import GAME, a_bot, an_end

pytestmark = pytest.mark.anyio

FOLDER = Path(__file__).parent / "last_version"
LAYOUT = """
    SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name,
        ordinal_position
    FROM information_schema.columns WHERE table_schema = current_schema()
    UNION ALL SELECT tablename, indexname, indexdef, NULL, NULL, NULL, NULL FROM pg_indexes
    WHERE schemaname = current_schema()
    UNION ALL SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), NULL, NULL,
        NULL, NULL FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
    UNION ALL SELECT relname, reloptions::text, NULL, NULL, NULL, NULL, NULL FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace
    ORDER BY 1, 2, 3
"""


def rows() -> dict[str, Any]:
    def read(value: Any) -> Any:
        return b64decode(value["base64"]) if value.keys() == {"base64"} else value

    found: dict[str, Any] = json.loads((FOLDER / "rows.json").read_text(), object_hook=read)
    return found


def inserting(table: str, columns: list[str], mark: str) -> str:
    marks = ", ".join(mark.format(number) for number, _ in enumerate(columns, 1))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"


async def make(url: str) -> None:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            connection.executescript((FOLDER / "sqlite.sql").read_text())
            for table, found in rows().items():
                connection.executemany(inserting(table, found["columns"], "?"), found["rows"])
        return
    connection = await asyncpg.connect(url)
    await connection.execute((FOLDER / "postgresql.sql").read_text())
    for table, found in rows().items():
        await connection.executemany(inserting(table, found["columns"], "${}"), found["rows"])
    await connection.execute("SELECT setval('matches_number_seq', max(number)) FROM matches")
    await connection.close()


async def check_contest(store: Store) -> None:
    contests = ContestReader(store)
    cup = await contests.load("cup 2")
    document = cup.entry.document
    assert document.title == '"state":"draft","created":5,"game":"x"\0'
    assert (document.game, cup.entry.state, cup.entry.created) == (GAME, "over", 1_700_000_000_000)
    assert [*await contests.contests(GAME, ["over"])] == ["cup 2"]
    assert not await contests.contests(GAME, ["running"]) and not await contests.contests("gomoku")
    assert [one.name for one in cup.entrants] == ["ada", "bob"]
    assert cup.results == {
        "1.1.1": FixtureResult((1, 2), match="m1"),
        "1.10.1": FixtureResult((2, 1), absent=(0,)),
    }
    assert await contests.count_results("cup 2") == 2
    assert [(line.when, line.action) for line in cup.log] == [(5, "created"), (12, "annulled")]
    assert cup.log[1].old == {"1.2.1": FixtureResult((1, 2))}
    assert not await store.notes("contests")
    found, total = await store.reports.contests(GAME, "last", True, 10, 0, plain=True)
    assert [one.name for one in found] == ["cup"] and total == 1


async def test_it_is_opened_with_all_its_data(url: str) -> None:
    await make(url)
    store = await open_store(url)
    long = a_bot("β" * 500, 2, owner="otto\0", url="http://127.0.0.1:9/")
    assert await store.bots() == [a_bot("ada"), long]
    assert await store.bot_and_alike(long.name) == (long, [])
    third, second, first = await store.matches(Wanted())
    assert (first.contest, first.versions, first.status) == ("cup", ("1.2", ""), "ended")
    assert (second.pace, second.options, second.seed) == ("slow", {"size": 3}, "ab" * 32)
    assert (third.status, third.result) == ("running", None)
    assert await store.record("m1") == b'{"botdrome":1}\nm1'
    assert [await store.flight("m2", player) for player in (0, 1)] == [b"x" * 9000, b"y"]
    assert [line.name for line in await store.contest_lines(first.game, "cup")] == ["ada", "bob"]
    assert list(await store.notes("names")) == ["n" * 450]
    await check_contest(store)
    await store.finish(an_end("m3", notes=(Note("duel", "bob", {"wins": 2}),)))
    assert await store.count(Wanted(winner="ada")) == 2
    line = (await open_duel_leaderboard(store)).line("ada")
    assert line and (line.rating, line.wins, line.total_seconds) == (1215.0, 1, 12.5)
    await store.close()


def scripts(dialect: Dialect) -> tuple[str, str]:
    """Return what makes the tables of the last version and changes them, and what makes new ones."""
    old = (FOLDER / f"{dialect}.sql").read_text()
    later = ";".join(statements(dialect, FIRST))
    return f"{old};{later}", ";".join(statements(dialect, None))


async def test_a_new_file_has_the_same_tables(sqlite_url: str) -> None:
    layouts = []
    for script in scripts("sqlite"):
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(script)
            tables = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            ).fetchall()
            layouts.append(
                [
                    (table, connection.execute(f"PRAGMA {what}({table})").fetchall())
                    for (table,) in tables
                    for what in ("table_xinfo", "index_list", "foreign_key_list")
                ]
                + connection.execute(
                    "SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name"
                ).fetchall()
                + connection.execute("PRAGMA table_list").fetchall()
            )
    old, new = [sorted(map(str, layout)) for layout in layouts]
    assert old == new
    assert len(layouts[0]) > 40


async def test_a_new_database_has_the_same_tables(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    layouts: list[Any] = []
    for script in scripts("postgresql"):
        trial = connection.transaction()
        await trial.start()
        await connection.execute(script)
        layouts.append([tuple(row) for row in await connection.fetch(LAYOUT)])
        await trial.rollback()
    await connection.close()
    assert layouts[0] == layouts[1] and len(layouts[0]) > 60
