"""The stalker: a house bot for battlecube that weighs every step and every throw by what the others are likely to do."""

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from botdrome.bots.battlecube import bomb_on, distance, exits, own_cell, refuges_of, ways_from
from botdrome.bots.battlecube_rivals import Cube, Kind, Odd, aimless, careful, chaser, cube_of, guessed, sniper, statue
from botdrome.games.battlecube_answer import Cell
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, Seat, View

MOST = 4
"""Of many others only the nearest are thought about; all of them are kept away from."""
ALIKE = 0.002
"""Options that differ by less are equally good."""
WAYS = 6
"""Out of a cell that is neither beside a wall nor beside a bomb."""
OUTLOOK: Mapping[Kind, tuple[float, float]] = {
    careful: (0.79, 0.03),
    aimless: (0.97, 0.01),
    statue: (0.9, 0.0),
    sniper: (0.1, 0.0),
    chaser: (0.9, 0.01),
}
"""The chance to outlive each kind from a cell with all ways out, and what each way less takes off."""
CLOSE = 0.03
"""What it takes off to be so close to an aimless one that it may come beside."""
TIE = 0.2
"""What it is worth to fall together with another: a sniper can only be taken along."""


class Prospect(NamedTuple):
    """What standing on a cell promises against one rival."""

    chance: float
    """To outlive it."""
    more: dict[Cell, float]
    """By so much a bomb on a cell raises that."""


def stalker(view: View, chance: Chance) -> Raw:
    """Does what best outlives all others; what it plans for later ticks it does where nobody looks for it."""
    cube, you = cube_of(view), view["you"]
    own = own_cell(view)
    others = sorted((seat for seat in cube.cells if seat != you), key=lambda seat: distance(cube.cells[seat], own))
    near = others[:MOST]
    if view["tasks"] > 1:
        return _plan(cube, own, [cube.cells[seat] for seat in near], view["tasks"], chance)
    close = cube._replace(cells={seat: cube.cells[seat] for seat in (you, *near)})
    rivals = [Rival(close, seat, you) for seat in near]
    worth = [
        pair for way, to in _clear(cube, own, [cube.cells[seat] for seat in others]) for pair in _options(cube, way, to, rivals)
    ]
    best = max(value for _, value in worth)
    return [chance.choice([task for task, value in worth if value > best - ALIKE])]


def _clear(cube: Cube, own: Cell, others: list[Cell]) -> list[tuple[str, Cell]]:
    """The steps ("": none) to the cells that nobody else can step to; where there are none, that the fewest can step to."""
    options = [("", own), *((way, to) for way, to in ways_from(own, cube.edge) if to not in cube.bombs)]
    reached = [sum(distance(to, other) <= 1 for other in others) for _, to in options]
    return [option for option, reach in zip(options, reached, strict=True) if reach == min(reached)]


def _options(cube: Cube, way: str, to: Cell, rivals: list["Rival"]) -> Iterator[tuple[Raw, float]]:
    """What may be done by going that way, with the chance to outlive all; who stays may bomb where the others may be."""
    ways = len(exits(to, cube.edge, cube.bombs))
    prospects = [rival.prospect(to, ways) for rival in rivals]
    yield {"task": "MOVE", "direction": way} if way else {"task": "NOOP"}, prod(prospect.chance for prospect in prospects)
    if not way:
        for aim in {aim: None for prospect in prospects for aim in prospect.more}:
            yield bomb_on(aim), prod(prospect.chance + prospect.more.get(aim, 0.0) for prospect in prospects)


class Rival:
    """One of the others, and what it will probably do."""

    def __init__(self, cube: Cube, seat: Seat, you: Seat) -> None:
        self.cell = cube.cells[seat]
        self.kinds = [(kind, *_summed(kind(cube, seat, you), weight)) for kind, weight in guessed(cube, seat, you).items()]

    def prospect(self, cell: Cell, ways: int) -> Prospect:
        chance, more = 0.0, dict[Cell, float]()
        for kind, ends, hits in self.kinds:
            for to, odds in ends.items():
                if to != cell:
                    falls = hits.get(cell, 0.0) if to == self.cell else 0.0  # who throws stays
                    then = _outlook(kind, distance(cell, to), ways)
                    chance += (odds - falls) * then
                    more[to] = more.get(to, 0.0) + (odds - falls) * (1.0 - then) + falls * TIE
        return Prospect(chance, more)


def _summed(doings: Iterable[Odd], weight: float) -> tuple[dict[Cell, float], dict[Cell, float]]:
    """The odds of each cell to be stood on, and of each to be bombed."""
    ends, hits = dict[Cell, float](), dict[Cell, float]()
    for odds, to, bomb in doings:
        ends[to] = ends.get(to, 0.0) + weight * odds
        if bomb is not None:
            hits[bomb] = hits.get(bomb, 0.0) + weight * odds
    return ends, hits


def _outlook(kind: Kind, apart: int, ways: int) -> float:
    best, less = OUTLOOK[kind]
    return best - less * (WAYS - ways) - (CLOSE if kind is aimless and apart <= 2 else 0.0)


# Several ticks at once.


def _plan(cube: Cube, own: Cell, others: list[Cell], tasks: int, chance: Chance) -> Raw:
    """First away from where one was seen, then bombs on and around the cells of the others, the likeliest first."""
    aims = [cell for other in others for cell in (other, *exits(other, cube.edge, cube.bombs))]
    aims.sort(key=lambda aim: aim not in others)
    cell, bombs, plan = own, set(cube.bombs), list[Raw]()
    for ahead in range(1, tasks + 1):
        aim = next((aim for aim in aims if aim not in bombs and distance(aim, cell) > 1), None)
        if aim and distance(cell, own) > 1:
            bombs.add(aim)
            plan.append(bomb_on(aim))
        else:
            direction, cell = _away(cell, own, cube.edge, others, bombs, ahead, chance)
            plan.append({"task": "MOVE", "direction": direction} if direction else {"task": "NOOP"})
    return plan


def _away(cell: Cell, own: Cell, edge: int, others: list[Cell], bombs: set[Cell], ahead: int, chance: Chance) -> tuple[str, Cell]:
    """A step to a refuge, if possible to one that is not beside the cell where one was seen."""
    refuges = list(refuges_of(cell, edge, others, bombs, ahead).items())
    farthest = max(distance(to, own) for _, to in refuges)
    return chance.choice([refuge for refuge in refuges if distance(refuge[1], own) == farthest])
