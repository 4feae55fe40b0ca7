"""Elimination: brackets in which the loser of a meeting is out, at once or after a second loss."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import (
    CannotContinue,
    ContestFormat,
    Entrant,
    EntrantNumber,
    Fixture,
    MeetingPlanner,
    Results,
    Round,
    Standing,
    counted,
    is_open,
    players_of,
    points_of,
    scores_of,
)

FURTHER_BLOCKS = 2
"""How often a level series is prolonged by one match per seating.

After that the higher seed advances.
"""


class Series:
    """A meeting of a knockout. The entrants are given by seed, highest first."""

    def __init__(
        self,
        planner: MeetingPlanner,
        document: ContestDocument,
        place: tuple[int, int],
        seeds: Sequence[EntrantNumber],
    ) -> None:
        self.seeds = tuple(seeds)
        self.fixtures: list[Fixture] = []
        self._planner, self._length = planner, document.best_of or document.games_per_meeting
        self._round, self._meeting = place

    def prolong(self, entrants: Sequence[Entrant], results: Results) -> bool:
        """Add the matches that are certain to matter. Return False if the series is decided."""
        count = self._needed(entrants, results)
        first = len(self.fixtures) + 1
        games = range(first, first + count)
        if games:
            self.fixtures += self._planner.fixtures(self._round, self._meeting, self.seeds, games)
        return bool(games)

    def ranking(self, entrants: Sequence[Entrant], results: Results) -> list[EntrantNumber]:
        """Return the entrants, best first.

        Entrants that left before come last; level ones are ordered by seed.
        """
        points = self.points(results)
        return sorted(
            self.seeds, key=lambda number: (self._left(entrants[number]), -points[number])
        )

    def by_seed(self, entrants: Sequence[Entrant], results: Results) -> bool:
        """Return True if only the seeding decided."""
        return not self._lead(results) and self._staying(entrants) != 1

    def points(self, results: Results) -> Counter[EntrantNumber]:
        points: Counter[EntrantNumber] = Counter()
        for fixture in self.fixtures:
            result = results.get(fixture.key)
            for seat in range(len(result.places) if result else 0):
                points[fixture.entrants[seat]] += points_of(result.places, seat) if result else 0
        return points

    def _lead(self, results: Results) -> int:
        """Return by how many points the first is ahead of the second."""
        points = self.points(results)
        first, second, *_ = sorted((points[number] for number in self.seeds), reverse=True)
        return first - second

    @property
    def _rest(self) -> int:
        return max(0, self._length - len(self.fixtures))

    def _decided(self, results: Results) -> bool:
        """Return True if the remaining matches cannot change the winner."""
        return self._lead(results) > 2 * (len(self.seeds) - 1) * self._rest

    def _needed(self, entrants: Sequence[Entrant], results: Results) -> int:
        size = len(self.seeds)
        if self._decided(results) or self._staying(entrants) < 2:
            return 0
        if self._rest:
            return (2 * self._rest - self._lead(results)) // 4 + 1 if size == 2 else self._rest
        return size if len(self.fixtures) < self._length + FURTHER_BLOCKS * size else 0

    def _staying(self, entrants: Sequence[Entrant]) -> int:
        return sum(not self._left(entrants[number]) for number in self.seeds)

    def _left(self, entrant: Entrant) -> bool:
        """Return True if an entrant left before the series began.

        One that leaves later forfeits its matches.
        """
        return not entrant.plays_in(self._round)


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


Pairs = Sequence[tuple[Slot, Slot]]


class Bracket:
    """An elimination in pairs, from its first round to the final.

    The players are given by seed, highest first.
    """

    def __init__(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        results: Results,
        players: Sequence[EntrantNumber],
        first_round: int = 1,
    ) -> None:
        self.exits: dict[EntrantNumber, Exit] = {}
        self.places: dict[str, BracketPlace] = {}
        """By the keys of the meetings, such as `3.2`."""
        self.winners: dict[str, EntrantNumber] = {}
        """Of the meetings in rounds that are over."""
        self.players, self.round = players, first_round
        self.document, self.entrants, self.results = document, entrants, results
        self.planner = MeetingPlanner(document)

    def rounds(self) -> Iterator[Round]:
        """Yield the rounds. `exits` holds the entrants that are out."""
        slots = bracket_slots(self.players)
        while len(slots) > 1:
            name = stage_name(len(slots))
            pairs = list(zip(slots[::2], slots[1::2], strict=True))
            full = self.full("winners", pairs)
            yield from self.played(
                full, [one for one, two in pairs if one is not None and two is None]
            )
            winners: dict[EntrantNumber, EntrantNumber] = {}
            for one in self.series:
                winner, loser = self.ranking(one)
                winners[winner] = winners[loser] = winner
                self.leave(loser, f"lost {name}", one)
                final = one
            slots = [winners.get(one, one) if one is not None else None for one, _ in pairs]
        assert slots[0] is not None
        self.win(slots[0], final)

    def played(
        self, groups: Sequence[Sequence[EntrantNumber]], byes: Sequence[EntrantNumber] = ()
    ) -> Iterator[Round]:
        """Yield the round of these meetings until all are decided.

        `self.series` holds them afterwards.
        """
        series = [
            Series(self.planner, self.document, (self.round, meeting), group)
            for meeting, group in enumerate(groups, 1)
        ]
        while sum(one.prolong(self.entrants, self.results) for one in series):
            yield Round(
                self.round, [fixture for one in series for fixture in one.fixtures], tuple(byes)
            )
        self.series = series
        self.winners |= {
            f"{self.round}.{meeting}": self.ranking(one)[0] for meeting, one in enumerate(series, 1)
        }
        self.round += 1

    def full(
        self, side: Literal["winners", "losers"], pairs: Pairs, meetings: int = 0
    ) -> list[list[EntrantNumber]]:
        """Return the pairs without byes, and note their places.

        The round has that many meetings before them.
        """
        found = [
            (slot, self.by_seed(one, two))
            for slot, (one, two) in enumerate(pairs)
            if one is not None and two is not None
        ]
        for meeting, (slot, _) in enumerate(found, meetings + 1):
            self.places[f"{self.round}.{meeting}"] = BracketPlace(side, slot, len(pairs))
        return [pair for _, pair in found]

    def ranking(self, one: Series) -> list[EntrantNumber]:
        return one.ranking(self.entrants, self.results)

    def leave(self, entrant: EntrantNumber, note: str, one: Series) -> None:
        """Note where an entrant went out, and whether the seeding decided."""
        seeded = one.by_seed(self.entrants, self.results)
        self.exits[entrant] = Exit(
            self.round, f"{note}, level: the higher seed advanced" if seeded else note
        )

    def win(self, entrant: EntrantNumber, one: Series) -> None:
        self.round += 1
        seeded = one.by_seed(self.entrants, self.results)
        self.exits[entrant] = Exit(
            self.round,
            "won the final as the higher seed: it was level" if seeded else "won the final",
        )

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
        size, alive, byes = self.document.seats, list(self.players), Counter[EntrantNumber]()
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
        winner, *others = self.ranking(final)
        for place, number in enumerate(others, 2):
            self.exits[number] = Exit(
                self.round - place / (size + 1), f"place {place} in the final"
            )
        self.win(winner, final)

    def _present(self, alive: Sequence[EntrantNumber]) -> list[EntrantNumber]:
        """Return those that still play.

        If they are too few for a table, the last ones that went out return.
        """
        size, playing = self.document.seats, set(players_of(self.entrants, self.round))
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
            points.update(one.points(self.results))
        through = {*resting, *(self.ranking(one)[0] for one in self.series)}
        losers = sorted(
            (number for number in alive if number not in through),
            key=lambda number: -points[number],
        )
        through.update(losers[: max(0, self.document.seats - len(through))])
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

    def expected(self, document: ContestDocument, entrants: int) -> int:
        meetings = max(0, entrants - 1) if document.seats == 2 else entrants // (document.seats - 1)
        return meetings * (
            (3 * document.best_of + 3) // 4 if document.best_of else document.games_per_meeting
        )

    def bracket(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> Bracket:
        kind = Bracket if document.seats == 2 else Heats
        return kind(document, entrants, results, players_of(entrants, 1))

    def rounds(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> Iterator[Round]:
        bracket = self.bracket(document, entrants, results)
        self._check(document, len(bracket.players))
        yield from bracket.rounds()

    def ranked(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        rounds: Sequence[Round],
        results: Results,
    ) -> list[Standing]:
        return ranked_by_exit(
            document, entrants, rounds, results, self.followed(document, entrants, results).exits
        )

    def followed(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> Bracket:
        """Return the bracket after all results."""
        bracket = self.bracket(document, entrants, results)
        if not self.refusal(document, len(bracket.players)):
            play_to_open_round(bracket.rounds(), results)
        return bracket


def play_to_open_round(rounds: Iterator[Round], results: Results) -> None:
    """Let a bracket follow the results as far as they go."""
    with suppress(CannotContinue):
        for round_ in rounds:
            if is_open(round_, results):
                return


def ranked_by_exit(
    document: ContestDocument,
    entrants: Sequence[Entrant],
    rounds: Sequence[Round],
    results: Results,
    exits: dict[EntrantNumber, Exit],
) -> list[Standing]:
    """Return the standings: entrants that are still in share the first place, those that left in
    one stage share theirs.
    """
    scores = scores_of(document, rounds, results)
    still = Exit(float("inf"), "still in")
    order = sorted(range(len(entrants)), key=lambda number: -exits.get(number, still).stage)
    lines: list[Standing] = []
    for index, number in enumerate(order):
        own = exits.get(number, still)
        level = lines and exits.get(order[index - 1], still).stage == own.stage
        lines.append(
            scores.standing(number, lines[-1].place if level else index + 1, note=own.note)
        )
    return lines


class DoubleElimination(Knockout):
    """A winners' and a losers' bracket that share their rounds, and a final that is played again if
    the unbeaten one loses.
    """

    def refusal(self, document: ContestDocument, entrants: int) -> str:
        if document.seats > 2:
            return (
                f"double elimination is played in pairs, not at tables of {document.seats}; "
                "use "
                "knockout, swiss or groups"
            )
        return super().refusal(document, entrants)

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return 2 * super().expected(document, entrants)

    def bracket(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> Bracket:
        return DoubleBracket(document, entrants, results, players_of(entrants, 1))


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
        byes = [
            one if two is None else two
            for one, two in (*upper, *lower)
            if (one is None) != (two is None)
        ]
        yield from self.played(full, [number for number in byes if number is not None])
        self._won = {frozenset(one.seeds): self.ranking(one) for one in self.series}
        self._met = {number: one for one in self.series for number in one.seeds}

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
            self.leave(
                loser, f"lost its second meeting in round {self.round - 1}", self._met[loser]
            )

    def _final(self, unbeaten: Slot, challenger: Slot) -> Iterator[Round]:
        assert unbeaten is not None and challenger is not None
        seeds: list[EntrantNumber] = [unbeaten, challenger]
        self.places[f"{self.round}.1"] = BracketPlace("final", 0, 1)
        yield from self.played([seeds])
        if self.ranking(self.series[0])[0] == challenger:
            self.places[f"{self.round}.1"] = BracketPlace("final", 0, 1)
            yield from self.played([self.by_seed(*seeds)])
        winner, loser = self.ranking(self.series[0])
        self.leave(loser, "lost the final", self.series[0])
        self.win(winner, self.series[0])


def _adjacent(slots: list[Slot]) -> list[tuple[Slot, Slot]]:
    return list(zip(slots[::2], slots[1::2], strict=True))
