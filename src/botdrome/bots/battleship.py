"""House bots for battleship."""

from botdrome.games.chance import Chance
from botdrome.games.fleet import random_fleet
from botdrome.games.game import Raw, View


def random(view: View, chance: Chance) -> Raw:
    """A fleet by chance; then any square of any opponent that nobody has shot at."""
    if view["phase"] == "placement":
        return {"board": "".join(random_fleet(view["width"], view["height"], view["boats"], chance))}
    you, width, height = view["you"], view["width"], view["height"]
    squares = "".join(["".join(board) for seat, board in enumerate(view["boards"]) if seat != you])
    untried = squares.count(".")
    if not untried:
        return {"skip": True}
    # What follows the square that was drawn is what is left when all up to it are split off.
    rest = squares.split(".", chance.below(untried) + 1)[-1]
    row, x = divmod(len(squares) - len(rest) - 1, width)
    opponent, y = divmod(row, height)
    return {"target": opponent + (opponent >= you), "x": x, "y": y}
