"""Playouts: positions played on by house bots, to estimate what a move is worth.

A share is a part of the points: 1 for first place, 0 for last place, 0.5 for a draw of two.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from botdrome.analysis.hidden_state import HIDDEN, redrawn
from botdrome.analysis.position_file import Estimate
from botdrome.analysis.questions import Question
from botdrome.bots.house import HouseBot, house_bots, house_view
from botdrome.contest.strength import wilson
from botdrome.games.chance import Chance
from botdrome.games.game import Game, IllegalMove, Raw, Seat
from botdrome.match.board import board_result, places_by


class Method(Struct, frozen=True):
    """How moves of a game are judged."""

    bot: str
    """The house bot that plays for all players: a quick one, since it plays thousands of moves."""
    horizon: int
    """The number of steps after which a playout ends with the current scores."""
    exact: bool = False
    """True: the game is small enough to be solved."""


METHODS = {
    "noughts-and-crosses": Method("perfect", 9, exact=True),
    "bumblebots": Method("forager", 100),
    "gomoku": Method("threat", 40),
    "battleship": Method("gunner", 200),
    "battlecube": Method("survivor", 100),
    "bomberman": Method("sapper", 60),
}
ANY_GAME = Method("random", 200)


def method_of(game: str) -> Method:
    return METHODS.get(game, ANY_GAME)


def method_text(game: str, playouts: int) -> str:
    """Describe for people how the estimates were made, and what was assumed."""
    method, hidden = method_of(game), HIDDEN.get(game)
    if method.exact:
        return "solved exactly"
    words = (
        f"{playouts} playouts for each move, in which house:{method.bot} plays for all "
        f"players, up to {method.horizon} steps"
    )
    return f"{words}; chance is drawn anew" + (f"; {hidden.assumed}" if hidden else "")


class Judge:
    """Estimates moves in one position of a board."""

    def __init__(self, question: Question, seed: int) -> None:
        self.question, self._seed = question, seed
        self.method = method_of(question.position.name)
        self._bot: HouseBot = house_bots(question.position.name)[self.method.bot]

    def estimate(self, raw: Raw, playouts: int, series: int) -> Estimate:
        """Estimate a legal move. Another series has other chance."""
        question = self.question
        if self.method.exact:
            value = _solved(question.position, question.seat, raw)
            return Estimate(value, value, value, 0)
        shares = [
            self._share_in(raw, Chance(self._seed, series).turn_to(number))
            for number in range(playouts)
        ]
        mean = sum(shares) / playouts
        return Estimate(mean, *wilson(mean, playouts), playouts)

    def _share_in(self, raw: Raw, chance: Chance) -> float:
        """Return the share in one playout after the move."""
        question = self.question
        position = redrawn(question.position, question.seat, chance)
        seed = chance.bits()
        final = play_on(
            position, question.out, self._bot, seed, self.method.horizon, {question.seat: raw}
        )
        seats = range(len(question.order))
        return share(board_result(final, seats, question.out).places, question.seat)


def play_on(
    position: Game[Any],
    out: Mapping[Seat, Any],
    bot: HouseBot,
    seed: int,
    horizon: int,
    first: Mapping[Seat, Raw],
) -> Game[Any]:
    """Play a position to its end, or up to the horizon. `first` has moves for the first step."""
    chance, mind = Chance(seed), Chance(seed, -1)
    for step in range(horizon):
        if position.over:
            break
        moves: dict[Seat, Any] = {}
        for seat in position.to_move:
            if seat not in out:
                raw = first[seat] if seat in first else bot(house_view(position, seat), mind)
                moves |= _parsed(position, seat, raw)
        position, first = position.play(moves, chance.turn_to(step)), {}
    return position


def _parsed(position: Game[Any], seat: Seat, raw: Raw) -> dict[Seat, Any]:
    """A house bot that does not find a legal move passes."""
    try:
        return {seat: position.parse(seat, raw)}
    except IllegalMove:
        return {}


def share(places: Sequence[int], number: int) -> float:
    """Return the part of the points of one place in the list; equal places share theirs."""
    if len(places) == 1:
        return 1.0
    place = places[number]
    return (len(places) - place - (places.count(place) - 1) / 2) / (len(places) - 1)


def _solved(position: Game[Any], seat: Seat, raw: Raw) -> float:
    """Return the share of this seat after the move, if both players play perfectly."""
    return 1 - _outlook(position.play({seat: position.parse(seat, raw)}, Chance(0)), 1 - seat)


@cache
def _outlook(position: Game[Any], seat: Seat) -> float:
    """Return the share of the seat that moves next, if both play perfectly."""
    if position.over:
        return share(places_by(position.scores), seat)
    return max(_solved(position, seat, raw) for raw in position.moves(seat))
