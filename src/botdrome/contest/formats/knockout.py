"""Knockout: the loser of a meeting is out."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Literal

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.bracket import Bracket, Exit
from botdrome.contest.formats.format import CannotContinue, Entrant, EntrantNumber, Results, Round, Standing
from botdrome.contest.formats.heats import Heats
from botdrome.contest.formats.planned import PlannedFormat, is_open, players_of
from botdrome.contest.formats.scores import scores_of


class Knockout(PlannedFormat):
    """A seeded bracket; the highest seeds have byes. At larger tables it is played in heats."""

    late: Literal["never"] = "never"

    def expected(self, document: ContestDocument, entrants: int) -> int:
        meetings = max(0, entrants - 1) if document.seats == 2 else entrants // (document.seats - 1)
        return meetings * ((3 * document.best_of + 3) // 4 if document.best_of else document.games_per_meeting)

    def bracket(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Bracket:
        kind = Bracket if document.seats == 2 else Heats
        return kind(document, entrants, results, players_of(entrants, 1))

    def rounds(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Iterator[Round]:
        bracket = self.bracket(document, entrants, results)
        self._check(document, len(bracket.players))
        yield from bracket.rounds()

    def ranked(
        self, document: ContestDocument, entrants: Sequence[Entrant], rounds: Sequence[Round], results: Results
    ) -> list[Standing]:
        return ranked_by_exit(document, entrants, rounds, results, self.followed(document, entrants, results).exits)

    def followed(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Bracket:
        """Return the bracket after all results."""
        bracket = self.bracket(document, entrants, results)
        if not self.refusal(document, len(bracket.players)):
            play_to_open_round(bracket.rounds(), results)
        return bracket


def play_to_open_round(rounds: Iterator[Round], results: Results) -> None:
    """Let a bracket follow the results as far as they go."""
    with suppress(CannotContinue):
        for round_ in rounds:
            if is_open(round_, results):
                return


def ranked_by_exit(
    document: ContestDocument,
    entrants: Sequence[Entrant],
    rounds: Sequence[Round],
    results: Results,
    exits: dict[EntrantNumber, Exit],
) -> list[Standing]:
    """Return the standings: entrants that are still in share the first place, those that left in one stage share theirs."""
    scores = scores_of(document, rounds, results)
    still = Exit(float("inf"), "still in")
    order = sorted(range(len(entrants)), key=lambda number: -exits.get(number, still).stage)
    lines: list[Standing] = []
    for index, number in enumerate(order):
        own = exits.get(number, still)
        level = lines and exits.get(order[index - 1], still).stage == own.stage
        lines.append(scores.standing(number, lines[-1].place if level else index + 1, note=own.note))
    return lines
