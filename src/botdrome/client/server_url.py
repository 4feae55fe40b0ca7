"""The address of a server, as users write it, and the URLs that follow from it."""

from errno import ECONNREFUSED
from urllib.error import URLError
from urllib.parse import urlsplit

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
