"""Swiss: in each round entrants with similar scores meet, and nobody is out."""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import (
    ContestFormat,
    Entrant,
    EntrantNumber,
    MeetingFixtures,
    MeetingPlanner,
    Results,
    Round,
    Scores,
    players_of,
)
from botdrome.contest.formats.pairs import SwissHistory, swiss_pairs, swiss_pairs_1
from botdrome.contest.matchmaking import Knowledge, WaitingPlayer, pairs_now

# Swiss tables of more than two: filled from the top, with as few rematches as possible.

Table = list[EntrantNumber]
STEPS, REST, NEAR = 100, 5, 20
"""The largest number of swaps, the steps for which a swapped player stays, and how many tables away
a partner may sit.
"""
Seatings = tuple[list[tuple[EntrantNumber, ...]], list[EntrantNumber]]


def swiss_tables(ranked: Sequence[EntrantNumber], size: int, history: SwissHistory) -> Seatings:
    """Return the tables by seat, and the entrants with a bye: the lowest of those with
    the fewest.
    """
    tables, byes = _split(ranked, size, history)
    _part_rematches(tables, history)
    return [_seated(table, history) for table in tables], byes


def ladder_tables(ranked: Sequence[EntrantNumber], size: int, history: SwissHistory) -> Seatings:
    """Return the tables by seat, and the entrants that wait.

    Entrants meet again and again, their neighbours most often.
    """
    tables, waiting = _split(ranked, size, history)
    return [_seated(table, history) for table in tables], waiting


def ladder_pairs(
    ranked: Sequence[EntrantNumber], history: SwissHistory, knowledge: Knowledge
) -> Seatings:
    """Return the pairs whose games say most about all strengths, by seat, and the entrant that
    waits, if there is one.

    An entrant that has waited more often chooses first, and nobody waits twice before all others
    have waited once.
    """
    waiting = _byes(ranked, 2, history)
    players = [
        WaitingPlayer(str(number), -history.byes.get(number, 0))
        for number in ranked
        if number not in waiting
    ]
    pairs = pairs_now(players, knowledge, lambda *_: True, now=0, bound=0)
    return [_seated([int(one), int(two)], history) for one, two in pairs], waiting


def _split(
    ranked: Sequence[EntrantNumber], size: int, history: SwissHistory
) -> tuple[list[Table], list[EntrantNumber]]:
    byes = _byes(ranked, size, history)
    return _filled([number for number in ranked if number not in byes], size, history), byes


def _byes(ranked: Sequence[EntrantNumber], size: int, history: SwissHistory) -> list[EntrantNumber]:
    """Return the lowest of those with the best claim."""
    lowest_first = list(reversed(ranked))
    lowest_first.sort(key=history.bye_rank)
    return lowest_first[: len(ranked) % size]


def _filled(players: list[EntrantNumber], size: int, history: SwissHistory) -> list[Table]:
    """Fill tables from the top.

    A seat goes to the one of the next 3 tables' players that has met the table least.
    """
    rest, tables = list(players), list[Table]()
    while rest:
        table = [rest.pop(0)]
        while len(table) < size:
            chosen = min(
                rest[: 3 * size],
                key=lambda number: sum(history.times_met(number, other) for other in table),
            )
            rest.remove(chosen)
            table.append(chosen)
        tables.append(table)
    return tables


def _rematches(table: Sequence[EntrantNumber], history: SwissHistory) -> int:
    return sum(history.times_met(*pair) for pair in combinations(table, 2))


def _part_rematches(tables: list[Table], history: SwissHistory) -> None:
    """Swap players of near tables until nobody meets again, or for a while; keep the best tables
    found.

    Each step makes the best swap for the lowest table with a rematch, even if it saves none;
    swapped players then stay a while.
    """
    counts = [_rematches(table, history) for table in tables]
    fewest, best, moved = (
        sum(counts),
        [table.copy() for table in tables],
        dict[EntrantNumber, int](),
    )
    for step in range(STEPS):
        here = next((index for index in reversed(range(len(tables))) if counts[index]), None)
        settled = {number for number, when in moved.items() if step - when < REST}
        swap = None if here is None else min(_swaps(tables, here, history, settled), default=None)
        if here is None or swap is None:
            break
        _, _, there, one, two = swap
        tables[here][one], tables[there][two] = tables[there][two], tables[here][one]
        moved[tables[here][one]] = moved[tables[there][two]] = step
        counts[here], counts[there] = (
            _rematches(tables[here], history),
            _rematches(tables[there], history),
        )
        if sum(counts) < fewest:
            fewest, best = sum(counts), [table.copy() for table in tables]
    tables[:] = best


def _swaps(
    tables: list[Table], here: int, history: SwissHistory, settled: Collection[EntrantNumber]
) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield what each swap costs, how far it goes, the other table and both places."""

    def cost(number: EntrantNumber, table: Table, without: int) -> int:
        return sum(
            history.times_met(number, other)
            for place, other in enumerate(table)
            if place != without
        )

    for there in range(max(0, here - NEAR), min(len(tables), here + NEAR + 1)):
        if there == here:
            continue
        for one, mine in enumerate(tables[here]):
            for two, theirs in enumerate(tables[there]):
                if mine not in settled and theirs not in settled and cost(mine, tables[here], one):
                    before = cost(mine, tables[here], one) + cost(theirs, tables[there], two)
                    after = cost(theirs, tables[here], one) + cost(mine, tables[there], two)
                    yield after - before, abs(there - here), there, one, two


def _seated(table: Sequence[EntrantNumber], history: SwissHistory) -> tuple[EntrantNumber, ...]:
    """Give each seat to the player that has had it least often."""
    rest, seats = list(table), list[EntrantNumber]()
    for seat in range(len(table)):
        seats.append(min(rest, key=lambda number: history.seat_count(number, seat)))
        rest.remove(seats[-1])
    return tuple(seats)


class Swiss(ContestFormat):
    """Rounds of pairs, or of tables filled from the top."""

    late = "next"

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return (
            self.rounds_of(document, entrants)
            * (entrants // document.seats)
            * document.games_per_meeting
        )

    def rounds_of(self, document: ContestDocument, entrants: int) -> int:
        """Return the number of rounds: by default the logarithm of the entrants, twice that at
        larger tables.
        """
        if document.rounds:
            return document.rounds
        fields = next(power for power in range(64) if document.seats**power >= entrants)
        return max(1, fields if document.seats == 2 else 2 * fields)

    def rounds(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> Iterator[Round]:
        swiss = SwissRounds(document, entrants, results)
        for number in range(1, self.rounds_of(document, len(players_of(entrants, 1))) + 1):
            players = players_of(entrants, number)
            self._check(document, len(players))
            yield swiss.paired(number, players)
            swiss.add_results()


class SwissRounds:
    """Pair round after round, and remember what was played."""

    def __init__(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> None:
        self.scores, self.history = Scores(document), SwissHistory()
        self.round = Round(0, ())
        self._document, self._results, self._planner = document, results, MeetingPlanner(document)
        self._level = document.rotate and document.games_per_meeting % document.seats == 0
        """True if each meeting has everyone on each seat equally often."""

    def paired(self, number: int, players: Sequence[EntrantNumber]) -> Round:
        self.history.points = points = {player: self.scores.points(player) for player in players}
        self.history.missing = {player for player in players if self.scores.missing(player)}
        ranked = sorted(players, key=lambda player: (-points[player], player))
        tables, byes = self._seatings(ranked)
        for seats in tables:
            self.history.add(seats, level=self._level)
        self.history.add_byes(byes)
        self.round = Round(number, MeetingFixtures(self._planner, number, tables), tuple(byes))
        return self.round

    def _seatings(
        self, ranked: Sequence[EntrantNumber]
    ) -> tuple[Sequence[tuple[EntrantNumber, ...]], list[EntrantNumber]]:
        if self._document.seats > 2:
            return swiss_tables(ranked, self._document.seats, self.history)
        paired = swiss_pairs_1 if self._document.pairing == 1 else swiss_pairs
        pairs, bye = paired(ranked, self.history)
        return pairs, [] if bye is None else [bye]

    def add_results(self) -> None:
        """Count the results of the last round."""
        for fixture in self.round.fixtures:
            self.scores.add(fixture, self._results[fixture.key])
        for entrant in self.round.byes:
            self.scores.add_bye(entrant)
