"""Flight lines: a flight record as its owner reads it."""

from typing import Any

import msgspec
from msgspec import Struct

from botdrome.match.terms import Milliseconds

ENTRY = 4
"""The parts of an entry, as `Flight` keeps them."""

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

    Early stores have them as lines already, or entry by entry.
    """
    if packed.startswith(b"{"):
        return packed
    lost, parts, cause = UNPACKER.decode(packed)
    by_entry = parts and isinstance(parts[0], list)
    entries = parts if by_entry else [parts[at : at + ENTRY] for at in range(0, len(parts), ENTRY)]
    lines: list[Any] = [{"lost": lost}] if lost else []
    asked = 0
    for t, came, message, verdict in entries:
        text = message.decode(errors="replace")
        lines.append(FlightLine(t, "in", text, verdict, t - asked) if came else FlightLine(t, "out", text))
        asked = asked if came else t
    return LINES.encode_lines([*lines, {"cause": cause, "reason": reason} if reason else {"cause": cause}])
