"""Brackets: the rounds of a single elimination in pairs."""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant, EntrantNumber, Results, Round
from botdrome.contest.formats.meeting import MeetingPlanner
from botdrome.contest.formats.series import Series

Slot = EntrantNumber | None
"""None: nobody, so the other one of the pair has a bye."""


class Exit(Struct, frozen=True):
    """Where an entrant is out, or has won."""

    stage: float
    """More is better; entrants of one stage share their place."""
    note: str


class BracketPlace(Struct, frozen=True):
    """Where a meeting is in a drawing of the bracket."""

    side: Literal["winners", "losers", "final"]
    """A knockout has only a winners' side."""
    slot: int
    """From the top of its round, from 0; slots without a meeting are byes."""
    slots: int


Pairs = Sequence[tuple[Slot, Slot]]


class Bracket:
    """An elimination in pairs, from its first round to the final. The players are given by seed, highest first."""

    def __init__(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        results: Results,
        players: Sequence[EntrantNumber],
        first_round: int = 1,
    ) -> None:
        self.exits: dict[EntrantNumber, Exit] = {}
        self.places: dict[str, BracketPlace] = {}
        """By the keys of the meetings, such as `3.2`."""
        self.winners: dict[str, EntrantNumber] = {}
        """Of the meetings in rounds that are over."""
        self.players, self.round = players, first_round
        self.document, self.entrants, self.results = document, entrants, results
        self.planner = MeetingPlanner(document)

    def rounds(self) -> Iterator[Round]:
        """Yield the rounds. `exits` holds the entrants that are out."""
        slots = bracket_slots(self.players)
        while len(slots) > 1:
            name = stage_name(len(slots))
            pairs = list(zip(slots[::2], slots[1::2], strict=True))
            full = self.full("winners", pairs)
            yield from self.played(full, [one for one, two in pairs if one is not None and two is None])
            winners: dict[EntrantNumber, EntrantNumber] = {}
            for one in self.series:
                winner, loser = self.ranking(one)
                winners[winner] = winners[loser] = winner
                self.leave(loser, f"lost {name}", one)
                final = one
            slots = [winners.get(one, one) if one is not None else None for one, _ in pairs]
        assert slots[0] is not None
        self.win(slots[0], final)

    def played(self, groups: Sequence[Sequence[EntrantNumber]], byes: Sequence[EntrantNumber] = ()) -> Iterator[Round]:
        """Yield the round of these meetings until all are decided. `self.series` holds them afterwards."""
        series = [Series(self.planner, self.document, (self.round, meeting), group) for meeting, group in enumerate(groups, 1)]
        while sum(one.prolong(self.entrants, self.results) for one in series):
            yield Round(self.round, [fixture for one in series for fixture in one.fixtures], tuple(byes))
        self.series = series
        self.winners |= {f"{self.round}.{meeting}": self.ranking(one)[0] for meeting, one in enumerate(series, 1)}
        self.round += 1

    def full(self, side: Literal["winners", "losers"], pairs: Pairs, meetings: int = 0) -> list[list[EntrantNumber]]:
        """Return the pairs without byes, and note their places. The round has that many meetings before them."""
        found = [(slot, self.by_seed(one, two)) for slot, (one, two) in enumerate(pairs) if one is not None and two is not None]
        for meeting, (slot, _) in enumerate(found, meetings + 1):
            self.places[f"{self.round}.{meeting}"] = BracketPlace(side, slot, len(pairs))
        return [pair for _, pair in found]

    def ranking(self, one: Series) -> list[EntrantNumber]:
        return one.ranking(self.entrants, self.results)

    def leave(self, entrant: EntrantNumber, note: str, one: Series) -> None:
        """Note where an entrant went out, and whether the seeding decided."""
        seeded = one.by_seed(self.entrants, self.results)
        self.exits[entrant] = Exit(self.round, f"{note}, level: the higher seed advanced" if seeded else note)

    def win(self, entrant: EntrantNumber, one: Series) -> None:
        self.round += 1
        seeded = one.by_seed(self.entrants, self.results)
        self.exits[entrant] = Exit(self.round, "won the final as the higher seed: it was level" if seeded else "won the final")

    def by_seed(self, *pair: EntrantNumber) -> list[EntrantNumber]:
        return sorted(pair, key=self.players.index)


def bracket_slots(players: Sequence[EntrantNumber]) -> list[Slot]:
    """Return the players in the order of the bracket: the two highest seeds meet only in the final, and the highest have byes."""
    order = [0]
    while len(order) < len(players):
        size = 2 * len(order)
        order = [place for seed in order for place in (seed, size - 1 - seed)]
    return [players[seed] if seed < len(players) else None for seed in order]


def stage_name(slots: int) -> str:
    return {2: "the final", 4: "in the semi-finals", 8: "in the quarter-finals"}.get(slots, f"in the round of {slots}")
