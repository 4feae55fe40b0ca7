"""Matches that are played elsewhere, beside the tables of the house."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.match.events import Began, Ended
from botdrome.match.match import Match
from botdrome.server.tables.audience import PlayedElsewhere
from botdrome.store.store import Store, open_store
from tests.api.tables import HandTables, entry_of, mark

pytestmark = pytest.mark.anyio


class Seen:
    def __init__(self) -> None:
        self.events: list[str] = []
        self.over = False

    def show(self, message: bytes) -> None:
        told = msgspec.json.decode(message)
        self.events.append("snapshot" if "snapshot" in told else told["event"]["event"])

    def end(self) -> None:
        self.over = True


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield store
    await store.close()


async def test_spectators_see_both_kinds_of_tables(store: Store) -> None:
    house = HandTables()
    tables, changes = PlayedElsewhere(house), Seen()
    forget = tables.on_change(lambda: changes.events.append("changed"))
    here = house.open(entry_of("here", "Ann", "Bob"))
    tables.begin(entry_of("there", "Cy", "Dee", game="gomoku"), 5000, store)
    assert (tables.count(), tables.watch("there", Seen())) == (1, False), (
        "nothing was shown of it yet"
    )
    tables.move("there", 0, 0, (0, 1), [(Began(0, (0, 1)), {"size": 15})])
    assert [table.id for table in tables.live()] == ["here", "there"]
    assert [table.id for table in tables.live("gomoku")] == ["there"]
    assert [table.id for table in tables.live(most=1)] == ["here"]
    seen, away = Seen(), Seen()
    assert (
        tables.watch("here", seen) and tables.watch("there", seen) and tables.watch("there", away)
    )
    tables.unwatch("there", away)
    tables.unwatch("here", away)
    here.submit(0, mark(0, 1, 1))
    assert (seen.events, away.events) == (["snapshot", "snapshot", "played"], ["snapshot"])
    forget()
    house.close("here")
    assert changes.events == ["changed", "changed"]


async def test_the_end_is_told_when_it_is_on_disk(store: Store) -> None:
    row = CATALOGUE["noughts-and-crosses"]
    match, entry = Match(row.game, 2, row.terms, 1), entry_of("there", "Cy", "Dee")
    tables, seen = PlayedElsewhere(HandTables()), Seen()
    tables.begin(entry, None, store)
    tables.move(
        "there",
        0,
        0,
        match.order,
        [(event, position.view(None)) for event, position in match.start()],
    )
    assert tables.watch("there", seen)
    match.abort(10)
    assert match.result is not None
    tables.move("there", 10, 0, match.order, [(Ended(match.result), match.view(None))])
    assert (seen.events, tables.watch("there", Seen())) == (["snapshot"], False)
    await tables.end("there", match.result, match.view(None), b"record", store)
    assert (seen.events, seen.over, tables.count()) == (["snapshot", "ended"], True, 0)
    stored = await store.match("there")
    assert stored is not None and (stored.status, await store.record("there")) == (
        "aborted",
        b"record",
    )
