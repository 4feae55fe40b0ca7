"""Ladder: always open, and each result moves its players.

The games of pairs are those that say most about all strengths. At larger tables, or with very many
entrants, neighbours that have met least play each other.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import exp, sqrt

from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.formats.format import (
    ContestFormat,
    EntrantNumber,
    Fixture,
    Results,
    Round,
    StandingsLine,
    played_in,
    players_of,
)
from botdrome.contest.formats.pairs import SwissHistory
from botdrome.contest.formats.swiss import ladder_pairs, ladder_tables, seated_round
from botdrome.contest.matchmaking import MOST_KNOWN, Knowledge

# Live rating: a rating that each match updates at once, to order a ladder. It is no measurement:
# its deviation is no interval.
#
# The model is that of Weng and Lin (2011) on pairs of players, with the usual constants of
# openskill.

BETA = 25 / 6
"""The deviation of one performance."""
LEAST = 0.0001
"""The smallest factor by which one match narrows the variance."""


class LiveRating(Struct, frozen=True):
    """A mean, and a deviation that shrinks with each match."""

    mean: float = 25.0
    deviation: float = 25 / 3

    @property
    def ordinal(self) -> float:
        """The cautious estimate that orders a ladder. It starts at 0 and rises with results."""
        return self.mean - 3 * self.deviation


def updated(ratings: Sequence[LiveRating], places: Sequence[int]) -> list[LiveRating]:
    """Return the ratings of a table's players after a match, by seat."""
    return [_moved(seat, ratings, places) for seat in range(len(ratings))]


def _moved(seat: int, ratings: Sequence[LiveRating], places: Sequence[int]) -> LiveRating:
    own, variance = ratings[seat], ratings[seat].deviation ** 2
    gain = narrowing = 0.0
    for other, rating in enumerate(ratings):
        if other == seat:
            continue
        scale = sqrt(variance + rating.deviation**2 + 2 * BETA**2)
        p = 1 / (1 + exp((rating.mean - own.mean) / scale))
        points = (places[seat] < places[other]) + (places[seat] == places[other]) / 2
        gain += variance / scale * (points - p)
        narrowing += own.deviation / scale * variance / scale**2 * p * (1 - p)
    return LiveRating(own.mean + gain, own.deviation * sqrt(max(1 - narrowing, LEAST)))


Ratings = defaultdict[EntrantNumber, LiveRating]


class LadderFormat(ContestFormat):
    """Rounds without end: the organiser or the document's `end` closes the contest.

    An entrant without a table waits a round.
    """

    late = "next"

    def expected(self, entrants: int) -> int:
        return 0

    def rounds(self) -> Iterator[Round]:
        history, ratings, knowledge = SwissHistory(), Ratings(LiveRating), Knowledge()
        number = 0
        while True:
            number += 1
            players = self.checked(players_of(self.entrants, number))
            ranked = sorted(players, key=lambda player: (-ratings[player].mean, player))
            seats = self.document.seats
            seatings = (
                ladder_pairs(ranked, history, knowledge)
                if seats == 2 and len(players) <= MOST_KNOWN
                else ladder_tables(ranked, seats, history)
            )
            round_ = seated_round(self, number, seatings, history)
            yield round_
            rate([round_], self.results, ratings)
            _learn(round_.fixtures, self.results, knowledge)

    def ranked(self, rounds: Sequence[Round]) -> list[StandingsLine]:
        """Return the order by live rating. Byes bring no points."""
        ratings = rate(rounds, self.results, Ratings(LiveRating))
        scores = self.scores([replace(round_, byes=()) for round_ in rounds])
        values = [ratings[number].ordinal for number in range(len(self.entrants))]
        order, rising = sorted(range(len(values)), key=lambda one: -values[one]), sorted(values)
        places = [1 + len(rising) - bisect_right(rising, values[number]) for number in order]
        return [
            scores.line(number, place, note=f"rating {values[number]:.1f}")
            for number, place in zip(order, places, strict=True)
        ]


def rate(rounds: Sequence[Round], results: Results, ratings: Ratings) -> Ratings:
    """Update the ratings with the results of these rounds, in the order of the plan."""
    for fixture, result in played_in(rounds, results):
        if result.places:
            after = updated([ratings[number] for number in fixture.entrants], result.places)
            ratings.update(zip(fixture.entrants, after, strict=True))
    return ratings


def _learn(fixtures: Sequence[Fixture], results: Results, knowledge: Knowledge) -> None:
    for fixture in fixtures:
        places = results[fixture.key].places
        if len(places) == 2:
            one, two = fixture.entrants
            points = (1 + (places[0] < places[1]) - (places[0] > places[1])) / 2
            knowledge.learn(str(one), str(two), points)
