"""A contest that is killed at any point ends with the standings of an undisturbed one."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from botdrome.contest.document import ContestDocument, FormatName
from botdrome.store import sqlite
from botdrome.store.contest_journal import ContestJournal, StoredContest
from botdrome.store.store import Store
from tests.offline.contests import (
    FAILING,
    a_document,
    in_store,
    run,
    run_in,
    standings_of,
    stored,
    withdrawing,
)

pytestmark = pytest.mark.anyio

POINTS = 100


class Snapshots:
    """Copies of the store's files before each transaction, before its commit and after it: what a
    killed process leaves.
    """

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


CONTESTS: dict[FormatName, dict[str, Any]] = {
    "round-robin": {"games": 2, "penalties": withdrawing(2)},
    "swiss": {"games": 1, "rounds": 3},
    "knockout": {"best_of": 7},
}
"""In the round robin, a bot that fails is withdrawn."""


async def test_killed_at_a_hundred_points_it_ends_as_if_undisturbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sqlite, "SETTINGS", ("synchronous = OFF",)
    )  # a killed process loses nothing that the system has taken
    (tmp_path / "bad.py").write_text(FAILING)
    points = 0
    for format_, settings in CONTESTS.items():
        folder = tmp_path / format_
        folder.mkdir()
        bots = ("house:random", "house:perfect", "house:random", str(tmp_path / "bad.py"))
        points += await kill_everywhere(
            folder, a_document(*bots, format_=format_, **settings), monkeypatch
        )
    assert points >= POINTS, points


async def continued(store: Store, document: ContestDocument) -> StoredContest:
    assert await run_in(store, document) == ""
    return await ContestJournal(store).load("cup")


async def kill_everywhere(
    folder: Path, document: ContestDocument, monkeypatch: pytest.MonkeyPatch
) -> int:
    """Continue the contest from each point at which it may have been killed, and return their
    number.
    """
    with monkeypatch.context() as patch:
        snapshots = Snapshots(folder, patch)
        assert await run(folder, document) == ""
    undisturbed = await stored(folder)
    for point in range(snapshots.taken):
        killed = folder / f"killed {point}"
        contest = await in_store(killed, lambda store: continued(store, document))
        assert standings_of(contest) == standings_of(undisturbed), (
            f"{document.format_}, killed at point {point}"
        )
        places = [
            {key: result.places for key, result in one.results.items()}
            for one in (contest, undisturbed)
        ]
        assert places[0] == places[1]
        shutil.rmtree(killed)
    return snapshots.taken
