"""A client of a server's REST interface, as far as the commands need it."""

import json
import urllib.error
import urllib.request
from errno import ECONNREFUSED
from http.client import HTTPException
from typing import Any
from urllib.error import URLError
from urllib.parse import quote, urlsplit

# The address of a server, as users write it, and the URLs that follow from it.

SCHEMES = {"": "http", "http": "http", "https": "https", "ws": "http", "wss": "https"}


def http_url(server: str) -> str:
    """Return the URL of a server without a path, always in the same form; ValueError if this is not
    the address of a server.
    """
    parts = urlsplit(server if "://" in server else f"//{server}")
    scheme = SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname or "@" in parts.netloc:
        raise ValueError(
            f"{server} is not the address of a server; one looks like http://127.0.0.1:3000"
        )
    try:
        port = parts.port
    except ValueError:
        raise ValueError(
            f"{server} is not the address of a server: the port is a number up to 65535"
        ) from None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{scheme}://{host}" + (f":{port}" if port is not None else "")


def socket_url(server: str, path: str = "/") -> str:
    """Return the URL for WebSockets."""
    return http_url(server).replace("http", "ws", 1) + path


def connection_problem(problem: Exception) -> str:
    """Return why there is no connection, in words."""
    cause = problem.reason if isinstance(problem, URLError) else problem
    refused = getattr(cause, "errno", None) == ECONNREFUSED or f"[Errno {ECONNREFUSED}]" in str(
        cause
    )
    return "connection refused: is the server running?" if refused else str(cause)


TIMEOUT = 30
FORBIDDEN, CONFLICT = 403, 409
"""The status of a token that is not valid, and of a name that is taken."""


class ServerProblem(Exception):
    """The server refuses a request or cannot be reached; the text says why."""

    def __init__(self, words: str, status: int = 0) -> None:
        """`status` is that of HTTP; 0: there was no answer."""
        super().__init__(words)
        self.status = status


class RestServer:
    def __init__(self, server: str, timeout: float = TIMEOUT) -> None:
        """Raise ValueError if this is not the address of a server."""
        self.url, self._timeout = http_url(server), timeout

    def register(
        self, game: str, name: str, owner: str, owner_token: str = "", language: str = ""
    ) -> str:
        """Register a bot, and return its token."""
        body = {"game": game, "name": name, "owner": owner}
        answer = self.get("bots", owner_token, body | ({"language": language} if language else {}))
        return str(answer["password"])

    def has_bot(self, name: str) -> bool:
        try:
            self.get(f"bots/{segment(name)}")
        except ServerProblem as problem:
            if problem.status == 404:
                return False
            raise
        return True

    def match_file(self, match: str) -> bytes:
        """Return the match file of a match that is over."""
        return self._read(f"matches/{segment(match)}/record", None, None)

    def file(self, path: str, token: str) -> bytes:
        return self._read(path, token, None)

    def lines(self, path: str, token: str) -> list[dict[str, Any]]:
        """Return an answer in JSON lines."""
        return [json.loads(line) for line in self._read(path, token, None).splitlines()]

    def get(
        self, path: str, token: str | None = None, body: Any = None, method: str | None = None
    ) -> Any:
        """Return the answer to GET, or to POST if there is a body, or to another method.

        Bytes are sent as they are, other bodies as JSON.
        """
        return json.loads(self._read(path, token, body, method))

    def _read(self, path: str, token: str | None, body: Any, method: str | None = None) -> bytes:
        raw = isinstance(body, bytes)
        data = body if raw or body is None else json.dumps(body).encode()
        media = "application/octet-stream" if raw else "application/json"
        headers = {"Content-Type": media} | ({"Authorization": f"Bearer {token}"} if token else {})
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as problem:
            with problem:
                raise ServerProblem(_words(problem), problem.code) from None
        except (OSError, HTTPException) as problem:
            raise ServerProblem(f"{self.url}: {connection_problem(problem)}") from None


def segment(name: str) -> str:
    """Return a name as one segment of a path."""
    return quote(name, safe="")


def _words(problem: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(problem.read())["error"])
    except (ValueError, KeyError, TypeError):
        return str(problem)
