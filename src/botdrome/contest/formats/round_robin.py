"""Round robin: every group of the table's size meets once."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb
from typing import Literal

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant, EntrantNumber, Results, Round
from botdrome.contest.formats.meeting import MeetingFixtures, MeetingPlanner
from botdrome.contest.formats.planned import PlannedFormat
from botdrome.contest.schedule import moved_on

LARGEST_ROUND = 20_000
"""The largest number of meetings in a round. Most contests have one round, so that no match waits for another."""


class RoundRobin(PlannedFormat):
    """All meetings in the order of their latest entrant: a late entrant appends meetings and changes none.

    An entrant that has left forfeits its remaining matches.
    """

    late: Literal["now"] = "now"

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return comb(entrants, document.seats) * document.games_per_meeting

    def rounds(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Iterator[Round]:
        players = [number for number, entrant in enumerate(entrants) if entrant.left is None or entrant.left > 1]
        self._check(document, len(players))
        groups, planner, number = self.groups(document, entrants, players), MeetingPlanner(document), 1
        while fixtures := MeetingFixtures(planner, number, (seated(document, group) for group in islice(groups, LARGEST_ROUND))):
            yield Round(number, fixtures)
            number += 1

    def groups(
        self, document: ContestDocument, entrants: Sequence[Entrant], players: Sequence[EntrantNumber]
    ) -> Iterator[tuple[EntrantNumber, ...]]:
        """Yield the groups that meet."""
        return all_groups(players, document.seats)


def all_groups(players: Sequence[EntrantNumber], size: int) -> Iterator[tuple[EntrantNumber, ...]]:
    """Yield every group of that size, ordered by its last member, so that more players append groups."""
    for last in range(size - 1, len(players)):
        for others in combinations(players[:last], size - 1):
            yield (*others, players[last])


def seated(document: ContestDocument, group: tuple[EntrantNumber, ...]) -> tuple[EntrantNumber, ...]:
    """Return the seats of the first match. Over all groups everyone has each seat about equally often."""
    return moved_on(group, sum(group)) if document.rotate else group
