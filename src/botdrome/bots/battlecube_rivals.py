"""What the others in a battlecube will do next: kinds of players, the odds of each action, and who is of which kind."""

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from botdrome.bots.battlecube import distance, exits, refuges_of, ways_from
from botdrome.games.battlecube_answer import STEPS, Cell
from botdrome.games.game import Seat, View

NEAR = 2
"""A bomb so near to a player was meant for it: it may have made a step since."""
ASTRAY = 0.05
"""How likely an aimed bomb lands elsewhere, and one that is not aimed near somebody."""
STRAY = 0.04
"""How likely in each tick a bomb lands near you that was not meant for you."""
DOUBT = 2
"""So many ticks without a bomb count as seen before the first."""
LONG = 7
"""More ticks without one say nothing more."""
NOTHING: View = {"did": "nothing"}


class Cube(NamedTuple):
    edge: int
    bombs: set[Cell]
    cells: dict[Seat, Cell]
    """Where the players stand."""
    last: dict[Seat, View]
    """What they did in the last tick."""
    tick: int
    is_duel: bool
    """Whether there have never been more than two."""


class Odd(NamedTuple):
    odds: float
    cell: Cell
    """Where the player will stand."""
    bomb: Cell | None = None


Signs = tuple[float, float]
"""How well what was seen fits each kind."""
Kind = Callable[[Cube, Seat, Seat], Iterator[Odd]]
"""What the first seat will do, as far as it concerns the second."""


def cube_of(view: View) -> Cube:
    cells = {player["seat"]: (player["x"], player["y"], player["z"]) for player in view["players"]}
    bombs = {(x, y, z) for x, y, z in view["bombs"]}
    is_duel = len(cells) + len(view["lost"]) == 2
    last = {doing["seat"]: doing for doing in view["happened"] if "did" in doing}
    return Cube(view["edge"], bombs, cells, last, view["tick"], is_duel)


def careful(cube: Cube, seat: Seat, you: Seat) -> Iterator[Odd]:
    """Keeps out of everybody's reach; where it can stay, it may bomb the one with the fewest ways out, or one of these."""
    cell = cube.cells[seat]
    others = [other for of, other in cube.cells.items() if of != seat]
    refuges = refuges_of(cell, cube.edge, others, cube.bombs, 1)
    throws = 1 / (len(others) + 1) if "" in refuges else 0.0
    yield from (Odd((1 - throws) / len(refuges), to) for to in refuges.values())
    if throws:
        own = cube.cells[you]
        fewest = [other for other in others if len(exits(other, *cube[:2])) <= len(exits(own, *cube[:2]))]
        aims = [to for to in (own, own, *exits(own, *cube[:2])) if distance(cell, to) > 1]
        yield from (Odd(throws / len(fewest) / len(aims), cell, to) for to in aims)
        yield Odd(throws * (1 - bool(aims) / len(fewest)), cell)


def aimless(cube: Cube, seat: Seat, _you: Seat) -> Iterator[Odd]:
    """Does anything that stays in the cube; its bombs are everywhere and so nowhere."""
    cell = cube.cells[seat]
    ways = ways_from(cell, cube.edge)
    yield from (Odd(1 / (len(ways) + 2), to) for _, to in ways)
    yield Odd(2 / (len(ways) + 2), cell)


KINDS: Mapping[Kind, float] = {careful: 0.7, aimless: 0.3}
"""And how many of them there are, as long as nothing is known."""


def guessed(cube: Cube, seat: Seat, you: Seat) -> dict[Kind, float]:
    """How likely the seat is of each kind, after what it did in the last tick and, in a duel, by the bombs that lie."""
    signs = [_doing_signs(cube, seat)]
    if cube.is_duel:
        signs.append(_bomb_signs(cube, seat, you))
    weights = {kind: prod((prior, *of)) for (kind, prior), *of in zip(KINDS.items(), *signs, strict=True)}
    whole = sum(weights.values())
    return {kind: weight / whole for kind, weight in weights.items()}


def _aimed(cube: Cube, seat: Seat) -> bool | None:
    """Whether the bomb that the seat threw in the last tick was meant for somebody; None: it threw none."""
    doing = cube.last.get(seat, NOTHING)
    if doing["did"] != "bomb":
        return None
    at = doing["x"], doing["y"], doing["z"]
    return any(distance(at, cell) <= NEAR for of, cell in cube.cells.items() if of != seat)


def _doing_signs(cube: Cube, seat: Seat) -> Signs:
    aimed = _aimed(cube, seat)
    return (1.0, 1.0) if aimed is None else (1.0, ASTRAY) if aimed else (ASTRAY, 1.0)


def _bomb_signs(cube: Cube, seat: Seat, you: Seat) -> Signs:
    """Who throws at you leaves bombs near you; the longer there are none, the less it means you."""
    cell, own = cube.cells[seat], cube.cells[you]
    if _aimed(cube, seat) or any(distance(bomb, own) < min(2 * NEAR, distance(bomb, cell)) for bomb in cube.bombs):
        return 1.0, min(1.0, STRAY * cube.tick)
    return 0.5 ** min(cube.tick + DOUBT, LONG), 1.0


def came_nearer(cube: Cube, seat: Seat, you: Seat) -> bool:
    """Whether the seat made a step towards you in the last tick."""
    doing = cube.last.get(seat, NOTHING)
    if doing["did"] != "move":
        return False
    (x, y, z), (right, down, back) = cube.cells[seat], STEPS[doing["direction"]]
    return distance((x - right, y - down, z - back), cube.cells[you]) > distance((x, y, z), cube.cells[you])
