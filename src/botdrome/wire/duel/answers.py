"""Messages of duel arena players: frames, and the moves in them."""

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from botdrome.games.reading import UNREADABLE, TooManyValues, bounded, shown
from botdrome.wire.framing.streams import BadFrame

GREATEST = 2**53
"""Larger coordinates are played as this one: both are far beyond any board."""

Coordinate = Annotated[int, Meta(ge=-GREATEST, le=GREATEST)]


class PlainAnswer(Struct, forbid_unknown_fields=True):
    """A `make_move` as nearly every bot writes it: integers, and no other keys."""

    event: Literal["make_move"]
    id: str
    x: Coordinate
    y: Coordinate


DECODER = msgspec.json.Decoder()
PLAIN_ANSWERS = msgspec.json.Decoder(PlainAnswer)


class Ignored(Exception):
    """A message that is ignored without an answer, with words for the bot's author."""


def read_frame(frame: bytes) -> Any:
    """Return the JSON in a frame. Raise BadFrame if there is none, or if it is `null`."""
    try:
        value = DECODER.decode(bounded(frame))
    except TooManyValues as error:
        raise BadFrame(f"the frame cannot be read: {error}") from None
    except UNREADABLE as error:
        value = _as_python_reads_it(frame, str(error))
    if value is None:
        raise BadFrame("the frame says null")
    return value


def _as_python_reads_it(frame: bytes, why_not: str) -> Any:
    """Accept `NaN`, `Infinity` and lone surrogates like Python, in which the original and many bots are written."""
    try:
        return json.loads(frame.decode())
    except (ValueError, RecursionError):
        raise BadFrame(f"the frame is no JSON in UTF-8: {why_not}") from None


def number_in(message: dict[str, Any], key: str) -> int:
    """Return what Python's `int` makes of the value, also of `" 5 "`, 5.9 and true."""
    try:
        return int(message[key])
    except KeyError:
        raise Ignored(f'the key "{key}" is missing') from None
    except (TypeError, ValueError, OverflowError):
        raise Ignored(f"{key} is a whole number, not {shown(message[key])}") from None
