"""Progress of a contest: its entrants, its results and the fixtures to play now.

The caller plays the open fixtures in any order and adds their results; the next round follows by
itself. Everything is derived from the document, the entrants and the results, so a contest
continues from what its journal holds. Its ratings follow from counts of equal blocks.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.elimination import DoubleElimination, Groups, Knockout
from botdrome.contest.formats.format import (
    CannotContinue,
    ContestFormat,
    Entrant,
    EntrantNumber,
    Fixture,
    FixtureResult,
    PlannedFixtures,
    Results,
    Round,
    StandingsLine,
    played_in,
    players_of,
)
from botdrome.contest.formats.ladder import LadderFormat
from botdrome.contest.formats.round_robin import Gauntlet, RoundRobin
from botdrome.contest.formats.swiss import Swiss
from botdrome.contest.strength import CountedBlock, Ratings, SingleMatch, rate
from botdrome.games.chance import SEED_BITS
from botdrome.games.reading import plural
from botdrome.match.events import Result

if TYPE_CHECKING:
    Cells = array[int]
    "A number for each fixture of a round, in the order of the plan; 0: it has no such result."

MakeFormat = Callable[[ContestDocument, Sequence[Entrant], Results], ContestFormat]
CONTEST_FORMATS: dict[str, type[ContestFormat]] = {
    "round-robin": RoundRobin,
    "gauntlet": Gauntlet,
    "knockout": Knockout,
    "double-elimination": DoubleElimination,
    "swiss": Swiss,
    "ladder": LadderFormat,
    "groups": Groups,
}
"""By the names that documents use."""


# The fixtures of a round that have no results yet. They are not kept: the plan makes them when
# they are asked for.


class OpenRound(Mapping[str, Fixture]):
    """By key, in the order of play. Results may be added while it is iterated over."""

    def __init__(self, planned: Sequence[Fixture], results: Results, left: int) -> None:
        """`left` of the fixtures have no results. The caller counts down with each result."""
        self.left = left
        self._planned, self._results = planned, results
        self._named: Callable[[str], Fixture] = (
            planned.named
            if isinstance(planned, PlannedFixtures)
            else {one.key: one for one in planned}.__getitem__
        )
        self._at = planned.in_turn if isinstance(planned, PlannedFixtures) else planned.__getitem__
        self._first = 0
        """All fixtures before this one have results."""

    def __len__(self) -> int:
        return self.left

    def __getitem__(self, key: str) -> Fixture:
        if key in self._results:
            raise KeyError(key)
        return self._named(key)

    def __iter__(self) -> Iterator[str]:
        return (fixture.key for fixture in self.fixtures())

    def fixtures(self) -> Iterator[Fixture]:
        while self._first < len(self._planned) and self._at(self._first).key in self._results:
            self._first += 1
        for place in range(self._first, len(self._planned)):
            fixture = self._at(place)
            if fixture.key not in self._results:
                yield fixture


# Results of a contest in ten bytes each, so that contests of any length fit in memory.

MOST_KINDS = 65_535
MOST_CELLS = 20_000_000
"""The largest round of a round robin."""


class ResultBook(MutableMapping[str, FixtureResult]):
    """Results by the keys of their fixtures.

    Equal results are kept once; those with the id of a match are kept in full.
    """

    def __init__(self, games: int, results: Mapping[str, FixtureResult]) -> None:
        """`games` are the matches of a meeting."""
        self._games = games
        self._kinds: list[FixtureResult] = []
        self._numbers: dict[FixtureResult, int] = {}
        """One more than the index of each kind."""
        self._rounds: dict[int, Cells] = {}
        self._fingerprints: dict[int, Cells] = {}
        self._others: dict[str, FixtureResult] = {}
        """The results that have no cell: further matches of a series, and whatever is rare."""
        self._in_cells = 0
        self.update(results)

    def __len__(self) -> int:
        return self._in_cells + len(self._others)

    def __iter__(self) -> Iterator[str]:
        for round_, cells in self._rounds.items():
            for index, number in enumerate(cells):
                if number:
                    yield f"{round_}.{index // self._games + 1}.{index % self._games + 1}"
        yield from self._others

    def __getitem__(self, key: str) -> FixtureResult:
        if (other := self._others.get(key)) is not None:
            return other
        round_, index = self._cell(key)
        cells = self._rounds.get(round_, ())
        if index >= len(cells) or not cells[index]:
            raise KeyError(key)
        kind, fingerprint = self._kinds[cells[index] - 1], self._fingerprints[round_][index]
        return replace(kind, fingerprint=fingerprint) if fingerprint else kind

    def __setitem__(self, key: str, result: FixtureResult) -> None:
        self.pop(key, None)
        round_, index = self._cell(key)
        number = 0 if result.match or index >= MOST_CELLS else self._number(result)
        if not number:
            self._others[key] = result
            return
        cells = self._rounds.setdefault(round_, array("H"))
        fingerprints = self._fingerprints.setdefault(round_, array("Q"))
        if (more := index + 1 - len(cells)) > 0:
            cells.extend(array("H", bytes(2 * more)))
            fingerprints.extend(array("Q", bytes(8 * more)))
        cells[index], fingerprints[index] = number, result.fingerprint
        self._in_cells += 1

    def __delitem__(self, key: str) -> None:
        if key in self._others:
            del self._others[key]
            return
        self[key]  # KeyError if there is none
        round_, index = self._cell(key)
        self._rounds[round_][index] = 0
        self._in_cells -= 1

    def _cell(self, key: str) -> tuple[int, int]:
        """Return the round of a fixture, and its place in that round; MOST_CELLS: it has none."""
        try:
            round_, meeting, game = map(int, key.split("."))
        except ValueError:
            return 0, MOST_CELLS
        return round_, (
            meeting - 1
        ) * self._games + game - 1 if meeting > 0 < game <= self._games else MOST_CELLS

    def _number(self, result: FixtureResult) -> int:
        """Return the number of a kind of results; 0: there are too many kinds."""
        result = replace(result, fingerprint=0)
        number = self._numbers.get(result, 0)
        if not number and len(self._kinds) < MOST_KINDS:
            self._kinds.append(result)
            number = self._numbers[result] = len(self._kinds)
        return number


# Entrants that come late, leave or fail.


class LateEntry(ValueError):
    """The format takes no entrants after the start."""


def entered(document: ContestDocument, entrant: Entrant, round_: int) -> Entrant:
    """Return a bot as an entrant that comes during this round; 0: before the first one.

    Raise LateEntry if the format takes none after the start.
    """
    late = CONTEST_FORMATS[document.format_].late
    if round_ and late == "never":
        raise LateEntry(
            f"{document.format_} takes no entrants after the start; round-robin, swiss and ladder "
            "do"
        )
    return replace(entrant, joined=round_ + (late == "next") if round_ else 0)


def withdrawn(entrant: Entrant, round_: int) -> Entrant:
    """Return an entrant that plays no more after this round, unless it has left before."""
    return replace(entrant, left=round_ + 1) if entrant.left is None else entrant


def faulty(fixture: Fixture, result: FixtureResult) -> list[EntrantNumber]:
    """Return the entrants that did not show up, and those that crashed."""
    return [fixture.entrants[seat] for seat in (*result.absent, *result.crashed)]


class ContestProgress:
    """A contest that is being played. It is told what happens, and never waits."""

    def __init__(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        results: Mapping[str, FixtureResult],
        underway: Collection[str] = (),
        format_: MakeFormat | None = None,
    ) -> None:
        """`underway` are the fixtures that are being played.

        An entrant that leaves does not forfeit them.
        """
        self.document, self.entrants = document, list(entrants)
        self.results = ResultBook(document.games_per_meeting, results)
        make_format = format_ or CONTEST_FORMATS[document.format_]
        self.format = make_format(document, self.entrants, self.results)
        self.faults: Counter[EntrantNumber] = Counter()
        """The no-shows and crashes of each entrant."""
        self.refusal = ""
        """Why the contest cannot go on; empty: it can, or it is over."""
        self.underway = underway
        self._plan_anew()

    @property
    def over(self) -> bool:
        return not self.open and not self.refusal

    @property
    def round(self) -> int:
        """The latest round that has begun; 0: none."""
        return max(self._rounds, default=0)

    @property
    def rounds(self) -> list[Round]:
        """The rounds that have begun."""
        return list(self._rounds.values())

    @property
    def fixtures(self) -> dict[str, Fixture]:
        """All fixtures of the rounds that have begun. This takes memory for each of them."""
        return {
            fixture.key: fixture for round_ in self._rounds.values() for fixture in round_.fixtures
        }

    @property
    def rounds_played(self) -> int:
        """The number of rounds whose fixtures all have results."""
        return len(self._rounds) - bool(self.open)

    @property
    def expected(self) -> int:
        """About how many matches the contest has in all; at least those that are planned."""
        planned = sum(len(round_.fixtures) for round_ in self._rounds.values())
        return planned if self.over else max(planned, self.format.expected(len(self.entrants)))

    def add(self, key: str, result: FixtureResult) -> bool:
        """Count a result and return True.

        Ignore it and return False if the fixture has one already.

        Raise KeyError if the fixture is not open.
        """
        if key in self.results:
            return False
        fixture = self.open[key]
        if result.places and len(result.places) != len(fixture.entrants):
            raise ValueError(
                f"fixture {key}: {len(result.places)} places for {len(fixture.entrants)} seats"
            )
        self.results[key] = result
        self.open.left -= 1
        self.faults.update(faulty(fixture, result))
        self._go_on()
        return True

    def enter(self, entrant: Entrant) -> EntrantNumber:
        """Add an entrant and return its number.

        Raise LateEntry if the format takes none after the start.
        """
        self.entrants.append(entered(self.document, entrant, self.round))
        self._plan_anew()
        return len(self.entrants) - 1

    def withdraw(self, number: EntrantNumber) -> dict[str, FixtureResult]:
        """Let an entrant play no more.

        Return the results of its open fixtures: it forfeits them, or they do not count.
        """
        if self.entrants[number].left is not None:
            return {}
        self.entrants[number] = withdrawn(self.entrants[number], self.round)
        self._plan_anew()
        return self.forfeits

    def standings(self) -> list[StandingsLine]:
        """Return the standings, best first."""
        return self.format.ranked(self.rounds)

    def annul(self, numbers: Collection[EntrantNumber], failed: bool) -> dict[str, FixtureResult]:
        """Let the fixtures of these entrants (none: of all) be played again; `failed`: only those
        with no-shows or crashes.

        Return the results that no longer count, without forfeits that only this plan has. Where
        the pairing depends on results, those of later rounds do not count either.
        """
        dropped = {
            fixture.key
            for fixture, result in played_in(self.rounds, self.results)
            if (not numbers or not set(numbers).isdisjoint(fixture.entrants))
            and (not failed or result.crashed or result.absent)
        }
        if dropped and self.format.late != "now":  # else the plan does not depend on results
            first = min(int(key.split(".")[0]) for key in dropped)
            dropped |= {key for key in self.results if int(key.split(".")[0]) > first}
        old = {key: self.results.pop(key) for key in sorted(dropped)}
        for key in self.forfeits:
            old.pop(key, None)
        self._plan_anew()
        return old

    def _plan_anew(self) -> None:
        self._rounds: dict[int, Round] = {}
        self.open = OpenRound((), self.results, 0)
        self.faults.clear()
        self.forfeits: dict[str, FixtureResult] = {}
        """The results that followed from this plan alone, since entrants have left."""
        self._plan: Iterator[Round] = self.format.rounds()
        self._go_on()

    def _go_on(self) -> None:
        """Plan the next rounds until something is open."""
        while not self.open:
            try:
                round_ = next(self._plan, None)
                self.refusal = ""
            except CannotContinue as reason:
                self.refusal, round_ = str(reason), None
            if round_ is None:
                return
            self._open(round_)

    def _open(self, round_: Round) -> None:
        before = self._rounds.get(round_.number)
        counted = {fixture.key for fixture in before.fixtures} if before else ()
        self._rounds[round_.number] = round_
        leavers = {
            number for number, entrant in enumerate(self.entrants) if entrant.left is not None
        }
        left = 0 if self.results or leavers else len(round_.fixtures)
        for fixture in () if left else round_.fixtures:
            result = self.results.get(fixture.key)
            if result is None and not leavers.isdisjoint(fixture.entrants):
                result = self._forfeit(fixture, round_.number)
            if result is None:
                left += 1
            elif fixture.key not in counted:
                self.faults.update(faulty(fixture, result))
        self.open = OpenRound(round_.fixtures, self.results, left)

    def _forfeit(self, fixture: Fixture, round_: int) -> FixtureResult | None:
        """Return the result of a fixture if some of its entrants have left since it was planned."""
        leavers = (
            (seat, self.entrants[number].left) for seat, number in enumerate(fixture.entrants)
        )
        absent = [seat for seat, left in leavers if left is not None and left <= round_ + 1]
        if not absent or fixture.key in self.underway:
            return None
        self.results[fixture.key] = self.forfeits[fixture.key] = unplayed(
            self.document, fixture, absent
        )
        return self.results[fixture.key]


def start_refusal(document: ContestDocument, entrants: Sequence[Entrant]) -> str:
    """Return why a contest cannot start with these entrants; empty: it can."""
    format_ = CONTEST_FORMATS[document.format_](document, entrants, {})
    try:
        players = format_.checked(players_of(entrants, 1))
        if isinstance(format_, Gauntlet) and not document.entry.late:
            format_.champion(players)
    except CannotContinue as reason:
        return str(reason)
    return ""


def unplayed(document: ContestDocument, fixture: Fixture, absent: Collection[int]) -> FixtureResult:
    """Return the result of a fixture with absent players: the others share the first place, or it
    does not count.
    """
    present = len(fixture.entrants) - len(absent)
    needs_winner = CONTEST_FORMATS[document.format_].late == "never"
    if not present or (document.penalties.no_show == "skip" and not needs_winner):
        return FixtureResult((), tuple(absent))
    places = [present + 1 if seat in absent else 1 for seat in range(len(fixture.entrants))]
    return FixtureResult(tuple(places), tuple(absent))


# The result of a fixture from its match.

CRASHES = {"crash", "disconnect", "flood", "unreadable"}
"""Causes that count as a crash of the bot."""


def fixture_result(result: Result, match: str, fingerprint: int = 0) -> FixtureResult:
    """Return the result of a fixture that was played in this match."""
    crashed = tuple([seat for seat, cause in enumerate(result.causes) if cause in CRASHES])
    return FixtureResult(result.places, (), crashed, match, fingerprint)


# The seeds of matches on a server. Bots could compute hidden draws from a seed that they know, so
# it depends on a secret.
#
# The server publishes the secret's SHA-256 when the contest starts, and the secret when it is
# over, so that everybody can check that the seeds were not chosen.


def match_seed(secret: str, seed: int) -> int:
    """Return the seed of a match for the seed of its fixture.

    Without a secret they are the same.
    """
    if not secret:
        return seed
    return int.from_bytes(
        blake2b(str(seed).encode(), key=secret.encode()[:64], digest_size=SEED_BITS // 8).digest(),
        "little",
    )


def commitment(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


# Counts of equal blocks, so that a tournament of any length is rated in little memory.

MOST_COMPARED = 200_000
"""Matches whose games are compared with earlier ones; later matches are taken to repeat games as
often.
"""


class Repetition(Struct, frozen=True):
    """How many different games were played, and how many blocks count."""

    games: int
    matches: int
    counted: int
    blocks: int

    def words(self) -> str:
        """Say that games were repeated; empty: all blocks count."""
        if self.counted == self.blocks:
            return ""
        games = plural(self.games, "distinct game")
        return (
            f"{games} in {self.matches}: the interval counts {self.counted} of {self.blocks} "
            "blocks."
        )


class _PlayedMatch(NamedTuple):
    places: list[tuple[int, int]]
    """Entrants and their places."""
    game: int | None
    """The same number for the same game in the same seats; None: unknown."""


class _MeetingBlocks:
    """The blocks of one meeting."""

    def __init__(self, counts: Counter[bytes], compared: int, different: set[int]) -> None:
        """The key of a block is the places of its entrants, match after match."""
        self.counts, self.compared, self.different = counts, compared, different

    def add(self, block: list[_PlayedMatch]) -> None:
        self.counts[
            b"".join(sorted(bytes([place for _, place in match.places]) for match in block))
        ] += 1
        games = [match.game for match in block if match.game is not None]
        if len(games) == len(block):
            self.compared += 1
            self.different.add(hash(tuple(sorted(games))))

    def copy(self) -> "_MeetingBlocks":
        return _MeetingBlocks(Counter(self.counts), self.compared, set(self.different))

    @property
    def share(self) -> float:
        """The share of its blocks that are different games."""
        return len(self.different) / self.compared if self.compared else 1.0


class BlockCounts:
    """The results of a tournament by block: the matches of one meeting on one seed.

    They may be added in any order.

    Bots that always answer alike repeat their games. Such a block tells nothing new, so the blocks
    of a meeting count only as often as there are different ones. All results still weigh the same:
    bots that draw their moves repeat games by chance.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._open: defaultdict[Hashable, list[_PlayedMatch]] = defaultdict(list)
        """The matches of incomplete blocks."""
        self._meetings: dict[tuple[int, ...], _MeetingBlocks] = {}
        self._games: set[int] = set()
        self._compared = 0
        """Matches whose games were compared."""

    def add(
        self, name: Hashable, entrants: Sequence[int], places: Sequence[int], fingerprint: int = 0
    ) -> None:
        """Add a match to the block of this name.

        A block is complete when each seating is played; the last one may never be.

        `fingerprint` is the same for the same game; 0: it is unknown.
        """
        game = None
        if fingerprint and self._compared < MOST_COMPARED:
            game = hash((fingerprint, tuple(entrants)))
            self._games.add(game)
            self._compared += 1
        block = self._open[name]
        block.append(_PlayedMatch(sorted(zip(entrants, places, strict=True)), game))
        if len(block) == len(entrants):
            _add(self._open.pop(name), self._meetings)

    def counted(self) -> Iterator[CountedBlock]:
        """Yield each block, in an order that depends on the results alone."""
        for meeting, blocks in sorted(self._all().items()):
            for key, times in sorted(blocks.counts.items()):
                yield self._block(meeting, key), times, blocks.share

    def repetition(self) -> Repetition:
        meetings = self._all().values()
        counted = sum(len(blocks.different) for blocks in meetings)
        return Repetition(
            len(self._games), self._compared, counted, sum(blocks.compared for blocks in meetings)
        )

    def _all(self) -> dict[tuple[int, ...], _MeetingBlocks]:
        """Return the blocks of all meetings, with those that are incomplete."""
        meetings = {meeting: blocks.copy() for meeting, blocks in self._meetings.items()}
        for block in self._open.values():
            _add(block, meetings)
        return meetings

    def _block(self, meeting: tuple[int, ...], key: bytes) -> list[SingleMatch]:
        names, seats = [self._names[entrant] for entrant in meeting], len(meeting)
        places = (key[at : at + seats] for at in range(0, len(key), seats))
        return [tuple(zip(names, one, strict=True)) for one in places]


def _add(block: list[_PlayedMatch], meetings: dict[tuple[int, ...], _MeetingBlocks]) -> None:
    meeting = tuple([entrant for entrant, _ in block[0].places])
    meetings.setdefault(meeting, _MeetingBlocks(Counter(), 0, set())).add(block)


# The ratings of a contest's entrants. The matches of a meeting on one seed are a block.


def contest_blocks(progress: ContestProgress) -> BlockCounts:
    """Return the matches that were played; forfeits do not count."""
    blocks = BlockCounts([entrant.name for entrant in progress.entrants])
    for fixture, result in played_in(progress.rounds, progress.results):
        if result.places and not result.absent:
            blocks.add(fixture.seed, fixture.entrants, result.places, result.fingerprint)
    return blocks


def contest_ratings(progress: ContestProgress) -> Ratings:
    return rate(contest_blocks(progress).counted())
