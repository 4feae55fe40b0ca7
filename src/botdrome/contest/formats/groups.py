"""Groups, then knockout: round robins in groups, whose best play a knockout."""

from collections.abc import Iterator, Mapping, Sequence
from math import comb

from botdrome.contest.formats.elimination import (
    Bracket,
    Exit,
    Heats,
    Knockout,
    bracket_slots,
    ranked_by_exit,
    snake,
)
from botdrome.contest.formats.format import (
    ContestFormat,
    EntrantNumber,
    MeetingFixtures,
    Round,
    StandingsLine,
    counted,
    players_of,
)
from botdrome.contest.formats.round_robin import all_groups, seated, turns_of


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
