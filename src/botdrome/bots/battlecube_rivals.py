"""What the others in a battlecube will do next: kinds of players, the odds of each action, and who is of which kind."""

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from botdrome.bots.battlecube import distance, exits, refuges_of, ways_from
from botdrome.games.battlecube_answer import STEPS, Cell
from botdrome.games.game import Seat, View

NEAR = 2
"""A bomb so near to a player was meant for it: it may have made a step since."""
STRAY = 0.04
"""How likely in each tick a bomb lands near you that was not meant for you."""
LONG = 7
"""More ticks without one say nothing more."""
SLIGHT = 0.01
"""Kinds less likely than this are not thought about."""
UNSEEN: View = {"did": "unseen"}
"""The last doing of everybody in the first tick."""


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


Kind = Callable[[Cube, Seat, Seat], Iterator[Odd]]
"""What the first seat will do, as far as it concerns the second."""


def cube_of(view: View) -> Cube:
    cells = {player["seat"]: (player["x"], player["y"], player["z"]) for player in view["players"]}
    bombs = {(x, y, z) for x, y, z in view["bombs"]}
    is_duel = len(cells) + len(view["lost"]) == 2
    last = {doing["seat"]: doing for doing in view["happened"] if "did" in doing}
    return Cube(view["edge"], bombs, cells, last, view["tick"], is_duel)


# The kinds


def careful(cube: Cube, seat: Seat, you: Seat) -> Iterator[Odd]:
    """Keeps out of everybody's reach; where it can stay, it may bomb the one with the fewest ways out, or one of these."""
    cell, own = cube.cells[seat], cube.cells[you]
    others = [other for of, other in cube.cells.items() if of != seat]
    refuges = refuges_of(cell, cube.edge, others, cube.bombs, 1)
    throws = 1 / (len(others) + 1) if "" in refuges else 0.0
    yield from (Odd((1 - throws) / len(refuges), to) for to in refuges.values())
    if throws:
        yours = exits(own, cube.edge, cube.bombs)
        ways = [len(exits(other, cube.edge, cube.bombs)) for other in others]
        aims = [to for to in (own, own, *yours) if distance(cell, to) > 1] if len(yours) == min(ways) else []
        at_you = throws / ways.count(min(ways)) if aims else 0.0
        yield from (Odd(at_you / len(aims), cell, to) for to in aims)
        yield Odd(throws - at_you, cell)


def aimless(cube: Cube, seat: Seat, _you: Seat) -> Iterator[Odd]:
    """Does anything that stays in the cube; its bombs are everywhere and so nowhere."""
    cell = cube.cells[seat]
    ways = ways_from(cell, cube.edge)
    yield from (Odd(1 / (len(ways) + 2), to) for _, to in ways)
    yield Odd(2 / (len(ways) + 2), cell)


def statue(cube: Cube, seat: Seat, _you: Seat) -> Iterator[Odd]:
    """Stays where it is and harms nobody."""
    yield Odd(1.0, cube.cells[seat])


def sniper(cube: Cube, seat: Seat, you: Seat) -> Iterator[Odd]:
    """Stays where it is and bombs the cell of another in every tick."""
    at_you = 1 / (len(cube.cells) - 1)
    yield Odd(at_you, cube.cells[seat], cube.cells[you])
    yield Odd(1 - at_you, cube.cells[seat])


def chaser(cube: Cube, seat: Seat, you: Seat) -> Iterator[Odd]:
    """Steps towards you."""
    cell, own = cube.cells[seat], cube.cells[you]
    nearer = [to for to in exits(cell, cube.edge, cube.bombs) if distance(to, own) < distance(cell, own)] or [cell]
    yield from (Odd(1 / len(nearer), to) for to in nearer)


# Who is of which kind

Signs = tuple[float, float, float, float, float]
"""How well what was seen fits each kind, in the order of these."""

KINDS: Mapping[Kind, float] = {careful: 0.6, aimless: 0.19, statue: 0.08, sniper: 0.07, chaser: 0.06}
"""And how many of them there are, as long as nothing is known."""

DOINGS: Mapping[str, Signs] = {
    "unseen": (1.0, 1.0, 1.0, 1.0, 1.0),
    "move": (0.35, 0.4, 0.001, 0.001, 0.05),
    "nearer": (0.25, 0.35, 0.001, 0.001, 0.9),
    "nothing": (0.08, 0.12, 0.9, 0.02, 0.02),
    "hit": (0.1, 0.002, 0.002, 0.9, 0.002),
    "aimed": (0.3, 0.006, 0.01, 0.06, 0.002),
    "astray": (0.01, 0.12, 0.1, 0.01, 0.002),
}
"""How often each kind does what."""


def guessed(cube: Cube, seat: Seat, you: Seat) -> dict[Kind, float]:
    """How likely the seat is of each kind, after what it did in the last tick and, in a duel, by the bombs that lie."""
    doing = _doing(cube, seat, you)
    signs = [DOINGS[doing]]
    if cube.is_duel:
        signs.append(_bomb_signs(cube, seat, you, doing))
    weights = {kind: prod((prior, *of)) for (kind, prior), *of in zip(KINDS.items(), *signs, strict=True)}
    whole = sum(weights.values())
    return {kind: weight / whole for kind, weight in weights.items() if weight > SLIGHT * whole}


def _doing(cube: Cube, seat: Seat, you: Seat) -> str:
    """What the seat did in the last tick. A bomb is a hit on a cell where another stood, aimed near another, or astray."""
    doing = cube.last.get(seat, UNSEEN)
    if doing["did"] == "move":
        own = _before(cube, you)
        return "nearer" if distance(cube.cells[seat], own) < distance(_before(cube, seat), own) else "move"
    if doing["did"] != "bomb":
        return str(doing["did"])
    at = doing["x"], doing["y"], doing["z"]
    others = [other for other in cube.cells if other != seat]
    if any(at == _before(cube, other) for other in others):
        return "hit"
    return "aimed" if any(distance(at, cube.cells[other]) <= NEAR for other in others) else "astray"


def _before(cube: Cube, seat: Seat) -> Cell:
    """Where the seat stood before the last tick."""
    doing, (x, y, z) = cube.last.get(seat, UNSEEN), cube.cells[seat]
    right, down, back = STEPS[doing["direction"]] if doing["did"] == "move" else (0, 0, 0)
    return x - right, y - down, z - back


def _bomb_signs(cube: Cube, seat: Seat, you: Seat, doing: str) -> Signs:
    """Who throws at you leaves bombs near you; the longer there are none, the less it means you."""
    cell, own = cube.cells[seat], cube.cells[you]
    if doing in ("hit", "aimed") or any(distance(bomb, own) < min(2 * NEAR, distance(bomb, cell)) for bomb in cube.bombs):
        return 1.0, min(1.0, STRAY * cube.tick), 1.0, 1.0, 1.0
    thrower = 0.5 ** min(cube.tick, LONG)
    return thrower, 1.0, 1.0, thrower, 1.0
