"""Swiss: in each round entrants with similar scores meet, and nobody is out."""

from collections.abc import Iterator, Sequence
from typing import Literal

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant, EntrantNumber, Results, Round
from botdrome.contest.formats.meeting import MeetingFixtures, MeetingPlanner
from botdrome.contest.formats.pairs import SwissHistory, swiss_pairs
from botdrome.contest.formats.pairs_version_1 import swiss_pairs_1
from botdrome.contest.formats.planned import PlannedFormat, players_of
from botdrome.contest.formats.scores import Scores
from botdrome.contest.formats.tables import swiss_tables


class Swiss(PlannedFormat):
    """Rounds of pairs, or of tables filled from the top."""

    late: Literal["next"] = "next"

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return self.rounds_of(document, entrants) * (entrants // document.seats) * document.games_per_meeting

    def rounds_of(self, document: ContestDocument, entrants: int) -> int:
        """Return the number of rounds: by default the logarithm of the entrants, twice that at larger tables."""
        if document.rounds:
            return document.rounds
        fields = next(power for power in range(64) if document.seats**power >= entrants)
        return max(1, fields if document.seats == 2 else 2 * fields)

    def rounds(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Iterator[Round]:
        swiss = SwissRounds(document, entrants, results)
        for number in range(1, self.rounds_of(document, len(players_of(entrants, 1))) + 1):
            players = players_of(entrants, number)
            self._check(document, len(players))
            yield swiss.paired(number, players)
            swiss.add_results()


class SwissRounds:
    """Pair round after round, and remember what was played."""

    def __init__(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> None:
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

    def _seatings(self, ranked: Sequence[EntrantNumber]) -> tuple[Sequence[tuple[EntrantNumber, ...]], list[EntrantNumber]]:
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
