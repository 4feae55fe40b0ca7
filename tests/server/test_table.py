"""The table: a match and the clock."""

from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from botdrome.formats import FORMATS
from botdrome.match.match import Match
from botdrome.server.metronome import Metronome
from botdrome.server.table import Table
from botdrome.store.opening import open_store
from botdrome.store.store import MatchEntry

pytestmark = pytest.mark.anyio


def beats_noted() -> tuple[float, float]:
    """How many, and the seconds by which they were late."""
    name = "botdrome_beat_lateness_seconds"
    count, late = REGISTRY.get_sample_value(f"{name}_count"), REGISTRY.get_sample_value(f"{name}_sum")
    assert count is not None and late is not None
    return count, late


@pytest.mark.parametrize(("game", "beats"), [("bumblebots", 1), ("noughts-and-crosses", 0)])
async def test_a_beat_that_a_message_finds_overdue_counts_as_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str, beats: int
) -> None:
    clock = [100.0]
    monkeypatch.setattr("botdrome.server.table.monotonic", lambda: clock[0])
    store, row = await open_store(f"sqlite:///{tmp_path}/x.db"), FORMATS[game]
    entry = MatchEntry("m", game, ("ada", "bob"), 0)
    store.begin(entry)
    table = Table(entry, Match(row.game, 2, row.terms, 1), store, 1024, Metronome())
    table.start()
    due = table.match.deadline
    assert due is not None
    clock[0] += due / 1000 + 0.125
    before = beats_noted()
    table.submit(0, {}, b"{}")
    after = beats_noted()
    assert after[0] - before[0] == beats
    assert after[1] - before[1] == pytest.approx(0.125 * beats)
    table.abort("the test is over")
    await store.close()
