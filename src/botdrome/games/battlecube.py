"""Battlecube: bots in a cube of cells step and drop bombs; the last bot standing wins."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, Seat, View
from botdrome.games.options import with_options
from botdrome.games.reading import bounded, shown, whole_within

# Answers in battlecube: convert a bot's message to the plan that the rules play.

Cell = tuple[int, int, int]
"""x from left to right, y from top to bottom, z from front to back."""
Task = str | Cell | None
"""A direction to step in, a cell to bomb, or None for no action."""
Plan = tuple[Task, ...]
"""One task for each tick of a round."""
Wish = tuple[str, Task]
"""The word of a task with its direction or cell. The shape is checked, the values are not."""

FARTHEST = 1_000_000
"""The largest coordinate of a bomb.

Bombs may lie outside the cube, so this limit bounds the memory they use.
"""
WRONG_COUNT = "Invalid amount of directions sent"
STEPS: dict[str, Cell] = {
    "+X": (1, 0, 0), "-X": (-1, 0, 0), "+Y": (0, 1, 0), "-Y": (0, -1, 0), "+Z": (0, 0, 1),
    "-Z": (0, 0, -1),
}  # fmt: skip
AXES = {"x": "X", "X": "X", "y": "Y", "Y": "Y", "z": "Z", "Z": "Z"}
BOMB_WORDS = ("BOMB", "PLACE_BOMB")
SHAPES = 'a task is {"task"}, {"task", "direction"} or {"task", "x", "y", "z"}'
A_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)


def plan_in(raw: Raw, tasks: int) -> Plan:
    """Return the plan in an answer.

    Check the shape of all tasks first, then their number, then their values.
    """
    answer = _unpacked(raw) if isinstance(raw, str) else raw
    if not isinstance(answer, (list, tuple)):
        raise IllegalMove(f"an answer is a JSON list of tasks, not {shown(raw)}")
    if len(answer) == tasks == 1:
        return (_usual_task(answer[0]),)
    wishes = [_wish(element, at) for at, element in enumerate(answer)]
    if len(wishes) != tasks:
        raise IllegalMove(f"{WRONG_COUNT}: {len(wishes)}, where exactly {tasks} must be")
    return tuple([_task(wish, at) for at, wish in enumerate(wishes)])


def _usual_task(raw: Any) -> Task:
    """Return the only task of an answer. Nearly always its shape and its values are right."""
    word = raw.get("task") if type(raw) is dict else None
    if word == "MOVE" and len(raw) == 2:
        direction = raw.get("direction")
        if type(direction) is str and direction in STEPS:
            return direction
    elif word == "NOOP" and len(raw) == 1:
        return None
    return _task(_wish(raw, 0), 0)


def _unpacked(raw: str) -> Any:
    """Decode a JSON text inside a JSON text."""
    try:
        return msgspec.json.decode(bounded(raw.encode()))
    except (ValueError, RecursionError):
        return raw


def _wish(raw: Any, at: int) -> Wish:
    task = _unpacked(raw) if isinstance(raw, str) else raw
    if not isinstance(task, dict):
        raise _fault(at, f"{SHAPES}, not {shown(raw)}")
    word = task.get("task")
    if not isinstance(word, str) or not word:
        raise _no_text(word, "task", at)
    if len(task) == 1:
        return word, None
    if len(task) == 2 and "direction" in task:
        direction = task["direction"]
        if not isinstance(direction, str) or not direction:
            raise _no_text(direction, "direction", at)
        return word, direction
    if len(task) == 4 and "x" in task and "y" in task and "z" in task:
        return word, (
            _coordinate(task, "x", at),
            _coordinate(task, "y", at),
            _coordinate(task, "z", at),
        )
    raise _fault(at, f"{SHAPES}, not one with {shown(list(task))}")


def _no_text(value: Any, key: str, at: int) -> IllegalMove:
    return _fault(at, f'"{key}" is a text that is not empty, not {shown(value)}')


def _coordinate(task: dict[str, Any], key: str, at: int) -> int:
    value = task[key]
    number = float(value) if isinstance(value, str) and A_NUMBER.fullmatch(value) else value
    try:
        return whole_within(number, f'"{key}"', 0, FARTHEST)
    except IllegalMove as fault:
        raise _fault(at, str(fault)) from None


def _task(wish: Wish, at: int) -> Task:
    word, what = wish
    if word == "MOVE":
        if not isinstance(what, str):
            raise _fault(at, 'MOVE needs a "direction"')
        return what if what in STEPS else _direction(what, at)
    if word in BOMB_WORDS:
        if not isinstance(what, tuple):
            raise _fault(at, f'{word} needs "x", "y" and "z"')
        return what
    return None


def _direction(text: str, at: int) -> str:
    axis = AXES.get(text[1:2])
    if axis is None:
        raise _fault(at, f'"direction" is a sign and an axis such as "+X", not {shown(text)}')
    return ("+" if text[0] == "+" else "-") + axis


def _fault(at: int, words: str) -> IllegalMove:
    return IllegalMove(f"task at position {at}: {words}")


Start = tuple[Annotated[int, Meta(ge=0)], Annotated[int, Meta(ge=0)], Annotated[int, Meta(ge=0)]]
Happening = dict[str, Any]
"""What a seat did, or why it lost, ready for the view. The view shows a copy."""
Row = tuple[Task, ...]
"""The tasks of one tick, one per seat."""
Loss = tuple[Seat, int, str | None]
"""The seat, the tick and the reason; the reason is None if the match put the seat out."""

OUTSIDE = "Player moved out of bounds"
BOMBED = "Player stepped on a BOMB"
CRASHED = "Player crashed to other player"
FALLS: dict[str | None, str] = {
    OUTSIDE: "moved out of the cube", BOMBED: "stepped on a bomb", CRASHED: "crashed into another "
                                                                            "bot",
}  # fmt: skip
TOO_MANY = "Too many players for the selected game area size"
NO_STARTS = "There are no player start positions for all players in the game"


class Battlecube(Game[Plan], frozen=True):
    name: ClassVar[str] = "battlecube"
    players: ClassVar[range] = range(1, 65)
    counts_departures: ClassVar[bool] = True

    edge: Annotated[int, Meta(description="cells along each edge of the cube", ge=1, le=1000)] = 8
    ticks: Annotated[
        int, Meta(description="the number of ticks after which the game ends", ge=1, le=1_000_000)
    ] = 1000
    tasks: Annotated[
        int,
        Meta(description="the number of ticks that a bot plans with each answer", ge=1, le=1000),
    ] = 1
    starts: Annotated[
        tuple[Start, ...],
        Meta(description="the first cell of each seat, [x, y, z]; none: drawn by lot"),
    ] = ()

    tick: int = 0
    seats: tuple[Seat, ...] = ()
    """The living seats, in ascending order."""
    cells: tuple[Cell, ...] = ()
    """The cell of each living seat, in the same order."""
    bombs: tuple[Cell, ...] = ()
    """In the order in which they were placed."""
    mined: frozenset[Cell] = frozenset()
    """The cells of `bombs` as a set, for fast lookup."""
    coming: tuple[Row, ...] = ()
    """The remaining ticks of the round. No view shows them."""
    happened: tuple[Happening, ...] = ()
    lost: tuple[Loss, ...] = ()
    leaving: tuple[tuple[Seat, Cell], ...] = ()
    """Seats put out since the last tick. Each blocks its cell for one more tick."""
    amended: tuple[int, int, int] | None = None
    """Edge, ticks and tasks from the next round on, if they were changed."""
    over: bool = False

    def check(self, players: int) -> None:
        if players > self.edge**3:
            raise BadOption(
                f"{TOO_MANY}: edge {self.edge} has room for {self.edge**3}, not {players}"
            )
        if self.starts:
            self._check_starts(players)

    def start(self, players: int, chance: Chance) -> "Battlecube":
        self.check(players)
        cells = self.starts or _drawn(players, self.edge, chance)
        return replace(self, seats=tuple(range(players)), cells=cells)

    def _check_starts(self, players: int) -> None:
        if len(self.starts) != players:
            raise BadOption(f"{NO_STARTS}: starts has {len(self.starts)}, not {players}")
        for number, start in enumerate(self.starts):
            if max(start) >= self.edge:
                raise BadOption(f"starts: {list(start)} is outside a cube of edge {self.edge}")
            if start in self.starts[:number]:
                raise BadOption(f"starts: {list(start)} is given twice")

    @property
    def to_move(self) -> tuple[Seat, ...]:
        """Return the living seats at the first tick of a round; the other ticks are already
        planned.
        """
        return () if self.coming or self.over else self.seats

    @property
    def secret(self) -> bool:
        return self.tasks > 1

    def parse(self, seat: Seat, raw: Raw) -> Plan:
        return plan_in(raw, self.tasks)

    # One tick.

    def play(self, moves: Mapping[Seat, Plan], chance: Chance) -> "Battlecube":
        rows = self.coming or self._round(moves)
        cells, placed, happened = self._act(rows[0])
        bombs, mined = (
            (self.bombs + placed, self.mined.union(placed)) if placed else (self.bombs, self.mined)
        )
        crowd = cells + [cell for _, cell in self.leaving]
        taken = set(crowd)
        if len(taken) < len(crowd) or not mined.isdisjoint(taken):
            happened += self._clash(cells, mined, outside=_fallen(happened))
            burst = mined & taken
            bombs, mined = tuple(bomb for bomb in bombs if bomb not in burst), mined - burst
        after = self._after(cells, bombs, mined, rows[1:], happened)
        return (
            after._amend_now(chance)
            if after.amended and not after.coming and not after.over
            else after
        )

    def _round(self, moves: Mapping[Seat, Plan]) -> tuple[Row, ...]:
        """Return the plans tick by tick; a seat without a plan does nothing."""
        idle: Plan = (None,) * self.tasks
        return tuple(
            zip(
                *[moves.get(seat, idle) for seat in range(len(self.seats) + len(self.lost))],
                strict=True,
            )
        )

    def _act(self, row: Row) -> tuple[list[Cell], tuple[Cell, ...], list[Happening]]:
        """Carry out one task per seat. Return the new cells, the new bombs and the events."""
        edge, mined, happened = self.edge, self.mined, list[Happening]()
        cells, placed = list(self.cells), dict[Cell, None]()
        for at, seat in enumerate(self.seats):
            task, (x, y, z) = row[seat], cells[at]
            if task is None:
                happened.append({"seat": seat, "did": "nothing", "x": x, "y": y, "z": z})
            elif isinstance(task, str):
                right, down, back = STEPS[task]
                cells[at] = x, y, z = x + right, y + down, z + back
                happened.append(
                    {"seat": seat, "did": "move", "direction": task, "x": x, "y": y, "z": z}
                )
                if not (0 <= x < edge and 0 <= y < edge and 0 <= z < edge):
                    happened.append({"seat": seat, "lost": OUTSIDE})
            else:
                x, y, z = task
                happened.append({"seat": seat, "did": "bomb", "x": x, "y": y, "z": z})
                if task not in mined:
                    placed[task] = None
        return cells, tuple(placed), happened

    def _clash(
        self, cells: list[Cell], mined: frozenset[Cell], outside: Collection[Seat]
    ) -> list[Happening]:
        """Return the seats that lose: they share a cell with a bomb or another seat.

        Those in `outside` have already lost.
        """
        crowds: dict[Cell, list[Seat]] = {}
        for seat, cell in sorted((*zip(self.seats, cells, strict=True), *self.leaving)):
            crowds.setdefault(cell, []).append(seat)
        causes = {
            cell: BOMBED if cell in mined else CRASHED
            for cell in crowds
            if cell in mined or len(crowds[cell]) > 1
        }
        return [
            {"seat": seat, "lost": cause}
            for cell, cause in causes.items()
            for seat in crowds[cell]
            if seat in self.seats and seat not in outside
        ]

    def _after(
        self,
        cells: list[Cell],
        bombs: tuple[Cell, ...],
        mined: frozenset[Cell],
        coming: tuple[Row, ...],
        events: list[Happening],
    ) -> "Battlecube":
        seats, lost, tick = self.seats, self.lost, self.tick + 1
        if fallen := _fallen(events):
            cells = [cell for seat, cell in zip(seats, cells, strict=True) if seat not in fallen]
            seats = tuple(seat for seat in seats if seat not in fallen)
            lost += tuple((seat, self.tick, cause) for seat, cause in fallen.items())
        over = len(seats) <= 1 or tick >= self.ticks
        return Battlecube(
            self.edge, self.ticks, self.tasks, self.starts, tick, seats, tuple(cells), bombs, mined,
            coming, tuple(events), lost, (), self.amended, over,
        )  # fmt: skip

    # Changes between ticks.

    def without(self, seat: Seat) -> "Battlecube":
        """Put a seat out: it loses in the next tick and blocks its cell until that tick is over."""
        if self.over or seat not in self.seats:
            return self
        at = self.seats.index(seat)
        return replace(
            self,
            seats=self.seats[:at] + self.seats[at + 1 :],
            cells=self.cells[:at] + self.cells[at + 1 :],
            leaving=(*self.leaving, (seat, self.cells[at])),
            lost=(*self.lost, (seat, self.tick, None)),
        )

    def amend(self, options: Mapping[str, Any]) -> "Battlecube":
        """Change edge, ticks and tasks from the next round on; `starts` no longer matters."""
        edge, ticks, tasks = self.amended or (self.edge, self.ticks, self.tasks)
        wanted = with_options(Battlecube(edge, ticks, tasks), options)
        if len(self.seats) > wanted.edge**3:
            raise BadOption(
                f"{TOO_MANY}: edge {wanted.edge} has room for {wanted.edge**3}, not "
                f"{len(self.seats)}"
            )
        return replace(self, amended=(wanted.edge, wanted.ticks, wanted.tasks))

    def _amend_now(self, chance: Chance) -> "Battlecube":
        """Apply the changed options.

        A new edge removes all bombs and puts every seat on a random cell.
        """
        edge, ticks, tasks = self.amended or (self.edge, self.ticks, self.tasks)
        after = replace(
            self, edge=edge, ticks=ticks, tasks=tasks, amended=None, over=self.tick >= ticks
        )
        if edge == self.edge:
            return after
        return replace(
            after, cells=_drawn(len(self.seats), edge, chance), bombs=(), mined=frozenset()
        )

    # Views and scores.

    @property
    def scores(self) -> tuple[float, ...]:
        """Return the number of ticks that each seat survived."""
        lost = {seat: tick for seat, tick, _ in self.lost}
        return tuple(lost.get(seat, self.tick) for seat in range(len(self.seats) + len(lost)))

    def verdict(self, names: Sequence[str]) -> str:
        ends = [
            f"{names[seat]} {FALLS.get(reason, 'left')} in tick {tick}"
            for seat, tick, reason in self.lost
        ]
        if self.seats:
            ends.append(f"{' and '.join(names[seat] for seat in self.seats)} survived")
        return "; ".join(ends)

    def death_words(self, seat: Seat) -> str:
        fates = {one: FALLS.get(reason, "left") for one, _, reason in self.lost}
        return fates.get(seat, "")

    def view(self, seat: Seat | None) -> View:
        return {
            "you": seat,
            "toMove": self.to_move,
            "edge": self.edge,
            "tasks": self.tasks,
            "tick": self.tick,
            "ticks": self.ticks,
            "players": [
                {"seat": other, "x": x, "y": y, "z": z}
                for other, (x, y, z) in zip(self.seats, self.cells, strict=True)
            ],
            "bombs": self.bombs,
            "happened": list(map(dict.copy, self.happened)),
            "lost": [
                {"seat": other, "tick": tick, "cause": cause} for other, tick, cause in self.lost
            ],
        }

    @property
    def lists_all_moves(self) -> bool:
        return self.tasks == 1

    def moves(self, seat: Seat) -> Iterator[Raw]:
        """List every answer of one task; longer plans are too many to list."""
        if self.tasks > 1:
            return
        for direction in STEPS:
            yield [{"task": "MOVE", "direction": direction}]
        yield [{"task": "NOOP"}]
        for x, y, z in product(range(self.edge), repeat=3):
            yield [{"task": "BOMB", "x": x, "y": y, "z": z}]


def _drawn(count: int, edge: int, chance: Chance) -> tuple[Cell, ...]:
    """Return `count` different random cells."""
    cells: dict[Cell, None] = {}
    while len(cells) < count:
        cells[chance.below(edge), chance.below(edge), chance.below(edge)] = None
    return tuple(cells)


def _fallen(happened: list[Happening]) -> dict[Seat, str]:
    """Return the seats that lost and the reasons, in the order of losing."""
    return {happening["seat"]: happening["lost"] for happening in happened if "lost" in happening}
