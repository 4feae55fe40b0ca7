"""Half pairs: JSON can name half of a pair of surrogates, `\\ud800`. JavaScript reads that; UTF-8 has nothing for it."""

import re
from typing import Any

from botdrome.games.reading import UNREADABLE, not_too_deep
from botdrome.wire.battlebot.messages import DECODER

ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # both halves
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"  # one of them
    rb"|\\.",  # a backslash that may be part of nothing else
    re.DOTALL,
)
UNKNOWN = rb"\ufffd"
"""The character that stands for one that is not known: so JavaScript writes a half where it writes UTF-8."""


def without_halves(json: bytes) -> bytes:
    return ESCAPE.sub(lambda escape: UNKNOWN if escape[1] else escape[0], json)


def value_of(message: bytes) -> Any:
    """The value in a message, halves or not; UNREADABLE if there is none, or if it is nested too deep."""
    try:
        value = DECODER.decode(message)
    except UNREADABLE:
        value = DECODER.decode(without_halves(message))
    return not_too_deep(message, value)
