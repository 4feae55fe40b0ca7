"""Set-ups on which the contract of games is tried: every format as it is, and further ones here."""

from typing import Any

from botdrome.catalogue import CATALOGUE
from botdrome.games.battlecube import Battlecube
from botdrome.games.battleship import Battleship
from botdrome.games.bomberman import Bomberman
from botdrome.games.bumblebots import Bumblebots
from botdrome.games.game import Game
from botdrome.games.gomoku import Gomoku

Setup = tuple[Game[Any], int]
"""A game with its options, and how many play it."""

FURTHER: list[Setup] = [
    (Battlecube(edge=2), 8),
    (Battlecube(edge=3, tasks=3), 5),
    (Battlecube(edge=4, ticks=20, tasks=2, starts=((0, 0, 0), (3, 3, 3))), 2),
    (Battlecube(edge=1000, ticks=30), 3),
    (Battleship(width=5, height=5, boats="A3 B2"), 3),
    (Battleship(width=12, height=6, boats="W8 C2 A4", goal=5), 9),
    (Battleship(width=5, height=9, boats="A5 B5 C4 D3 E3 F2", rounds=4), 4),
    (Battleship(width=26, height=26, boats="Q8 R8 S8 T8 U8 V8 W8", goal=3), 2),
    (Bomberman(height=5, width=5, closing=20, rounds=60), 2),
    (Bomberman(height=7, width=15, closing=0, rounds=80, bombs=2), 3),
    (Bomberman(height=11, width=11, closing=1, rounds=12, upgrades=100), 6),
    (Bomberman(crates=100, flame_pierces=True, radius=25, fuse=1), 8),
    (Bumblebots(ticks=1), 2),
    (Bumblebots(arena="drawn", side=4, walls=40, flowers=13, ticks=40), 2),
    (Bumblebots(arena="drawn", walls=0, starts="drawn", drones=1, flowers=0, ticks=60), 2),
    (
        Bumblebots(
            arena="drawn", side=12, walls=30, starts="drawn", drones=8, flowers=8, ticks=120
        ),
        2,
    ),
    (Gomoku(size=5, win_length=3), 2),
    (Gomoku(size=5, win_length=5), 2),
    (Gomoku(size=25, win_length=6), 2),
    (Gomoku(size=6, win_length=4, opening=((2, 2), (3, 3), (2, 3))), 2),
]


def setups() -> list[Setup]:
    plain = [
        (row.game, players)
        for row in CATALOGUE.values()
        for players in {row.game.players[0], min(row.game.players[-1], 4)}
    ]
    return plain + FURTHER
