"""The encoding of each game."""

from collections.abc import Callable
from typing import Any

from botdrome.encodings.battlecube import BattlecubeEncoding
from botdrome.encodings.battleship import BattleshipEncoding
from botdrome.encodings.bomberman import BombermanEncoding
from botdrome.encodings.bumblebots import BumblebotsEncoding
from botdrome.encodings.encoding import Encoding
from botdrome.encodings.gomoku import GomokuEncoding
from botdrome.encodings.noughts_and_crosses import NoughtsEncoding
from botdrome.games.game import BadOption, Game

ENCODINGS: dict[str, Callable[[Any, int], Encoding]] = {
    "noughts-and-crosses": NoughtsEncoding,
    "bumblebots": BumblebotsEncoding,
    "gomoku": GomokuEncoding,
    "battleship": BattleshipEncoding,
    "battlecube": BattlecubeEncoding,
    "bomberman": BombermanEncoding,
}


def encoding_of(game: Game[Any], players: int) -> Encoding:
    """Return the encoding of a set-up. Raise BadOption if its actions cannot be numbered."""
    if game.name not in ENCODINGS:
        raise BadOption(f"{game.name} has no encoding; there are {', '.join(ENCODINGS)}")
    game.check(players)
    return ENCODINGS[game.name](game, players)
