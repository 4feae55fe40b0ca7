"""Features: words in a login that ask for more than the original of the protocol sends.

A client that asks for nothing is sent exactly what the original sends, or its connection is closed without a message.
"""

from collections.abc import Mapping
from typing import Any

from botdrome.games.reading import shown

AGAIN = "again"
"""Battlebot: the connection stays open after a match, for the next one."""
DRAW = "draw"
"""Duel arena: a drawn board is announced as a draw."""
EXTRAS = "extras"
"""Battlebot: updates have the keys that we added."""
FRAMES = "frames"
"""Battlebot: the frames of a spectator, with the player's own view and its legal moves, in place of Battlebot's messages."""
NOTICES = "notices"
"""Battlebot: messages that say why a wait or a connection ends."""
VIEWS = "views"
"""Battlebot: as `frames`, without the legal moves, which cost the server far more than the views in some games."""


class BadFeatures(Exception):
    """Raised for features that are not a list of known words; the message names the known ones."""


def read_features(login: Mapping[str, Any], known: tuple[str, ...]) -> frozenset[str]:
    """Return the words under `features` in a login, or raise BadFeatures."""
    words = login.get("features", [])
    *others, last = [f'"{word}"' for word in known]
    allowed = f"{', '.join(others)} and {last}" if others else last
    if not isinstance(words, list):
        raise BadFeatures(f"features is a list that may hold {allowed}, not {shown(words)}")
    for word in words:
        if word not in known:
            raise BadFeatures(f"there is no feature {shown(word)}; features may hold {allowed}")
    return frozenset(words)
