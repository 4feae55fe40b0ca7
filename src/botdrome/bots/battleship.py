"""House bots for battleship."""

from itertools import pairwise

from botdrome.bots.fleet_odds import odds
from botdrome.games.chance import Chance
from botdrome.games.fleet import Rows, random_fleet
from botdrome.games.game import Raw, View

GUESSES = 48
"""So many guesses in all are made at the fleets of the opponents."""
DRAFTS = 4
"""The hunter draws so many fleets and takes the one with the fewest boats side by side."""


def random(view: View, chance: Chance) -> Raw:
    """A fleet by chance; then any square of any opponent that nobody has shot at."""
    if view["phase"] == "placement":
        return {"board": "".join(random_fleet(view["width"], view["height"], view["boats"], chance))}
    you, width, height = view["you"], view["width"], view["height"]
    others = list(view["boards"])
    del others[you]
    squares = "".join(map("".join, others))
    untried = squares.count(".")
    if not untried:
        return {"skip": True}
    # What follows the square that was drawn is what is left when all up to it are split off.
    rest = squares.split(".", chance.below(untried) + 1)[-1]
    row, x = divmod(len(squares) - len(rest) - 1, width)
    opponent, y = divmod(row, height)
    return {"target": opponent + (opponent >= you), "x": x, "y": y}


def hunter(view: View, chance: Chance) -> Raw:
    """A fleet whose boats keep apart; then the square where a hit is likeliest, on any opponent's board."""
    if view["phase"] == "placement":
        drafts = [random_fleet(view["width"], view["height"], view["boats"], chance) for _ in range(DRAFTS)]
        fleet = min(drafts, key=_contacts)
        return {"board": "".join(fleet)}
    boards, boats = view["boards"], view["boats"]
    guesses = max(GUESSES // (len(boards) - 1), 8)
    likely = [
        (odd, seat, square)
        for seat, board in enumerate(boards)
        if seat != view["you"]
        for square, (odd, mark) in enumerate(zip(odds(board, boats, guesses, chance), "".join(board), strict=True))
        if mark == "."
    ]
    if not likely:
        return {"skip": True}
    best, _, _ = max(likely)
    _, target, square = chance.choice([shot for shot in likely if shot[0] == best])
    y, x = divmod(square, view["width"])
    return {"target": target, "x": x, "y": y}


def _contacts(fleet: Rows) -> int:
    """How many pairs of squares that touch belong to two boats."""
    columns = ["".join(column) for column in zip(*fleet, strict=True)]
    pairs = [pair for line in (*fleet, *columns) for pair in pairwise(line)]
    return sum(one != other and "." not in (one, other) for one, other in pairs)
