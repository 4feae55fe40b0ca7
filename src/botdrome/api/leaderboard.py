"""The ratings of the bots of a game and of their versions, kept up to date in each worker process.

Each match is counted once: an update reads the matches that began since the last one, and those
that have ended since. The store keeps what was counted, so that the next process need not count it
again; whatever is stored may be deleted at any time.

Rating all bots anew takes longer the more there are, so it may take a twentieth of the time;
meanwhile the last ratings stand. Many bots are rated in a thread, beside the requests.
"""

import asyncio
import gc
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial, reduce
from itertools import groupby, pairwise
from time import monotonic, process_time, time
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from botdrome.bots.house import HOUSE_RATINGS
from botdrome.catalogue import CATALOGUE
from botdrome.contest.strength import LARGEST, MEAN, SingleMatch, Strength, rate
from botdrome.games.game import BadOption
from botdrome.games.options import unusual, with_options
from botdrome.games.reading import UNREADABLE, bounded
from botdrome.server.workers.jobs import at_low_priority
from botdrome.store import rows
from botdrome.store.entries import BotEntry, Epoch, StoreDamaged, StoreUnavailable
from botdrome.store.reports import Seating
from botdrome.store.store import StoreReader, keep_leaderboard
from botdrome.version import __version__

log = structlog.get_logger()

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


class BotVersions(Struct):
    """When each version of each bot was seen. A bot without versions has one, which is empty."""

    changes: int = 0
    """Grows when a bot has another version than before."""
    seen: dict[str, dict[str, tuple[Epoch, Epoch]]] = {}
    last: dict[str, str] = {}
    count: int = 0
    limit: int = 0

    def note(self, key: str, at: Epoch) -> None:
        """A bot has begun a match at this time."""
        bot = bot_of(key)
        seen = self.seen.setdefault(bot, {})
        self.count += key not in seen
        first, last = seen.get(key, (at, at))
        seen[key] = min(first, at), max(last, at)
        before = self.last.setdefault(bot, key)
        if key != before and seen[key][1] >= seen[before][1]:
            self.last[bot] = key
            self.changes += 1

    def current(self, bot: str) -> str:
        """Return the key of the version that played last."""
        return self.last.get(bot, bot)

    def age(self, key: str) -> tuple[bool, Epoch, str]:
        """Sort keys by this, oldest first. Results without a version come first."""
        first, _ = self.seen.get(bot_of(key), {}).get(key, (0, 0))
        return bool(version_of(key)), first, key

    def forget_old(self) -> dict[str, str]:
        """Forget old versions if there are too many.

        Return the keys under which their results count from now on.
        """
        if self.count <= max(MOST, self.limit):
            return {}
        moved: dict[str, str] = {}
        for bot, seen in self.seen.items():
            old = {key: seen.pop(key) for key in sorted(seen, key=self.age)[:-KEPT]}
            if old:
                seen[bot] = (
                    min(first for first, _ in old.values()),
                    max(last for _, last in old.values()),
                )
                moved |= {key: bot for key in old if key != bot}
                self.last[bot] = moved.get(self.last[bot], self.last[bot])
        self.count = sum(map(len, self.seen.values()))
        self.limit = 2 * self.count
        return moved


class VersionChains(Struct, frozen=True):
    """The rated versions of each bot at tables of one size, oldest first.

    Older ones have one key together.
    """

    of_bot: dict[str, list[str]] = {}
    stand_ins: dict[str, str] = {}
    """The key under which the results of an older version count."""
    merged: dict[str, list[str]] = {}
    """All keys whose results count under a key, where they are several."""
    current: dict[str, str] = {}

    def key(self, key: str) -> str:
        return self.stand_ins.get(key, key)

    def shown(self, bot: str) -> str | None:
        """Return the key of the version that stands for a bot: the current one, or else the newest.

        None: it is unrated.
        """
        chain, current = self.of_bot.get(bot), self.key(self.current.get(bot, bot))
        return None if chain is None else current if current in chain else chain[-1]

    @property
    def parents(self) -> Mapping[str, str]:
        return {
            child: parent for chain in self.of_bot.values() for parent, child in pairwise(chain)
        }


def version_chains(versions: BotVersions, keys: Iterable[str], most: int) -> VersionChains:
    """Chain the keys with results; there shall be no more than `most` rated versions in all, if
    possible.
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
    merged = {bot: chain[:-kept] for bot, chain in chains.items() if len(chain) > kept + 1}
    return VersionChains(
        {bot: [bot, *chain[-kept:]] if bot in merged else chain for bot, chain in chains.items()},
        {key: bot for bot, old in merged.items() for key in old},
        merged,
        {bot: versions.current(bot) for bot in chains},
    )


AT_ONCE = 20_000
"""Matches that are read at once, and distinct blocks that a request rates itself."""
FEW = 300
"""Bots and versions that a request rates itself; if there are more, fewer versions are rated one by
one.
"""
PAUSES = 20
"""After a rating that took a second, the next follows 20 seconds later."""
UNSAVED = 5000
"""Matches that are counted before the counts are stored again; the first ratings and those of many
bots are stored at once.
"""
LARGEST_ROW = 16 << 20
"""Bytes; larger counts are not stored."""
VERSION = f"{__version__} 1"
"""Of stored counts: another version of Botdrome may read options in another way, and counts
again.
"""
LATE = 60_000
"""Milliseconds after which a number without a match stays without one: numbers are taken before
their transaction commits.
"""
HOUSE = "house:"
STANDARD = "{}"
"""The options of the standard leaderboard."""
Block = tuple[SingleMatch, ...]
Seat = tuple[str, int]
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


class TableRatings(Struct, frozen=True):
    """The ratings at tables of one size with one set of options, computed at one time."""

    at: Epoch = 0
    state: tuple[int, int] = (0, 0)
    """The number of matches, and of changed versions."""
    strengths: dict[str, Strength] = {}
    chains: VersionChains = VersionChains()
    ranked: list[str] = []
    """One key for each bot: settled ratings group by group, then provisional ones."""
    placed: int = 0
    """How many of them have places."""
    beats_next: dict[str, float | None] = {}
    """The probability that a bot is stronger than the next one, for those with places."""


def rated(
    blocks: Counter[Block],
    chains: VersionChains,
    anchors: Mapping[str, float],
    state: tuple[int, int],
    largest: int,
) -> TableRatings:
    """Rate all bots.

    `anchors` are the fixed ratings of house bots. `largest` is the size of the largest group with
    intervals.
    """
    counted = ((block, times, 1.0) for block, times in _moved(blocks, chains.stand_ins).items())
    found = rate(counted, chains.parents, anchors, largest)
    strengths = found.strengths
    ranked = [key for key in strengths if chains.shown(bot_of(key)) == key]
    ranked.sort(key=lambda key: (*strengths[key].rank, key))
    placed = sum(strengths[key].settled and strengths[key].group == 0 for key in ranked)
    beats_next = {one: found.beats(one, two) for one, two in pairwise(ranked[:placed])}
    return TableRatings(int(time() * 1000), state, strengths, chains, ranked, placed, beats_next)


class TableResults(Struct):
    """The rated matches at tables of one size with one set of options.

    Matches of a contest on one seed are a block, since they depend on each other; each other match
    is a block of its own.
    """

    seats: int = 2
    matches: int = 0
    lines: dict[str, RatedRecord] = {}
    """By the keys of bots and versions."""
    games: dict[str, int] = {}
    """The matches of each bot, in all versions."""
    whole: dict[Block, int] = {}
    incomplete: dict[str, list[SingleMatch]] = {}
    """Blocks of contests that are not complete, by their seeds."""
    ratings: TableRatings = TableRatings()

    def add(
        self,
        places: dict[str, int],
        alone: bool,
        block: str,
        shared: dict[Seat, Seat],
        times: int = 1,
    ) -> None:
        """Count a match of rated bots, or (times -1) count it no more.

        `alone`: one player alone was first. `block`: its contest and seed. Matches share the pairs
        of `shared`, which saves most of their memory.
        """
        self.matches += times
        for name, place in places.items():
            bot = bot_of(name)
            self.games[bot] = self.games.get(bot, 0) + times
            line = self.lines.setdefault(name, RatedRecord())
            line.games += times
            line.wins += times * (place == 1 and alone)
            line.draws += times * (place == 1 and not alone)
            line.losses += times * (place > 1)
            if not line.games:
                del self.lines[name]
        match = tuple([shared.setdefault(seat, seat) for seat in sorted(places.items())])
        if not block:
            self.whole[match,] = self.whole.get((match,), 0) + times
            if not self.whole[match,]:
                del self.whole[match,]
            return
        matches = self.incomplete.setdefault(block, [])
        matches.append(match)
        if len(matches) == self.seats:  # each seed is played once per seating
            found = tuple(sorted(self.incomplete.pop(block)))
            self.whole[found] = self.whole.get(found, 0) + 1

    def blocks(self) -> Counter[Block]:
        found = Counter(self.whole)
        found.update(tuple(sorted(matches)) for matches in self.incomplete.values())
        return found

    def games_of(self, bot: str) -> int:
        """Return the number of matches of a bot in all its versions."""
        return self.games.get(bot, 0)

    def record(self, key: str) -> RatedRecord:
        """Return the results that count under a rated key."""
        keys = self.ratings.chains.merged.get(key, [key])
        return reduce(RatedRecord.plus, [self.lines.get(one, RatedRecord()) for one in keys])

    def move(self, moved: Mapping[str, str]) -> None:
        """Count results under other keys from now on."""
        lines: dict[str, RatedRecord] = {}
        for key, line in self.lines.items():
            new = moved.get(key, key)
            lines[new] = lines[new].plus(line) if new in lines else line
        self.lines, self.whole = lines, _moved(self.blocks(), moved)
        self.incomplete.clear()


def _moved(results: Counter[Block], moved: Mapping[str, str]) -> Counter[Block]:
    if not moved:
        return results
    found: Counter[Block] = Counter()
    shared: dict[Seat, Seat] = {}
    for block, times in results.items():
        matches = []
        for match in block:
            seats = sorted([(moved.get(key, key), place) for key, place in match])
            matches.append(tuple([shared.setdefault(seat, seat) for seat in seats]))
        found[tuple(sorted(matches))] += times
    return found


class GameCounts(Struct):
    """What is counted of a game, as the store keeps it."""

    last: int = 0
    """All matches up to this number are counted, except those that run or were missing."""
    running: set[int] = set()
    missing: dict[int, Epoch] = {}
    """Numbers without a match, and when they were first noticed: another node may store it yet."""
    void: set[int] = set()
    """Void matches up to `last`, which are not counted."""
    newest: Epoch = 0
    """The start of the last match."""
    bots: dict[str, Epoch] = {}
    """When each bot was registered."""
    versions: BotVersions = msgspec.field(default_factory=BotVersions)
    tables: dict[tuple[str, int], TableResults] = {}
    """By the options in their standard form, and the number of seats."""


_counts = msgspec.msgpack.Decoder(GameCounts)


async def stored_counts(game: str, store: StoreReader) -> GameCounts:
    """Return the counts that the store has, or else empty ones."""
    with suppress(StoreDamaged, *rows.UNREADABLE):
        if (data := await store.reports.leaderboard(game, VERSION)) is not None:
            return _decoded(data)
    return GameCounts()


def _decoded(data: bytes) -> GameCounts:
    shared: dict[Seat, Seat] = {}
    gc.disable()  # it would look through the many new tuples again and again
    try:
        counts = _counts.decode(zlib.decompress(data))
        for table in counts.tables.values():
            table.whole = {
                tuple(
                    [tuple([shared.setdefault(seat, seat) for seat in one]) for one in block]
                ): times
                for block, times in table.whole.items()
            }
    finally:
        gc.enable()
    return counts


class GameResults:
    def __init__(self, game: str, counts: GameCounts) -> None:
        self.game, self.counts = game, counts
        self.bots: dict[str, BotEntry] = {}
        self._forms: dict[str, str] = {}
        """Options as they are stored, and in their standard form."""
        self._shared: dict[Seat, Seat] = {}
        self.rating: asyncio.Task[None] | None = None
        """Rates many bots in a thread, for one table at a time."""
        self._rest_until: dict[tuple[str, int], float] = {}
        self._unsaved, self._save_from = 0, 0.0

    def option_sets(self, name: str | None = None) -> list[str]:
        """Return the sets of options with rated matches, or with those of one bot; the standard one
        first, then by matches.
        """
        played = {options: self.matches(options, name) for options, _ in self.counts.tables}
        return sorted(
            filter(played.get, played),
            key=lambda options: (options != STANDARD, -played[options], options),
        )

    def matches(self, options: str, name: str | None = None) -> int:
        """Return the number of rated matches with these options, or of those of one bot."""
        tables = [table for (form, _), table in self.counts.tables.items() if form == options]
        return sum(table.matches if name is None else table.games_of(name) for table in tables)

    def sizes(self, options: str, name: str | None = None) -> list[int]:
        """Return the table sizes with rated matches, or with those of one bot; the one with most
        matches comes first.
        """
        played = {
            size: table.matches if name is None else table.games_of(name)
            for (form, size), table in self.counts.tables.items()
            if form == options and (name is None or table.games_of(name))
        }
        return sorted(played, key=lambda size: (-played[size], size))

    def usual_tables(self) -> dict[str, TableResults]:
        """Return the results at the tables at which each bot plays most; those with the standard
        options come first.
        """
        places: dict[str, tuple[bool, int, tuple[str, int]]] = {}
        for place, table in self.counts.tables.items():
            for bot, games in table.games.items():
                found = place[0] == STANDARD, games, place
                places[bot] = max(places.get(bot, found), found)
        used = {place: self.table(*place) for place in {place for _, _, place in places.values()}}
        return {bot: used[place] for bot, (_, _, place) in places.items()}

    def table(self, options: str, size: int | None) -> TableResults:
        """Return the results at tables of this size with these options, which may be none yet."""
        place = options, size or 0
        table = self.counts.tables.get(place)
        if table is None:
            return TableResults()
        state = table.matches, self.counts.versions.changes
        if table.ratings.state != state and monotonic() >= self._rest_until.get(place, 0.0):
            self._rate(place, table, state)
        return table

    def _rate(self, place: tuple[str, int], table: TableResults, state: tuple[int, int]) -> None:
        """Rate few bots at once, and many in a thread.

        Meanwhile the last ratings stand; if there are none, those without intervals.
        """
        chains = version_chains(self.counts.versions, table.lines, FEW)
        many = sum(map(len, chains.of_bot.values())) > FEW
        first, beside = not table.ratings.at, many or len(table.whole) > AT_ONCE
        if beside and not first and self.rating is not None:
            return
        work = partial(rated, table.blocks(), chains, _anchors(self.game, *place))
        if first or not beside:
            began = process_time()
            table.ratings = work((0, 0) if many else state, FEW)
            self._rest_until[place] = monotonic() + PAUSES * (process_time() - began)
            self._unsaved += UNSAVED * first
        if self.rating is None and (many or (beside and not first)):
            self.rating = asyncio.create_task(self._rate_many(place, table, partial(work, state)))

    async def _rate_many(
        self, place: tuple[str, int], table: TableResults, work: Callable[[int], TableRatings]
    ) -> None:
        began = monotonic()
        try:
            table.ratings = await at_low_priority(work, LARGEST)
            self._unsaved += UNSAVED
        except Exception:
            log.exception("the ratings of many bots could not be computed", game=self.game)
        finally:
            self._rest_until[place] = monotonic() + PAUSES * (monotonic() - began)
            self.rating = None

    def form(self, options: str) -> str:
        """Return options as they are stored in their standard form."""
        if options not in self._forms:
            self._forms[options] = (
                standard_form(self.game, options) or options
            )  # those of an older version stay
        return self._forms[options]

    async def refresh(self, store: StoreReader) -> None:
        """A request may be cancelled at any await: in between, the counts agree with the numbers.

        Matches that are missing are looked for before those that run: the others are either among
        the running ones, or over.
        """
        reports, game = store.reports, self.game
        last = await reports.last_number()
        missing = await reports.missing(self.counts.last, last)
        running = await reports.running(game, last)
        self.bots = {bot.name: bot for bot in await store.bots(game)}
        if await self._outdated(store, last):
            self.counts, self._rest_until = GameCounts(), {}
            return await self.refresh(store)
        await self._leave_out_void(store)
        counts, now = self.counts, int(time() * 1000)
        if waiting := counts.running | counts.missing.keys():
            seatings = await reports.seatings_of(game, waiting - running)
            self._count(seatings)
            found = running | {seating.number for seating in seatings}
            counts.running = waiting & running
            counts.missing = {
                number: at
                for number, at in counts.missing.items()
                if number not in found and now - at < LATE
            }
        while True:
            await self._save(store)
            if counts.last >= last:
                return None
            end = min(counts.last + AT_ONCE, last)
            seatings = await reports.seatings(game, counts.last, end)
            self._count([seating for seating in seatings if seating.number not in missing])
            new, ended = range(counts.last + 1, end + 1), {one.number for one in seatings}
            counts.running |= running.intersection(new) - missing - ended
            counts.missing |= dict.fromkeys(missing.intersection(new), now)
            counts.last = end

    async def _leave_out_void(self, store: StoreReader) -> None:
        """Count matches no more that were counted before they became void."""
        counts, void = self.counts, await store.reports.void(self.game)
        waiting = counts.void | counts.running | counts.missing.keys()
        if new := {number for number in void - waiting if number <= counts.last}:
            self._count(await store.reports.seatings_of(self.game, new), -1)
            counts.void |= new
            counts.versions.changes += 1

    async def _outdated(self, store: StoreReader, last: int) -> bool:
        """Whether to count anew: matches or bots are gone, or an imported bot has played before."""
        counts, fresh = self.counts, {bot.name: bot.registered for bot in self.bots.values()}
        if last < counts.last or not counts.bots.items() <= fresh.items():
            return True
        new = [
            name
            for name, registered in fresh.items() - counts.bots.items()
            if registered <= counts.newest
        ]
        if new and await store.reports.have_played(new, counts.last):
            return True
        counts.bots = fresh
        return False

    async def _save(self, store: StoreReader) -> None:
        """Store the counts if there are many new ones."""
        if self._unsaved < UNSAVED or monotonic() < self._save_from:
            return
        began = process_time()
        data = zlib.compress(msgspec.msgpack.encode(self.counts), 1)
        self._unsaved, self._save_from = 0, monotonic() + PAUSES * (process_time() - began)
        if len(data) <= LARGEST_ROW:
            with suppress(StoreUnavailable):  # the next process counts again
                await keep_leaderboard(store.source, self.game, VERSION, self.counts.last, data)

    def _count(self, seatings: Sequence[Seating], times: int = 1) -> None:
        for number, seats in groupby(seatings, lambda seating: seating.number):
            first, *others = seats
            if first.void and times == 1:
                self.counts.void.add(number)
            else:
                self._count_match([first, *others], times)
        if moved := self.counts.versions.forget_old():
            self._shared.clear()
            for table in self.counts.tables.values():
                table.move(moved)

    def _count_match(self, seats: Sequence[Seating], times: int) -> None:
        counts, started = self.counts, seats[0].started
        counts.newest = max(counts.newest, started)
        self._unsaved += 1
        places: dict[str, int] = {}
        for seat in seats:
            name = rated_name(seat.name)
            if self._is_rated(name, started):
                key = rated_key(name, seat.version)
                places[key] = min(seat.place, places.get(key, seat.place))
        if len(places) > 1:
            alone = sum(seat.place == 1 for seat in seats) == 1
            table = self.form(seats[0].options), len(seats)
            if table not in counts.tables:
                counts.tables[table] = TableResults(len(seats))
            for key in places:
                counts.versions.note(key, started)
            counts.tables[table].add(places, alone, seats[0].block, self._shared, times)

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
    if game not in _kept:
        counts = await stored_counts(game, store)
        _kept.setdefault(game, GameResults(game, counts))
    results = _kept[game]
    await results.refresh(store)
    return results
