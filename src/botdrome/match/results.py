"""Results: from the last position of a board to its result, and from all boards to the result of the match."""

from collections.abc import Mapping, Sequence
from typing import Any

from botdrome.games.game import Game, Seat
from botdrome.match.events import BoardResult, Cause, Result


def places_by(keys: Sequence[Any]) -> tuple[int, ...]:
    """1 for the greatest key; equal keys share a place."""
    ranking = sorted(keys, reverse=True)
    return tuple([1 + ranking.index(key) for key in keys])


def board_result(
    position: Game[Any], seat_of: Sequence[Seat], out: Mapping[Seat, tuple[Cause, int]], otherwise: Cause = "complete"
) -> BoardResult:
    """The scores, places and causes by player. `out` has the cause and the step of each seat that is out."""
    by_seat = position.scores
    scores = tuple([by_seat[seat] for seat in seat_of])
    causes = tuple([out[seat][0] if seat in out else otherwise for seat in seat_of])
    if not out or position.counts_departures:
        return BoardResult(scores, places_by(scores), causes)
    keys = [(0, out[seat][1]) if seat in out else (1, by_seat[seat]) for seat in seat_of]
    return BoardResult(scores, places_by(keys), causes)


def match_result(boards: Sequence[BoardResult]) -> Result:
    first = boards[0]
    if len(boards) == 1:
        return Result(first.places, first.scores, first.causes, (first,))
    players = range(len(first.places))
    won = tuple(sum(_share(board.places, player) for board in boards) for player in players)
    causes = tuple(_last_fault([board.causes[player] for board in boards]) for player in players)
    return Result(places_by(won), won, causes, tuple(boards))


def _share(places: tuple[int, ...], player: int) -> float:
    return 1 / places.count(1) if places[player] == 1 else 0.0


def _last_fault(causes: Sequence[Cause]) -> Cause:
    faults = [cause for cause in causes if cause != "complete"]
    return faults[-1] if faults else "complete"
