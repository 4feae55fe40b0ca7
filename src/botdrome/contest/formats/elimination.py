"""Elimination: brackets in which the loser of a meeting is out, at once or after a second loss; and
groups whose best play a knockout.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import comb
from typing import Literal

from msgspec import Struct

from botdrome.contest.formats.format import (
    CannotContinue,
    ContestFormat,
    EntrantNumber,
    Fixture,
    MeetingFixtures,
    Round,
    StandingsLine,
    counted,
    players_of,
    points_of,
)
from botdrome.contest.formats.round_robin import all_groups, seated, turns_of

FURTHER_BLOCKS = 2
"""How often a level series is prolonged by one match per seating.

After that the higher seed advances.
"""


class Series:
    """A meeting of a bracket. The entrants are given by seed, highest first."""

    def __init__(self, bracket: "Bracket", meeting: int, seeds: Sequence[EntrantNumber]) -> None:
        self.seeds, self._contest = tuple(seeds), bracket.contest
        self.round, self._meeting = bracket.round, meeting
        document = self._contest.document
        self._length = document.best_of or document.games_per_meeting
        self.fixtures: list[Fixture] = []

    def prolong(self) -> bool:
        """Add the matches that are certain to matter. Return False if the series is decided."""
        first = len(self.fixtures) + 1
        games = range(first, first + self._needed())
        if games:
            self.fixtures += self._contest.planner.fixtures(
                self.round, self._meeting, self.seeds, games
            )
        return bool(games)

    @property
    def key(self) -> str:
        return f"{self.round}.{self._meeting}"

    @property
    def decided(self) -> bool:
        results = self._contest.results
        return not self._needed() and all(fixture.key in results for fixture in self.fixtures)

    def ranking(self) -> list[EntrantNumber]:
        """Return the entrants, best first.

        Entrants that left before come last; level ones are ordered by seed.
        """
        points = self.points()
        return sorted(self.seeds, key=lambda number: (self._left(number), -points[number]))

    @property
    def by_seed(self) -> bool:
        """Whether only the seeding decided."""
        return not self._lead() and self._staying() != 1

    def points(self) -> Counter[EntrantNumber]:
        points: Counter[EntrantNumber] = Counter()
        for fixture in self.fixtures:
            result = self._contest.results.get(fixture.key)
            places = result.places if result else ()
            for seat in range(len(places)):
                points[fixture.entrants[seat]] += points_of(places, seat)
        return points

    def _lead(self) -> int:
        """Return by how many points the first is ahead of the second."""
        points = self.points()
        first, second, *_ = sorted((points[number] for number in self.seeds), reverse=True)
        return first - second

    def _needed(self) -> int:
        """Return how many further matches are certain to matter."""
        size, lead = len(self.seeds), self._lead()
        rest = max(0, self._length - len(self.fixtures))
        if lead > 2 * (size - 1) * rest or self._staying() < 2:
            return 0
        if rest:
            return (2 * rest - lead) // 4 + 1 if size == 2 else rest
        return size if len(self.fixtures) < self._length + FURTHER_BLOCKS * size else 0

    def _staying(self) -> int:
        return sum(not self._left(number) for number in self.seeds)

    def _left(self, number: EntrantNumber) -> bool:
        """Return True if an entrant left before the series began.

        One that leaves later forfeits its matches.
        """
        return not self._contest.entrants[number].plays_in(self.round)


STILL_IN = "still in"
"""The note of an entrant that is not out."""
Slot = EntrantNumber | None
"""None: nobody, so the other one of the pair has a bye."""


class Exit(Struct, frozen=True):
    """Where an entrant is out, or has won."""

    stage: float
    """More is better; entrants of one stage share their place."""
    note: str


class BracketPlace(Struct, frozen=True):
    """Where a meeting is in a drawing of the bracket."""

    side: Literal["winners", "losers", "final"]
    """A knockout has only a winners' side."""
    slot: int
    """From the top of its round, from 0; slots without a meeting are byes."""
    slots: int


class BracketBye(Struct, frozen=True):
    """An entrant that goes on without a meeting."""

    entrant: EntrantNumber
    round: int
    place: BracketPlace


Pairs = Sequence[tuple[Slot, Slot]]


class Bracket:
    """An elimination in pairs, from its first round to the final.

    The players are given by seed, highest first.
    """

    def __init__(
        self, contest: ContestFormat, players: Sequence[EntrantNumber], first_round: int = 1
    ) -> None:
        self.exits: dict[EntrantNumber, Exit] = {}
        self.places: dict[str, BracketPlace] = {}
        """By the keys of the meetings, such as `3.2`."""
        self.byes: list[BracketBye] = []
        self.winners: dict[str, EntrantNumber] = {}
        """Of the meetings that are decided."""
        self.contest, self.players, self.round = contest, players, first_round

    def followed(self) -> "Bracket":
        """Follow the results as far as they go."""
        with suppress(CannotContinue):
            for round_ in self.rounds():
                if self.contest.is_open(round_):
                    self._note_decided()
                    break
        return self

    def _note_decided(self) -> None:
        """Note the winners and losers of the decided meetings of the round that is open."""
        for one in self.series:
            if one.decided:
                winner, *_, loser = one.ranking()
                self.winners[one.key] = winner
                if note := self.exit_note(one):
                    self.leave(loser, note, one)

    def exit_note(self, one: Series) -> str:
        """The note of the loser of a meeting, or nothing if the loser may go on."""
        return f"lost {self._stage}"

    def rounds(self) -> Iterator[Round]:
        """Yield the rounds. `exits` holds the entrants that are out."""
        slots = bracket_slots(self.players)
        while len(slots) > 1:
            self._stage = stage_name(len(slots))
            pairs = list(zip(slots[::2], slots[1::2], strict=True))
            yield from self.played(self.full("winners", pairs), self.resting())
            winners: dict[EntrantNumber, EntrantNumber] = {}
            for one in self.series:
                winner, loser = one.ranking()
                winners[winner] = winners[loser] = winner
                self.leave(loser, self.exit_note(one), one)
                final = one
            slots = [winners.get(one, one) if one is not None else None for one, _ in pairs]
        assert slots[0] is not None
        self.win(slots[0], final)

    def played(
        self, groups: Sequence[Sequence[EntrantNumber]], byes: Sequence[EntrantNumber] = ()
    ) -> Iterator[Round]:
        """Yield the round of these meetings until all are decided. `self.series` holds them."""
        self.series = [Series(self, meeting, group) for meeting, group in enumerate(groups, 1)]
        while sum(one.prolong() for one in self.series):
            yield Round(
                self.round,
                [fixture for one in self.series for fixture in one.fixtures],
                tuple(byes),
            )
        self.winners |= {one.key: one.ranking()[0] for one in self.series}
        self.round += 1

    def full(
        self, side: Literal["winners", "losers"], pairs: Pairs, meetings: int = 0
    ) -> list[list[EntrantNumber]]:
        """Return the pairs without byes, and note the places of both.

        The round has that many meetings before them.
        """
        found: list[list[EntrantNumber]] = []
        for slot, pair in enumerate(pairs):
            present = [one for one in pair if one is not None]
            place = BracketPlace(side, slot, len(pairs))
            if len(present) == 2:
                found.append(self.by_seed(*present))
                self.places[f"{self.round}.{meetings + len(found)}"] = place
            elif present:
                self.byes.append(BracketBye(present[0], self.round, place))
        return found

    def resting(self) -> list[EntrantNumber]:
        """Return the entrants that have a bye in this round."""
        return [bye.entrant for bye in self.byes if bye.round == self.round]

    def leave(self, entrant: EntrantNumber, note: str, one: Series) -> None:
        """Note where an entrant went out, and whether the seeding decided."""
        level = ", level: the higher seed advanced" if one.by_seed else ""
        self.exits[entrant] = Exit(one.round + 1, note + level)

    def win(self, entrant: EntrantNumber, one: Series) -> None:
        self.round += 1
        level = " as the higher seed: it was level" if one.by_seed else ""
        self.exits[entrant] = Exit(self.round, f"won the final{level}")

    def by_seed(self, *pair: EntrantNumber) -> list[EntrantNumber]:
        return sorted(pair, key=self.players.index)


def bracket_slots(players: Sequence[EntrantNumber]) -> list[Slot]:
    """Return the players in the order of the bracket: the two highest seeds meet only in the final,
    and the highest have byes.
    """
    order = [0]
    while len(order) < len(players):
        size = 2 * len(order)
        order = [place for seed in order for place in (seed, size - 1 - seed)]
    return [players[seed] if seed < len(players) else None for seed in order]


def stage_name(slots: int) -> str:
    return {2: "the final", 4: "in the semi-finals", 8: "in the quarter-finals"}.get(
        slots, f"in the round of {slots}"
    )


class Heats(Bracket):
    """All tables are full.

    Winners and entrants with a bye go on; the best of the others fill up the last table.
    """

    def rounds(self) -> Iterator[Round]:
        size, alive = self.contest.document.seats, list(self.players)
        byes = Counter[EntrantNumber]()
        while True:
            alive = self._present(alive)
            resting = sorted(alive, key=byes.__getitem__)[: len(alive) % size]
            byes.update(resting)
            yield from self.played(
                snake([number for number in alive if number not in resting], len(alive) // size),
                resting,
            )
            if len(alive) == size:
                break
            alive = self._survivors(alive, resting)
        (final,) = self.series
        winner, *others = final.ranking()
        for place, number in enumerate(others, 2):
            self.exits[number] = Exit(
                self.round - place / (size + 1), f"place {place} in the final"
            )
        self.win(winner, final)

    def exit_note(self, one: Series) -> str:
        """Nothing: the best losers of a round may fill up the next one."""
        return ""

    def _present(self, alive: Sequence[EntrantNumber]) -> list[EntrantNumber]:
        """Return those that still play.

        If they are too few for a table, the last ones that went out return.
        """
        size = self.contest.document.seats
        playing = set(players_of(self.contest.entrants, self.round))
        for number in set(alive) - playing:
            self.exits[number] = Exit(self.round, "left")
        out = sorted(
            (n for n in self.players if n in self.exits and n in playing),
            key=lambda n: -self.exits[n].stage,
        )
        present = {number for number in alive if number in playing}
        present.update(out[: max(0, size - len(present))])
        if len(present) < size:
            raise CannotContinue(
                f"{counted(len(present))} cannot fill a table of {size}; {size} are needed"
            )
        for number in present & self.exits.keys():
            del self.exits[number]
        return [number for number in self.players if number in present]

    def _survivors(
        self, alive: Sequence[EntrantNumber], resting: Sequence[EntrantNumber]
    ) -> list[EntrantNumber]:
        points = Counter[EntrantNumber]()
        for one in self.series:
            points.update(one.points())
        through = {*resting, *(one.ranking()[0] for one in self.series)}
        losers = sorted(
            (number for number in alive if number not in through),
            key=lambda number: -points[number],
        )
        through.update(losers[: max(0, self.contest.document.seats - len(through))])
        for one in self.series:
            for number in one.seeds:
                if number not in through:
                    self.leave(number, f"lost a heat of round {self.round - 1}", one)
        return [number for number in alive if number in through]


def snake(players: Sequence[EntrantNumber], groups: int) -> list[list[EntrantNumber]]:
    """Deal players to groups of about equal strength: 1 to n, then n to 1, and so on."""
    dealt: list[list[EntrantNumber]] = [[] for _ in range(groups)]
    for place, number in enumerate(players):
        row, column = divmod(place, groups)
        dealt[groups - 1 - column if row % 2 else column].append(number)
    return dealt


class Knockout(ContestFormat):
    """A seeded bracket; the highest seeds have byes. At larger tables it is played in heats."""

    late = "never"

    def expected(self, entrants: int) -> int:
        seats, best_of = self.document.seats, self.document.best_of
        meetings = max(0, entrants - 1) if seats == 2 else entrants // (seats - 1)
        return meetings * ((3 * best_of + 3) // 4 if best_of else self.document.games_per_meeting)

    def bracket(self) -> Bracket:
        kind = Bracket if self.document.seats == 2 else Heats
        return kind(self, players_of(self.entrants, 1))

    def rounds(self) -> Iterator[Round]:
        self.checked(players_of(self.entrants, 1))
        yield from self.bracket().rounds()

    def ranked(self, rounds: Sequence[Round]) -> list[StandingsLine]:
        return ranked_by_exit(self, rounds, self.followed().exits)

    def followed(self) -> Bracket:
        """Return the bracket after all results."""
        bracket = self.bracket()
        return bracket if self.refusal(len(bracket.players)) else bracket.followed()


def ranked_by_exit(
    contest: ContestFormat, rounds: Sequence[Round], exits: dict[EntrantNumber, Exit]
) -> list[StandingsLine]:
    """Return the standings: entrants that are still in share the first place, those that left in
    one stage share theirs.
    """
    scores = contest.scores(rounds)
    still = Exit(float("inf"), STILL_IN)
    order = sorted(range(len(contest.entrants)), key=lambda number: -exits.get(number, still).stage)
    lines: list[StandingsLine] = []
    for index, number in enumerate(order):
        own = exits.get(number, still)
        level = lines and exits.get(order[index - 1], still).stage == own.stage
        lines.append(scores.line(number, lines[-1].place if level else index + 1, note=own.note))
    return lines


class DoubleElimination(Knockout):
    """A winners' and a losers' bracket that share their rounds, and a final that is played again if
    the unbeaten one loses.
    """

    def refusal(self, entrants: int) -> str:
        seats = self.document.seats
        if seats > 2:
            return (
                f"double elimination is played in pairs, not at tables of {seats}; "
                "use knockout, swiss or groups"
            )
        return super().refusal(entrants)

    def expected(self, entrants: int) -> int:
        return 2 * super().expected(entrants)

    def bracket(self) -> Bracket:
        return DoubleBracket(self, players_of(self.entrants, 1))


class DoubleBracket(Bracket):
    """Round r plays round r of the winners' bracket and round r - 1 of the losers' bracket."""

    def rounds(self) -> Iterator[Round]:
        winners, losers = bracket_slots(self.players), list[Slot]()
        dropped: list[
            list[Slot]
        ] = []  # losers of the winners' bracket by round, before they enter the other one
        while len(winners) > 1 or len(losers) > 1 or dropped:
            upper = _adjacent(winners) if len(winners) > 1 else []
            level = dropped and len(dropped[0]) == len(losers)
            lower = (
                list(zip(losers, reversed(dropped.pop(0)), strict=True))
                if level
                else _adjacent(losers)
            )
            yield from self._both(upper, lower)
            for pair in lower:
                self._out(self._loser(pair))
            losers = [self._winner(pair) for pair in lower]
            if upper:
                winners = [self._winner(pair) for pair in upper]
                dropped.append([self._loser(pair) for pair in upper])
            losers = losers or dropped.pop(0)
        yield from self._final(winners[0], losers[0])

    def _both(self, upper: Pairs, lower: Pairs) -> Iterator[Round]:
        full = self.full("winners", upper)
        full += self.full("losers", lower, len(full))
        yield from self.played(full, self.resting())
        self._won = {frozenset(one.seeds): one.ranking() for one in self.series}
        self._met = {number: one for one in self.series for number in one.seeds}

    def exit_note(self, one: Series) -> str:
        lower = self.places[one.key].side == "losers"
        return f"lost its second meeting in round {one.round}" if lower else ""

    def _winner(self, pair: tuple[Slot, Slot]) -> Slot:
        one, two = pair
        if one is None or two is None:
            return two if one is None else one
        return self._won[frozenset((one, two))][0]

    def _loser(self, pair: tuple[Slot, Slot]) -> Slot:
        one, two = pair
        return None if one is None or two is None else self._won[frozenset((one, two))][1]

    def _out(self, loser: Slot) -> None:
        if loser is not None:
            one = self._met[loser]
            self.leave(loser, self.exit_note(one), one)

    def _final(self, unbeaten: Slot, challenger: Slot) -> Iterator[Round]:
        assert unbeaten is not None and challenger is not None
        seeds: list[EntrantNumber] = [unbeaten, challenger]
        self.places[f"{self.round}.1"] = BracketPlace("final", 0, 1)
        yield from self.played([seeds])
        if self.series[0].ranking()[0] == challenger:
            self.places[f"{self.round}.1"] = BracketPlace("final", 0, 1)
            yield from self.played([self.by_seed(*seeds)])
        winner, loser = self.series[0].ranking()
        self.leave(loser, "lost the final", self.series[0])
        self.win(winner, self.series[0])


def _adjacent(slots: list[Slot]) -> list[tuple[Slot, Slot]]:
    return list(zip(slots[::2], slots[1::2], strict=True))


# Groups, then knockout: round robins in groups, whose best play a knockout.


class Groups(ContestFormat):
    """Round 1 is the group stage; the knockout follows. Groups are about equally strong by seed."""

    late = "never"

    def refusal(self, entrants: int) -> str:
        groups, advance, seats = self.count(entrants), self.document.advance, self.document.seats
        least = max(seats, advance)
        if advance * groups < seats:
            return (
                f"{advance} from each of {groups} groups cannot fill a table of {seats}; let more "
                "advance"
            )
        if entrants < groups * least:
            return (
                f"{counted(entrants)} cannot fill {groups} groups of at least {least}; "
                f"{groups * least} are needed"
            )
        return ""

    def expected(self, entrants: int) -> int:
        if self.refusal(entrants):
            return 0
        document, groups = self.document, self.count(entrants)
        stage = groups * comb(entrants // groups, document.seats) * document.games_per_meeting
        knockout = Knockout(document, self.entrants, self.results)
        return stage + knockout.expected(groups * document.advance)

    def count(self, entrants: int) -> int:
        """Return the number of groups: by default as many as leave twice a table's players in
        each.
        """
        return self.document.groups or max(2, entrants // (2 * self.document.seats))

    def groups(self) -> list[list[EntrantNumber]]:
        """Return the members of each group."""
        players = players_of(self.entrants, 1)
        return snake(players, self.count(len(players)))

    def rounds(self) -> Iterator[Round]:
        self.checked(players_of(self.entrants, 1))
        yield self._stage()
        yield from self._bracket(self.tables()).rounds()

    def ranked(self, rounds: Sequence[Round]) -> list[StandingsLine]:
        tables = self.tables()
        if not tables:
            return super().ranked(rounds)
        bracket = self._followed(tables)
        exits, advance = (bracket.exits, self.document.advance) if bracket else ({}, 0)
        for number, table in enumerate(tables, 1):
            for place, line in enumerate(table[advance:], advance + 1):
                exits[line.entrant] = Exit(-place, f"place {place} in group {number}")
        return ranked_by_exit(self, rounds, exits)

    def followed(self) -> Bracket | None:
        """Return the knockout after all results; None: the group stage is not over."""
        return self._followed(self.tables())

    def _followed(self, tables: Sequence[Sequence[StandingsLine]]) -> Bracket | None:
        over = tables and not self.is_open(self._stage())
        return self._bracket(tables).followed() if over else None

    def _meetings(self, group: Sequence[EntrantNumber]) -> list[tuple[EntrantNumber, ...]]:
        """Return the seats of the first matches of all meetings in a group."""
        return [seated(self.document, one) for one in all_groups(group, self.document.seats)]

    def _stage(self) -> Round:
        meetings, turns = list[tuple[EntrantNumber, ...]](), list[int]()
        for group in self.groups():
            own = self._meetings(group)
            meetings += own
            turns += turns_of(own, group)
        return Round(1, MeetingFixtures(self.planner, 1, meetings, turns=turns))

    def tables(self) -> list[list[StandingsLine]]:
        """Return the standings of each group; none if the groups cannot be filled.

        Each is ranked by itself, since tie-breaks compare entrants that have met.
        """
        first, tables = 1, list[list[StandingsLine]]()
        if self.refusal(len(players_of(self.entrants, 1))):
            return tables
        for group in self.groups():
            fixtures = MeetingFixtures(self.planner, 1, self._meetings(group), first)
            tables.append(self.ranked_by_score(sorted(group), [Round(1, fixtures)]))
            first += fixtures.meetings
        return tables

    def _bracket(self, tables: Sequence[Sequence[StandingsLine]]) -> Bracket:
        """Return the knockout: the winners of groups are seeded highest, and nobody meets its own
        group at first if possible.
        """
        seeds = [table[rank].entrant for rank in range(self.document.advance) for table in tables]
        if self.document.seats > 2:
            return Heats(self, seeds, first_round=2)
        group_of = {line.entrant: index for index, table in enumerate(tables) for line in table}
        return Bracket(self, parted(seeds, group_of), first_round=2)


def parted(
    seeds: Sequence[EntrantNumber], group_of: Mapping[EntrantNumber, int]
) -> list[EntrantNumber]:
    """Swap lower seeds with their neighbours, so that entrants of one group do not meet in the
    first round.
    """
    order, size = list(seeds), len(bracket_slots(seeds))

    def clashes(*places: int) -> int:
        rivals = ((place, size - 1 - place) for place in places)
        return sum(
            other < len(order) and group_of[order[place]] == group_of[order[other]]
            for place, other in rivals
        )

    for place in reversed(range(1, len(order))):
        before = clashes(place - 1, place)
        order[place - 1], order[place] = order[place], order[place - 1]
        if clashes(place - 1, place) >= before:
            order[place - 1], order[place] = order[place], order[place - 1]
    return order
