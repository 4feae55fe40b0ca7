"""The ratings of the bots of a game, kept up to date in each worker process.

Each match is counted once: an update reads the matches that began since the last one, and those that have ended since. Rating
all bots anew takes longer the more there are, so it may take a twentieth of the time; meanwhile the last ratings stand.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from time import monotonic, process_time, time

from msgspec import Struct

from botdrome.contest.strength import Ratings, SingleMatch, rate, rate_matches
from botdrome.store.store import BotEntry, Epoch, Store
from botdrome.store.tallies import Seating

AT_ONCE = 20_000
"""Matches that are read at once."""
PAUSES = 20
"""After a rating that took a second, the next follows 20 seconds later."""
HOUSE = "house:"
_COPY = re.compile(r"(house:.+) \d+")


class RatedRecord(Struct):
    """A bot's matches against other rated bots."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0


def rated_name(name: str) -> str:
    """Copies of a house bot at one table count as one bot."""
    copy = _COPY.fullmatch(name)
    return copy[1] if copy else name


class TableResults:
    """The rated matches at tables of one size. Each match is a block of its own."""

    def __init__(self) -> None:
        self.lines: dict[str, RatedRecord] = {}
        self.matches = 0
        self.rated_at: Epoch = 0
        self._results: Counter[SingleMatch] = Counter()
        self._seats: dict[tuple[str, int], tuple[str, int]] = {}
        """Matches share these pairs, which saves most of their memory."""
        self._ratings = rate([])
        self._rated_matches, self._rest_until = 0, 0.0

    def add(self, places: dict[str, int], alone: bool) -> None:
        """Count a match of rated bots. `alone`: one player alone was first."""
        self.matches += 1
        for name, place in places.items():
            line = self.lines.setdefault(name, RatedRecord())
            line.games += 1
            line.wins += place == 1 and alone
            line.draws += place == 1 and not alone
            line.losses += place > 1
        self._results[tuple(self._seats.setdefault(seat, seat) for seat in sorted(places.items()))] += 1

    def ratings(self) -> Ratings:
        if self._rated_matches != self.matches and monotonic() >= self._rest_until:
            began = process_time()
            self._ratings = rate_matches(self._results)
            self._rated_matches, self.rated_at = self.matches, int(time() * 1000)
            self._rest_until = monotonic() + PAUSES * (process_time() - began)
        return self._ratings


class GameResults:
    def __init__(self, game: str) -> None:
        self.game = game
        self.bots: dict[str, BotEntry] = {}
        self.tables: dict[int, TableResults] = {}
        """By the number of seats."""
        self._last = 0
        """All matches up to this number are counted, except those still running."""
        self._running: set[str] = set()

    def sizes(self, name: str | None = None) -> list[int]:
        """Return the table sizes with rated matches, or with those of one bot; the one with most matches comes first."""
        played = {
            size: table.matches if name is None else table.lines[name].games
            for size, table in self.tables.items()
            if name is None or name in table.lines
        }
        return sorted(played, key=lambda size: (-played[size], size))

    def table(self, size: int | None) -> TableResults:
        """Return the results at tables of this size, which may be none yet."""
        return self.tables.get(size or 0) or TableResults()

    async def refresh(self, store: Store) -> None:
        """A request may be cancelled at any await: in between, the counts and `_last` and `_running` agree."""
        reports, game = store.reports, self.game
        last = await reports.last_number()
        running = await reports.running(game, last)
        self.bots = {bot.name: bot for bot in await store.bots(game)}
        over = self._running - running.keys()
        if over:
            seatings = await reports.seatings_of(game, over)
            self._count(seatings)
            self._running -= over
        while self._last < last:
            end = min(self._last + AT_ONCE, last)
            seatings = await reports.seatings(game, self._last, end)
            self._count(seatings)
            counted = {seating.match for seating in seatings}
            self._running |= {match for match, number in running.items() if self._last < number <= end} - counted
            self._last = end

    def _count(self, seatings: Sequence[Seating]) -> None:
        for _, seats in groupby(seatings, lambda seating: seating.match):
            self._count_match(list(seats))

    def _count_match(self, seats: Sequence[Seating]) -> None:
        places: dict[str, int] = {}
        for seat in seats:
            name = rated_name(seat.name)
            if self._is_rated(name, seat.started):
                places[name] = min(seat.place, places.get(name, seat.place))
        if len(places) > 1:
            alone = sum(seat.place == 1 for seat in seats) == 1
            self.tables.setdefault(len(seats), TableResults()).add(places, alone)

    def _is_rated(self, name: str, started: Epoch) -> bool:
        """Matches before the registration may be those of a guest."""
        bot = self.bots.get(name)
        return name.startswith(HOUSE) if bot is None else bot.registered <= started


_kept: dict[str, GameResults] = {}
_store: Store | None = None


async def results_of(game: str, store: Store) -> GameResults:
    """Up to date. A process keeps the results of one store."""
    global _store
    if store is not _store:
        _kept.clear()
        _store = store
    results = _kept.setdefault(game, GameResults(game))
    await results.refresh(store)
    return results
