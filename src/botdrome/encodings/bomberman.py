"""The encoding of Bomberman: an action is one of the six words, in the order of the rules."""

from collections.abc import Sequence

import numpy as np

from botdrome.encodings.encoding import HIGHEST, Array, Arrays, BadAction, Encoding, Memory
from botdrome.games.bomberman import (
    ADDITIONAL_BOMB,
    CRATE,
    FREE,
    PLACE_BOMB,
    WAIT,
    WALL,
    WORDS,
    Bomberman,
    action_in,
    neighbours,
)
from botdrome.games.game import IllegalMove, Raw, View

MOVES = tuple({"action": word} for word in WORDS)
MASKS = [
    np.array([legal >> action & 1 for action in range(len(WORDS))], np.int8)
    for legal in range(1 << len(WORDS))
]
"""The masks by the bits of the legal actions."""
(
    CRATES,
    WALLS,
    OWN,
    OTHERS,
    BOMBS_LEFT,
    RANGE,
    TURNS,
    BLAST,
    FLAMES,
    MORE_BOMBS,
    MORE_RANGE,
    CLOSING,
    PLAYED,
) = range(13)


class BombermanEncoding(Encoding):
    actions = len(WORDS)
    high = HIGHEST
    open_views = mortal = True
    planes = (
        "crates", "walls", "own user", "other users", "bombs left of each user",
        "range of each user", "bombs: rounds until they explode", "bombs: range",
        "places that burned in the last round", "upgrades: one more bomb", "upgrades: range",
        "walls that close in next: rounds until then",
        "tenths of the rounds played, on every place",
    )  # fmt: skip

    def __init__(self, game: Bomberman, players: int) -> None:
        self._beside = neighbours(game.height, game.width)
        self.shape = (len(self.planes), game.height, game.width)

    def arrays(self, view: View, memory: Memory) -> Arrays:
        if memory.get("round") != view["round"]:
            memory["round"], memory["planes"] = view["round"], self._shared_planes(view, memory)
        planes, seat, legal = memory["planes"].copy(), view["you"], 0
        user = view["users"][seat]
        if user["alive"]:
            row, column = user["at"]
            planes[OWN, row, column], planes[OTHERS, row, column] = 1, 0
            if seat in view["toMove"]:
                legal = self._legal(view, row, column, user["bombsLeft"])
        return planes, MASKS[legal].copy()

    def _shared_planes(self, view: View, memory: Memory) -> Array:
        """Return the planes that all seats share, with all users among the others."""
        tiles, tenths = view["tiles"], 10 * view["round"] // view["rounds"]
        if memory.get("tiles") is not tiles or memory["tenths"] != tenths:
            memory |= {"tiles": tiles, "tenths": tenths, "ground": self._ground(tiles, tenths)}
        planes: Array = memory["ground"].copy()
        self._add_users(planes, view)
        self._add_things(planes, view)
        return planes

    def _ground(self, tiles: Sequence[str], tenths: int) -> Array:
        planes = np.zeros(self.shape, np.int8)
        cells = np.frombuffer("".join(tiles).encode(), np.uint8).reshape(self.shape[1:])
        planes[CRATES], planes[WALLS] = cells == ord(CRATE), cells == ord(WALL)
        planes[PLAYED] = tenths
        return planes

    def _add_users(self, planes: Array, view: View) -> None:
        for user in view["users"]:
            if user["alive"]:
                row, column = user["at"]
                left, reach = user["bombsLeft"], user["range"]
                planes[OTHERS, row, column] = 1
                planes[BOMBS_LEFT, row, column] = left if left < HIGHEST else HIGHEST
                planes[RANGE, row, column] = reach if reach < HIGHEST else HIGHEST

    def _add_things(self, planes: Array, view: View) -> None:
        for bomb in view["bombs"]:
            (row, column), reach = bomb["at"], bomb["range"]
            planes[TURNS, row, column], planes[BLAST, row, column] = (
                bomb["turnsLeft"],
                reach if reach < HIGHEST else HIGHEST,
            )
        for upgrade in view["upgrades"]:
            row, column = upgrade["at"]
            planes[
                MORE_BOMBS if upgrade["type"] == ADDITIONAL_BOMB else MORE_RANGE, row, column
            ] = 1
        for row, column in view["explosions"]:
            planes[FLAMES, row, column] = 1
        closing = view["closing"]
        if closing["next"]:
            left = min(closing["at"] - view["round"] + 1, HIGHEST)
            for row, column in closing["next"]:
                planes[CLOSING, row, column] = left

    def _legal(self, view: View, row: int, column: int, bombs_left: int) -> int:
        """Return the legal actions as bits."""
        tiles, bombs = view["tiles"], [tuple(bomb["at"]) for bomb in view["bombs"]]
        legal = 1 << WAIT
        if bombs_left and (row, column) not in bombs:
            legal |= 1 << PLACE_BOMB
        for way, place in enumerate(self._beside[row, column]):
            if place is not None and tiles[place[0]][place[1]] == FREE and place not in bombs:
                legal |= 1 << way
        return legal

    def move(self, view: View, action: int) -> Raw:
        return MOVES[action]

    def action(self, view: View, move: Raw) -> int:
        try:
            return action_in(move)
        except IllegalMove as problem:
            raise BadAction(str(problem)) from None

    def playing(self, view: View) -> bool:
        return bool(view["users"][view["you"]]["alive"])
