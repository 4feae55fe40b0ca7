"""A bot for Bomberman: leave the reach of bombs, bomb crates and rivals if there is a way out, take
upgrades.
"""

STEPS = {"MOVE_UP": (-1, 0), "MOVE_DOWN": (1, 0), "MOVE_LEFT": (0, -1), "MOVE_RIGHT": (0, 1)}


def bot(view):
    me = view["users"][view["you"]]
    own = tuple(me["at"])
    danger = in_danger(view, view["bombs"])
    if own in danger:
        return {"action": first_step(view, own, lambda tile: tile not in danger) or "WAIT"}
    if me["bombsLeft"] and is_target(view, own, me["range"]) and can_escape(view, own, me["range"]):
        return {"action": "PLACE_BOMB"}
    upgrades = [tuple(upgrade["at"]) for upgrade in view["upgrades"]]
    step = first_step(
        view, own, lambda tile: tile in upgrades or is_target(view, tile, me["range"]), danger
    )
    return {"action": step or "WAIT"}


def in_danger(view, bombs):
    """The tiles that burn when these bombs explode, and those that close soon."""
    tiles = set()
    for bomb in bombs:
        tiles.update(burned(view, tuple(bomb["at"]), bomb["range"]))
    closing = view["closing"]
    if closing["at"] is not None and closing["at"] - view["round"] < 8:
        tiles.update(tuple(tile) for tile in closing["next"])
    return tiles


def burned(view, at, reach):
    tiles = [at]
    for down, right in STEPS.values():
        for distance in range(1, reach + 1):
            tile = (at[0] + down * distance, at[1] + right * distance)
            kind = tile_at(view, tile)
            if kind == "#":
                break
            tiles.append(tile)
            if kind == "+" and not view["flamePierces"]:
                break
    return tiles


def tile_at(view, tile):
    row, column = tile
    inside = 0 <= row < view["height"] and 0 <= column < view["width"]
    return view["tiles"][row][column] if inside else "#"


def is_target(view, at, reach):
    """Whether a bomb here would burn a crate or a rival."""
    rivals = [
        tuple(user["at"]) for user in view["users"] if user["alive"] and user["seat"] != view["you"]
    ]
    return any(tile_at(view, tile) == "+" or tile in rivals for tile in burned(view, at, reach))


def can_escape(view, own, reach):
    danger = in_danger(view, view["bombs"] + [{"at": own, "range": reach}])
    return first_step(view, own, lambda tile: tile not in danger, most=view["fuse"]) is not None


def first_step(view, own, wanted, avoided=(), most=1000):
    """The first step of the shortest way to a wanted tile; None if there is no way."""
    blocked = {tuple(bomb["at"]) for bomb in view["bombs"]} | {
        tuple(user["at"]) for user in view["users"] if user["alive"]
    }
    queue, seen = [(own, None, 0)], {own}
    for tile, first, steps in queue:
        if first and wanted(tile):
            return first
        if steps == most:
            continue
        for action, (down, right) in STEPS.items():
            beside = (tile[0] + down, tile[1] + right)
            if (
                tile_at(view, beside) == "."
                and beside not in seen
                and beside not in blocked
                and beside not in avoided
            ):
                seen.add(beside)
                queue.append((beside, first or action, steps + 1))
    return None
