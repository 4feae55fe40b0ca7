"""Set-ups on which the contract of games is tried: every format as it is, and further ones here."""

from typing import Any

from botdrome.formats import FORMATS
from botdrome.games.game import Game

Setup = tuple[Game[Any], int]
"""A game with its options, and how many play it."""

FURTHER: list[Setup] = []


def setups() -> list[Setup]:
    plain = [(row.game, players) for row in FORMATS.values() for players in {row.game.players[0], min(row.game.players[-1], 4)}]
    return plain + FURTHER
