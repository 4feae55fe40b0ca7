"""Flight lines: a flight record as its owner reads it."""

from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.match.terms import Milliseconds
from botdrome.server.flight import ENTRY

LINES, UNPACKER = msgspec.json.Encoder(), msgspec.msgpack.Decoder(tuple[int, list[Any], str])


class FlightLine(Struct, frozen=True, omit_defaults=True):
    """An entry as it is shown."""

    t: Milliseconds
    dir: str
    message: str
    verdict: str = ""
    used: Milliseconds | None = None
    """How long the bot took for this answer."""


def written(packed: bytes, reason: str = "") -> bytes:
    """JSON lines: the entries, then the cause of the end, and the reason if the match was broken off.

    Early stores have them as lines already, or without sheets.
    """
    if packed.startswith(b"{"):
        return packed
    lost, sheets, cause = UNPACKER.decode(packed)
    parts = list(chain.from_iterable(sheets)) if sheets and isinstance(sheets[0], list) else sheets
    lines: list[Any] = [{"lost": lost}] if lost else []
    asked = 0
    for at in range(0, len(parts), ENTRY):
        t, came, message, verdict = parts[at : at + ENTRY]
        text = message.decode(errors="replace")
        lines.append(FlightLine(t, "in", text, verdict, t - asked) if came else FlightLine(t, "out", text))
        asked = asked if came else t
    return LINES.encode_lines([*lines, {"cause": cause, "reason": reason} if reason else {"cause": cause}])
