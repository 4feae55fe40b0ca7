"""Positions: the boards of a boat trial, drawn by chance and by the trial's seed, the same on every machine."""

from collections.abc import Sequence

from botdrome.bots.boat_chart import Chart, chart_of, squares_in
from botdrome.games.chance import Chance
from botdrome.games.fleet import WATER, Mask, Rows, random_fleet, rows_of

ATTEMPTS = 400
"""Draws until boats do not lie over each other; where there is less room than that, they are laid one after the other."""
DRAFTS = 5000
"""Fleets that are drawn at most until one has the border that was asked for; then the best of them is taken."""


def drawn_position(width: int, height: int, boats: Sequence[str], border: int, chance: Chance) -> Rows:
    """A fleet that has so many percent of the border free that boats could have at most."""
    chart = chart_of(width, height, tuple(sorted(int(name[1:]) for name in boats)))
    best = _even_masks(chart, boats, chance)
    most = _border(chart, best) if border else 0.0
    for _ in range(DRAFTS):
        if most >= border:
            break
        masks = _even_masks(chart, boats, chance)
        if (found := _border(chart, masks)) > most:
            best, most = masks, found
    return _rows(chart, boats, best)


def _even_masks(chart: Chart, boats: Sequence[str], chance: Chance) -> list[Mask]:
    """Any fleet that there can be, boat by boat, each as likely as any other.

    Each boat lies in any berth, whatever the others do, and where two overlap all begin again: so none is preferred, as it is
    where boats are laid one after the other into the room that is left.
    """
    choices = [chart.berths[int(name[1:])] for name in boats]
    for _ in range(ATTEMPTS):
        masks: list[Mask] = []
        taken = 0
        for berths in choices:
            mask = chance.choice(berths).mask
            if mask & taken:
                break
            taken |= mask
            masks.append(mask)
        else:
            return masks
    return _masks(random_fleet(chart.width, chart.height, boats, chance), boats)


def _rows(chart: Chart, boats: Sequence[str], masks: Sequence[Mask]) -> Rows:
    squares = [WATER] * chart.squares
    for name, mask in zip(boats, masks, strict=True):
        for square in squares_in(mask):
            squares[square] = name[0]
    return tuple(row[:-1] for row in rows_of("".join(squares), chart.stride))


def _masks(fleet: Rows, boats: Sequence[str]) -> list[Mask]:
    text = "|".join((*fleet, ""))
    return [sum(1 << square for square, letter in enumerate(text) if letter == name[0]) for name in boats]


def _border(chart: Chart, masks: Sequence[Mask]) -> float:
    """How much of the border that boats could have at most is free, in percent.

    The border of a boat is every square beside it, without corners: 2 * length + 2 where neither wall nor boat is near.
    """
    free = most = 0
    water = chart.colours[0] | chart.colours[1]
    for mask in masks:
        water ^= mask
    for mask in masks:
        beside = mask << 1 | mask >> 1 | mask << chart.stride | mask >> chart.stride
        free += (beside & water).bit_count()
        most += 2 * mask.bit_count() + 2
    return 100 * free / most
