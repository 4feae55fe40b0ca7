"""Set-ups on which the contract of games is tried: every format as it is, and further ones here."""

from typing import Any

from botdrome.formats import FORMATS
from botdrome.games.battlecube import Battlecube
from botdrome.games.game import Game
from botdrome.games.gomoku import Gomoku

Setup = tuple[Game[Any], int]
"""A game with its options, and how many play it."""

FURTHER: list[Setup] = [
    (Battlecube(edge=2), 8),
    (Battlecube(edge=3, tasks=3), 5),
    (Battlecube(edge=4, ticks=20, tasks=2, starts=((0, 0, 0), (3, 3, 3))), 2),
    (Battlecube(edge=1000, ticks=30), 3),
    (Gomoku(size=5, win_length=3), 2),
    (Gomoku(size=5, win_length=5), 2),
    (Gomoku(size=25, win_length=6), 2),
]


def setups() -> list[Setup]:
    plain = [(row.game, players) for row in FORMATS.values() for players in {row.game.players[0], min(row.game.players[-1], 4)}]
    return plain + FURTHER
