"""Blunders: the last step at which a lost match could still be saved, and the moves that would have
held.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec import Struct

from botdrome.analysis.playouts import Judge, method_text, share
from botdrome.analysis.position_file import Estimate, Puzzle, RatedMove
from botdrome.bots.house import MOST_LISTED, house_bots, house_view
from botdrome.games.chance import Chance
from botdrome.games.game import Game, Raw
from botdrome.match.events import Player
from botdrome.match.questions import Question, questions, refusal, same_move
from botdrome.match.record import Record

MARGIN = 0.2
"""A move holds if its interval is more than this above the recorded result; an exact value must
only be above it.
"""
MOST_CANDIDATES = 12
FINALISTS = 3
ONE_BY_ONE = 8
"""The number of steps at the end that are tried one by one.

Before them, the steps between two tries double.
"""


class Blunder(Struct, frozen=True):
    """The last step at which a match could still be saved."""

    question: Question
    puzzle: Puzzle
    clear: bool
    """Whether another move is better than the recorded one beyond doubt.

    Otherwise later chance or replies lost the match.
    """


def find_blunder(
    record: Record, game: Game[Any], player: Player, playouts: int, seed: int = 1
) -> Blunder | None:
    """Return the last step at which the player could have done better on a board that it lost; None
    if there is none.
    """
    assert record.result is not None
    asked = list(turning_points(questions(record, game, player)))
    for number, board in reversed([*enumerate(record.result.boards)]):
        if board.places[player] > 1:
            result = share(board.places, player)
            search = _Search(
                [question for question in asked if question.board == number], result, playouts, seed
            )
            if blunder := search.last():
                return blunder
    return None


class _Search:
    """The search on one board."""

    def __init__(self, asked: list[Question], result: float, playouts: int, seed: int) -> None:
        self._asked, self._result, self._playouts, self._seed = asked, result, playouts, seed
        self._found: dict[int, Blunder] = {}

    def last(self) -> Blunder | None:
        number = last_saveable(len(self._asked), self._saveable)
        return None if number is None else self._found[number]

    def _saveable(self, number: int) -> bool:
        blunder = judged(
            Judge(self._asked[number], self._seed), self._result, self._playouts, self._seed
        )
        if blunder:
            self._found[number] = blunder
        return blunder is not None


def turning_points(asked: Iterable[Question]) -> Iterator[Question]:
    """Yield the last question of each step, since a refused move is followed by another
    question.
    """
    yield from {question.step: question for question in asked}.values()


def last_saveable(count: int, saveable: Callable[[int], bool]) -> int | None:
    """Return the last of `count` steps that is saveable, if no step after it is.

    The last steps are tried one by one, then steps at growing distances, then the steps between the
    last two tries.
    """
    lost, at, gap = count, count - 1, 1
    while at >= 0:
        if saveable(at):
            return _last_between(at, lost, saveable)
        lost = at
        gap = gap if count - at < ONE_BY_ONE else 2 * gap
        at = at - gap if at - gap >= 0 or at == 0 else 0
    return None


def _last_between(saved: int, lost: int, saveable: Callable[[int], bool]) -> int:
    while lost - saved > 1:
        middle = (saved + lost) // 2
        if saveable(middle):
            saved = middle
        else:
            lost = middle
    return saved


def judged(judge: Judge, result: float, playouts: int, seed: int) -> Blunder | None:
    """Rate the recorded move and the most promising others. None: no move holds."""
    question = judge.question
    recorded = [question.recorded] if question.accepted else []
    others = [raw for raw in candidates(question, seed) if not _among(raw, recorded, question)]
    tried = [
        (raw, judge.estimate(raw, max(3, playouts // 8), 0).share) for raw in (*recorded, *others)
    ]
    if all(share <= result for _, share in tried):
        return None
    finalists = sorted(tried[len(recorded) :], key=lambda pair: -pair[1])[:FINALISTS]
    rated = [
        RatedMove(raw, judge.estimate(raw, playouts, 1))
        for raw in (*recorded, *[raw for raw, _ in finalists])
    ]
    if not any(holds(move.estimate, result) for move in rated):
        return None
    lost = rated.pop(0) if recorded else None
    floor = lost.estimate.share if lost else 0.0
    better = [
        move for move in rated if holds(move.estimate, result) and move.estimate.share > floor
    ]
    better.sort(key=lambda move: -move.estimate.share)
    text = method_text(question.position.name, playouts)
    clear = any(move.estimate.low > floor for move in better)
    return Blunder(question, Puzzle(lost=lost, better=tuple(better), method=text), clear)


def holds(estimate: Estimate, result: float) -> bool:
    """Return whether a move does better than the recorded result, beyond doubt."""
    return estimate.low > result + (MARGIN if estimate.playouts else 0.0)


def candidates(question: Question, seed: int) -> list[Raw]:
    """Return the moves to try: those of the house bots, then all legal ones or a sample of them."""
    position, seat = question.position, question.seat
    legal = list(islice(position.moves(seat), MOST_LISTED))
    view, chance = house_view(position, seat), Chance(seed, question.step)
    suggested = [bot(view, chance) for bot in house_bots(position.name).values() for _ in range(2)]
    chosen: list[Raw] = []
    for raw in (*suggested, *chance.sample(legal, MOST_CANDIDATES)):
        if (
            len(chosen) < MOST_CANDIDATES
            and not _among(raw, chosen, question)
            and not refusal(position, seat, raw)
        ):
            chosen.append(raw)
    return chosen


def _among(raw: Raw, moves: Iterable[Raw], question: Question) -> bool:
    return any(same_move(question.position, question.seat, raw, other) for other in moves)
