"""Swiss: in each round entrants with similar scores meet, and nobody is out."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from botdrome.contest.formats.format import (
    ContestFormat,
    EntrantNumber,
    MeetingFixtures,
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
Seatings = tuple[Sequence[tuple[EntrantNumber, ...]], list[EntrantNumber]]
"""The entrants of each table by seat, and those with a bye."""


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
        WaitingPlayer(str(number), -history.byes[number])
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
        seats.append(min(rest, key=lambda number: history.seats[number, seat]))
        rest.remove(seats[-1])
    return tuple(seats)


def seated_round(
    contest: ContestFormat, number: int, seatings: Seatings, history: SwissHistory
) -> Round:
    """Return a round with these seatings, and remember them."""
    tables, byes = seatings
    document = contest.document
    level = document.rotate and document.games_per_meeting % document.seats == 0
    for seats in tables:
        history.add(seats, level=level)
    history.byes.update(byes)
    return Round(number, MeetingFixtures(contest.planner, number, tables), tuple(byes))


class Swiss(ContestFormat):
    """Rounds of pairs, or of tables filled from the top."""

    late = "next"

    def expected(self, entrants: int) -> int:
        tables = entrants // self.document.seats
        return self._rounds(entrants) * tables * self.document.games_per_meeting

    def _rounds(self, entrants: int) -> int:
        """Return the number of rounds: by default the logarithm of the entrants, twice that at
        larger tables.
        """
        seats = self.document.seats
        if self.document.rounds:
            return self.document.rounds
        fields = next(power for power in range(64) if seats**power >= entrants)
        return max(1, fields if seats == 2 else 2 * fields)

    def rounds(self) -> Iterator[Round]:
        scores, history = Scores(self.document), SwissHistory()
        for number in range(1, self._rounds(len(players_of(self.entrants, 1))) + 1):
            players = self.checked(players_of(self.entrants, number))
            history.points = Counter({player: scores.points(player) for player in players})
            history.missing = {player for player in players if scores.missing(player)}
            ranked = sorted(players, key=lambda player: (-history.points[player], player))
            round_ = seated_round(self, number, self._seatings(ranked, history), history)
            yield round_
            for fixture in round_.fixtures:
                scores.add(fixture, self.results[fixture.key])
            scores.add_byes(round_.byes)

    def _seatings(self, ranked: Sequence[EntrantNumber], history: SwissHistory) -> Seatings:
        if self.document.seats > 2:
            return swiss_tables(ranked, self.document.seats, history)
        paired = swiss_pairs_1 if self.document.pairing == 1 else swiss_pairs
        pairs, bye = paired(ranked, history)
        return pairs, [] if bye is None else [bye]
