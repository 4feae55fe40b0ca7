"""Ask: what a request wants of Engine.IO, and the words in which it is refused."""

from typing import NamedTuple
from urllib.parse import parse_qs

from botdrome.wire.framing.engineio import Engine
from botdrome.wire.framing.engineio3 import EngineIo3
from botdrome.wire.framing.engineio4 import EngineIo4

ENGINES: dict[str, Engine] = {"3": EngineIo3(), "4": EngineIo4()}
POLLING, WEBSOCKET = "polling", "websocket"
MOST_FIELDS = 50
WORDS = (
    "Transport unknown",
    "Session ID unknown",
    "Bad handshake method",
    "Bad request",
    "Forbidden",
    "Unsupported protocol version",
)
UNKNOWN_TRANSPORT, UNKNOWN_SID, BAD_HANDSHAKE, BAD_REQUEST, FORBIDDEN, UNSUPPORTED_VERSION = range(6)


class Refusal(Exception):
    """One of Engine.IO's errors, with a reason where its words alone do not say what is wrong."""

    def __init__(self, code: int, context: str = "", status: int = 400) -> None:
        super().__init__(context or WORDS[code])
        self.status = status
        self.answer = {"code": code, "message": WORDS[code]} | ({"context": context} if context else {})


class Ask(NamedTuple):
    engine: Engine
    transport: str
    sid: str | None
    script: str | None
    """The number of the function that JSONP wants to be called."""


def ask_in(query: str) -> Ask:
    """What the query of a request says. Without EIO it is the oldest version that there is."""
    try:
        fields = {key: values[0] for key, values in parse_qs(query, keep_blank_values=True, max_num_fields=MOST_FIELDS).items()}
    except ValueError:
        raise Refusal(BAD_REQUEST, f"more than {MOST_FIELDS} fields") from None
    engine = ENGINES.get(fields.get("EIO", "3"))
    if engine is None:
        raise Refusal(UNSUPPORTED_VERSION)
    if fields.get("transport") not in (POLLING, WEBSOCKET):
        raise Refusal(UNKNOWN_TRANSPORT)
    script = fields.get("j")
    if script is not None and not (script.isascii() and script.isdecimal()):
        raise Refusal(BAD_REQUEST, "j is a number")
    return Ask(engine, fields["transport"], fields.get("sid"), script)
