"""NatsAddress: where a NATS server is, and how to log in there."""

from urllib.parse import unquote, urlsplit

from msgspec import Struct

from botdrome.server.settings import BadSetting

PORT = 4222


class NatsAddress(Struct, frozen=True):
    """An address of a NATS server, with the login."""

    host: str
    port: int
    tls: bool = False
    user: str = ""
    password: str = ""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_addresses(urls: str) -> list[NatsAddress]:
    """Read the setting `nats`: URLs separated by commas, all of the same NATS cluster."""
    return [_read_address(url.strip()) for url in urls.split(",")]


def _read_address(url: str) -> NatsAddress:
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("nats", "tls") or not parts.hostname:
            raise ValueError
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return NatsAddress(
            parts.hostname, parts.port or PORT, parts.scheme == "tls", user, password
        )
    except ValueError:
        raise BadSetting(
            f"nats: expected nats://HOST:PORT or nats://USER:PASSWORD@HOST:PORT, not {url!r}"
        ) from None
