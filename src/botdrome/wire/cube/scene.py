"""Battlecube's state of play, in the words of its protocol: what organisers are shown and bots are asked with."""

from typing import Any

import msgspec

from botdrome.games.game import Game, View
from botdrome.wire.cube.bombs import MOST_OUTSIDE, BombPile

ENCODER = msgspec.json.Encoder()

Payload = dict[str, Any]
Items = list[Payload] | msgspec.Raw
"""The bombs that are shown; where there are many, as JSON."""


class CubeScene:
    """One game. A position is put into words once, for whoever wants them."""

    def __init__(self, game_id: str, names: tuple[str, ...]) -> None:
        self.game_id, self.names = game_id, names
        self._position: Game[Any] | None = None
        self._view: View = {}
        self._state: Payload | None = None
        self._pile = BombPile()

    def view(self, position: Game[Any]) -> View:
        """As anybody may see it."""
        if position is not self._position:
            self._position, self._view = position, position.view(None)
            self._state = None
        return self._view

    def state(self, position: Game[Any]) -> Payload:
        view = self.view(position)
        if self._state is None:
            self._state = next_tick(self.game_id, self.names, view, self._items(view))
        return self._state

    def _items(self, view: View) -> Items:
        bombs = view["bombs"]
        if len(bombs) > MOST_OUTSIDE:
            return self._pile.written(bombs, view["edge"])
        return [{"x": x, "y": y, "z": z, "type": "BOMB"} for x, y, z in bombs]

    def encoded(self, position: Game[Any]) -> bytes:
        return ENCODER.encode(self.state(position))


def next_tick(game_id: str, names: tuple[str, ...], view: View, items: Items) -> Payload:
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
        "items": items,
    }
