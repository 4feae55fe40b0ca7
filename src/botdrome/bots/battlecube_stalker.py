"""The stalker: a house bot for battlecube that weighs every step and every throw by what the others are likely to do."""

from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple

from botdrome.bots.battlecube import bomb_on, distance, exits, own_cell, refuges_of, ways_from
from botdrome.bots.battlecube_rivals import Cube, Kind, Odd, aimless, came_nearer, careful, cube_of, guessed
from botdrome.games.battlecube_answer import Cell
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, Seat, View

MOST = 4
"""Of many others only the nearest are thought about."""
ALIKE = 0.002
"""Options that differ by less are equally good."""
HUNT = ((0.97, 0.0), (0.97, 0.0), (0.975, 0.0), (0.914, 0.013), (0.861, 0.018), (0.809, 0.022), (0.789, 0.03), (0.786, 0.035))
"""By the distance to a careful one: the chance to outlive it with all six ways out, and what each way less takes off."""
SURE = 0.7
"""Whoever is careful with this chance is taken for it."""
EASY = (0.8, 0.85, 0.94, 0.97)
"""By the distance to an aimless one: the chance to outlive it."""


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
    near = sorted((seat for seat in cube.cells if seat != you), key=lambda seat: distance(cube.cells[seat], own))[:MOST]
    if view["tasks"] > 1:
        return _plan(cube, own, [cube.cells[seat] for seat in near], view["tasks"], chance)
    close = cube._replace(cells={seat: cube.cells[seat] for seat in (you, *near)})
    rivals = [Rival(close, seat, you) for seat in near]
    worth = [(value, task) for task, value in (*_steps(close, own, rivals), *_throws(close, own, rivals))]
    best = max(value for value, _ in worth)
    return [chance.choice([task for value, task in worth if value > best - ALIKE])]


class Rival:
    """One of the others, and what it will probably do."""

    def __init__(self, cube: Cube, seat: Seat, you: Seat) -> None:
        kinds = guessed(cube, seat, you)
        self.cell = cube.cells[seat]
        self.is_careful = cube.is_duel and kinds[careful] > SURE and not came_nearer(cube, seat, you)
        self.kinds = [(kind, *_summed(kind(cube, seat, you), weight)) for kind, weight in kinds.items()]

    def prospect(self, cell: Cell, ways: int) -> Prospect:
        chance, more = 0.0, dict[Cell, float]()
        for kind, ends, hits in self.kinds:
            for to, odds in ends.items():
                if to != cell:
                    lives = odds - hits.get(cell, 0.0) if to == self.cell else odds  # who throws stays
                    then = _outlook(kind, distance(cell, to), ways)
                    chance += lives * then
                    more[to] = more.get(to, 0.0) + lives * (1.0 - then)
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
    if kind is aimless:
        return EASY[min(apart, len(EASY) - 1)]
    best, less = HUNT[min(apart, len(HUNT) - 1)]
    return best - less * (6 - ways)


def _steps(cube: Cube, own: Cell, rivals: list[Rival]) -> Iterator[tuple[Raw, float]]:
    """Never to where another may step, unless it is sure to keep away."""
    for direction, to in ways_from(own, cube.edge):
        if to not in cube.bombs and all(rival.is_careful or distance(to, rival.cell) > 1 for rival in rivals):
            ways = len(exits(to, cube.edge, cube.bombs))
            yield {"task": "MOVE", "direction": direction}, prod(rival.prospect(to, ways).chance for rival in rivals)


def _throws(cube: Cube, own: Cell, rivals: list[Rival]) -> Iterator[tuple[Raw, float]]:
    """Bombs on the cells where the others may be, which is never where one lives on; or none."""
    ways = len(exits(own, cube.edge, cube.bombs))
    prospects = [rival.prospect(own, ways) for rival in rivals]
    yield {"task": "NOOP"}, prod(prospect.chance for prospect in prospects)
    for aim in {aim: None for prospect in prospects for aim in prospect.more}:
        yield bomb_on(aim), prod(prospect.chance + prospect.more.get(aim, 0.0) for prospect in prospects)


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
