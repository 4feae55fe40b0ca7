"""Double elimination: an entrant is out when it has lost two meetings."""

from collections.abc import Iterator, Sequence

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.bracket import Bracket, BracketPlace, Pairs, Slot, bracket_slots
from botdrome.contest.formats.format import Entrant, EntrantNumber, Results, Round
from botdrome.contest.formats.knockout import Knockout
from botdrome.contest.formats.planned import players_of


class DoubleElimination(Knockout):
    """A winners' and a losers' bracket that share their rounds, and a final that is played again if the unbeaten one loses."""

    def refusal(self, document: ContestDocument, entrants: int) -> str:
        if document.seats > 2:
            return f"double elimination is played in pairs, not at tables of {document.seats}; use knockout, swiss or groups"
        return super().refusal(document, entrants)

    def expected(self, document: ContestDocument, entrants: int) -> int:
        return 2 * super().expected(document, entrants)

    def bracket(self, document: ContestDocument, entrants: Sequence[Entrant], results: Results) -> Bracket:
        return DoubleBracket(document, entrants, results, players_of(entrants, 1))


class DoubleBracket(Bracket):
    """Round r plays round r of the winners' bracket and round r - 1 of the losers' bracket."""

    def rounds(self) -> Iterator[Round]:
        winners, losers = bracket_slots(self.players), list[Slot]()
        dropped: list[list[Slot]] = []  # losers of the winners' bracket by round, before they enter the other one
        while len(winners) > 1 or len(losers) > 1 or dropped:
            upper = _adjacent(winners) if len(winners) > 1 else []
            level = dropped and len(dropped[0]) == len(losers)
            lower = list(zip(losers, reversed(dropped.pop(0)), strict=True)) if level else _adjacent(losers)
            yield from self._both(upper, lower)
            for pair in lower:
                self._out(self._loser(pair))
            losers = [self._winner(pair) for pair in lower]
            if upper:
                winners = [self._winner(pair) for pair in upper]
                dropped.append([self._loser(pair) for pair in upper])
            losers = losers or dropped.pop(0)
        yield from self._final(winners[0], losers[0])

    def _both(self, upper: Pairs, lower: Pairs) -> Iterator[Round]:
        full = self.full("winners", upper)
        full += self.full("losers", lower, len(full))
        byes = [one if two is None else two for one, two in (*upper, *lower) if (one is None) != (two is None)]
        yield from self.played(full, [number for number in byes if number is not None])
        self._won = {frozenset(one.seeds): self.ranking(one) for one in self.series}
        self._met = {number: one for one in self.series for number in one.seeds}

    def _winner(self, pair: tuple[Slot, Slot]) -> Slot:
        one, two = pair
        if one is None or two is None:
            return two if one is None else one
        return self._won[frozenset((one, two))][0]

    def _loser(self, pair: tuple[Slot, Slot]) -> Slot:
        one, two = pair
        return None if one is None or two is None else self._won[frozenset((one, two))][1]

    def _out(self, loser: Slot) -> None:
        if loser is not None:
            self.leave(loser, f"lost its second meeting in round {self.round - 1}", self._met[loser])

    def _final(self, unbeaten: Slot, challenger: Slot) -> Iterator[Round]:
        assert unbeaten is not None and challenger is not None
        seeds: list[EntrantNumber] = [unbeaten, challenger]
        self.places[f"{self.round}.1"] = BracketPlace("final", 0, 1)
        yield from self.played([seeds])
        if self.ranking(self.series[0])[0] == challenger:
            self.places[f"{self.round}.1"] = BracketPlace("final", 0, 1)
            yield from self.played([self.by_seed(*seeds)])
        winner, loser = self.ranking(self.series[0])
        self.leave(loser, "lost the final", self.series[0])
        self.win(winner, self.series[0])


def _adjacent(slots: list[Slot]) -> list[tuple[Slot, Slot]]:
    return list(zip(slots[::2], slots[1::2], strict=True))
