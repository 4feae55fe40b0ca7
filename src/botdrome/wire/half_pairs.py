"""Lone surrogates: JSON can write `\\ud800` alone. JavaScript reads that; UTF-8 cannot encode it."""

import re
from typing import Any

from botdrome.games.reading import UNREADABLE, not_too_deep
from botdrome.wire.battlebot.messages import DECODER

ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # both halves
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"  # one of them
    rb"|\\.",  # another escape
    re.DOTALL,
)
UNKNOWN = rb"\ufffd"
"""The replacement character, which JavaScript too writes for a lone surrogate in UTF-8."""


def without_halves(json: bytes) -> bytes:
    return ESCAPE.sub(lambda escape: UNKNOWN if escape[1] else escape[0], json)


def value_of(message: bytes) -> Any:
    """Return the value of a message, lone surrogates or not. Raise UNREADABLE if it is no JSON or nested too deep."""
    try:
        value = DECODER.decode(message)
    except UNREADABLE:
        value = DECODER.decode(without_halves(message))
    return not_too_deep(message, value)
