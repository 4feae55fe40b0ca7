"""`botdrome export`, `import` and `backup`, as their users type them."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from botdrome.cli.app import app
from botdrome.store.entries import hashed
from botdrome.store.store import open_store
from tests.store.entries import a_bot


def run(*words: str, typed: bytes = b"") -> Result:
    return CliRunner().invoke(
        app,
        list(words),
        input=typed,
        env={"COLUMNS": "200", "TERM": "dumb"},
        catch_exceptions=False,
    )


@pytest.fixture
def db(tmp_path: Path) -> str:
    """A store with one bot."""
    url = f"sqlite:///{tmp_path}/arena.db"

    async def fill() -> None:
        store = await open_store(url)
        await store.register(a_bot("ada"))
        await store.close()

    asyncio.run(fill())
    return url


def names(lines: bytes) -> list[str]:
    entries = [json.loads(line) for line in lines.splitlines()]
    return [entry["entry"]["name"] for entry in entries if entry["kind"] == "bot"]


def test_a_store_moves_by_a_file(db: str, tmp_path: Path) -> None:
    file, other = tmp_path / "all.jsonl", f"sqlite:///{tmp_path}/new/other.db"
    assert run("admin", "export", str(file), "--db", db).exit_code == 0
    assert names(file.read_bytes()) == ["ada"]
    taken = run("admin", "import", str(file), "--db", other)
    assert (taken.exit_code, taken.stderr) == (0, "1 entries were new\n")
    assert names(run("admin", "export", "--db", other).stdout_bytes) == ["ada"]


def test_a_dash_is_standard_output_and_input(
    db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exported = run("admin", "export", "-", "--db", db)
    assert (exported.exit_code, names(exported.stdout_bytes)) == (0, ["ada"])
    taken = run("admin", "import", "-", "--db", "sqlite:///other.db", typed=exported.stdout_bytes)
    assert (taken.exit_code, taken.stderr) == (0, "1 entries were new\n")
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("command", ["export", "backup"])
def test_there_is_no_copy_of_a_store_that_is_not_there(command: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/folder/mistyped.db"
    result = run("admin", command, f"{tmp_path}/copy", "--db", url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"botdrome: {url}: the store does not exist\n"
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_reads_an_export(db: str, tmp_path: Path) -> None:
    assert run("admin", "export", f"{tmp_path}/copy.jsonl", "--db", db).exit_code == 0
    assert oct((tmp_path / "copy.jsonl").stat().st_mode & 0o777) == "0o600"


def test_a_backup_is_a_store(db: str, tmp_path: Path) -> None:
    assert run("admin", "backup", f"{tmp_path}/copy.db", "--db", db).exit_code == 0
    assert names(run("admin", "export", "--db", f"sqlite:///{tmp_path}/copy.db").stdout_bytes) == [
        "ada"
    ]


def test_a_new_operators_token_is_printed_and_only_its_hash_is_stored(db: str) -> None:
    first, second = [run("admin", "operator-token", "--db", db).stdout.strip() for _ in range(2)]
    assert first and second and first != second

    async def stored() -> str:
        store = await open_store(db)
        try:
            return str((await store.notes("operator"))["token"]["hash"])
        finally:
            await store.close()

    assert asyncio.run(stored()) == hashed(second)
