"""Game: a position, with the rules that lead on from it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar

import msgspec

from botdrome.games.chance import Chance

Seat = int
Move = TypeVar("Move")
View = dict[str, Any]
Raw = Any
"""A move as a bot sent it: any JSON value."""


class IllegalMove(Exception):
    """Raised by `parse`, with words for the bot's author."""


class BadOption(Exception):
    """Raised for an option that a game does not have or cannot take, with words that name it."""


class Game(msgspec.Struct, Generic[Move], frozen=True):
    """One position. Immutable: `play` returns the next one and leaves this one as it was.

    Fields that carry a description are the options of the game; the others are the state of play.
    `Gomoku(size=19)` is a set-up; `.start(2, chance)` its first position.
    """

    name: ClassVar[str]
    players: ClassVar[range]
    rules: ClassVar[int] = 1
    """The version of the rules: it rises when the same moves may lead elsewhere."""
    counts_departures: ClassVar[bool] = False
    """True: the scores account for a seat that is out. False: such a seat ranks below all that stayed."""

    def by_rules(self, version: int) -> "Game[Any]":
        """The same set-up under an earlier version of the rules, for replays; BadOption where that is no longer known."""
        if version != self.rules:
            raise BadOption(f"it was played by version {version} of the rules of {self.name}, and this is {self.rules}")
        return self

    def check(self, players: int) -> None:
        """BadOption where the options do not fit together. It costs next to nothing: nothing is drawn."""

    def start(self, players: int, chance: Chance) -> Self:
        """The first position, or BadOption where the options do not fit together."""
        raise NotImplementedError

    @property
    def to_move(self) -> Collection[Seat]:
        """One: a turn game; several: simultaneous; none and not over: it plays on by itself."""
        raise NotImplementedError

    @property
    def secret(self) -> bool:
        """True: what is moved now must not be shown to the others."""
        return False

    def parse(self, seat: Seat, raw: Raw) -> Move:
        """The move that `raw` stands for, or IllegalMove."""
        raise NotImplementedError

    def play(self, moves: Mapping[Seat, Move], chance: Chance) -> Self:
        """The next position. Never fails; an absent seat let its chance pass."""
        raise NotImplementedError

    def without(self, seat: Seat) -> Self:
        """The position when a seat is out of the match: unless the rules say otherwise, it passes from now on."""
        return self

    def decided(self, absent: Collection[Seat]) -> bool:
        """True: no seat that is present has anything left to play for. The match asks while seats are absent."""
        return False

    def amend(self, options: Mapping[str, Any]) -> Self:
        """The position with other options from the next round on, where the rules allow it."""
        raise BadOption(f"the options of {self.name} cannot be changed during a game")

    @property
    def over(self) -> bool:
        raise NotImplementedError

    @property
    def scores(self) -> Sequence[float]:
        """Seat by seat; more is better, equal is a tie."""
        raise NotImplementedError

    def view(self, seat: Seat | None) -> View:
        """All that this seat (None: the public) may know, ready for JSON."""
        raise NotImplementedError

    def moves(self, seat: Seat) -> Iterable[Raw]:
        """Legal moves as a bot would send them, where they can be listed."""
        raise NotImplementedError
