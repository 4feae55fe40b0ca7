"""Lone surrogates: JSON can write `\\ud800` alone. JavaScript reads that; UTF-8 cannot encode it."""

import re
from typing import Any

from botdrome.games.reading import UNREADABLE, TooManyValues, bounded
from botdrome.wire.battlebot.messages import DECODER

ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # both halves
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"  # one of them
    rb"|\\.",  # another escape
    re.DOTALL,
)
MOST_ESCAPES = 1000
"""Escapes in a message that is read a second time, since each of them takes a call."""
UNKNOWN = rb"\ufffd"
"""The replacement character, which JavaScript too writes for a lone surrogate in UTF-8."""


def without_halves(json: bytes) -> bytes:
    return ESCAPE.sub(lambda escape: UNKNOWN if escape[1] else escape[0], json)


def value_of(message: bytes) -> Any:
    """Return the value of a message, lone surrogates or not. Raise UNREADABLE if it is no JSON or too large."""
    try:
        return DECODER.decode(bounded(message))
    except TooManyValues:
        raise
    except UNREADABLE:
        if not 0 < message.count(b"\\") <= MOST_ESCAPES:
            raise
        return DECODER.decode(without_halves(message))
