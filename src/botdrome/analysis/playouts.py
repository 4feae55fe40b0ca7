"""Playouts: positions played on by house bots, to estimate what a move is worth.

A share is a part of the points: 1 for first place, 0 for last place, 0.5 for a draw of two.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from botdrome.analysis.position_file import Estimate
from botdrome.bots.house import HouseBot, house_bots, house_view
from botdrome.contest.strength import wilson
from botdrome.games.battleship import (
    HIT,
    MISS,
    WATER,
    Battleship,
    Boats,
    Squares,
    berths,
    boats_in,
)
from botdrome.games.bomberman import CRATE, FREE, UPGRADES, Bomberman, crate_sites, with_tiles
from botdrome.games.chance import Chance
from botdrome.games.game import Game, IllegalMove, Raw, Seat
from botdrome.match.board import board_result, places_by
from botdrome.match.questions import Question

# Hidden state: other positions that look the same to a player.
#
# A bot must not be judged by what it could not know. So every playout starts from a position with
# the same view and with hidden parts drawn anew.

ATTEMPTS = 200
"""Attempts to draw a fleet that fits, after which the true fleet is kept."""


class HiddenState(Struct, frozen=True):
    """How the hidden parts of a game are drawn."""

    redraw: Callable[[Any, Seat, Chance], Any]
    assumed: str


def redrawn(position: Game[Any], seat: Seat, chance: Chance) -> Game[Any]:
    """Return a position with the same view for this seat, and hidden parts drawn anew where the
    game has any.
    """
    hidden = HIDDEN.get(position.name)
    after: Game[Any] = hidden.redraw(position, seat, chance) if hidden else position
    return after


def _with_other_fleets(position: Battleship, seat: Seat, chance: Chance) -> Battleship:
    if not position.placed:
        return position
    boats = boats_in(position.boats)
    fleets = [
        fleet
        if other == seat
        else _fleet_like(fleet, position.boards[other], boats, position.width, chance)
        for other, fleet in enumerate(position.placed)
    ]
    return replace(position, placed=tuple(fleets))


def _fleet_like(
    fleet: Squares, board: Squares, boats: Boats, width: int, chance: Chance
) -> Squares:
    """Draw a fleet that covers all hits and no miss."""
    hits = sum(1 << at for at, mark in enumerate(board) if mark == HIT)
    misses = sum(1 << at for at, mark in enumerate(board) if mark == MISS)
    for _ in range(ATTEMPTS):
        if squares := _attempt(hits, misses, boats, width, len(board) // width, chance):
            return "".join([squares.get(at, WATER) for at in range(len(board))])
    return fleet


def _attempt(
    hits: int, misses: int, boats: Boats, width: int, height: int, chance: Chance
) -> dict[int, str] | None:
    """Place boats on the hits first, then the others anywhere. None: a boat found no place."""
    names, taken, squares = list(boats.names), misses, dict[int, str]()
    chance.shuffle(names)
    for name in names:
        open_hits = hits & ~taken
        target = open_hits & -open_hits
        places = berths(width, height, int(name[1]))
        free = [mask for mask in places if not mask & taken and mask & target == target]
        if not free:
            return None
        mask = chance.choice(free)
        taken |= mask
        squares.update(dict.fromkeys(places[mask], name[0]))
    return None if hits & ~taken else squares


def _with_other_upgrades(position: Bomberman, _: Seat, chance: Chance) -> Bomberman:
    """Draw the upgrades in places whose crates all stand.

    Crates in symmetric places hide the same.
    """
    hidden = position.hidden
    for site in crate_sites(position.height, position.width, len(position.at)):
        if all(position.tiles[row][column] == CRATE for row, column in site):
            letter = (
                chance.choice("".join(UPGRADES)) if chance.below(100) < position.upgrades else FREE
            )
            hidden = with_tiles(hidden, site, letter)
    return replace(position, hidden=hidden)


HIDDEN: dict[str, HiddenState] = {
    "battleship": HiddenState(
        _with_other_fleets, "the other fleets are drawn at random to fit the hits and misses"
    ),
    "bomberman": HiddenState(
        _with_other_upgrades, "the upgrades in unopened crates are drawn at random"
    ),
}


class Method(Struct, frozen=True):
    """How moves of a game are judged."""

    bot: str
    """The house bot that plays for all players: a quick one, since it plays thousands of moves."""
    horizon: int
    """The number of steps after which a playout ends with the current scores."""
    exact: bool = False
    """True: the game is small enough to be solved."""


METHODS = {
    "noughts-and-crosses": Method("perfect", 9, exact=True),
    "bumblebots": Method("forager", 100),
    "gomoku": Method("threat", 40),
    "battleship": Method("gunner", 200),
    "battlecube": Method("survivor", 100),
    "bomberman": Method("sapper", 60),
}
ANY_GAME = Method("random", 200)


def method_of(game: str) -> Method:
    return METHODS.get(game, ANY_GAME)


def method_text(game: str, playouts: int) -> str:
    """Describe for people how the estimates were made, and what was assumed."""
    method, hidden = method_of(game), HIDDEN.get(game)
    if method.exact:
        return "solved exactly"
    words = (
        f"{playouts} playouts for each move, in which house:{method.bot} plays for all "
        f"players, up to {method.horizon} steps"
    )
    return f"{words}; chance is drawn anew" + (f"; {hidden.assumed}" if hidden else "")


class Judge:
    """Estimates moves in one position of a board."""

    def __init__(self, question: Question, seed: int) -> None:
        self.question, self._seed = question, seed
        self.method = method_of(question.position.name)
        self._bot: HouseBot = house_bots(question.position.name)[self.method.bot]

    def estimate(self, raw: Raw, playouts: int, series: int) -> Estimate:
        """Estimate a legal move. Another series has other chance."""
        question = self.question
        if self.method.exact:
            value = _solved(question.position, question.seat, raw)
            return Estimate(value, value, value, 0)
        shares = [
            self._share_in(raw, Chance(self._seed, series).turn_to(number))
            for number in range(playouts)
        ]
        mean = sum(shares) / playouts
        return Estimate(mean, *wilson(mean, playouts), playouts)

    def _share_in(self, raw: Raw, chance: Chance) -> float:
        """Return the share in one playout after the move."""
        question = self.question
        position = redrawn(question.position, question.seat, chance)
        seed = chance.bits()
        final = play_on(
            position, question.out, self._bot, seed, self.method.horizon, {question.seat: raw}
        )
        seats = range(len(question.order))
        return share(board_result(final, seats, question.out).places, question.seat)


def play_on(
    position: Game[Any],
    out: Mapping[Seat, Any],
    bot: HouseBot,
    seed: int,
    horizon: int,
    first: Mapping[Seat, Raw],
) -> Game[Any]:
    """Play a position to its end, or up to the horizon. `first` has moves for the first step."""
    chance, mind = Chance(seed), Chance(seed, -1)
    for step in range(horizon):
        if position.over:
            break
        moves: dict[Seat, Any] = {}
        for seat in position.to_move:
            if seat not in out:
                raw = first[seat] if seat in first else bot(house_view(position, seat), mind)
                moves |= _parsed(position, seat, raw)
        position, first = position.play(moves, chance.turn_to(step)), {}
    return position


def _parsed(position: Game[Any], seat: Seat, raw: Raw) -> dict[Seat, Any]:
    """A house bot that does not find a legal move passes."""
    try:
        return {seat: position.parse(seat, raw)}
    except IllegalMove:
        return {}


def share(places: Sequence[int], number: int) -> float:
    """Return the part of the points of one place in the list; equal places share theirs."""
    if len(places) == 1:
        return 1.0
    place = places[number]
    return (len(places) - place - (places.count(place) - 1) / 2) / (len(places) - 1)


def exact_shares(position: Game[Any]) -> tuple[float, float]:
    """Return the share of each seat in a position of a solved game for two, if both play
    perfectly.
    """
    (seat,) = position.to_move
    value = _outlook(position, seat)
    return (1 - value, value) if seat else (value, 1 - value)


def _solved(position: Game[Any], seat: Seat, raw: Raw) -> float:
    """Return the share of this seat after the move, if both players play perfectly."""
    return 1 - _outlook(position.play({seat: position.parse(seat, raw)}, Chance(0)), 1 - seat)


@cache
def _outlook(position: Game[Any], seat: Seat) -> float:
    """Return the share of the seat that moves next, if both play perfectly."""
    if position.over:
        return share(places_by(position.scores), seat)
    return max(_solved(position, seat, raw) for raw in position.moves(seat))
