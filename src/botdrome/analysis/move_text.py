"""Moves as short text, for people."""

import msgspec

from botdrome.games.game import Raw

LONGEST = 60
COORDINATES = {"x", "y", "z"}


def move_text(raw: Raw) -> str:
    """Return `(7,7)` for coordinates, the value of an object with one entry, and shortened JSON for
    all others.
    """
    if isinstance(raw, dict) and raw and raw.keys() <= COORDINATES:
        return f"({','.join(_json(value) for value in raw.values())})"
    if isinstance(raw, dict) and len(raw) == 1:
        return _shortened(next(iter(raw.values())))
    return _shortened(raw)


def _shortened(raw: Raw) -> str:
    text = raw if isinstance(raw, str) else _json(raw)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _json(raw: Raw) -> str:
    return msgspec.json.encode(raw).decode()
