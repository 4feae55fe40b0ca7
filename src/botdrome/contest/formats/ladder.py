"""Ladder: always open, and each result moves its players.

The games of pairs are those that say most about all strengths. At larger tables, or with very many entrants, neighbours that
have met least play each other.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import ContestFixture, Entrant, EntrantNumber, Results, Round, Standing
from botdrome.contest.formats.meeting import MeetingFixtures, MeetingPlanner
from botdrome.contest.formats.pairs import SwissHistory
from botdrome.contest.formats.planned import PlannedFormat, players_of
from botdrome.contest.formats.scores import played_in, scores_of
from botdrome.contest.formats.tables import ladder_pairs, ladder_tables
from botdrome.contest.live_rating import LiveRating, updated
from botdrome.contest.matchmaking import MOST_KNOWN, Knowledge

Ratings = defaultdict[EntrantNumber, LiveRating]


class Ladder(PlannedFormat):
    """Rounds without end: the organiser or the document's `end` closes the contest. An entrant without a table waits a round."""

    late: Literal["next"] = "next"

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return 0

    def rounds(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Iterator[Round]:
        planner, history, ratings, number = MeetingPlanner(document), SwissHistory(), Ratings(LiveRating), 0
        knowledge = Knowledge()
        level = document.rotate and document.games_per_meeting % document.seats == 0
        while True:
            number += 1
            players = players_of(entrants, number)
            self._check(document, len(players))
            ranked = sorted(players, key=lambda player: (-ratings[player].mean, player))
            small = document.seats == 2 and len(players) <= MOST_KNOWN
            tables, waiting = (
                ladder_pairs(ranked, history, knowledge) if small else ladder_tables(ranked, document.seats, history)
            )
            fixtures = MeetingFixtures(planner, number, tables)
            for seats in tables:
                history.add(seats, level=level)
            history.add_byes(waiting)
            yield Round(number, fixtures, tuple(waiting))
            rate([Round(number, fixtures)], results, ratings)
            _learn(fixtures, results, knowledge)

    def ranked(
        self, document: ContestDocument, entrants: Sequence[Entrant], rounds: Sequence[Round], results: Results
    ) -> list[Standing]:
        """Return the order by live rating. Byes bring no points."""
        ratings = rate(rounds, results, Ratings(LiveRating))
        scores = scores_of(document, [replace(round_, byes=()) for round_ in rounds], results)
        values = [ratings[number].ordinal for number in range(len(entrants))]
        order, rising = sorted(range(len(entrants)), key=lambda number: -values[number]), sorted(values)
        places = [1 + len(rising) - bisect_right(rising, values[number]) for number in order]
        return [
            scores.standing(number, place, note=f"rating {values[number]:.1f}")
            for number, place in zip(order, places, strict=True)
        ]


def rate(rounds: Sequence[Round], results: Results, ratings: Ratings) -> Ratings:
    """Update the ratings with the results of these rounds, in the order of the plan."""
    for fixture, result in played_in(rounds, results):
        if result.places:
            after = updated([ratings[number] for number in fixture.entrants], result.places)
            ratings.update(zip(fixture.entrants, after, strict=True))
    return ratings


def _learn(fixtures: Sequence[ContestFixture], results: Results, knowledge: Knowledge) -> None:
    for fixture in fixtures:
        places = results[fixture.key].places
        if len(places) == 2:
            one, two = fixture.entrants
            points = (1 + (places[0] < places[1]) - (places[0] > places[1])) / 2
            knowledge.learn(str(one), str(two), points)
