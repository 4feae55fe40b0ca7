"""House bots for battleship, from one that does nothing to one that finds a fleet as fast as we know how.

Most of them look at each board by itself, at how much its best squares promise and which they are; then the best of all boards is
shot at.
"""

from botdrome.bots.battleship_lookout import Lookout, fathom, follow, plot, reckon, trawl
from botdrome.bots.hidden_fleet import hidden_fleet
from botdrome.games.chance import Chance
from botdrome.games.fleet import Rows, random_fleet
from botdrome.games.game import Raw, View

SKIP: Raw = {"skip": True}


def skipper(view: View, chance: Chance) -> Raw:
    """A fleet by chance; then it skips every turn."""
    return _placed(view, chance) if view["phase"] == "placement" else SKIP


def random(view: View, chance: Chance) -> Raw:
    """A fleet by chance; then any square of any opponent that nobody has shot at."""
    if view["phase"] == "placement":
        return _placed(view, chance)
    you, width, height = view["you"], view["width"], view["height"]
    others = list(view["boards"])
    del others[you]
    squares = "".join(map("".join, others))
    untried = squares.count(".")
    if not untried:
        return SKIP
    # What follows the square that was drawn is what is left when all up to it are split off.
    rest = squares.split(".", chance.below(untried) + 1)[-1]
    row, x = divmod(len(squares) - len(rest) - 1, width)
    opponent, y = divmod(row, height)
    return {"target": opponent + (opponent >= you), "x": x, "y": y}


def trawler(view: View, chance: Chance) -> Raw:
    """A fleet by chance; then squares beside a hit or on every other square, all alike."""
    return _shot(view, chance, trawl)


def gunner(view: View, chance: Chance) -> Raw:
    """A fleet by chance; then the end of the longest line of hits, or any of every other square."""
    return _shot(view, chance, follow)


def pilot(view: View, chance: Chance) -> Raw:
    """A fleet by chance; then the end of the longest line of hits, or where there is most open water."""
    return _shot(view, chance, fathom)


def plotter(view: View, chance: Chance) -> Raw:
    """A fleet by chance; then the square that most places for boats go over, places with hits before others."""
    return _shot(view, chance, plot)


def hunter(view: View, chance: Chance) -> Raw:
    """A fleet where shots are rare; then the square where a hit is likeliest, by all ways to explain the hits."""
    if view["phase"] == "placement":
        return {"board": "".join(hidden_fleet(view["width"], view["height"], view["boats"], chance))}
    return _shot(view, chance, reckon)


def _placed(view: View, chance: Chance) -> Raw:
    return {"board": "".join(random_fleet(view["width"], view["height"], view["boats"], chance))}


def _shot(view: View, chance: Chance, lookout: Lookout) -> Raw:
    """At one of the best squares of the boards that promise most."""
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
    """The colour of the squares to search on: drawn with the fleet, and the same for the whole game."""
    row, letters = next(((y, row) for y, row in enumerate(own or ()) if row.strip(".0")), (0, ""))
    return (row + len(letters) - len(letters.lstrip(".0"))) % 2
