"""Tables that a test drives by hand, and matches that have been played."""

from collections.abc import Callable, Iterable
from typing import Any

from botdrome.bots.house import house_bots, house_view, seated
from botdrome.catalogue import CATALOGUE
from botdrome.match.events import Played, meant_for
from botdrome.match.match import Match, News
from botdrome.match.record import match_file, seeded_match
from botdrome.server.tables.audience import Audience, LiveTable, Spectator
from botdrome.store.entries import Finish, MatchEntry
from botdrome.store.store import Store
from botdrome.wire.writers import MatchHeader

NOON = 1_794_700_000_000


class HandTable:
    """One running match."""

    def __init__(self, entry: MatchEntry) -> None:
        row = CATALOGUE[entry.game]
        self.entry, self.match = (
            entry,
            seeded_match(row.game, len(entry.players), row.terms, entry.seed),
        )
        self.audience = Audience(
            MatchHeader(entry.id, entry.game, entry.players, entry.contest, entry.started)
        )
        self.now = 0
        self.match.start()

    def submit(self, player: int, raw: Any) -> None:
        self.now += 100
        self.show(self.match.submit(player, raw, self.now))

    def show(self, news: News) -> None:
        self.audience.see(
            self.now,
            [(event, position.view(None)) for event, position in news if meant_for(event) is None],
        )


class HandTables:
    def __init__(self) -> None:
        self.tables: dict[str, HandTable] = {}
        self.tellers: list[Callable[[], None]] = []

    def open(self, entry: MatchEntry) -> HandTable:
        table = self.tables[entry.id] = HandTable(entry)
        self._tell()
        return table

    def close(self, match_id: str) -> None:
        self.tables.pop(match_id).audience.dismiss()
        self._tell()

    def _tell(self) -> None:
        for tell in tuple(self.tellers):
            tell()

    def count(self, game: str | None = None) -> int:
        return sum(game in (None, table.entry.game) for table in self.tables.values())

    def live(self, game: str | None = None, most: int | None = None) -> list[LiveTable]:
        return [
            LiveTable(
                entry.id, entry.game, entry.players, entry.contest, entry.started, table.match.steps, len(table.audience)
            )
            for entry, table in ((table.entry, table) for table in self.tables.values())
            if game in (None, entry.game)
        ][:most]  # fmt: skip

    def watch(self, match_id: str, spectator: Spectator, node: str = "") -> bool:
        table = self.tables.get(match_id)
        if table is not None:
            order = tuple(table.entry.players[player] for player in table.match.order)
            table.audience.join(spectator, table.now, order, table.match.view(None))
        return table is not None

    def unwatch(self, match_id: str, spectator: Spectator) -> None:
        if match_id in self.tables:
            self.tables[match_id].audience.leave(spectator)

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        self.tellers.append(tell)
        return lambda: self.tellers.remove(tell)


def mark(player: int, row: int, column: int) -> dict[str, Any]:
    return {"mark": "XO"[player], "space": [row, column]}


def entry_of(
    match_id: str, *players: str, game: str = "noughts-and-crosses", **rest: Any
) -> MatchEntry:
    return MatchEntry(match_id, game, players, rest.pop("started", NOON), **rest)


async def keep(
    store: Store, entry: MatchEntry, match: Match, flights: Iterable[bytes] = ()
) -> None:
    """Store a match that has been played."""
    assert match.result is not None
    status = "aborted" if match.result.aborted else "ended"
    view, record = match.view(None), match_file(match, entry.players)
    await store.finish(
        Finish(entry.id, status, entry.started + 5000, match.result, view, record, tuple(flights))  # type: ignore[arg-type]
    )


async def played_noughts(
    store: Store,
    entry: MatchEntry,
    spaces: Iterable[tuple[int, int, int]],
    leaver: int | None = None,
    flights: Iterable[bytes] = (),
) -> None:
    """Play noughts and crosses: time, row and column of each turn; then a player may leave."""
    store.begin(entry)
    row = CATALOGUE["noughts-and-crosses"]
    match = Match(row.game, 2, row.terms, 0)
    match.start()
    time = 0
    for player, (time, *space) in enumerate(spaces):
        assert any(
            isinstance(event, Played)
            for event, _ in match.submit(player % 2, mark(player % 2, *space), time)
        )
    if leaver is not None:
        match.leave(leaver, time + 1)
    await keep(store, entry, match, flights)


async def played_by_the_house(store: Store, entry: MatchEntry) -> None:
    """A match of any game between random bots of the house."""
    store.begin(entry)
    row = CATALOGUE[entry.game]
    match = seeded_match(row.game, len(entry.players), row.terms, entry.seed)
    bots = [
        seated(house_bots(entry.game)["random"], player) for player in range(len(entry.players))
    ]
    match.start()
    now = 0
    while match.result is None:
        for player in tuple(match.awaited):
            match.submit(
                player, bots[player](house_view(match.position, match.seat_of(player))), now
            )
        if match.deadline is not None and (row.terms.pace.beat or not match.awaited):
            now = match.deadline
            match.wake(now)
    await keep(store, entry, match)
