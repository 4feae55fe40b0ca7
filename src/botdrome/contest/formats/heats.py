"""Heats: a single elimination at tables of more than two."""

from collections import Counter
from collections.abc import Iterator, Sequence

from botdrome.contest.formats.bracket import Bracket, Exit
from botdrome.contest.formats.format import CannotContinue, EntrantNumber, Round
from botdrome.contest.formats.planned import counted, players_of


class Heats(Bracket):
    """All tables are full. Winners and entrants with a bye go on; the best of the others fill up the last table."""

    def rounds(self) -> Iterator[Round]:
        size, alive, byes = self.document.seats, list(self.players), Counter[EntrantNumber]()
        while True:
            alive = self._present(alive)
            resting = sorted(alive, key=byes.__getitem__)[: len(alive) % size]
            byes.update(resting)
            yield from self.played(snake([number for number in alive if number not in resting], len(alive) // size), resting)
            if len(alive) == size:
                break
            alive = self._survivors(alive, resting)
        (final,) = self.series
        winner, *others = self.ranking(final)
        for place, number in enumerate(others, 2):
            self.exits[number] = Exit(self.round - place / (size + 1), f"place {place} in the final")
        self.win(winner, final)

    def _present(self, alive: Sequence[EntrantNumber]) -> list[EntrantNumber]:
        """Return those that still play. If they are too few for a table, the last ones that went out return."""
        size, playing = self.document.seats, set(players_of(self.entrants, self.round))
        for number in set(alive) - playing:
            self.exits[number] = Exit(self.round, "left")
        out = sorted((n for n in self.players if n in self.exits and n in playing), key=lambda n: -self.exits[n].stage)
        present = {number for number in alive if number in playing}
        present.update(out[: max(0, size - len(present))])
        if len(present) < size:
            raise CannotContinue(f"{counted(len(present))} cannot fill a table of {size}; {size} are needed")
        for number in present & self.exits.keys():
            del self.exits[number]
        return [number for number in self.players if number in present]

    def _survivors(self, alive: Sequence[EntrantNumber], resting: Sequence[EntrantNumber]) -> list[EntrantNumber]:
        points = Counter[EntrantNumber]()
        for one in self.series:
            points.update(one.points(self.results))
        through = {*resting, *(self.ranking(one)[0] for one in self.series)}
        losers = sorted((number for number in alive if number not in through), key=lambda number: -points[number])
        through.update(losers[: max(0, self.document.seats - len(through))])
        for one in self.series:
            for number in one.seeds:
                if number not in through:
                    self.leave(number, f"lost a heat of round {self.round - 1}", one)
        return [number for number in alive if number in through]


def snake(players: Sequence[EntrantNumber], groups: int) -> list[list[EntrantNumber]]:
    """Deal players to groups of about equal strength: 1 to n, then n to 1, and so on."""
    dealt: list[list[EntrantNumber]] = [[] for _ in range(groups)]
    for place, number in enumerate(players):
        row, column = divmod(place, groups)
        dealt[groups - 1 - column if row % 2 else column].append(number)
    return dealt
