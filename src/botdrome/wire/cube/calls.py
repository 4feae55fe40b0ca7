"""Battlecube's calls: the JSON that bots are asked with, and what they answer."""

from collections.abc import Collection
from typing import Any

import msgspec

from botdrome.games.game import Raw
from botdrome.games.reading import UNREADABLE, not_too_deep
from botdrome.match.course import News
from botdrome.match.events import Began, Ended, Out, Played, Player
from botdrome.wire.cube.scene import ENCODER, CubeScene
from botdrome.wire.standing import Standing

ASKING = (Began, Played, Out)
"""News after which there is something new to be asked."""
LARGE = 1 << 16
"""Bytes of a state that is not copied for each bot: with a great many bombs it has megabytes, and there may be 64 bots."""
DECODER = msgspec.json.Decoder()


class Unreadable(Exception):
    """An answer that is no JSON, with words for the bot's author."""


class CubeCalls:
    """The dialect of bots that are called: whoever is to move is sent the state, with itself in front."""

    def __init__(self, scene: CubeScene, urls: tuple[str, ...]) -> None:
        self._scene = scene
        self._heads = [_head(name, url) for name, url in zip(scene.names, urls, strict=True)]

    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        event, position = news[-1]
        if isinstance(event, Ended) or not any(isinstance(event, ASKING) for event, _ in news):
            return {}
        asked = [player for player in position.to_move if player in players]
        if not asked:
            return {}
        state = self._scene.encoded(position)[1:]
        if len(state) > LARGE:  # two parts of one body
            return {player: [self._heads[player], state] for player in asked}
        return {player: [self._heads[player] + state] for player in asked}


def _head(name: str, url: str) -> bytes:
    """The beginning of a body, up to the comma."""
    current: dict[str, Any] = {"currentPlayer": {"name": name, "url": url}}
    return ENCODER.encode(current)[:-1] + b","


def answer_in(body: bytes) -> Raw:
    """The answer of a bot, to be judged by the rules; Unreadable where it is none."""
    if not body:
        raise Unreadable("the answer is empty")
    try:
        return not_too_deep(body, DECODER.decode(body))
    except UNREADABLE as error:
        raise Unreadable(f"the answer is not JSON: {error}") from None
