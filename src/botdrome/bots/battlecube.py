"""House bots for battlecube."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from math import prod
from typing import NamedTuple

from botdrome.games.battlecube import STEPS, Cell
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, Seat, View


def random(view: View, chance: Chance) -> Raw:
    """Choose at random, for each tick: a step inside the cube, no action, or a bomb anywhere in the
    cube.
    """
    edge, cell = view["edge"], own_cell(view)
    plan: list[Raw] = []
    for _ in range(view["tasks"]):
        ways = ways_from(cell, edge)
        pick = chance.below(len(ways) + 2)
        if pick < len(ways):
            direction, cell = ways[pick]
            plan.append({"task": "MOVE", "direction": direction})
        elif pick == len(ways):
            plan.append({"task": "NOOP"})
        else:
            rest, x = divmod(chance.below(edge**3), edge)
            plan.append(bomb_on((x, rest % edge, rest // edge)))
    return plan


def dodger(view: View, chance: Chance) -> Raw:
    """Like random, but step on no bomb and no other bot, and throw bombs only beside others."""
    edge, cell = view["edge"], own_cell(view)
    others = [
        (player["x"], player["y"], player["z"])
        for player in view["players"]
        if player["seat"] != view["you"]
    ]
    closed = {*others, *((x, y, z) for x, y, z in view["bombs"])}
    plan: list[Raw] = []
    for _ in range(view["tasks"]):
        ways = [(direction, to) for direction, to in ways_from(cell, edge) if to not in closed]
        pick = chance.below(len(ways) + 2)
        if pick < len(ways):
            direction, cell = ways[pick]
            plan.append({"task": "MOVE", "direction": direction})
        elif pick == len(ways) or not others:
            plan.append({"task": "NOOP"})
        else:
            beside = [to for _, to in ways_from(chance.choice(others), edge) if to != cell]
            plan.append(bomb_on(chance.choice(beside)))
    return plan


def survivor(view: View, chance: Chance) -> Raw:
    """Avoid bombs and cells that others can reach; if it can stay, sometimes bomb the cells that
    others are on or may enter.
    """
    edge, cell = view["edge"], own_cell(view)
    others = [
        (player["x"], player["y"], player["z"])
        for player in view["players"]
        if player["seat"] != view["you"]
    ]
    bombs = {(x, y, z) for x, y, z in view["bombs"]}
    plan: list[Raw] = []
    for ahead in range(1, view["tasks"] + 1):
        refuges = refuges_of(cell, edge, others, bombs, ahead)
        target = (
            _target(cell, edge, others, bombs, chance)
            if "" in refuges and _dares(others, chance)
            else None
        )
        if target:
            bombs.add(target)
            plan.append(bomb_on(target))
        else:
            direction, cell = chance.choice(list(refuges.items()))
            plan.append({"task": "MOVE", "direction": direction} if direction else {"task": "NOOP"})
    return plan


def _dares(others: list[Cell], chance: Chance) -> bool:
    """Decide at random whether to throw a bomb.

    A thrower stands still, which is riskier the more opponents there are.
    """
    return bool(others) and chance.below(len(others) + 1) == 0


def refuges_of(
    cell: Cell, edge: int, others: list[Cell], bombs: set[Cell], ahead: int
) -> dict[str, Cell]:
    """Return the steps ("": stay) to the best cells: few others can reach them within `ahead`
    ticks, and they have exits.
    """
    options = {"": cell} | {
        direction: to for direction, to in ways_from(cell, edge) if to not in bombs
    }
    worth = {
        direction: (
            -sum(distance(to, other) <= ahead for other in others),
            min(2, len(exits(to, edge, bombs))),
        )
        for direction, to in options.items()
    }
    best = max(worth.values())
    return {direction: to for direction, to in options.items() if worth[direction] == best}


def _target(
    cell: Cell, edge: int, others: list[Cell], bombs: set[Cell], chance: Chance
) -> Cell | None:
    """Return the cell of the opponent with the fewest exits, or one of those exits; never a cell
    next to `cell`.
    """
    out = {other: exits(other, edge, bombs) for other in others}
    fewest = min(len(ways) for ways in out.values())
    victim = chance.choice([other for other in others if len(out[other]) == fewest])
    choices = [to for to in (victim, victim, *out[victim]) if distance(cell, to) > 1]
    return chance.choice(choices) if choices else None


def exits(cell: Cell, edge: int, bombs: set[Cell]) -> list[Cell]:
    return [to for _, to in ways_from(cell, edge) if to not in bombs]


def distance(one: Cell, other: Cell) -> int:
    """Return the distance in steps."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) + abs(one[2] - other[2])


def bomb_on(cell: Cell) -> Raw:
    x, y, z = cell
    return {"task": "BOMB", "x": x, "y": y, "z": z}


def own_cell(view: View) -> Cell:
    you = view["you"]
    for player in view["players"]:
        if player["seat"] == you:
            return player["x"], player["y"], player["z"]
    raise ValueError("a bot that has lost is not asked")


@lru_cache(maxsize=4096)
def ways_from(cell: Cell, edge: int) -> tuple[tuple[str, Cell], ...]:
    """Return the steps that stay in the cube, with the cells that they lead to."""
    x, y, z = cell
    ways = ((name, (x + right, y + down, z + back)) for name, (right, down, back) in STEPS.items())
    return tuple((name, to) for name, to in ways if min(to) >= 0 and max(to) < edge)


# Predict the opponents in battlecube: kinds of players, the odds of their actions, and the kind of
# each seat.

NEAR = 2
"""A bomb at most this far from a player was aimed at it: the player may have moved one step since.
"""
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
    """Stay out of others' reach; if it can stay, it may bomb the opponent with the fewest exits, or
    one of those exits.
    """
    cell, own = cube.cells[seat], cube.cells[you]
    others = [other for of, other in cube.cells.items() if of != seat]
    refuges = refuges_of(cell, cube.edge, others, cube.bombs, 1)
    throws = 1 / (len(others) + 1) if "" in refuges else 0.0
    yield from (Odd((1 - throws) / len(refuges), to) for to in refuges.values())
    if throws:
        yours = exits(own, cube.edge, cube.bombs)
        ways = [len(exits(other, cube.edge, cube.bombs)) for other in others]
        aims = (
            [to for to in (own, own, *yours) if distance(cell, to) > 1]
            if len(yours) == min(ways)
            else []
        )
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
    nearer = [
        to for to in exits(cell, cube.edge, cube.bombs) if distance(to, own) < distance(cell, own)
    ] or [cell]
    yield from (Odd(1 / len(nearer), to) for to in nearer)


# The kind of each seat.

Signs = tuple[float, float, float, float, float]
"""How well an observation fits each kind, in the order of KINDS."""

KINDS: Mapping[Kind, float] = {
    careful: 0.6,
    aimless: 0.19,
    statue: 0.08,
    sniper: 0.07,
    chaser: 0.06,
}
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
    """Return the probability of each kind, given the seat's last action and, in a duel, the bombs
    on the board.
    """
    doing = _doing(cube, seat, you)
    signs = [DOINGS[doing]]
    if cube.is_duel:
        signs.append(_bomb_signs(cube, seat, you, doing))
    weights = {
        kind: prod((prior, *of)) for (kind, prior), *of in zip(KINDS.items(), *signs, strict=True)
    }
    whole = sum(weights.values())
    return {kind: weight / whole for kind, weight in weights.items() if weight > SLIGHT * whole}


def _doing(cube: Cube, seat: Seat, you: Seat) -> str:
    """Classify the seat's last action.

    A bomb is a hit (on a cell where another stood), aimed (near another) or astray.
    """
    doing = cube.last.get(seat, UNSEEN)
    if doing["did"] == "move":
        own = _before(cube, you)
        return (
            "nearer"
            if distance(cube.cells[seat], own) < distance(_before(cube, seat), own)
            else "move"
        )
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
    """Weigh the bombs near you: a seat that throws at you leaves some; the longer there are none,
    the less likely it does.
    """
    cell, own = cube.cells[seat], cube.cells[you]
    if doing in ("hit", "aimed") or any(
        distance(bomb, own) < min(2 * NEAR, distance(bomb, cell)) for bomb in cube.bombs
    ):
        return 1.0, min(1.0, STRAY * cube.tick), 1.0, 1.0, 1.0
    thrower = 0.5 ** min(cube.tick, LONG)
    return thrower, 1.0, 1.0, thrower, 1.0


# The stalker: a house bot for battlecube that rates every step and every throw by the opponents'
# likely actions.

MOST = 4
"""The number of opponents that are predicted, nearest first.

The bot keeps away from all of them.
"""
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
"""The chance to outlive each kind from a cell with all exits, and the loss for each missing exit.
"""
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
    """Choose the action with the best chance to outlive all others.

    Given several tasks, first leave the cell that others see.
    """
    cube, you = cube_of(view), view["you"]
    own = own_cell(view)
    others = sorted(
        (seat for seat in cube.cells if seat != you),
        key=lambda seat: distance(cube.cells[seat], own),
    )
    near = others[:MOST]
    if view["tasks"] > 1:
        return _plan(cube, own, [cube.cells[seat] for seat in near], view["tasks"], chance)
    close = cube._replace(cells={seat: cube.cells[seat] for seat in (you, *near)})
    rivals = [Rival(close, seat, you) for seat in near]
    worth = [
        pair
        for way, to in _clear(cube, own, [cube.cells[seat] for seat in others])
        for pair in _options(cube, way, to, rivals)
    ]
    best = max(value for _, value in worth)
    return [chance.choice([task for task, value in worth if value > best - ALIKE])]


def _clear(cube: Cube, own: Cell, others: list[Cell]) -> list[tuple[str, Cell]]:
    """Return the steps ("": stay) to the cells that the fewest opponents can enter,
    ideally none.
    """
    options = [
        ("", own),
        *((way, to) for way, to in ways_from(own, cube.edge) if to not in cube.bombs),
    ]
    reached = [sum(distance(to, other) <= 1 for other in others) for _, to in options]
    return [option for option, reach in zip(options, reached, strict=True) if reach == min(reached)]


def _options(cube: Cube, way: str, to: Cell, rivals: list["Rival"]) -> Iterator[tuple[Raw, float]]:
    """Yield the tasks for this step, with the chance to outlive all.

    A bot that stays may bomb cells that others may enter.
    """
    ways = len(exits(to, cube.edge, cube.bombs))
    prospects = [rival.prospect(to, ways) for rival in rivals]
    yield (
        {"task": "MOVE", "direction": way} if way else {"task": "NOOP"},
        prod(prospect.chance for prospect in prospects),
    )
    if not way:
        for aim in {aim: None for prospect in prospects for aim in prospect.more}:
            yield (
                bomb_on(aim),
                prod(prospect.chance + prospect.more.get(aim, 0.0) for prospect in prospects),
            )


class Rival:
    """One opponent, and its likely actions."""

    def __init__(self, cube: Cube, seat: Seat, you: Seat) -> None:
        self.cell = cube.cells[seat]
        self.kinds = [
            (kind, *_summed(kind(cube, seat, you), weight))
            for kind, weight in guessed(cube, seat, you).items()
        ]

    def prospect(self, cell: Cell, ways: int) -> Prospect:
        chance, more = 0.0, dict[Cell, float]()
        for kind, ends, hits in self.kinds:
            for to, odds in ends.items():
                if to != cell:
                    falls = (
                        hits.get(cell, 0.0) if to == self.cell else 0.0
                    )  # a player that throws stays on its cell
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
    """Step away from the cell that others have seen, then bomb the cells of the others and around
    them, the likeliest first.
    """
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


def _away(
    cell: Cell,
    own: Cell,
    edge: int,
    others: list[Cell],
    bombs: set[Cell],
    ahead: int,
    chance: Chance,
) -> tuple[str, Cell]:
    """Return a step to a refuge, if possible to one that is not next to the cell that others have
    seen.
    """
    refuges = list(refuges_of(cell, edge, others, bombs, ahead).items())
    farthest = max(distance(to, own) for _, to in refuges)
    return chance.choice([refuge for refuge in refuges if distance(refuge[1], own) == farthest])
