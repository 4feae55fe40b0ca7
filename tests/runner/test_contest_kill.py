"""A contest that is killed at any point ends with the standings of an undisturbed one."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from botdrome.runner import contest_run
from botdrome.store import sqlite
from tests.runner.contests import FAILING, a_document, run, standings_of, stored, withdrawing

pytestmark = pytest.mark.anyio

POINTS = 100


class Snapshots:
    """Copies of the store's files before each transaction, before its commit and after it: what a killed process leaves."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self.taken = folder, 0
        of_store = sqlite._transaction

        @contextmanager
        def watched(connection: sqlite3.Connection) -> Iterator[None]:
            self._take()
            with of_store(connection):
                yield
                self._take()
            self._take()

        monkeypatch.setattr(sqlite, "_transaction", watched)

    def _take(self) -> None:
        to = self._folder / f"killed {self.taken}"
        to.mkdir()
        for file in self._folder.glob("cup.db*"):
            shutil.copy(file, to)
        self.taken += 1


async def test_killed_at_a_hundred_points_it_ends_as_if_undisturbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "SETTINGS", ("synchronous = OFF",))  # a killed process loses nothing that the system has taken
    (tmp_path / "bad.py").write_text(FAILING)
    bots = ("house:random", "house:perfect", "house:random", str(tmp_path / "bad.py"))
    document = a_document(*bots, games=8, penalties=withdrawing(5))
    with monkeypatch.context() as patch:
        patch.setattr(contest_run, "LARGEST_PORTION", 1)
        snapshots = Snapshots(tmp_path, patch)
        assert await run(tmp_path, document) == ""
    undisturbed = await stored(tmp_path)
    assert snapshots.taken >= POINTS
    for point in range(snapshots.taken):
        folder = tmp_path / f"killed {point}"
        assert await run(folder, document) == ""
        contest = await stored(folder)
        assert standings_of(contest) == standings_of(undisturbed), f"killed at point {point}"
        assert {key: result.places for key, result in contest.results.items()} == {
            key: result.places for key, result in undisturbed.results.items()
        }
        shutil.rmtree(folder)
