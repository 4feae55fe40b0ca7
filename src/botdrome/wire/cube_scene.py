"""Battlecube's state of play, in the words of its protocol: what organisers are shown and bots are asked with."""

from collections.abc import Sequence
from typing import Any

import msgspec

from botdrome.games.game import Game, View

ENCODER = msgspec.json.Encoder()
MOST_OUTSIDE = 1000
"""Bombs outside the cube that are shown. They harm nobody, and bots may go on throwing them for as long as a game lasts."""

Cell = tuple[int, int, int]
Payload = dict[str, Any]


class CubeScene:
    """One game. A position is put into words once, for whoever wants them."""

    def __init__(self, game_id: str, names: tuple[str, ...]) -> None:
        self.game_id, self.names = game_id, names
        self._position: Game[Any] | None = None
        self._view: View = {}
        self._state: Payload | None = None

    def view(self, position: Game[Any]) -> View:
        """As anybody may see it."""
        if position is not self._position:
            self._position, self._view = position, position.view(None)
            self._state = None
        return self._view

    def state(self, position: Game[Any]) -> Payload:
        view = self.view(position)
        if self._state is None:
            self._state = next_tick(self.game_id, self.names, view)
        return self._state

    def encoded(self, position: Game[Any]) -> bytes:
        return ENCODER.encode(self.state(position))


def next_tick(game_id: str, names: tuple[str, ...], view: View) -> Payload:
    """The payload of NEXT_TICK."""
    players = [{"name": names[one["seat"]], "x": one["x"], "y": one["y"], "z": one["z"]} for one in view["players"]]
    return {
        "gameInfo": {
            "id": game_id,
            "edgeLength": view["edge"],
            "numOfTasksPerTick": view["tasks"],
            "numOfBotsInPlay": len(players),
            "currentTick": view["tick"],
        },
        "players": players,
        "items": [{"x": x, "y": y, "z": z, "type": "BOMB"} for x, y, z in shown_bombs(view["bombs"], view["edge"])],
    }


def shown_bombs(bombs: Sequence[Cell], edge: int) -> Sequence[Cell]:
    """All in the cube, and of those outside the last."""
    if len(bombs) <= MOST_OUTSIDE:
        return bombs
    outside = [cell for cell in bombs if max(cell) >= edge]
    forgotten = set(outside[:-MOST_OUTSIDE])
    return [cell for cell in bombs if cell not in forgotten] if forgotten else bombs
