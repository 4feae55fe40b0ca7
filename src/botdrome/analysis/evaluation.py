"""Evaluation: how a finished match stood after its steps, and the steps that turned it.

House bots play on from positions of the match, by the methods of `playouts`. The seed of the match
decides all chance, so two evaluations of a match are equal. The work is cut into parts of a few
seconds: `evaluation` yields them, and worker processes do them one by one.
"""

from collections.abc import Generator, Iterator, Sequence
from itertools import groupby, pairwise
from math import hypot
from typing import Any

from msgspec import Struct

from botdrome.analysis.blunders import MARGIN, judged, turning_points
from botdrome.analysis.playouts import (
    Judge,
    exact_shares,
    method_of,
    play_on,
    share,
)
from botdrome.bots.house import house_bots
from botdrome.catalogue import restored
from botdrome.contest.strength import wilson
from botdrome.games.chance import Chance
from botdrome.games.game import Game, Raw, Seat
from botdrome.match.board import board_result
from botdrome.match.events import Began, BoardEnded, Cause, Out, Played, Player
from botdrome.match.questions import COORDINATES, Question, move_text, questions, recorded_text
from botdrome.match.record import Record, replay, seed_number

VERSION = 2
"""Changes with the method. Stored evaluations of another version are made again."""
MOST_INPUTS = 50_000
"""A longer match is not evaluated."""


class EvaluationEffort(Struct, frozen=True):
    """How many positions of a match are evaluated, by how many playouts each."""

    points: int
    playouts: int
    turns: int = 3
    """The most turning points, each of which costs as much as some positions."""


EFFORTS = {
    "noughts-and-crosses": EvaluationEffort(100, 0),
    "bumblebots": EvaluationEffort(14, 12, 2),
    "gomoku": EvaluationEffort(20, 12),
    "battleship": EvaluationEffort(32, 24),
    "battlecube": EvaluationEffort(32, 24),
    "bomberman": EvaluationEffort(10, 6, 1),
}
ANY_GAME = EvaluationEffort(16, 12)
FEW = 4
"""Players; with more, there are fewer playouts."""


class Standing(Struct, frozen=True):
    """The position of a board after some steps of the match."""

    step: int
    board: int
    seat_of: tuple[Seat, ...]
    """The seat of each player."""
    out: dict[Seat, tuple[Cause, int]]
    position: Game[Any]


class Point(Struct, frozen=True):
    """The share of the points that each player may expect from a board, after some steps."""

    step: int
    board: int
    shares: tuple[float, ...]
    playouts: int = 0
    """0: the shares are exact, since the board has ended or is solved."""

    def fall(self, after: "Point", player: Player) -> float:
        """Return how much the player loses from here to `after`; 0 unless it is beyond doubt.

        The interval of the difference is Newcombe's.
        """
        lost = self.shares[player] - after.shares[player]
        doubt = hypot(
            self.shares[player] - self.interval(player)[0],
            after.interval(player)[1] - after.shares[player],
        )
        return lost if lost >= MARGIN and lost > doubt else 0.0

    def interval(self, player: Player) -> tuple[float, float]:
        value = self.shares[player]
        return wilson(value, self.playouts) if self.playouts else (value, value)


class Turn(Struct, frozen=True):
    """A turning point."""

    step: int
    """The number of steps played before it."""
    player: Player
    """The player whose share fell most."""
    change: float
    """The change of its share, below 0."""
    words: str
    """What happened to the player, as the rest of a sentence that begins with its name."""


class Evaluation(Struct, frozen=True):
    steps: tuple[int, ...]
    """The numbers of steps played that were evaluated, ascending."""
    shares: tuple[tuple[float, ...], ...]
    """For each of them the share of the points that each player may expect: 1 for first place, 0
    for last.
    """
    turns: tuple[Turn, ...]
    """The turning points, in the order of their steps."""
    method: str
    """How the shares were estimated."""


class Outline(Struct, frozen=True):
    """The positions of a match that are evaluated, and the ends of its boards."""

    course: tuple[Standing | Point, ...]
    positions: int
    """The number of positions of the match."""
    game: str
    seed: int
    effort: EvaluationEffort


Part = tuple[Any, ...]
"""A function of this module and its arguments.

Those of `outline_of` and `turn_between` follow the match file, which may be large.
"""


def evaluation() -> Generator[Part, Any, Evaluation]:
    """Evaluate a match file. Yields the parts of the work; each is sent the result of the part."""
    outline: Outline = yield (outline_of,)
    points: list[Point] = []
    for item in outline.course:
        if isinstance(item, Standing):
            points.append((yield point_of, item, outline.seed, outline.effort.playouts))
        else:
            points.append(item)
    evaluated = sum(isinstance(item, Standing) for item in outline.course)
    turns: list[Turn] = []
    for before, after, player in _falls(points)[: outline.effort.turns]:
        turn, found = yield turn_between, before, after, player
        turns.append(turn)
        points += found
    points.sort(key=lambda point: (point.step, point.board))
    turns.sort(key=lambda turn: turn.step)
    return Evaluation(
        tuple(point.step for point in points),
        tuple(tuple(round(value, 3) for value in point.shares) for point in points),
        tuple(turns),
        _method(outline, evaluated),
    )


def _method(outline: Outline, evaluated: int) -> str:
    method = method_of(outline.game)
    if method.exact:
        return "solved exactly"
    words = (
        f"{outline.effort.playouts} playouts from each position, in which house:{method.bot} plays "
        f"for all players, up to {method.horizon} steps"
    )
    if evaluated == outline.positions:
        return words
    return f"{words}; {evaluated} of {outline.positions} positions, and those near turning points"


def _falls(points: Sequence[Point]) -> list[tuple[Point, Point, Player]]:
    """Return the falls between two points of a board, the greatest first, each with the player
    that falls most.
    """
    found = []
    for before, after in pairwise(points):
        if before.board == after.board:
            falls = [before.fall(after, player) for player in range(len(before.shares))]
            if fall := max(falls):
                found.append((fall, before, after, falls.index(fall)))
    found.sort(key=lambda one: -one[0])
    return [(before, after, player) for _, before, after, player in found]


# The parts.


def outline_of(data: bytes) -> Outline:
    """Raise BadRecord if the file cannot be replayed."""
    record, game = restored(data)
    players, effort = len(record.setup.names), EFFORTS.get(game.name, ANY_GAME)
    playouts = effort.playouts * FEW // max(FEW, players)
    course = list(_course(record, game))
    boards = groupby(course, lambda item: item.board)
    most = max(2, effort.points // record.setup.terms.boards)
    return Outline(
        tuple(item for _, board in boards for item in _sampled(list(board), most)),
        sum(isinstance(item, Standing) for item in course),
        game.name,
        seed_number(record.setup),
        EvaluationEffort(effort.points, max(FEW, playouts), effort.turns),
    )


def _course(record: Record, game: Game[Any]) -> Iterator[Standing | Point]:
    """Yield the positions of a match in which a step is played, and the ends of its boards."""
    steps, board, players = 0, 0, range(len(record.setup.names))
    seat_of: tuple[Seat, ...] = ()
    out: dict[Seat, tuple[Cause, int]] = {}
    for _, news in replay(record, game):
        opened: Standing | None = None
        for event, position in news:
            if isinstance(event, Began):
                board, out = event.board, {}
                seat_of = tuple(event.order.index(player) for player in players)
            elif isinstance(event, Played):
                steps = event.step + 1
            elif isinstance(event, Out):
                out = out | {seat_of[event.player]: (event.cause, steps)}
            elif isinstance(event, BoardEnded):
                places, opened = event.result.places, None
                yield Point(steps, board, tuple(share(places, player) for player in players))
            if isinstance(event, Began | Played) and opened is not None:
                yield opened
            if isinstance(event, Began | Played | Out) and not position.over:
                opened = Standing(steps, board, seat_of, out, position)
        if opened is not None:
            yield opened


def _sampled(board: Sequence[Standing | Point], most: int) -> Sequence[Standing | Point]:
    """Return at most so many positions of a board, its first and last among them, and its end."""
    *standings, end = board
    if len(standings) <= most:
        return board
    last = len(standings) - 1
    return [*(standings[round(number * last / (most - 1))] for number in range(most)), end]


def point_of(standing: Standing, seed: int, playouts: int) -> Point:
    """Return what the players may expect in a position: the mean of playouts, or the exact value.

    The playouts know hidden parts of the position, as the match had them.
    """
    position, seat_of, out = standing.position, standing.seat_of, standing.out
    method = method_of(position.name)
    if method.exact and not out:
        values = exact_shares(position)
        return Point(standing.step, standing.board, tuple(values[seat] for seat in seat_of))
    bot, chance = house_bots(position.name)[method.bot], Chance(seed, standing.step)
    seeds = [chance.bits() for _ in range(max(FEW, playouts))]
    totals = [0.0] * len(seat_of)
    for number in seeds:
        final = play_on(position, out, bot, number, method.horizon, {})
        places = board_result(final, seat_of, out).places
        totals = [total + share(places, player) for player, total in enumerate(totals)]
    shares = tuple(total / len(seeds) for total in totals)
    return Point(standing.step, standing.board, shares, len(seeds))


def turn_between(
    data: bytes, before: Point, after: Point, player: Player
) -> tuple[Turn, list[Point]]:
    """Find the step between two points with the greatest fall of a player, by halving, and what
    would have been better.

    Returns the points that were evaluated, too.
    """
    record, game = restored(data)
    first, last, found = before, after, list[Point]()
    between = [
        item
        for item in _course(record, game)
        if isinstance(item, Standing)
        and item.board == before.board
        and before.step < item.step < after.step
    ]
    seed = seed_number(record.setup)
    while between:
        middle = len(between) // 2
        point = point_of(between[middle], seed, before.playouts)
        found.append(point)
        if first.shares[player] + last.shares[player] >= 2 * point.shares[player]:
            last, between = point, between[:middle]
        else:
            first, between = point, between[middle + 1 :]
    if first.fall(last, player):
        words = _words(record, game, first, last, player)
    else:
        first, last = before, after
        what, change = _change(first, last, player)
        words = f"lost ground in steps {first.step} to {last.step - 1}: its {what} fell {change}"
    fall = round(last.shares[player] - first.shares[player], 3)
    return Turn(first.step, player, fall, words), found


def _change(before: Point, after: Point, player: Player) -> tuple[str, str]:
    players = len(before.shares)
    then, now = (_value(point.shares[player], players) for point in (before, after))
    return "chance to win" if players == 2 else "expected place", f"from {then} to {now}"


def _value(value: float, players: int) -> str:
    """The chance to win for two players, else the expected place."""
    return f"{100 * value:.0f} %" if players == 2 else f"{1 + (1 - value) * (players - 1):.1f}"


def _words(record: Record, game: Game[Any], before: Point, after: Point, player: Player) -> str:
    """Say what a player or its opponents did in the step in which its share fell."""
    what, change = _change(before, after, player)
    if (asked := _asked(record, game, before, player)) is not None:
        return f"{_did(asked)}, and its {what} fell {change}" + _better(record, asked, before)
    names = record.setup.names if len(record.setup.names) <= FEW else ()
    others = [(name, _asked(record, game, before, other)) for other, name in enumerate(names)]
    did = " and ".join(f"{name} {_did(asked)}" for name, asked in others if asked is not None)
    return f"saw its {what} fall {change}" + (f" when {did}" if did else "")


def _asked(record: Record, game: Game[Any], before: Point, player: Player) -> Question | None:
    """Return the question of a player in the step after a point."""
    asked = turning_points(questions(record, game, player))
    here = (before.step, before.board)
    return next((one for one in asked if (one.step, one.board) == here), None)


def _did(question: Question) -> str:
    if not question.moved:
        return f"did not move ({question.fault})"
    if question.fault:
        return f"sent {recorded_text(question)}"
    if question.position.secret:
        return "made a hidden move"
    return f"played {_named(question, question.recorded)}"


def _better(record: Record, question: Question, before: Point) -> str:
    """Say which move would have been better, by the computation of `blunders`."""
    assert record.result is not None
    result = share(record.result.boards[question.board].places, question.player)
    seed = seed_number(record.setup)
    blunder = judged(Judge(question, seed), result, max(FEW, before.playouts), seed)
    if blunder is None or not blunder.clear or question.position.secret:
        return ""
    best = blunder.puzzle.better[0]
    value = _value(best.estimate.share, len(question.order))
    return f"; {_named(question, best.move)} would have kept {value}"


def _named(question: Question, move: Raw) -> str:
    """A legal move by its name on the board, if its game has such names."""
    return question.position.move_words(question.seat, move) or _move(move)


def _move(raw: Raw) -> str:
    """A move in words: `mark X, space [2,2]` for objects with several entries."""
    if isinstance(raw, list) and raw and isinstance(raw[0], dict):
        return " then ".join(map(_move, raw))
    if not isinstance(raw, dict) or len(raw) < 2 or raw.keys() <= COORDINATES:
        return move_text(raw) if raw else "nothing"
    point = {key: value for key, value in raw.items() if key in COORDINATES}
    rest = [f"{key} {move_text(value)}" for key, value in raw.items() if key not in COORDINATES]
    return ", ".join([*rest, *([move_text(point)] if point else ())])
