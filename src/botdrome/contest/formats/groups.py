"""Groups, then knockout: round robins in groups, whose best play a knockout."""

from collections.abc import Iterator, Mapping, Sequence
from math import comb

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.elimination import (
    Bracket,
    Exit,
    Heats,
    Knockout,
    bracket_slots,
    play_to_open_round,
    ranked_by_exit,
    snake,
)
from botdrome.contest.formats.format import (
    ContestFormat,
    Entrant,
    EntrantNumber,
    MeetingFixtures,
    MeetingPlanner,
    Results,
    Round,
    Standing,
    counted,
    is_open,
    players_of,
    ranked_by_score,
)
from botdrome.contest.formats.round_robin import all_groups, seated, turns_of


class Groups(ContestFormat):
    """Round 1 is the group stage; the knockout follows. Groups are about equally strong by seed."""

    late = "never"

    def refusal(self, document: ContestDocument, entrants: int) -> str:
        groups, least = groups_of(document, entrants), max(document.seats, document.advance)
        if document.advance * groups < document.seats:
            return (
                f"{document.advance} from each of {groups} groups cannot fill a table of "
                f"{document.seats}; let more advance"
            )
        if entrants < groups * least:
            return (
                f"{counted(entrants)} cannot fill {groups} groups of at least {least}; "
                f"{groups * least} are needed"
            )
        return ""

    def expected(self, document: ContestDocument, entrants: int) -> int:
        if self.refusal(document, entrants):
            return 0
        groups = groups_of(document, entrants)
        stage = groups * comb(entrants // groups, document.seats) * document.games_per_meeting
        return stage + Knockout().expected(document, groups * document.advance)

    def rounds(
        self, document: ContestDocument, entrants: Sequence[Entrant], results: Results
    ) -> Iterator[Round]:
        players = players_of(entrants, 1)
        self._check(document, len(players))
        groups, stage = self._stage(document, players)
        yield stage
        tables = self._tables(document, groups, results)
        yield from self._bracket(document, entrants, tables, results).rounds()

    def ranked(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        rounds: Sequence[Round],
        results: Results,
    ) -> list[Standing]:
        players = players_of(entrants, 1)
        if self.refusal(document, len(players)):
            return super().ranked(document, entrants, rounds, results)
        groups, stage = self._stage(document, players)
        exits: dict[EntrantNumber, Exit] = {}
        tables = self._tables(document, groups, results)
        if not is_open(stage, results):
            bracket = self._bracket(document, entrants, tables, results)
            play_to_open_round(bracket.rounds(), results)
            exits = bracket.exits
        for number, table in enumerate(tables, 1):
            going_on = 0 if is_open(stage, results) else document.advance
            for place, entrant in enumerate(table[going_on:], going_on + 1):
                exits[entrant] = Exit(-place, f"place {place} in group {number}")
        return ranked_by_exit(document, entrants, rounds, results, exits)

    def _stage(
        self, document: ContestDocument, players: Sequence[EntrantNumber]
    ) -> tuple[list[list[EntrantNumber]], Round]:
        groups = _parts(document, players)
        tables, turns = list[tuple[EntrantNumber, ...]](), list[int]()
        for group in groups:
            own = list(all_groups(group, document.seats))
            tables += (seated(document, table) for table in own)
            turns += turns_of(own, group)
        return groups, Round(1, MeetingFixtures(MeetingPlanner(document), 1, tables, turns=turns))

    def _tables(
        self,
        document: ContestDocument,
        groups: Sequence[Sequence[EntrantNumber]],
        results: Results,
    ) -> list[list[EntrantNumber]]:
        """Return the groups, each best first.

        Each is ranked by itself, since tie-breaks compare entrants that have met.
        """
        planner, first, tables = MeetingPlanner(document), 1, []
        for group in groups:
            meetings = (seated(document, table) for table in all_groups(group, document.seats))
            fixtures = MeetingFixtures(planner, 1, meetings, first)
            lines = ranked_by_score(document, sorted(group), [Round(1, fixtures)], results)
            tables.append([line.entrant for line in lines])
            first += fixtures.meetings
        return tables

    def _bracket(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        tables: Sequence[Sequence[EntrantNumber]],
        results: Results,
    ) -> Bracket:
        """Return the knockout: the winners of groups are seeded highest, and nobody meets its own
        group at first if possible.
        """
        seeds = [table[rank] for rank in range(document.advance) for table in tables]
        if document.seats > 2:
            return Heats(document, entrants, results, seeds, first_round=2)
        group_of = {number: index for index, table in enumerate(tables) for number in table}
        return Bracket(document, entrants, results, parted(seeds, group_of), first_round=2)


def groups_in(document: ContestDocument, entrants: Sequence[Entrant]) -> list[list[EntrantNumber]]:
    """Return the members of each group."""
    return _parts(document, players_of(entrants, 1))


def _parts(
    document: ContestDocument, players: Sequence[EntrantNumber]
) -> list[list[EntrantNumber]]:
    return snake(players, groups_of(document, len(players)))


def groups_of(document: ContestDocument, entrants: int) -> int:
    """Return the number of groups: by default as many as leave twice a table's players in each."""
    return document.groups or max(2, entrants // (2 * document.seats))


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
