"""The stalker: a house bot for battlecube that rates every step and every throw by the opponents' likely actions."""

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from botdrome.bots.battlecube import bomb_on, distance, exits, own_cell, refuges_of, ways_from
from botdrome.bots.battlecube_rivals import Cube, Kind, Odd, aimless, careful, chaser, cube_of, guessed, sniper, statue
from botdrome.games.battlecube_answer import Cell
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, Seat, View

MOST = 4
"""The number of opponents that are predicted, nearest first. The bot keeps away from all of them."""
ALIKE = 0.002
"""Options whose values differ by less count as equal."""
WAYS = 6
"""The exits of a cell that is next to neither a wall nor a bomb."""
OUTLOOK: Mapping[Kind, tuple[float, float]] = {
    careful: (0.79, 0.03),
    aimless: (0.97, 0.01),
    statue: (0.9, 0.0),
    sniper: (0.1, 0.0),
    chaser: (0.9, 0.01),
}
"""The chance to outlive each kind from a cell with all exits, and the loss for each missing exit."""
CLOSE = 0.03
"""The loss for standing so close to an aimless player that it may come next to you."""
TIE = 0.2
"""The value of being eliminated together with another: a sniper can be beaten in no other way."""


class Prospect(NamedTuple):
    """The value of standing on a cell against one rival."""

    chance: float
    """The chance to outlive the rival."""
    more: dict[Cell, float]
    """How much a bomb on a cell raises that chance."""


def stalker(view: View, chance: Chance) -> Raw:
    """Choose the action with the best chance to outlive all others. Given several tasks, first leave the cell that others see."""
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
    """Return the steps ("": stay) to the cells that the fewest opponents can enter, ideally none."""
    options = [("", own), *((way, to) for way, to in ways_from(own, cube.edge) if to not in cube.bombs)]
    reached = [sum(distance(to, other) <= 1 for other in others) for _, to in options]
    return [option for option, reach in zip(options, reached, strict=True) if reach == min(reached)]


def _options(cube: Cube, way: str, to: Cell, rivals: list["Rival"]) -> Iterator[tuple[Raw, float]]:
    """Yield the tasks for this step, with the chance to outlive all. A bot that stays may bomb cells that others may enter."""
    ways = len(exits(to, cube.edge, cube.bombs))
    prospects = [rival.prospect(to, ways) for rival in rivals]
    yield {"task": "MOVE", "direction": way} if way else {"task": "NOOP"}, prod(prospect.chance for prospect in prospects)
    if not way:
        for aim in {aim: None for prospect in prospects for aim in prospect.more}:
            yield bomb_on(aim), prod(prospect.chance + prospect.more.get(aim, 0.0) for prospect in prospects)


class Rival:
    """One opponent, and its likely actions."""

    def __init__(self, cube: Cube, seat: Seat, you: Seat) -> None:
        self.cell = cube.cells[seat]
        self.kinds = [(kind, *_summed(kind(cube, seat, you), weight)) for kind, weight in guessed(cube, seat, you).items()]

    def prospect(self, cell: Cell, ways: int) -> Prospect:
        chance, more = 0.0, dict[Cell, float]()
        for kind, ends, hits in self.kinds:
            for to, odds in ends.items():
                if to != cell:
                    falls = hits.get(cell, 0.0) if to == self.cell else 0.0  # a player that throws stays on its cell
                    then = _outlook(kind, distance(cell, to), ways)
                    chance += (odds - falls) * then
                    more[to] = more.get(to, 0.0) + (odds - falls) * (1.0 - then) + falls * TIE
        return Prospect(chance, more)


def _summed(doings: Iterable[Odd], weight: float) -> tuple[dict[Cell, float], dict[Cell, float]]:
    """Return the odds that each cell is entered, and that each cell is bombed."""
    ends, hits = dict[Cell, float](), dict[Cell, float]()
    for odds, to, bomb in doings:
        ends[to] = ends.get(to, 0.0) + weight * odds
        if bomb is not None:
            hits[bomb] = hits.get(bomb, 0.0) + weight * odds
    return ends, hits


def _outlook(kind: Kind, apart: int, ways: int) -> float:
    best, less = OUTLOOK[kind]
    return best - less * (WAYS - ways) - (CLOSE if kind is aimless and apart <= 2 else 0.0)


# Plans of several ticks.


def _plan(cube: Cube, own: Cell, others: list[Cell], tasks: int, chance: Chance) -> Raw:
    """Step away from the cell that others have seen, then bomb the cells of the others and around them, the likeliest first."""
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
    """Return a step to a refuge, if possible to one that is not next to the cell that others have seen."""
    refuges = list(refuges_of(cell, edge, others, bombs, ahead).items())
    farthest = max(distance(to, own) for _, to in refuges)
    return chance.choice([refuge for refuge in refuges if distance(refuge[1], own) == farthest])
