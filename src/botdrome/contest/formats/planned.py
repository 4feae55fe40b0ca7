"""What all formats share: the next round, and standings by score and tie-breaks."""

from collections.abc import Iterator, Sequence

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import CannotContinue, Entrant, Results, Round, Standing
from botdrome.contest.formats.scores import ranked_by_score
from botdrome.games.reading import plural


class PlannedFormat:
    """A format that plans its rounds one after the other."""

    def refusal(self, document: ContestDocument, entrants: int) -> str:
        """Return why that many entrants cannot play this format at these tables; empty: they can."""
        seats = document.seats
        return "" if entrants >= seats else f"{counted(entrants)} cannot fill a table of {seats}; at least {seats} are needed"

    def rounds(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Iterator[Round]:
        raise NotImplementedError

    def next_round(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Round | None:
        for round_ in self.rounds(document, entrants, results):
            if is_open(round_, results):
                return round_
        return None

    def ranked(
        self, document: ContestDocument, entrants: Sequence[Entrant], rounds: Sequence[Round], results: Results
    ) -> list[Standing]:
        return ranked_by_score(document, range(len(entrants)), rounds, results)

    def standings(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> list[Standing]:
        return self.ranked(document, entrants, self._begun(document, entrants, results), results)

    def _begun(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> list[Round]:
        """Return the rounds up to the open one, each in its last form."""
        found: dict[int, Round] = {}
        try:
            for round_ in self.rounds(document, entrants, results):
                found[round_.number] = round_
                if is_open(round_, results):
                    break
        except CannotContinue:
            pass
        return list(found.values())

    def _check(self, document: ContestDocument, entrants: int) -> None:
        """Raise CannotContinue if that many entrants cannot play."""
        reason = self.refusal(document, entrants)
        if reason:
            raise CannotContinue(reason)


def is_open(round_: Round, results: Results) -> bool:
    return any(fixture.key not in results for fixture in round_.fixtures)


def players_of(entrants: Sequence[Entrant], round_: int) -> list[int]:
    """Return the numbers of the entrants that play in a round."""
    return [number for number, entrant in enumerate(entrants) if entrant.plays_in(round_)]


def counted(entrants: int) -> str:
    return plural(entrants, "entrant")
