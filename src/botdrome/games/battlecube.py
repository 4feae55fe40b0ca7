"""Battlecube: bots in a cube of cells step and drop bombs; the last bot standing wins."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from botdrome.games.battlecube_answer import STEPS, Cell, Plan, Task, plan_in
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, Raw, Seat, View
from botdrome.games.options import with_options

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
    OUTSIDE: "moved out of the cube", BOMBED: "stepped on a bomb", CRASHED: "crashed into another bot",
}  # fmt: skip
TOO_MANY = "Too many players for the selected game area size"
NO_STARTS = "There are no player start positions for all players in the game"


class Battlecube(Game[Plan], frozen=True):
    name: ClassVar[str] = "battlecube"
    players: ClassVar[range] = range(1, 65)
    counts_departures: ClassVar[bool] = True

    edge: Annotated[int, Meta(description="cells along each edge of the cube", ge=1, le=1000)] = 8
    ticks: Annotated[int, Meta(description="the number of ticks after which the game ends", ge=1, le=1_000_000)] = 1000
    tasks: Annotated[int, Meta(description="the number of ticks that a bot plans with each answer", ge=1, le=1000)] = 1
    starts: Annotated[tuple[Start, ...], Meta(description="the first cell of each seat, [x, y, z]; none: drawn by lot")] = ()

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
            raise BadOption(f"{TOO_MANY}: edge {self.edge} has room for {self.edge**3}, not {players}")
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
        """Return the living seats at the first tick of a round; the other ticks are already planned."""
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
        bombs, mined = (self.bombs + placed, self.mined.union(placed)) if placed else (self.bombs, self.mined)
        crowd = cells + [cell for _, cell in self.leaving]
        taken = set(crowd)
        if len(taken) < len(crowd) or not mined.isdisjoint(taken):
            happened += self._clash(cells, mined, outside=_fallen(happened))
            burst = mined & taken
            bombs, mined = tuple(bomb for bomb in bombs if bomb not in burst), mined - burst
        after = self._after(cells, bombs, mined, rows[1:], happened)
        return after._amend_now(chance) if after.amended and not after.coming and not after.over else after

    def _round(self, moves: Mapping[Seat, Plan]) -> tuple[Row, ...]:
        """Return the plans tick by tick; a seat without a plan does nothing."""
        idle: Plan = (None,) * self.tasks
        return tuple(zip(*[moves.get(seat, idle) for seat in range(len(self.seats) + len(self.lost))], strict=True))

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
                happened.append({"seat": seat, "did": "move", "direction": task, "x": x, "y": y, "z": z})
                if not (0 <= x < edge and 0 <= y < edge and 0 <= z < edge):
                    happened.append({"seat": seat, "lost": OUTSIDE})
            else:
                x, y, z = task
                happened.append({"seat": seat, "did": "bomb", "x": x, "y": y, "z": z})
                if task not in mined:
                    placed[task] = None
        return cells, tuple(placed), happened

    def _clash(self, cells: list[Cell], mined: frozenset[Cell], outside: Collection[Seat]) -> list[Happening]:
        """Return the seats that lose: they share a cell with a bomb or another seat. Those in `outside` have already lost."""
        crowds: dict[Cell, list[Seat]] = {}
        for seat, cell in sorted((*zip(self.seats, cells, strict=True), *self.leaving)):
            crowds.setdefault(cell, []).append(seat)
        causes = {cell: BOMBED if cell in mined else CRASHED for cell in crowds if cell in mined or len(crowds[cell]) > 1}
        return [
            {"seat": seat, "lost": cause}
            for cell, cause in causes.items()
            for seat in crowds[cell]
            if seat in self.seats and seat not in outside
        ]

    def _after(
        self, cells: list[Cell], bombs: tuple[Cell, ...], mined: frozenset[Cell], coming: tuple[Row, ...], events: list[Happening]
    ) -> "Battlecube":
        seats, lost, tick = self.seats, self.lost, self.tick + 1
        if fallen := _fallen(events):
            cells = [cell for seat, cell in zip(seats, cells, strict=True) if seat not in fallen]
            seats = tuple(seat for seat in seats if seat not in fallen)
            lost += tuple((seat, self.tick, cause) for seat, cause in fallen.items())
        over = len(seats) <= 1 or tick >= self.ticks
        return Battlecube(
            self.edge, self.ticks, self.tasks, self.starts,
            tick, seats, tuple(cells), bombs, mined, coming, tuple(events), lost, (), self.amended, over,
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
            raise BadOption(f"{TOO_MANY}: edge {wanted.edge} has room for {wanted.edge**3}, not {len(self.seats)}")
        return replace(self, amended=(wanted.edge, wanted.ticks, wanted.tasks))

    def _amend_now(self, chance: Chance) -> "Battlecube":
        """Apply the changed options. A new edge removes all bombs and puts every seat on a random cell."""
        edge, ticks, tasks = self.amended or (self.edge, self.ticks, self.tasks)
        after = replace(self, edge=edge, ticks=ticks, tasks=tasks, amended=None, over=self.tick >= ticks)
        if edge == self.edge:
            return after
        return replace(after, cells=_drawn(len(self.seats), edge, chance), bombs=(), mined=frozenset())

    # Views and scores.

    @property
    def scores(self) -> tuple[float, ...]:
        """Return the number of ticks that each seat survived."""
        lost = {seat: tick for seat, tick, _ in self.lost}
        return tuple(lost.get(seat, self.tick) for seat in range(len(self.seats) + len(lost)))

    def verdict(self, names: Sequence[str]) -> str:
        ends = [f"{names[seat]} {FALLS.get(reason, 'left')} in tick {tick}" for seat, tick, reason in self.lost]
        if self.seats:
            ends.append(f"{' and '.join(names[seat] for seat in self.seats)} survived")
        return "; ".join(ends)

    def view(self, seat: Seat | None) -> View:
        return {
            "you": seat,
            "toMove": self.to_move,
            "edge": self.edge,
            "tasks": self.tasks,
            "tick": self.tick,
            "ticks": self.ticks,
            "players": [{"seat": other, "x": x, "y": y, "z": z} for other, (x, y, z) in zip(self.seats, self.cells, strict=True)],
            "bombs": self.bombs,
            "happened": list(map(dict.copy, self.happened)),
            "lost": [{"seat": other, "tick": tick, "cause": cause} for other, tick, cause in self.lost],
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
