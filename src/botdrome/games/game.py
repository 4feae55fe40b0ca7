"""Game: a position and its rules."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar

import msgspec

from botdrome.games.chance import Chance

Seat = int
Move = TypeVar("Move")
View = dict[str, Any]
Raw = Any
"""A move as the bot sent it: any JSON value."""


class IllegalMove(Exception):
    """Raised by `parse`, with a message for the bot's author."""


class BadOption(Exception):
    """An option that the game lacks, or a value that it cannot take.

    The message names the option.
    """


class Game(msgspec.Struct, Generic[Move], frozen=True):
    """One position. It is immutable: `play` returns a new one.

    Fields with a description are the options of the game; the others are the state of play.
    `Gomoku(size=19)` is a set-up; `.start(2, chance)` returns its first position.
    """

    name: ClassVar[str]
    players: ClassVar[range]
    rules: ClassVar[int] = 1
    """The version of the rules. It rises when the same moves may lead to another position."""
    counts_departures: ClassVar[bool] = False
    """True: the scores account for seats that are out.

    False: such seats rank below all that stayed.
    """
    opening_moves: ClassVar[int] = 0
    """The moves of a random opening, for games without chance or secrets in which one seat moves at
    a time. 0: none is needed.
    """

    def by_rules(self, version: int) -> "Game[Any]":
        """Return the set-up under an earlier version of the rules, for replays.

        Raise BadOption if that version is unknown.
        """
        if version != self.rules:
            raise BadOption(
                f"it was played by version {version} of the rules of {self.name}, and this is "
                f"{self.rules}"
            )
        return self

    def check(self, players: int) -> None:
        """Raise BadOption if the options do not fit together. This is cheap: it draws nothing."""

    def start(self, players: int, chance: Chance) -> Self:
        """Return the first position. Raise BadOption if the options do not fit together."""
        raise NotImplementedError

    @property
    def to_move(self) -> Collection[Seat]:
        """The seats that move: one in a turn game, several at once, or none if the next step needs
        no move.
        """
        raise NotImplementedError

    @property
    def secret(self) -> bool:
        """True if the current moves must not be shown to the other seats."""
        return False

    def parse(self, seat: Seat, raw: Raw) -> Move:
        """Return the move in `raw`. Raise IllegalMove if there is none."""
        raise NotImplementedError

    def play(self, moves: Mapping[Seat, Move], chance: Chance) -> Self:
        """Return the next position. It never fails; a seat without a move passes."""
        raise NotImplementedError

    def without(self, seat: Seat) -> Self:
        """Return the position after a seat is out of the match.

        By default the seat passes from now on.
        """
        return self

    def decided(self, absent: Collection[Seat]) -> bool:
        """Return True if no present seat has anything left to play for.

        The match asks this while seats are absent.
        """
        return False

    def amend(self, options: Mapping[str, Any]) -> Self:
        """Return the position with other options from the next round on.

        Raise BadOption if the rules do not allow it.
        """
        raise BadOption(f"the options of {self.name} cannot be changed during a game")

    @property
    def over(self) -> bool:
        raise NotImplementedError

    @property
    def scores(self) -> Sequence[float]:
        """One score per seat; more is better, equal is a tie."""
        raise NotImplementedError

    def verdict(self, names: Sequence[str]) -> str:
        """Say in words what decided this game, which is over.

        `names` are those of the seats. By default: the scores.
        """
        return "score: " + ", ".join(
            f"{name} {score:g}" for name, score in zip(names, self.scores, strict=True)
        )

    def opening_words(self, seat: Seat, raw: Raw) -> str:
        """Say the first move of a seat in this position in a few words, which many games share.

        By default a game has no openings.
        """
        return ""

    def move_words(self, seat: Seat, raw: Raw) -> str:
        """Name a legal move as the pages name it on the board.

        By default a game has no such names.
        """
        return ""

    def death_words(self, seat: Seat) -> str:
        """Say how a seat died in a few words; empty: it did not. By default no seat dies."""
        return ""

    def view(self, seat: Seat | None) -> View:
        """Return everything that this seat (None: the public) may know, ready for JSON."""
        raise NotImplementedError

    def moves(self, seat: Seat) -> Iterable[Raw]:
        """Return the legal moves as a bot would send them; examples or parts of moves where
        `lists_all_moves` is False.
        """
        raise NotImplementedError

    @property
    def lists_all_moves(self) -> bool:
        """True if every legal move is in `moves`, up to its spelling."""
        return True


# Random openings, with which bots that always answer alike play different games. They are for
# games without chance.

TRIES = 100


def random_opening(game: Game[Any], players: int, chance: Chance) -> list[Raw]:
    """Return the first moves of a game, one seat after the other. None of them decides it: the game
    goes on, and the seat to move cannot win at once. Return no moves if there is no such opening.
    """
    for _ in range(TRIES):
        position, moves = game.start(players, chance), list[Raw]()
        while len(moves) < game.opening_moves and not position.over:
            (seat,) = position.to_move
            moves.append(chance.choice(list(position.moves(seat))))
            position = _after(position, moves[-1])
        if not position.over and not _wins_at_once(position):
            return moves
    return []


def _after(position: Game[Any], raw: Raw) -> Game[Any]:
    (seat,) = position.to_move
    after: Game[Any] = position.play({seat: position.parse(seat, raw)}, Chance(0))
    return after


def _wins_at_once(position: Game[Any]) -> bool:
    (seat,) = position.to_move
    ends = (after.scores for raw in position.moves(seat) if (after := _after(position, raw)).over)
    return any(scores[seat] > min(scores) for scores in ends)
