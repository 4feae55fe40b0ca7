"""Games by name: as the formats call them, and as the native protocol does."""

from botdrome.api.problems import Problem
from botdrome.formats import FORMATS
from botdrome.wire.battlebot.messages import game_type

GAME_TYPES: dict[str, str] = {game_type(name): name for name in FORMATS}
"""NOUGHTS_AND_CROSSES is noughts-and-crosses."""


def game_called(name: str) -> str:
    """The format of that name, or of that game type."""
    game = GAME_TYPES.get(name, name)
    if game not in FORMATS:
        raise Problem(f"there is no game {name!r}; there are {', '.join(FORMATS)}", 404)
    return game
