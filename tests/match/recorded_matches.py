"""Small recorded matches."""

from typing import Any

from botdrome.catalogue import CATALOGUE
from botdrome.games.game import Game
from botdrome.games.options import with_options
from botdrome.match.match import Match
from botdrome.match.record import Record, record_of
from botdrome.match.terms import Terms
from tests.match.telling import mark

NAMES = ("ada", "bob")


def noughts(terms: Terms | None = None) -> Match:
    row = CATALOGUE["noughts-and-crosses"]
    match = Match(row.game, 2, terms or row.terms, 7)
    match.start()
    return match


def new_match(
    game: str, players: int = 2, seed: int = 1, terms: Terms | None = None, **options: Any
) -> Match:
    row = CATALOGUE[game]
    match = Match(with_options(row.game, options), players, terms or row.terms, seed)
    match.start()
    return match


def recorded(match: Match) -> tuple[Record, Game[Any]]:
    return record_of(match, [f"player {number}" for number in range(match.players)]), match.game


def lost_by_bob() -> Match:
    """Ada wins by the top row.

    Bob could have held the match at step 3, by a mark in the corner of that row.
    """
    match = noughts()
    for number, (row, column) in enumerate([(0, 0), (1, 1), (0, 1), (2, 2), (0, 2)]):
        match.submit(number % 2, mark(number % 2, row, column), 10 * number)
    return match
