"""A bot for Battlecube: bomb a rival that stood still, otherwise step to the safest cell."""

STEPS = {
    "+X": (1, 0, 0),
    "-X": (-1, 0, 0),
    "+Y": (0, 1, 0),
    "-Y": (0, -1, 0),
    "+Z": (0, 0, 1),
    "-Z": (0, 0, -1),
}


def bot(view):
    cells = {player["seat"]: (player["x"], player["y"], player["z"]) for player in view["players"]}
    own = cells.pop(view["you"])
    still = [entry["seat"] for entry in view["happened"] if entry.get("did") in ("nothing", "bomb")]
    targets = [cells[seat] for seat in still if seat in cells]
    if targets and all(distance(own, rival) > 1 for rival in cells.values()):
        x, y, z = min(targets, key=lambda cell: distance(own, cell))
        first = {"task": "BOMB", "x": x, "y": y, "z": z}
    else:
        first = {"task": "MOVE", "direction": best_step(view, own, list(cells.values()))}
    return [first] + [{"task": "NOOP"}] * (view["tasks"] - 1)


def best_step(view, own, rivals):
    bombs = [tuple(bomb) for bomb in view["bombs"]]
    best, best_worth = "+X", None
    for direction, step in STEPS.items():
        cell = tuple(own[axis] + step[axis] for axis in range(3))
        worth = safety(view["edge"], cell, bombs, rivals)
        if best_worth is None or worth > best_worth:
            best, best_worth = direction, worth
    return best


def safety(edge, cell, bombs, rivals):
    """Bombs and the outside are deadly; a cell that a rival can reach is dangerous; the middle is
    better than the edge.
    """
    if not all(0 <= place < edge for place in cell):
        return -10000
    worth = -sum(abs(2 * place - edge + 1) for place in cell)
    if cell in bombs:
        worth -= 5000
    for rival in rivals:
        if distance(cell, rival) <= 1:
            worth -= 1000
    return worth


def distance(one, other):
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))
