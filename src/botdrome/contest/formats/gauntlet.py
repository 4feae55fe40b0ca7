"""Gauntlet: one entrant, the champion, meets every group of the others."""

from collections.abc import Iterator, Sequence
from math import comb

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import CannotContinue, Entrant, EntrantNumber, Results, Round, Standing
from botdrome.contest.formats.round_robin import RoundRobin, all_groups
from botdrome.contest.formats.scores import ranked_by_score


class Gauntlet(RoundRobin):
    """The champion plays far more than the others, so the order is by the share of points."""

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return comb(entrants - 1, document.seats - 1) * document.games_per_meeting if entrants else 0

    def groups(
        self, document: ContestDocument, entrants: Sequence[Entrant], players: Sequence[EntrantNumber]
    ) -> Iterator[tuple[EntrantNumber, ...]]:
        champion = next((number for number in players if document.champion in ("", entrants[number].name)), None)
        if champion is None:
            raise CannotContinue(f"the champion {document.champion!r} has not entered; let it enter, or name another one")
        others = [number for number in players if number != champion]
        return ((champion, *group) for group in all_groups(others, document.seats - 1))

    def ranked(
        self, document: ContestDocument, entrants: Sequence[Entrant], rounds: Sequence[Round], results: Results
    ) -> list[Standing]:
        return ranked_by_score(document, range(len(entrants)), rounds, results, by_share=True)
