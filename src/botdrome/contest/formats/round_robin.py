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
    """All meetings, numbered in the order of their latest entrant: a late entrant appends meetings and changes none.

    They are played in turns, so that everyone has played about equally often at any time.

    An entrant that has left forfeits its remaining matches.
    """

    late: Literal["now"] = "now"

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return comb(entrants, document.seats) * document.games_per_meeting

    def rounds(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Iterator[Round]:
        players = [number for number, entrant in enumerate(entrants) if entrant.left is None or entrant.left > 1]
        self._check(document, len(players))
        groups, planner, number = self.groups(document, entrants, players), MeetingPlanner(document), 1
        while part := list(islice(groups, LARGEST_ROUND)):
            seats = (seated(document, group) for group in part)
            yield Round(number, MeetingFixtures(planner, number, seats, turns=turns_of(part, players)))
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


def turns_of(groups: Sequence[Sequence[EntrantNumber]], players: Sequence[EntrantNumber]) -> list[int]:
    """Return the turn of each group. In a turn all players play about equally often; pairs once, by the circle method."""
    places = {number: place for place, number in enumerate(players)}
    last = len(players) - 1
    if len(groups[0]) > 2 or last % 2 == 0:
        return [(sum(places[number] for number in group) - 1) % len(players) for group in groups]
    pairs = ((places[one], places[two]) for one, two in groups)  # the last player stands in the middle of the circle
    return [((2 * min(pair) if last in pair else sum(pair)) - 1) % last for pair in pairs]


def seated(document: ContestDocument, group: tuple[EntrantNumber, ...]) -> tuple[EntrantNumber, ...]:
    """Return the seats of the first match. Over all groups everyone has each seat about equally often."""
    return moved_on(group, sum(group)) if document.rotate else group
