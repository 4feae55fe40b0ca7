"""A meeting: the matches that the same entrants play against each other, with their seats and seeds."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import overload

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
        self._rotate, self.games, self.seats = document.rotate, document.games_per_meeting, document.seats
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
            for game in games or range(1, self.games + 1)
        ]


class MeetingFixtures(Sequence[ContestFixture]):
    """The fixtures of a round, made when they are asked for: only the seats of each meeting are kept, four bytes each."""

    def __init__(
        self,
        planner: MeetingPlanner,
        round_: int,
        meetings: Iterable[Sequence[EntrantNumber]],
        first: int = 1,
        turns: Sequence[int] = (),
    ) -> None:
        """`meetings` are the seats of their first matches; they are numbered from `first`.

        `turns` say when each is to be played; by default they are played in their order.
        """
        self._planner, self._round, self._first = planner, round_, first
        self._seats = array("I", chain.from_iterable(meetings))
        self._order: Sequence[int] = (
            array("I", sorted(range(len(turns)), key=turns.__getitem__)) if turns else range(self.meetings)
        )

    @property
    def meetings(self) -> int:
        return len(self._seats) // self._planner.seats

    def __len__(self) -> int:
        return self.meetings * self._planner.games

    def __iter__(self) -> Iterator[ContestFixture]:
        for meeting in range(self.meetings):
            yield from self._meeting(meeting)

    @overload
    def __getitem__(self, index: int) -> ContestFixture: ...

    @overload
    def __getitem__(self, index: slice) -> list[ContestFixture]: ...

    def __getitem__(self, index: int | slice) -> ContestFixture | list[ContestFixture]:
        places = range(len(self))[index]
        return self._at(places) if isinstance(places, int) else [self._at(place) for place in places]

    def in_turn(self, place: int) -> ContestFixture:
        """Return the fixture at this place in the order of play."""
        turn, game = divmod(place, self._planner.games)
        return self._meeting(self._order[turn], [game + 1])[0]

    def named(self, key: str) -> ContestFixture:
        """Raise KeyError if no fixture of the round has that key."""
        _, meeting, game = (int(part) if part.isdecimal() else 0 for part in f"{key}..".split(".")[:3])
        place = (meeting - self._first) * self._planner.games + game - 1
        found = self._at(place) if 0 <= place < len(self) else None
        if found is None or found.key != key:
            raise KeyError(key)
        return found

    def _at(self, place: int) -> ContestFixture:
        meeting, game = divmod(place, self._planner.games)
        return self._meeting(meeting, [game + 1])[0]

    def _meeting(self, meeting: int, games: Iterable[int] | None = None) -> list[ContestFixture]:
        size = self._planner.seats
        seats = self._seats[meeting * size : (meeting + 1) * size]
        return self._planner.fixtures(self._round, self._first + meeting, tuple(seats), games)
