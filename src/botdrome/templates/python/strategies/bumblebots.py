"""A bot for Bumblebots: each drone flies to the nearest flower that no other drone of the bot
wants.
"""

STEPS = {"UL": (-1, -1), "UR": (-1, 0), "R": (0, 1), "DR": (1, 1), "DL": (1, 0), "L": (0, -1)}
FLOWER = 2


def bot(view):
    drones = view["drones"][view["you"]]
    occupied = {tuple(drone["position"]) for swarm in view["drones"] for drone in swarm.values()}
    orders, sought = {}, set()
    for name, drone in drones.items():
        way = way_to_flower(view, tuple(drone["position"]), occupied, sought)
        if way is not None:
            orders[name], hex_reached, flower = way
            occupied.add(hex_reached)
            sought.add(flower)
    return {"orders": orders}


def way_to_flower(view, start, occupied, sought):
    """The first direction, the hex it leads to, and the flower at the end of the shortest way; None
    if there is no way.
    """
    board, is_open = view["board"], (0, FLOWER, view["territory"][view["you"]])
    queue, seen = [(start, None, None)], {start}
    for hex_here, direction, first in queue:
        row, column = hex_here
        if first and board[row][column] == FLOWER and hex_here not in sought:
            return direction, first, hex_here
        for step, (down, right) in STEPS.items():
            beside = (row + down, column + right)
            if (
                board[beside[0]][beside[1]] in is_open
                and beside not in seen
                and beside not in occupied
            ):
                seen.add(beside)
                queue.append((beside, direction or step, first or beside))
    return None
