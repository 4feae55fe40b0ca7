"""The query of a request for Engine.IO, and the errors of Engine.IO."""

from typing import NamedTuple
from urllib.parse import parse_qs

from botdrome.wire.framing.socketio import Engine, EngineIo3, EngineIo4

ENGINES: dict[str, Engine] = {"3": EngineIo3(), "4": EngineIo4()}
PATH = "/socket.io/"
POLLING, WEBSOCKET = "polling", "websocket"
MOST_FIELDS = 50
MESSAGES = (
    "Transport unknown",
    "Session ID unknown",
    "Bad handshake method",
    "Bad request",
    "Forbidden",
    "Unsupported protocol version",
)
UNKNOWN_TRANSPORT, UNKNOWN_SID, BAD_HANDSHAKE, BAD_REQUEST, FORBIDDEN, UNSUPPORTED_VERSION = range(
    6
)


class EngineError(Exception):
    """One of Engine.IO's errors; `context` says what is wrong where its message alone does not."""

    def __init__(self, code: int, context: str = "", status: int = 400) -> None:
        super().__init__(context or MESSAGES[code])
        self.status = status
        self.answer = {"code": code, "message": MESSAGES[code]} | (
            {"context": context} if context else {}
        )


class EngineQuery(NamedTuple):
    engine: Engine
    transport: str
    sid: str | None
    script: str | None
    """The number of the function to call, for clients that poll with script elements (JSONP)."""


def read_query(query: str) -> EngineQuery:
    """Without EIO, the version is 3."""
    try:
        fields = {
            key: values[0]
            for key, values in parse_qs(
                query, keep_blank_values=True, max_num_fields=MOST_FIELDS
            ).items()
        }
    except ValueError:
        raise EngineError(BAD_REQUEST, f"more than {MOST_FIELDS} fields") from None
    engine = ENGINES.get(fields.get("EIO", "3"))
    if engine is None:
        raise EngineError(UNSUPPORTED_VERSION)
    if fields.get("transport") not in (POLLING, WEBSOCKET):
        raise EngineError(UNKNOWN_TRANSPORT)
    script = fields.get("j")
    if script is not None and not (script.isascii() and script.isdecimal()):
        raise EngineError(BAD_REQUEST, "j is a number")
    return EngineQuery(engine, fields["transport"], fields.get("sid"), script)
