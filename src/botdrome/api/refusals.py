"""Refusals: what a request is told that gets no further than the entrance, in the words of the API that it was for."""

import msgspec
from starlette.responses import PlainTextResponse, Response

from botdrome.api.socketio.query import BAD_REQUEST, FORBIDDEN, EngineError


def refused(path: str, status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    if path.startswith("/graphql"):
        return _json({"errors": [{"message": words}]}, status, headers)
    if path.startswith(("/api/", "/watch/")):
        return _json({"error": words}, status, headers)
    if path.startswith("/socket.io/"):
        return _json(EngineError(FORBIDDEN if status == 403 else BAD_REQUEST, words).answer, status, headers)
    return PlainTextResponse(words + "\n", status, headers)


def _json(words: object, status: int, headers: dict[str, str] | None) -> Response:
    return Response(msgspec.json.encode(words), status, headers, "application/json")
