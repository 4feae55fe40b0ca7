"""House bots for battleship, from one that does nothing to the strongest that we know.

Most of them rate each board by itself: the value of its best squares, and which squares these are. They shoot at the best
square of all boards.
"""

from botdrome.bots.battleship_lookout import Lookout, drift, fathom, follow, plot, reckon, trawl
from botdrome.bots.hidden_fleet import hidden_fleet
from botdrome.games.chance import Chance
from botdrome.games.fleet import Rows, random_fleet
from botdrome.games.game import Raw, View

SKIP: Raw = {"skip": True}


def skipper(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then skip every turn."""
    return _placed(view, chance) if view["phase"] == "placement" else SKIP


def random(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at any square of any opponent that is still open."""
    if view["phase"] == "placement":
        return _placed(view, chance)
    you, width, height = view["you"], view["width"], view["height"]
    others = list(view["boards"])
    del others[you]
    squares = "".join(map("".join, others))
    untried = squares.count(".")
    if not untried:
        return SKIP
    # Draw an open square; the length of the text after it gives its position.
    rest = squares.split(".", chance.below(untried) + 1)[-1]
    row, x = divmod(len(squares) - len(rest) - 1, width)
    opponent, y = divmod(row, height)
    return {"target": opponent + (opponent >= you), "x": x, "y": y}


def drifter(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at any open square; squares next to a hit are five times as likely."""
    return _shot(view, chance, drift)


def trawler(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot next to a hit or on every other square, all with the same chance."""
    return _shot(view, chance, trawl)


def gunner(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at the end of the longest line of hits, or at every other square."""
    return _shot(view, chance, follow)


def pilot(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at the end of the longest line of hits, or at the most open water."""
    return _shot(view, chance, fathom)


def plotter(view: View, chance: Chance) -> Raw:
    """Place a random fleet, then shoot at the square that most boats could cover, places with hits first."""
    return _shot(view, chance, plot)


def hunter(view: View, chance: Chance) -> Raw:
    """Place a fleet where shots are rare, then shoot where a hit is likeliest, given all explanations of the hits."""
    if view["phase"] == "placement":
        return {"board": "".join(hidden_fleet(view["width"], view["height"], view["boats"], chance))}
    return _shot(view, chance, reckon)


def _placed(view: View, chance: Chance) -> Raw:
    return {"board": "".join(random_fleet(view["width"], view["height"], view["boats"], chance))}


def _shot(view: View, chance: Chance, lookout: Lookout) -> Raw:
    """Shoot at one of the best squares of the best boards."""
    if view["phase"] == "placement":
        return _placed(view, chance)
    boats, colour, you = tuple(view["boats"]), _colour(view["own"]), view["you"]
    fleet = sum(int(boat[1:]) for boat in boats)
    afloat = {
        seat: tuple(board) for seat, board in enumerate(view["boards"]) if seat != you and "".join(board).count("X") < fleet
    }
    promises = {seat: lookout(board, boats, colour) for seat, board in afloat.items()}
    most = max([promise for promise, _ in promises.values()], default=0.0)
    best = [(seat, square) for seat, (promise, squares) in promises.items() if promise == most for square in squares]
    if not best or most <= 0:
        return random(view, chance)
    target, square = chance.choice(best)
    y, x = divmod(square, view["width"] + 1)
    return {"target": target, "x": x, "y": y}


def _colour(own: Rows | None) -> int:
    """Return the colour of the squares to search on: it depends on the own fleet, so it stays the same for the whole game."""
    row, letters = next(((y, row) for y, row in enumerate(own or ()) if row.strip(".0")), (0, ""))
    return (row + len(letters) - len(letters.lstrip(".0"))) % 2
