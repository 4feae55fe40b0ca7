"""Round robin: every group of the table's size meets once."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb
from typing import Literal

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import (
    CannotContinue,
    ContestFormat,
    Entrant,
    EntrantNumber,
    Fixture,
    MeetingFixtures,
    MeetingPlanner,
    PlannedFixtures,
    Results,
    Round,
    Scores,
    Standing,
    moved_on,
    ranked_by_score,
    scores_of,
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

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return comb(entrants, document.seats) * document.games_per_meeting

    def rounds(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> Iterator[Round]:
        players = [
            number
            for number, entrant in enumerate(entrants)
            if entrant.left is None or entrant.left > 1
        ]
        self._check(document, len(players))
        groups, planner, number = (
            self.groups(document, entrants, players),
            MeetingPlanner(document),
            1,
        )
        while part := list(islice(groups, LARGEST_ROUND)):
            seats = (seated(document, group) for group in part)
            yield Round(
                number, MeetingFixtures(planner, number, seats, turns=turns_of(part, players))
            )
            number += 1

    def groups(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        players: Sequence[EntrantNumber],
    ) -> Iterator[tuple[EntrantNumber, ...]]:
        """Yield the groups that meet."""
        return all_groups(players, document.seats)


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

    def rounds(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> Iterator[Round]:
        self._check(document, len(entrants))
        games = document.games_per_meeting
        yield Round(1, TurnFixtures(len(entrants), document.seats, games, document.seed))

    def ranked(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        rounds: Sequence[Round],
        results: Results,
    ) -> list[Standing]:
        return ranked_by_points(scores_of(document, rounds, results), len(entrants))


def ranked_by_points(scores: Scores, entrants: int) -> list[Standing]:
    """Return the standings by points, wins and losses."""

    def value(number: EntrantNumber) -> tuple[int, int, int]:
        return -scores.points(number), -scores.of[number].wins, scores.of[number].losses

    order = sorted(range(entrants), key=value)
    return [scores.standing(number, place) for place, number in enumerate(order, 1)]


# Gauntlet: one entrant, the champion, meets every group of the others.


class Gauntlet(RoundRobin):
    """The champion plays far more than the others, so the order is by the share of points."""

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return (
            comb(entrants - 1, document.seats - 1) * document.games_per_meeting if entrants else 0
        )

    def groups(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        players: Sequence[EntrantNumber],
    ) -> Iterator[tuple[EntrantNumber, ...]]:
        champion = champion_of(document, entrants, players)
        others = [number for number in players if number != champion]
        return ((champion, *group) for group in all_groups(others, document.seats - 1))

    def ranked(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        rounds: Sequence[Round],
        results: Results,
    ) -> list[Standing]:
        return ranked_by_score(document, range(len(entrants)), rounds, results, by_share=True)


def champion_of(
    document: ContestDocument, entrants: Sequence[Entrant], players: Sequence[EntrantNumber]
) -> EntrantNumber:
    """Return the champion: the player of that name, the bot that the document gives that name, or
    the house bot of that name.

    Raise CannotContinue if it does not play.
    """
    name = document.champion
    names = (
        [name, *(one.bot for one in document.entrants if one.name == name), f"house:{name}"]
        if name
        else []
    )
    by_name = {entrants[number].name: number for number in players}
    found = (
        next((by_name[one] for one in names if one in by_name), None)
        if name
        else next(iter(players), None)
    )
    if found is None:
        raise CannotContinue(
            f"champion: {name!r} has not entered; let it enter, or name one of the entrants"
        )
    return found
