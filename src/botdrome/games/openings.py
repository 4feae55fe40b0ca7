"""Random openings, with which bots that always answer alike play different games. They are for games without chance."""

from typing import Any

from botdrome.games.chance import Chance
from botdrome.games.game import Game, Raw

TRIES = 100


def random_opening(game: Game[Any], players: int, chance: Chance) -> list[Raw]:
    """Return the first moves of a game, one seat after the other. None of them decides it: the game goes on, and the seat to
    move cannot win at once. Return no moves if there is no such opening."""
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
