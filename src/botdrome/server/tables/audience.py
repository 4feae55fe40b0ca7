"""Those at a table: its players, over any protocol, and its spectators.

Each message is encoded once for all spectators.
"""

from collections.abc import Callable
from time import time
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from botdrome.games.game import View
from botdrome.match.events import Ended, Event, Player, Result
from botdrome.match.terms import Milliseconds, PaceName
from botdrome.store.entries import Finish, MatchEntry, Status
from botdrome.store.store import Store
from botdrome.wire.writers import MatchHeader, MatchWriters


class Spectator(Protocol):
    def show(self, message: bytes) -> None:
        """Send a JSON message.

        Never wait or raise: a spectator that reads too slowly is dropped.
        """

    def end(self) -> None:
        """The match is over and everything was shown."""


class LiveTable(Struct, frozen=True):
    """A running match."""

    id: str
    game: str
    players: tuple[str, ...]
    contest: str | None
    started: int
    steps: int
    spectators: int
    pace: PaceName = "usual"


def live_table(entry: MatchEntry, steps: int, spectators: int) -> LiveTable:
    seats = entry.players, entry.contest, entry.started
    return LiveTable(entry.id, entry.game, *seats, steps, spectators, entry.pace)


class Tables(Protocol):
    """The running tables."""

    def live(self, game: str | None = None, most: int | None = None) -> list[LiveTable]:
        """Return the running matches, longest running first."""

    def count(self, game: str | None = None) -> int: ...

    def watch(self, match_id: str, spectator: Spectator, node: str = "") -> bool:
        """Show a running match to a spectator, starting with the current position.

        Return False if there is no such match.

        `node` plays the match; empty: the caller does not know.
        """

    def unwatch(self, match_id: str, spectator: Spectator) -> None: ...

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call `tell` whenever a table opens or closes, until the returned function is called."""


def header_of(entry: MatchEntry) -> MatchHeader:
    return MatchHeader(
        entry.id, entry.game, entry.players, entry.contest, entry.started, entry.pace
    )


class Audience:
    def __init__(self, header: MatchHeader, limit: Milliseconds | None = None) -> None:
        """`limit` is the time limit for a move, if there is one and it is known."""
        self._header, self._limit = header, limit
        self.spectators: dict[Spectator, None] = {}

    def __len__(self) -> int:
        return len(self.spectators)

    def join(
        self, spectator: Spectator, now: Milliseconds, bots: tuple[str, ...], view: View
    ) -> None:
        """Show a new spectator the current position, then everything that follows.

        `bots` are the players by seat.
        """
        snapshot = msgspec.to_builtins(self._header) | {
            "limit": self._limit, "snapshot": True, "t": now, "bots": bots, "view": view,
        }  # fmt: skip
        self.spectators[spectator] = None
        spectator.show(msgspec.json.encode(snapshot))

    def leave(self, spectator: Spectator) -> None:
        self.spectators.pop(spectator, None)

    def see(self, now: Milliseconds, shown: list[tuple[Event, View]]) -> None:
        """Show public events, each with the public view of the position after it."""
        for event, view in shown:
            message: dict[str, Any] = {
                "match": self._header.match,
                "t": now,
                "event": event,
                "view": view,
            }
            encoded = msgspec.json.encode(message)
            for spectator in tuple(self.spectators):
                spectator.show(encoded)

    def dismiss(self) -> None:
        for spectator in tuple(self.spectators):
            spectator.end()
        self.spectators.clear()


# Matches that are played elsewhere, such as by the offline runner, shown beside the server's own
# tables.

Shown = list[tuple[Event, View]]


class OutsideTable:
    """A match that is played elsewhere."""

    def __init__(self, entry: MatchEntry, limit: Milliseconds | None) -> None:
        self.entry = entry
        self.audience = Audience(header_of(entry), limit)
        self.t: Milliseconds = 0
        self.steps = 0
        self.order: tuple[Player, ...] = tuple(range(len(entry.players)))
        self.view: View | None = None
        """The last view; None: nothing was shown yet."""
        self.last: Shown = []
        """The end, which is shown once it is stored."""

    def move(self, t: Milliseconds, steps: int, order: tuple[Player, ...], news: Shown) -> None:
        self.t, self.steps, self.order, self.view = t, steps, order, news[-1][1]
        if isinstance(news[-1][0], Ended):
            self.last = news
        else:
            self.audience.see(t, news)

    def watch(self, spectator: Spectator) -> None:
        bots = tuple(self.entry.players[player] for player in self.order)
        self.audience.join(spectator, self.t, bots, self.view or {})

    def live(self) -> LiveTable:
        return live_table(self.entry, self.steps, len(self.audience))


class PlayedElsewhere:
    """The server's tables and those that are played elsewhere, as spectators see them together."""

    def __init__(self, house: Tables) -> None:
        self._house = house
        self._outside: dict[str, OutsideTable] = {}
        self._watchers: set[Callable[[], None]] = set()

    # Events of the other processes.

    def begin(self, entry: MatchEntry, limit: Milliseconds | None, store: Store) -> None:
        """`limit` is the time limit for a move."""
        store.begin(entry)
        self._outside[entry.id] = OutsideTable(entry, limit)

    def move(
        self, match_id: str, t: Milliseconds, steps: int, order: tuple[Player, ...], news: Shown
    ) -> None:
        table = self._outside[match_id]
        first = table.view is None
        table.move(t, steps, order, news)
        if first:
            self._tell_watchers()

    async def end(
        self, match_id: str, result: Result, view: View, record: bytes, store: Store
    ) -> None:
        """Store the result, then show it."""
        status: Status = "aborted" if result.aborted else "ended"
        await store.finish(Finish(match_id, status, int(time() * 1000), result, view, record))
        table = self._outside.pop(match_id)
        table.audience.see(table.t, table.last)
        table.audience.dismiss()
        self._tell_watchers()

    # Spectators.

    def live(self, game: str | None = None, most: int | None = None) -> list[LiveTable]:
        return [*self._house.live(game, most), *(table.live() for table in self._seen(game))][:most]

    def count(self, game: str | None = None) -> int:
        return self._house.count(game) + len(self._seen(game))

    def _seen(self, game: str | None) -> list[OutsideTable]:
        return [
            table
            for table in self._outside.values()
            if table.view is not None and game in (None, table.entry.game)
        ]

    def watch(self, match_id: str, spectator: Spectator, node: str = "") -> bool:
        table = self._outside.get(match_id)
        if table is None or table.view is None or table.last:
            return self._house.watch(match_id, spectator, node)
        table.watch(spectator)
        return True

    def unwatch(self, match_id: str, spectator: Spectator) -> None:
        if table := self._outside.get(match_id):
            table.audience.leave(spectator)
        else:
            self._house.unwatch(match_id, spectator)

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        forget = self._house.on_change(tell)
        self._watchers.add(tell)

        def forget_both() -> None:
            forget()
            self._watchers.discard(tell)

        return forget_both

    def _tell_watchers(self) -> None:
        for tell in tuple(self._watchers):
            tell()


# SeatedPlayer: a player at a table, over any protocol.


class SeatedPlayer(Protocol):
    """Nothing here waits or raises."""

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        """Join one of the writers of the match."""

    def tell(self, messages: list[bytes]) -> None:
        """Send the messages."""

    def network_time(self) -> float:
        """Return the seconds that a question and its answer are on the way, as the server measures
        it; 0: unknown.
        """

    def delay(self) -> float:
        """Return the seconds by which the server was late with the question, or with reading the
        answer that it has now.
        """

    def dismiss(self, failed: bool) -> None:
        """The match is over and was told.

        `failed`: it could not be stored, so no result was told.
        """
