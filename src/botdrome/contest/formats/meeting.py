"""A meeting: the matches that the same entrants play against each other, with their seats and seeds."""

from collections.abc import Iterable, Sequence

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import ContestFixture, EntrantNumber
from botdrome.contest.schedule import moved_on
from botdrome.games.chance import Chance

_SEEDS = (1 << 63) - 1
_SPREAD = 0x9E37_79B9_7F4A_7C15
"""An odd number: the multiples of different numbers differ."""
_MEETINGS, _BLOCKS = 40, 10
"""The bits of a seed's number below the round, and below the meeting."""


class MeetingPlanner:
    """Make the fixtures of meetings. Each block of one match per seating has a seed of its own."""

    def __init__(self, document: ContestDocument) -> None:
        self._rotate, self._games = document.rotate, document.games_per_meeting
        self._first_seed = Chance(document.seed).bits()

    def fixtures(
        self, round_: int, meeting: int, seats: Sequence[EntrantNumber], games: Iterable[int] | None = None
    ) -> list[ContestFixture]:
        """Return the fixtures of a meeting whose first match has these seats. Games are numbered from 1."""
        size, number = len(seats), (round_ << _MEETINGS) + (meeting << _BLOCKS)
        seatings = [moved_on(seats, turn if self._rotate else 0) for turn in range(size)]
        return [
            ContestFixture(
                f"{round_}.{meeting}.{game}",
                seatings[(game - 1) % size],
                (self._first_seed + (number + (game - 1) // size) * _SPREAD) & _SEEDS,
            )
            for game in games or range(1, self._games + 1)
        ]
