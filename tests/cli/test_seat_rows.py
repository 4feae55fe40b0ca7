"""`botdrome export --format jsonl|parquet`: one row for each player of each match."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from botdrome.cli import admin
from botdrome.store.store import open_store
from tests.cli.commands import run
from tests.store.entries import a_match, play

COLUMNS = [
    "match",
    "game",
    "contest",
    "status",
    "started",
    "ended",
    "seed",
    "options",
    "pace",
    "players",
    "seat",
    "bot",
    "place",
]


@pytest.fixture
def db(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/arena.db"

    async def fill() -> None:
        store = await open_store(url)
        await play(store, a_match("m1", contest="cup", seed="0f" * 16, options={"width": 9}), 2, 1)
        await play(store, a_match("m2", ("ada", "bob", "cy"), started=2000), 1, 2, 3)
        store.begin(a_match("m3", started=3000))
        await store.close()

    asyncio.run(fill())
    return url


def test_each_player_of_each_match_is_a_line(
    db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin, "PAGE", 2)
    exported = run("admin", "export", "--format", "jsonl", "--db", db)
    rows = [json.loads(line) for line in exported.stdout.splitlines()]
    assert [(row["match"], row["seat"], row["bot"], row["place"]) for row in rows] == [
        ("m1", 0, "ada", 2), ("m1", 1, "bob", 1), ("m2", 0, "ada", 1), ("m2", 1, "bob", 2),
        ("m2", 2, "cy", 3), ("m3", 0, "ada", None), ("m3", 1, "bob", None),
    ]  # fmt: skip
    assert (
        [*rows[0]] == [*COLUMNS, "score", "cause"]
        and rows[0]["options"] == '{"width":9}'
        and rows[0]["contest"] == "cup"
    )
    assert (
        run("admin", "export", f"{tmp_path}/rows.jsonl", "--format", "jsonl", "--db", db).exit_code
        == 0
    )
    assert (tmp_path / "rows.jsonl").read_text() == exported.stdout


def test_wrong_formats_and_missing_stores_are_refused(db: str, tmp_path: Path) -> None:
    assert (
        "there is no format 'csv'; there are store, jsonl, parquet"
        in run("admin", "export", "--format", "csv", "--db", db).stderr
    )
    assert (
        "parquet writes a file; name it"
        in run("admin", "export", "--format", "parquet", "--db", db).stderr
    )
    missing = run("admin", "export", "--format", "jsonl", "--db", f"sqlite:///{tmp_path}/none.db")
    assert missing.exit_code == 1 and "the store does not exist" in missing.stderr


def test_parquet_needs_its_extra(db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused = run("admin", "export", f"{tmp_path}/rows.parquet", "--format", "parquet", "--db", db)
    assert refused.exit_code == 1 and "pip install 'botdrome[parquet]'" in refused.stderr


def test_a_parquet_file_has_the_same_rows(db: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert (
        run(
            "admin", "export", f"{tmp_path}/rows.parquet", "--format", "parquet", "--db", db
        ).exit_code
        == 0
    )
    lines = run("admin", "export", "--format", "jsonl", "--db", db).stdout.splitlines()
    assert parquet.read_table(tmp_path / "rows.parquet").to_pylist() == [
        json.loads(line) for line in lines
    ]
