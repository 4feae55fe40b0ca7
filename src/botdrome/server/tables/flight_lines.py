"""Flight lines: a flight record as its owner reads it."""

from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.match.terms import Milliseconds

LINES, UNPACKER = msgspec.json.Encoder(), msgspec.msgpack.Decoder(tuple[Any, ...])
WITHOUT_STEPS = 4
"""The fields of an entry in old stores, which had no step."""


class FlightLine(Struct, frozen=True, omit_defaults=True):
    """An entry in the form of the API."""

    t: Milliseconds
    dir: str
    message: str
    verdict: str = ""
    used: Milliseconds | None = None
    """The time that the bot took for this answer."""
    step: int | None = None
    """The number of steps played before."""
    network: Milliseconds = 0
    """The part of `used` that is the network's."""
    arena: Milliseconds = 0
    """The part of `used` by which the server was late."""
    charged: Milliseconds | None = None
    """The part of `used` that counts, if it is not all."""


def written(packed: bytes, reason: str = "") -> bytes:
    """Return JSON lines: the entries, then the cause of the end, and the reason if the match was
    aborted.

    Early stores have them as lines already, or without sheets, or without steps.
    """
    if packed.startswith(b"{"):
        return packed
    lost, sheets, cause, *rest = UNPACKER.decode(packed)
    size = rest[0] if rest else WITHOUT_STEPS
    parts = list(chain.from_iterable(sheets)) if sheets and isinstance(sheets[0], list) else sheets
    lines: list[Any] = [{"lost": lost}] if lost else []
    asked = 0
    for at in range(0, len(parts), size):
        t, came, message, verdict, *steps = parts[at : at + size]
        text, step = message.decode(errors="replace"), steps[0] if steps else None
        if came:
            line = FlightLine(t, "in", text, verdict, t - asked, step)
            lines.append(_with_times(line, *steps[1]) if steps[1:] and steps[1] else line)
        else:
            lines.append(FlightLine(t, "out", text, step=step))
        asked = asked if came else t
    return LINES.encode_lines(
        [*lines, {"cause": cause, "reason": reason} if reason else {"cause": cause}]
    )


def _with_times(line: FlightLine, network: Milliseconds, arena: Milliseconds) -> FlightLine:
    return replace(
        line, network=network, arena=arena, charged=max(0, (line.used or 0) - network - arena)
    )
