"""House bots for battlecube."""

from functools import lru_cache

from botdrome.games.battlecube_answer import STEPS, Cell
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View


def random(view: View, chance: Chance) -> Raw:
    """Choose at random, for each tick: a step inside the cube, no action, or a bomb anywhere in the cube."""
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
    others = [(player["x"], player["y"], player["z"]) for player in view["players"] if player["seat"] != view["you"]]
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
    """Avoid bombs and cells that others can reach; if it can stay, sometimes bomb the cells that others are on or may enter."""
    edge, cell = view["edge"], own_cell(view)
    others = [(player["x"], player["y"], player["z"]) for player in view["players"] if player["seat"] != view["you"]]
    bombs = {(x, y, z) for x, y, z in view["bombs"]}
    plan: list[Raw] = []
    for ahead in range(1, view["tasks"] + 1):
        refuges = refuges_of(cell, edge, others, bombs, ahead)
        target = _target(cell, edge, others, bombs, chance) if "" in refuges and _dares(others, chance) else None
        if target:
            bombs.add(target)
            plan.append(bomb_on(target))
        else:
            direction, cell = chance.choice(list(refuges.items()))
            plan.append({"task": "MOVE", "direction": direction} if direction else {"task": "NOOP"})
    return plan


def _dares(others: list[Cell], chance: Chance) -> bool:
    """Decide at random whether to throw a bomb. A thrower stands still, which is riskier the more opponents there are."""
    return bool(others) and chance.below(len(others) + 1) == 0


def refuges_of(cell: Cell, edge: int, others: list[Cell], bombs: set[Cell], ahead: int) -> dict[str, Cell]:
    """Return the steps ("": stay) to the best cells: few others can reach them within `ahead` ticks, and they have exits."""
    options = {"": cell} | {direction: to for direction, to in ways_from(cell, edge) if to not in bombs}
    worth = {
        direction: (-sum(distance(to, other) <= ahead for other in others), min(2, len(exits(to, edge, bombs))))
        for direction, to in options.items()
    }
    best = max(worth.values())
    return {direction: to for direction, to in options.items() if worth[direction] == best}


def _target(cell: Cell, edge: int, others: list[Cell], bombs: set[Cell], chance: Chance) -> Cell | None:
    """Return the cell of the opponent with the fewest exits, or one of those exits; never a cell next to `cell`."""
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
