"""The interface of the formats of contests: their plans and standings follow from the document, the
entrants and the results so far.

A format plans in rounds, numbered from 1. All fixtures of a round may be played at once and in any
order; the next round is planned when all of them have results. So the plan depends only on results,
and a contest that was interrupted continues as if it had not been. `contest/progress.py` runs a
format: use it rather than a format itself.
"""

from abc import ABC, abstractmethod
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, permutations
from typing import Literal, TypeVar, overload

from msgspec import Struct

from botdrome.contest.document import ContestDocument, TieBreak
from botdrome.games.chance import Chance
from botdrome.games.reading import plural

T = TypeVar("T")
EntrantNumber = int
"""An index in the list of entrants, which only grows."""


class Entrant(Struct, frozen=True):
    """A bot in a contest. The earlier entrants are seeded higher."""

    name: str
    owner: str = ""
    version: str = ""
    joined: int = 0
    """The first round in which it plays."""
    left: int | None = None
    """The first round in which it no longer plays; None: it plays to the end."""
    replaced: tuple[str, ...] = ()
    """The versions that others have replaced."""

    def plays_in(self, round_: int) -> bool:
        return self.joined <= round_ and (self.left is None or round_ < self.left)


class Fixture(Struct, frozen=True, gc=False):
    """One match to play."""

    key: str
    """Unique in the contest, such as `3.2.1`: round, meeting, game.

    The journal stores the result under it.
    """
    entrants: tuple[EntrantNumber, ...]
    """By seat."""
    seed: int
    """Each meeting has seeds of its own; one seed is played once per seating."""

    @property
    def round(self) -> int:
        return self.place[0]

    @property
    def place(self) -> tuple[int, ...]:
        """The numbers of its round, meeting and game, each from 1."""
        return tuple(map(int, self.key.split(".")))

    @property
    def meeting(self) -> str:
        return self.key.rpartition(".")[0]


class FixtureResult(Struct, frozen=True, omit_defaults=True):
    """The result of a fixture, by seat."""

    places: tuple[int, ...]
    """1 for the winner; tied players share a place.

    Empty: the match does not count, as with the penalty `skip`.
    """
    absent: tuple[int, ...] = ()
    """The seats that did not show up."""
    crashed: tuple[int, ...] = ()
    """The seats that were put out by a fault."""
    match: str = ""
    """The id of the match; empty if none was played."""
    fingerprint: int = 0
    """The same number for the same game, move by move; 0: unknown."""


Results = Mapping[str, FixtureResult]
"""By the key of the fixture."""


class CannotContinue(Exception):
    """Too few entrants are left. The text says how many there are and how many are needed."""


class Round(Struct, frozen=True):
    """The fixtures of one round, including those that have results."""

    number: int
    fixtures: Sequence[Fixture]
    byes: tuple[EntrantNumber, ...] = ()


class StandingsLine(Struct, frozen=True):
    """The line of one entrant in the standings."""

    entrant: EntrantNumber
    place: int
    """Entrants that cannot be told apart share a place."""
    score: float
    """The sum over its matches of (opponents beaten + level / 2) / opponents.

    A bye counts as the document says.
    """
    wins: int = 0
    draws: int = 0
    losses: int = 0
    byes: int = 0
    no_shows: int = 0
    crashes: int = 0
    tie_breaks: tuple[float, ...] = ()
    """The values of the document's tie-breaks, in their order."""
    note: str = ""
    """Such as `lost the final`, `group 2`."""


# A meeting: the matches that the same entrants play against each other, with their seats and
# seeds.

_SEEDS = (1 << 63) - 1
_SPREAD = 0x9E37_79B9_7F4A_7C15
"""An odd number: the multiples of different numbers differ."""
_MEETINGS, _BLOCKS = 40, 10
"""The bits of a seed's number below the round, and below the meeting."""


def moved_on(meeting: Sequence[T], by: int) -> tuple[T, ...]:
    by %= len(meeting)
    return (*meeting[by:], *meeting[:by])


class MeetingPlanner:
    """Make the fixtures of meetings. Each block of one match per seating has a seed of its own."""

    def __init__(self, document: ContestDocument) -> None:
        self._rotate, self.games, self.seats = (
            document.rotate,
            document.games_per_meeting,
            document.seats,
        )
        self._first_seed = Chance(document.seed).bits()

    def fixtures(
        self,
        round_: int,
        meeting: int,
        seats: Sequence[EntrantNumber],
        games: Iterable[int] | None = None,
    ) -> list[Fixture]:
        """Return the fixtures of a meeting whose first match has these seats.

        Games are numbered from 1.
        """
        size, number = len(seats), (round_ << _MEETINGS) + (meeting << _BLOCKS)
        seatings = [moved_on(seats, turn if self._rotate else 0) for turn in range(size)]
        return [
            Fixture(
                f"{round_}.{meeting}.{game}",
                seatings[(game - 1) % size],
                (self._first_seed + (number + (game - 1) // size) * _SPREAD) & _SEEDS,
            )
            for game in games or range(1, self.games + 1)
        ]


class PlannedFixtures(Sequence[Fixture], ABC):
    """The fixtures of a round, made when they are asked for: a round may have millions of them."""

    @overload
    def __getitem__(self, index: int) -> Fixture: ...

    @overload
    def __getitem__(self, index: slice) -> list[Fixture]: ...

    def __getitem__(self, index: int | slice) -> Fixture | list[Fixture]:
        places = range(len(self))[index]
        return self._at(places) if isinstance(places, int) else list(map(self._at, places))

    def in_turn(self, place: int) -> Fixture:
        """Return the fixture at this place in the order of play."""
        return self._at(place)

    def named(self, key: str) -> Fixture:
        """Raise KeyError if no fixture of the round has that key."""
        _, meeting, game = (
            int(part) if part.isdecimal() else 0 for part in f"{key}..".split(".")[:3]
        )
        place = self._place(meeting, game)
        found = self._at(place) if 0 <= place < len(self) else None
        if found is None or found.key != key:
            raise KeyError(key)
        return found

    @abstractmethod
    def _at(self, place: int) -> Fixture:
        """Return the fixture at this place of the plan."""

    @abstractmethod
    def _place(self, meeting: int, game: int) -> int:
        """Return the place of a game of a meeting; both are numbered from 1."""


class MeetingFixtures(PlannedFixtures):
    """The fixtures of meetings: only the seats of each meeting are kept, four bytes each."""

    def __init__(
        self,
        planner: MeetingPlanner,
        round_: int,
        meetings: Iterable[Sequence[EntrantNumber]],
        first: int = 1,
        turns: Sequence[int] = (),
    ) -> None:
        """`meetings` are the seats of their first matches; they are numbered from `first`.

        `turns` say when each is to be played; by default they are played in their order.
        """
        self._planner, self._round, self._first = planner, round_, first
        self._seats = array("I", chain.from_iterable(meetings))
        self._order: Sequence[int] = (
            array("I", sorted(range(len(turns)), key=turns.__getitem__))
            if turns
            else range(self.meetings)
        )

    @property
    def meetings(self) -> int:
        return len(self._seats) // self._planner.seats

    def __len__(self) -> int:
        return self.meetings * self._planner.games

    def __iter__(self) -> Iterator[Fixture]:
        for meeting in range(self.meetings):
            yield from self._meeting(meeting)

    def in_turn(self, place: int) -> Fixture:
        turn, game = divmod(place, self._planner.games)
        return self._meeting(self._order[turn], [game + 1])[0]

    def _at(self, place: int) -> Fixture:
        meeting, game = divmod(place, self._planner.games)
        return self._meeting(meeting, [game + 1])[0]

    def _place(self, meeting: int, game: int) -> int:
        return (meeting - self._first) * self._planner.games + game - 1

    def _meeting(self, meeting: int, games: Iterable[int] | None = None) -> list[Fixture]:
        size = self._planner.seats
        seats = self._seats[meeting * size : (meeting + 1) * size]
        return self._planner.fixtures(self._round, self._first + meeting, tuple(seats), games)


# Scores: the results of each entrant summed up, and the order by score and tie-breaks.

Duels = Callable[[], Iterable[tuple[EntrantNumber, EntrantNumber, int]]]
"""Yields each entrant of a match with each opponent, and its points: 2 for a win, 1 if they were
level. It is called once for each tie-break.
"""
Values = Mapping[EntrantNumber, float]


class EntrantScore(Struct):
    """The totals of one entrant.

    Points are whole numbers, so that sums do not depend on their order.
    """

    points: int = 0
    """2 for each opponent beaten, 1 for each level one; without byes."""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    byes: int = 0
    no_shows: int = 0
    crashes: int = 0
    present: int = 0
    """The matches that it did not miss."""

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses


def points_of(places: Sequence[int], seat: int) -> int:
    """Return 2 for each opponent beaten and 1 for each level one."""
    mine = places[seat]
    return sum(2 * (mine < other) + (mine == other) for other in places) - 1


class Scores:
    """The scores of all entrants, added up result by result."""

    def __init__(self, document: ContestDocument) -> None:
        self.of: defaultdict[EntrantNumber, EntrantScore] = defaultdict(EntrantScore)
        self._whole = max(1, 2 * (document.seats - 1))
        """The points of a match won against all."""
        self._bye = int(document.bye * self._whole * document.games_per_meeting)
        self._for_all = document.pairing == 1
        """Whether entrants that never appeared have byes too."""

    def points(self, entrant: EntrantNumber) -> int:
        return self.of[entrant].points + self._byes(entrant) * self._bye

    def score(self, entrant: EntrantNumber) -> float:
        return self.points(entrant) / self._whole

    def missing(self, entrant: EntrantNumber) -> bool:
        """Return True if an entrant was absent from all its matches."""
        return self.of[entrant].no_shows > 0 == self.of[entrant].present and not self._for_all

    def _byes(self, entrant: EntrantNumber) -> int:
        return 0 if self.missing(entrant) else self.of[entrant].byes

    def share(self, entrant: EntrantNumber) -> float:
        """Return the mean score of a match."""
        return self.score(entrant) / max(1, self.of[entrant].played)

    def add(self, fixture: Fixture, result: FixtureResult) -> None:
        for seat in result.absent:
            self.of[fixture.entrants[seat]].no_shows += 1
        for seat in result.crashed:
            self.of[fixture.entrants[seat]].crashes += 1
        for seat, entrant in enumerate(fixture.entrants):
            self.of[entrant].present += seat not in result.absent
        places, shared = result.places, result.places.count(1) > 1
        for seat, (entrant, place) in enumerate(zip(fixture.entrants, places, strict=False)):
            score = self.of[entrant]
            score.points += points_of(places, seat)
            score.wins += place == 1 and not shared
            score.draws += place == 1 and shared
            score.losses += place > 1

    def add_byes(self, byes: Iterable[EntrantNumber]) -> None:
        for entrant in byes:
            self.of[entrant].byes += 1

    def line(
        self, entrant: EntrantNumber, place: int, tie_breaks: Sequence[float] = (), note: str = ""
    ) -> StandingsLine:
        own = self.of[entrant]
        counts = (own.wins, own.draws, own.losses, self._byes(entrant), own.no_shows, own.crashes)
        return StandingsLine(
            entrant, place, self.score(entrant), *counts, tie_breaks=tuple(tie_breaks), note=note
        )


def played_in(rounds: Sequence[Round], results: Results) -> Iterator[tuple[Fixture, FixtureResult]]:
    """Yield the fixtures that have results, in the order of the plan."""
    for round_ in rounds:
        for fixture in round_.fixtures:
            result = results.get(fixture.key)
            if result is not None:
                yield fixture, result


def duels_in(
    rounds: Sequence[Round], results: Results
) -> Iterator[tuple[EntrantNumber, EntrantNumber, int]]:
    """Yield each entrant of each match with each opponent, and its points."""
    for fixture, result in played_in(rounds, results):
        yield from duels_of(fixture, result)


def duels_of(
    fixture: Fixture, result: FixtureResult
) -> Iterator[tuple[EntrantNumber, EntrantNumber, int]]:
    """Yield each entrant of a match with each opponent, and its points."""
    if result.places:
        sides = zip(fixture.entrants, result.places, strict=True)
        for (one, mine), (two, theirs) in permutations(sides, 2):
            yield one, two, 2 * (mine < theirs) + (mine == theirs)


def tie_break_values(
    name: TieBreak, groups: Sequence[Sequence[EntrantNumber]], scores: Scores, duels: Duels
) -> Values:
    """Return the values of a tie-break; more is better.

    The groups are the entrants that are tied so far.
    """
    if name == "wins":
        return {number: float(score.wins) for number, score in scores.of.items()}
    if name == "games":
        return {number: float(score.played) for number, score in scores.of.items()}
    if name == "direct":
        return _direct(groups, duels)
    total: defaultdict[EntrantNumber, float] = defaultdict(float)
    met: Counter[EntrantNumber] = Counter()
    for one, two, points in duels():
        met[one] += 1
        total[one] += scores.score(two) * (points / 2 if name == "sonneborn-berger" else 1)
    return {one: total[one] / met[one] for one in total} if name == "opponents" else total


def _direct(groups: Sequence[Sequence[EntrantNumber]], duels: Duels) -> Values:
    """Return the share of points against the tied entrants, for groups in which all have met each
    other.
    """
    group_of = {
        number: index for index, group in enumerate(groups) for number in group if len(group) > 1
    }
    total: Counter[EntrantNumber] = Counter()
    met: defaultdict[EntrantNumber, Counter[EntrantNumber]] = defaultdict(Counter)
    for one, two, points in duels():
        if group_of.get(one, -1) == group_of.get(two, -2):
            met[one][two] += 1
            total[one] += points
    complete = [
        group for group in groups if all(len(met[number]) == len(group) - 1 for number in group)
    ]
    return {
        number: total[number] / 2 / met[number].total()
        for group in complete
        for number in group
        if met[number]
    }


def _split(
    groups: Sequence[Sequence[EntrantNumber]], value: Callable[[EntrantNumber], float]
) -> list[list[EntrantNumber]]:
    """Return the groups divided by value, highest first."""
    parts: list[list[EntrantNumber]] = []
    for group in groups:
        by_value: defaultdict[float, list[EntrantNumber]] = defaultdict(list)
        for number in group:
            by_value[value(number)].append(number)
        parts += [by_value[found] for found in sorted(by_value, reverse=True)]
    return parts


class ContestFormat(ABC):
    """The format of one contest, whose entrants and results may grow.

    Entrants are given in the order of their seeding.
    """

    late: Literal["now", "next", "never"]
    """When a late entrant begins to play: in the current round, in the next one, or never."""

    def __init__(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> None:
        self.document, self.entrants, self.results = document, entrants, results
        self.planner = MeetingPlanner(document)

    def refusal(self, entrants: int) -> str:
        """Return why that many entrants cannot play at these tables; empty: they can."""
        seats = self.document.seats
        if entrants >= seats:
            return ""
        return f"{counted(entrants)} cannot fill a table of {seats}; at least {seats} are needed"

    @abstractmethod
    def expected(self, entrants: int) -> int:
        """Return about how many matches that many entrants play; 0: there is no end."""

    @abstractmethod
    def rounds(self) -> Iterator[Round]:
        """Yield the rounds. Ask for the next one only when all fixtures of the last one have
        results.

        A round is yielded again, with more fixtures, if its results demand further matches. Raise
        CannotContinue if too few entrants are left.
        """

    def ranked(self, rounds: Sequence[Round]) -> list[StandingsLine]:
        """Return the standings after these rounds, best first."""
        return self.ranked_by_score(range(len(self.entrants)), rounds)

    def scores(self, rounds: Sequence[Round]) -> Scores:
        scores = Scores(self.document)
        for fixture, result in played_in(rounds, self.results):
            scores.add(fixture, result)
        for round_ in rounds:
            scores.add_byes(round_.byes)
        return scores

    def ranked_by_score(
        self, numbers: Sequence[EntrantNumber], rounds: Sequence[Round], *, by_share: bool = False
    ) -> list[StandingsLine]:
        """Return the standings of these entrants by score, or by the score per match, then by the
        document's tie-breaks.
        """
        scores, duels = self.scores(rounds), partial(duels_in, rounds, self.results)
        groups = _split([list(numbers)], scores.share if by_share else scores.points)
        values: list[Values] = []
        for tie_break in self.document.tie_breaks:
            found = tie_break_values(tie_break, groups, scores, duels)
            values.append(found)
            groups = _split(groups, lambda number, found=found: found.get(number, 0.0))  # type: ignore[misc]
        lines, place = [], 1
        for group in groups:
            lines += [
                scores.line(number, place, [value.get(number, 0.0) for value in values])
                for number in group
            ]
            place += len(group)
        return lines

    def checked(self, players: list[EntrantNumber]) -> list[EntrantNumber]:
        """Raise CannotContinue if that many entrants cannot play."""
        if reason := self.refusal(len(players)):
            raise CannotContinue(reason)
        return players

    def is_open(self, round_: Round) -> bool:
        return any(fixture.key not in self.results for fixture in round_.fixtures)


def players_of(entrants: Sequence[Entrant], round_: int) -> list[EntrantNumber]:
    """Return the numbers of the entrants that play in a round."""
    return [number for number, entrant in enumerate(entrants) if entrant.plays_in(round_)]


def counted(entrants: int) -> str:
    return plural(entrants, "entrant")
