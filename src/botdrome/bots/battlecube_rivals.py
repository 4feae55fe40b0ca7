"""Predict the opponents in battlecube: kinds of players, the odds of their actions, and the kind of each seat."""

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from botdrome.bots.battlecube import distance, exits, refuges_of, ways_from
from botdrome.games.battlecube_answer import STEPS, Cell
from botdrome.games.game import Seat, View

NEAR = 2
"""A bomb at most this far from a player was aimed at it: the player may have moved one step since."""
STRAY = 0.04
"""The chance in each tick that a bomb not aimed at you lands near you."""
LONG = 7
"""The number of ticks without a bomb after which more ticks add no information."""
SLIGHT = 0.01
"""Kinds less likely than this are ignored."""
UNSEEN: View = {"did": "unseen"}
"""The last action of every seat in the first tick."""


class Cube(NamedTuple):
    edge: int
    bombs: set[Cell]
    cells: dict[Seat, Cell]
    """The cells of the players."""
    last: dict[Seat, View]
    """The actions of the last tick."""
    tick: int
    is_duel: bool
    """Whether the game never had more than two players."""


class Odd(NamedTuple):
    odds: float
    cell: Cell
    """The cell that the player will stand on."""
    bomb: Cell | None = None


Kind = Callable[[Cube, Seat, Seat], Iterator[Odd]]
"""Predicts the actions of the first seat, as far as they concern the second."""


def cube_of(view: View) -> Cube:
    cells = {player["seat"]: (player["x"], player["y"], player["z"]) for player in view["players"]}
    bombs = {(x, y, z) for x, y, z in view["bombs"]}
    is_duel = len(cells) + len(view["lost"]) == 2
    last = {doing["seat"]: doing for doing in view["happened"] if "did" in doing}
    return Cube(view["edge"], bombs, cells, last, view["tick"], is_duel)


# The kinds of players.


def careful(cube: Cube, seat: Seat, you: Seat) -> Iterator[Odd]:
    """Stay out of others' reach; if it can stay, it may bomb the opponent with the fewest exits, or one of those exits."""
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
    """Do anything that stays in the cube. Its bombs land anywhere, so they are ignored."""
    cell = cube.cells[seat]
    ways = ways_from(cell, cube.edge)
    yield from (Odd(1 / (len(ways) + 2), to) for _, to in ways)
    yield Odd(2 / (len(ways) + 2), cell)


def statue(cube: Cube, seat: Seat, _you: Seat) -> Iterator[Odd]:
    """Never move and never throw."""
    yield Odd(1.0, cube.cells[seat])


def sniper(cube: Cube, seat: Seat, you: Seat) -> Iterator[Odd]:
    """Never move, and bomb an opponent's cell in every tick."""
    at_you = 1 / (len(cube.cells) - 1)
    yield Odd(at_you, cube.cells[seat], cube.cells[you])
    yield Odd(1 - at_you, cube.cells[seat])


def chaser(cube: Cube, seat: Seat, you: Seat) -> Iterator[Odd]:
    """Step towards you."""
    cell, own = cube.cells[seat], cube.cells[you]
    nearer = [to for to in exits(cell, cube.edge, cube.bombs) if distance(to, own) < distance(cell, own)] or [cell]
    yield from (Odd(1 / len(nearer), to) for to in nearer)


# The kind of each seat.

Signs = tuple[float, float, float, float, float]
"""How well an observation fits each kind, in the order of KINDS."""

KINDS: Mapping[Kind, float] = {careful: 0.6, aimless: 0.19, statue: 0.08, sniper: 0.07, chaser: 0.06}
"""The kinds, with their shares before anything is known."""

DOINGS: Mapping[str, Signs] = {
    "unseen": (1.0, 1.0, 1.0, 1.0, 1.0),
    "move": (0.35, 0.4, 0.001, 0.001, 0.05),
    "nearer": (0.25, 0.35, 0.001, 0.001, 0.9),
    "nothing": (0.08, 0.12, 0.9, 0.02, 0.02),
    "hit": (0.1, 0.002, 0.002, 0.9, 0.002),
    "aimed": (0.3, 0.006, 0.01, 0.06, 0.002),
    "astray": (0.01, 0.12, 0.1, 0.01, 0.002),
}
"""How often each kind performs each action."""


def guessed(cube: Cube, seat: Seat, you: Seat) -> dict[Kind, float]:
    """Return the probability of each kind, given the seat's last action and, in a duel, the bombs on the board."""
    doing = _doing(cube, seat, you)
    signs = [DOINGS[doing]]
    if cube.is_duel:
        signs.append(_bomb_signs(cube, seat, you, doing))
    weights = {kind: prod((prior, *of)) for (kind, prior), *of in zip(KINDS.items(), *signs, strict=True)}
    whole = sum(weights.values())
    return {kind: weight / whole for kind, weight in weights.items() if weight > SLIGHT * whole}


def _doing(cube: Cube, seat: Seat, you: Seat) -> str:
    """Classify the seat's last action. A bomb is a hit (on a cell where another stood), aimed (near another) or astray."""
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
    """Return the cell of the seat before the last tick."""
    doing, (x, y, z) = cube.last.get(seat, UNSEEN), cube.cells[seat]
    right, down, back = STEPS[doing["direction"]] if doing["did"] == "move" else (0, 0, 0)
    return x - right, y - down, z - back


def _bomb_signs(cube: Cube, seat: Seat, you: Seat, doing: str) -> Signs:
    """Weigh the bombs near you: a seat that throws at you leaves some; the longer there are none, the less likely it does."""
    cell, own = cube.cells[seat], cube.cells[you]
    if doing in ("hit", "aimed") or any(distance(bomb, own) < min(2 * NEAR, distance(bomb, cell)) for bomb in cube.bombs):
        return 1.0, min(1.0, STRAY * cube.tick), 1.0, 1.0, 1.0
    thrower = 0.5 ** min(cube.tick, LONG)
    return thrower, 1.0, 1.0, thrower, 1.0
