"""Round robin: every group of the table's size meets once."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb
from typing import Literal

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import (
    CannotContinue,
    ContestFormat,
    EntrantNumber,
    Fixture,
    MeetingFixtures,
    PlannedFixtures,
    Round,
    Scores,
    StandingsLine,
    moved_on,
)

LARGEST_ROUND = 20_000
"""The largest number of meetings in a round.

Most contests have one round, so that no match waits for another.
"""


class RoundRobin(ContestFormat):
    """All meetings, numbered in the order of their latest entrant: a late entrant appends meetings
    and changes none.

    They are played in turns, so that everyone has played about equally often at any time.

    An entrant that has left forfeits its remaining matches.
    """

    late: Literal["now", "never"] = "now"

    def expected(self, entrants: int) -> int:
        return comb(entrants, self.document.seats) * self.document.games_per_meeting

    def rounds(self) -> Iterator[Round]:
        players = self.checked(
            [
                number
                for number, entrant in enumerate(self.entrants)
                if entrant.left is None or entrant.left > 1
            ]
        )
        groups, number = self.groups(players), 1
        while part := list(islice(groups, LARGEST_ROUND)):
            seats = (seated(self.document, group) for group in part)
            turns = turns_of(part, players)
            yield Round(number, MeetingFixtures(self.planner, number, seats, turns=turns))
            number += 1

    def groups(self, players: Sequence[EntrantNumber]) -> Iterator[tuple[EntrantNumber, ...]]:
        """Yield the groups that meet."""
        return all_groups(players, self.document.seats)


def all_groups(players: Sequence[EntrantNumber], size: int) -> Iterator[tuple[EntrantNumber, ...]]:
    """Yield every group of that size, ordered by its last member, so that more players append
    groups.
    """
    for last in range(size - 1, len(players)):
        for others in combinations(players[:last], size - 1):
            yield (*others, players[last])


def turns_of(
    groups: Sequence[Sequence[EntrantNumber]], players: Sequence[EntrantNumber]
) -> list[int]:
    """Return the turn of each group.

    In a turn all players play about equally often; pairs once, by the circle method.
    """
    places = {number: place for place, number in enumerate(players)}
    last = len(players) - 1
    if len(groups[0]) > 2 or last % 2 == 0:
        return [(sum(places[number] for number in group) - 1) % len(players) for group in groups]
    pairs = (
        (places[one], places[two]) for one, two in groups
    )  # the last player stands in the middle of the circle
    return [((2 * min(pair) if last in pair else sum(pair)) - 1) % last for pair in pairs]


def seated(
    document: ContestDocument, group: tuple[EntrantNumber, ...]
) -> tuple[EntrantNumber, ...]:
    """Return the seats of the first match.

    Over all groups everyone has each seat about equally often.
    """
    return moved_on(group, sum(group)) if document.rotate else group


# The matches of `botdrome play`: a round robin in turns, whose seeds rise from the first one.


class TurnFixtures(PlannedFixtures):
    """Each meeting once, then all of them again with rotated seats, and so on.

    Each meeting has seeds of its own, each played once per seating. A meeting on one seed is a
    block: its matches depend on each other, and matches of different blocks do not.
    """

    def __init__(self, entrants: int, seats: int, games: int, seed: int) -> None:
        self._groups, self._games = list(combinations(range(entrants), seats)), games
        self._seed = seed

    def __len__(self) -> int:
        return len(self._groups) * self._games

    def _at(self, place: int) -> Fixture:
        game, meeting = divmod(place, len(self._groups))
        group = self._groups[meeting]
        seed = self._seed + game // len(group) * len(self._groups) + meeting
        return Fixture(f"1.{meeting + 1}.{game + 1}", moved_on(group, game), seed)

    def _place(self, meeting: int, game: int) -> int:
        return (game - 1) * len(self._groups) + meeting - 1 if game > 0 < meeting else -1


class TurnsRoundRobin(RoundRobin):
    """All groups meet in each turn."""

    late = "never"

    def rounds(self) -> Iterator[Round]:
        players = self.checked([*range(len(self.entrants))])
        document = self.document
        games = document.games_per_meeting
        yield Round(1, TurnFixtures(len(players), document.seats, games, document.seed))

    def ranked(self, rounds: Sequence[Round]) -> list[StandingsLine]:
        return ranked_by_points(self.scores(rounds), len(self.entrants))


def ranked_by_points(scores: Scores, entrants: int) -> list[StandingsLine]:
    """Return the standings by points, wins and losses."""

    def value(number: EntrantNumber) -> tuple[int, int, int]:
        return -scores.points(number), -scores.of[number].wins, scores.of[number].losses

    order = sorted(range(entrants), key=value)
    return [scores.line(number, place) for place, number in enumerate(order, 1)]


# Gauntlet: one entrant, the champion, meets every group of the others.


class Gauntlet(RoundRobin):
    """The champion plays far more than the others, so the order is by the share of points."""

    def expected(self, entrants: int) -> int:
        seats, games = self.document.seats, self.document.games_per_meeting
        return comb(entrants - 1, seats - 1) * games if entrants else 0

    def groups(self, players: Sequence[EntrantNumber]) -> Iterator[tuple[EntrantNumber, ...]]:
        champion = self.champion(players)
        others = [number for number in players if number != champion]
        return ((champion, *group) for group in all_groups(others, self.document.seats - 1))

    def champion(self, players: Sequence[EntrantNumber]) -> EntrantNumber:
        """Return the champion: the player of that name, the bot that the document gives that name,
        or the house bot of that name; by default the first player.

        Raise CannotContinue if it does not play.
        """
        name = self.document.champion
        if not name:
            return players[0]
        by_name = {self.entrants[number].name: number for number in players}
        given = [one.bot for one in self.document.entrants if one.name == name]
        for one in (name, *given, f"house:{name}"):
            if one in by_name:
                return by_name[one]
        raise CannotContinue(
            f"champion: {name!r} has not entered; let it enter, or name one of the entrants"
        )

    def ranked(self, rounds: Sequence[Round]) -> list[StandingsLine]:
        return self.ranked_by_score(range(len(self.entrants)), rounds, by_share=True)
