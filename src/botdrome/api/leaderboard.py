"""The ratings of the bots of a game and of their versions, kept up to date in each worker process.

Each match is counted once: an update reads the matches that began since the last one, and those
that have ended since. Rating all bots anew takes longer the more there are, so it may take a
twentieth of the time; meanwhile the last ratings stand.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import groupby, pairwise
from time import monotonic, process_time, time
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.bots.house import HOUSE_RATINGS
from botdrome.catalogue import CATALOGUE
from botdrome.contest.strength import LARGEST, MEAN, Ratings, SingleMatch, rate
from botdrome.games.game import BadOption
from botdrome.games.options import unusual, with_options
from botdrome.games.reading import UNREADABLE, bounded
from botdrome.store.entries import BotEntry, Epoch
from botdrome.store.reports import Seating
from botdrome.store.store import StoreReader

# The versions of the bots of a game, and the keys under which they are rated.

KEPT = 4
"""The newest versions of a bot that have ratings of their own.

Older ones are rated together, as results without a version.
"""
MOST = 1000
"""Versions of all bots that are remembered one by one; then the older ones of each bot are put
together.
"""


def rated_key(bot: str, version: str) -> str:
    """Return the key of a bot and its version. No name has a line end."""
    return f"{bot}\n{version}" if version else bot


def bot_of(key: str) -> str:
    return key.partition("\n")[0]


def version_of(key: str) -> str:
    return key.partition("\n")[2]


class BotVersions:
    """When each version of each bot was seen. A bot without versions has one, which is empty."""

    def __init__(self) -> None:
        self.changes = 0
        """Grows when a bot has another version than before."""
        self._seen: dict[str, dict[str, tuple[Epoch, Epoch]]] = {}
        self._current: dict[str, str] = {}
        self._count, self._limit = 0, MOST

    def note(self, key: str, at: Epoch) -> None:
        """A bot has begun a match at this time."""
        bot = bot_of(key)
        seen = self._seen.setdefault(bot, {})
        self._count += key not in seen
        first, last = seen.get(key, (at, at))
        seen[key] = min(first, at), max(last, at)
        before = self._current.setdefault(bot, key)
        if key != before and seen[key][1] >= seen[before][1]:
            self._current[bot] = key
            self.changes += 1

    def current(self, bot: str) -> str:
        """Return the key of the version that played last."""
        return self._current.get(bot, bot)

    def age(self, key: str) -> tuple[bool, Epoch, str]:
        """Sort keys by this, oldest first. Results without a version come first."""
        first, _ = self._seen.get(bot_of(key), {}).get(key, (0, 0))
        return bool(version_of(key)), first, key

    def forget_old(self) -> dict[str, str]:
        """Forget old versions if there are too many.

        Return the keys under which their results count from now on.
        """
        if self._count <= self._limit:
            return {}
        moved: dict[str, str] = {}
        for bot, seen in self._seen.items():
            old = {key: seen.pop(key) for key in sorted(seen, key=self.age)[:-KEPT]}
            if old:
                seen[bot] = (
                    min(first for first, _ in old.values()),
                    max(last for _, last in old.values()),
                )
                moved |= {key: bot for key in old if key != bot}
                self._current[bot] = moved.get(self._current[bot], self._current[bot])
        self._count = sum(map(len, self._seen.values()))
        self._limit = max(MOST, 2 * self._count)
        return moved


class VersionChains:
    """The rated versions of each bot at tables of one size, oldest first.

    Older ones have one key together.
    """

    def __init__(self, versions: BotVersions, keys: Iterable[str], most: int) -> None:
        """`keys` are those with results; there shall be no more than `most` rated versions in all,
        if possible.
        """
        chains: dict[str, list[str]] = {}
        for key in keys:
            chains.setdefault(bot_of(key), []).append(key)
        for bot, chain in chains.items():
            chain.sort(key=versions.age)
            if versions.age(versions.current(bot)) > versions.age(chain[-1]):
                chain.append(versions.current(bot))
        kept = next(
            (
                kept
                for kept in range(KEPT, 1, -1)
                if sum(min(len(one), kept + 1) for one in chains.values()) <= most
            ),
            1,
        )
        self.stand_ins: dict[str, str] = {}
        """The key under which the results of an older version count."""
        self.merged: dict[str, list[str]] = {}
        """All keys whose results count under a key, where they are several."""
        self.of_bot = {bot: self._shortened(bot, chain, kept) for bot, chain in chains.items()}
        self._current = {bot: versions.current(bot) for bot in chains}

    def _shortened(self, bot: str, chain: list[str], kept: int) -> list[str]:
        if len(chain) <= kept + 1:
            return chain
        self.merged[bot] = chain[:-kept]
        self.stand_ins |= dict.fromkeys(chain[:-kept], bot)
        return [bot, *chain[-kept:]]

    def key(self, key: str) -> str:
        return self.stand_ins.get(key, key)

    def shown(self, bot: str) -> str | None:
        """Return the key of the version that stands for a bot: the current one, or else the newest.

        None: it is unrated.
        """
        chain, current = self.of_bot.get(bot), self.key(self._current.get(bot, bot))
        return None if chain is None else current if current in chain else chain[-1]

    @property
    def parents(self) -> Mapping[str, str]:
        return {
            child: parent for chain in self.of_bot.values() for parent, child in pairwise(chain)
        }


AT_ONCE = 20_000
"""Matches that are read at once."""
PAUSES = 20
"""After a rating that took a second, the next follows 20 seconds later."""
HOUSE = "house:"
STANDARD = "{}"
"""The options of the standard leaderboard."""
Block = tuple[SingleMatch, ...]
_COPY = re.compile(r"(house:.+) \d+")


class RatedRecord(Struct):
    """A version's matches against other rated bots."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0

    def plus(self, other: "RatedRecord") -> "RatedRecord":
        won, lost = self.wins + other.wins, self.losses + other.losses
        return RatedRecord(self.games + other.games, won, self.draws + other.draws, lost)


def rated_name(name: str) -> str:
    """Copies of a house bot at one table count as one bot."""
    copy = _COPY.fullmatch(name)
    return copy[1] if copy else name


def standard_form(game: str, options: str) -> str | None:
    """Return the options that differ from the defaults of the game, as JSON.

    None: the game has no such options.
    """
    try:
        wanted = msgspec.json.decode(bounded(options.encode(errors="replace")), type=dict[str, Any])
        set_up = with_options(CATALOGUE[game].game, wanted)
    except (BadOption, *UNREADABLE):
        return None
    return msgspec.json.encode(unusual(set_up), order="sorted").decode()


class TableResults:
    """The rated matches at tables of one size with one set of options.

    Matches of a contest on one seed are a block, since they depend on each other; each other match
    is a block of its own.
    """

    def __init__(
        self, versions: BotVersions, seats: int = 2, anchors: Mapping[str, float] | None = None
    ) -> None:
        """`anchors` are the fixed ratings of house bots."""
        self.lines: dict[str, RatedRecord] = {}
        """By the keys of bots and versions."""
        self.chains = VersionChains(versions, (), LARGEST)
        self.matches = 0
        self.rated_at: Epoch = 0
        self._results: Counter[Block] = Counter()
        self._open: dict[str, list[SingleMatch]] = {}
        """Blocks of contests that are not complete, by their seeds."""
        self._number_of_seats, self._anchors = seats, anchors or {}
        self._seats: dict[tuple[str, int], tuple[str, int]] = {}
        """Matches share these pairs, which saves most of their memory."""
        self._games: dict[str, int] = {}
        """The matches of each bot, in all versions."""
        self._versions, self._ratings = versions, rate([])
        self._rated_state, self._rest_until = (0, 0), 0.0

    def add(self, places: dict[str, int], alone: bool, block: str = "") -> None:
        """Count a match of rated bots.

        `alone`: one player alone was first. `block`: its contest and seed.
        """
        self.matches += 1
        for key in places:
            bot = bot_of(key)
            self._games[bot] = self._games.get(bot, 0) + 1
        for name, place in places.items():
            line = self.lines.setdefault(name, RatedRecord())
            line.games += 1
            line.wins += place == 1 and alone
            line.draws += place == 1 and not alone
            line.losses += place > 1
        match = tuple([self._seats.setdefault(seat, seat) for seat in sorted(places.items())])
        if not block:
            self._results[match,] += 1
            return
        matches = self._open.setdefault(block, [])
        matches.append(match)
        if len(matches) == self._number_of_seats:  # each seed is played once per seating
            self._results[tuple(sorted(self._open.pop(block)))] += 1

    def _blocks(self) -> Counter[Block]:
        return self._results + Counter(tuple(sorted(matches)) for matches in self._open.values())

    def ratings(self) -> Ratings:
        state = self.matches, self._versions.changes
        if self.matches and self._rated_state != state and monotonic() >= self._rest_until:
            began = process_time()
            self.chains = VersionChains(self._versions, self.lines, LARGEST)
            moved = _moved(self._blocks(), self.chains.stand_ins)
            blocks = ((block, times, 1.0) for block, times in moved.items())
            self._ratings = rate(blocks, self.chains.parents, self._anchors)
            self._rated_state, self.rated_at = state, int(time() * 1000)
            self._rest_until = monotonic() + PAUSES * (process_time() - began)
        return self._ratings

    def games_of(self, bot: str) -> int:
        """Return the number of matches of a bot in all its versions."""
        return self._games.get(bot, 0)

    def record(self, key: str) -> RatedRecord:
        """Return the results that count under a rated key."""
        keys = self.chains.merged.get(key, [key])
        return reduce(RatedRecord.plus, [self.lines.get(one, RatedRecord()) for one in keys])

    def move(self, moved: Mapping[str, str]) -> None:
        """Count results under other keys from now on."""
        lines: dict[str, RatedRecord] = {}
        for key, line in self.lines.items():
            new = moved.get(key, key)
            lines[new] = lines[new].plus(line) if new in lines else line
        self.lines, self._results = lines, _moved(self._blocks(), moved)
        self._open.clear()
        self._seats.clear()


def _moved(results: Counter[Block], moved: Mapping[str, str]) -> Counter[Block]:
    if not moved:
        return results
    found: Counter[Block] = Counter()
    shared: dict[tuple[str, int], tuple[str, int]] = {}
    for block, times in results.items():
        matches = []
        for match in block:
            seats = sorted([(moved.get(key, key), place) for key, place in match])
            matches.append(tuple([shared.setdefault(seat, seat) for seat in seats]))
        found[tuple(sorted(matches))] += times
    return found


class GameResults:
    def __init__(self, game: str) -> None:
        self.game = game
        self.bots: dict[str, BotEntry] = {}
        self.tables: dict[tuple[str, int], TableResults] = {}
        """By the options in their standard form, and the number of seats."""
        self._forms: dict[str, str] = {}
        """Options as they are stored, and in their standard form."""
        self._versions = BotVersions()
        self._last = 0
        """All matches up to this number are counted, except those still running."""
        self._running: set[str] = set()

    def option_sets(self, name: str | None = None) -> list[str]:
        """Return the sets of options with rated matches, or with those of one bot; the standard one
        first, then by matches.
        """
        played = {options: self.matches(options, name) for options, _ in self.tables}
        return sorted(
            filter(played.get, played),
            key=lambda options: (options != STANDARD, -played[options], options),
        )

    def matches(self, options: str, name: str | None = None) -> int:
        """Return the number of rated matches with these options, or of those of one bot."""
        tables = [table for (form, _), table in self.tables.items() if form == options]
        return sum(table.matches if name is None else table.games_of(name) for table in tables)

    def sizes(self, options: str, name: str | None = None) -> list[int]:
        """Return the table sizes with rated matches, or with those of one bot; the one with most
        matches comes first.
        """
        played = {
            size: table.matches if name is None else table.games_of(name)
            for (form, size), table in self.tables.items()
            if form == options and (name is None or table.games_of(name))
        }
        return sorted(played, key=lambda size: (-played[size], size))

    def table(self, options: str, size: int | None) -> TableResults:
        """Return the results at tables of this size with these options, which may be none yet."""
        return self.tables.get((options, size or 0)) or TableResults(self._versions)

    def form(self, options: str) -> str:
        """Return options as they are stored in their standard form."""
        if options not in self._forms:
            self._forms[options] = (
                standard_form(self.game, options) or options
            )  # those of an older version stay
        return self._forms[options]

    async def refresh(self, store: StoreReader) -> None:
        """A request may be cancelled at any await: in between, the counts and `_last` and
        `_running` agree.
        """
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
            self._running |= {
                match for match, number in running.items() if self._last < number <= end
            } - counted
            self._last = end

    def _count(self, seatings: Sequence[Seating]) -> None:
        for _, seats in groupby(seatings, lambda seating: seating.match):
            self._count_match(list(seats))
        if moved := self._versions.forget_old():
            for table in self.tables.values():
                table.move(moved)

    def _count_match(self, seats: Sequence[Seating]) -> None:
        places: dict[str, int] = {}
        for seat in seats:
            name = rated_name(seat.name)
            if self._is_rated(name, seat.started):
                key = rated_key(name, seat.version)
                places[key] = min(seat.place, places.get(key, seat.place))
        if len(places) > 1:
            alone = sum(seat.place == 1 for seat in seats) == 1
            table = self.form(seats[0].options), len(seats)
            if table not in self.tables:
                self.tables[table] = TableResults(
                    self._versions, len(seats), _anchors(self.game, *table)
                )
            for key in places:
                self._versions.note(key, seats[0].started)
            self.tables[table].add(places, alone, seats[0].block)

    def _is_rated(self, name: str, started: Epoch) -> bool:
        """Matches before the registration may be those of a guest."""
        bot = self.bots.get(name)
        return name.startswith(HOUSE) if bot is None else bot.registered <= started


def _anchors(game: str, options: str, seats: int) -> dict[str, float]:
    """Return the fixed ratings.

    They were measured at tables of two with the standard options; elsewhere one bot is enough.
    """
    ratings = {HOUSE + bot: rating for bot, rating in HOUSE_RATINGS.get(game, {}).items()}
    if (options, seats) == (STANDARD, 2):
        return ratings
    return dict(sorted(ratings.items(), key=lambda item: abs(item[1] - MEAN))[:1])


_kept: dict[str, GameResults] = {}
_store: StoreReader | None = None


async def results_of(game: str, store: StoreReader) -> GameResults:
    """Up to date. A process keeps the results of one store."""
    global _store
    if store is not _store:
        _kept.clear()
        _store = store
    results = _kept.setdefault(game, GameResults(game))
    await results.refresh(store)
    return results
