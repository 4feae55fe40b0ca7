"""A connection to a NATS server. It has one subscription, and never waits to send."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from socket import gaierror
from typing import cast
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from botdrome.server.settings import BadSetting
from botdrome.version import __version__
from botdrome.wire.framing.streams import BadFrame
from botdrome.wire.nats import PING, PONG, NatsError, NatsInfo, NatsReader, connect, subscribe

# NatsAddress: where a NATS server is, and how to log in there.

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


PATIENCE = 2.0
"""Seconds in which a server has to answer when a client connects."""
UNWRITTEN = 16 << 20
"""Bytes that may wait for a server that reads too slowly."""
UNANSWERED = 2
"""Pings after which a server counts as frozen."""

NO_LOGIN = (
    "it takes clients without a login, so any program that reaches it could end matches: "
    "set a login there, or allow this with cluster.open_nats"
)


class NatsUnavailable(Exception):
    """There is no connection to a NATS server, with the reason."""


class NatsRefused(NatsUnavailable):
    """The server answers, but a node cannot use it as it is set up."""


class NatsConnection(asyncio.Protocol):
    """`receive` gets the subjects and payloads of messages; `ended` gets the reason, once the
    connection was open.

    A server that needs no login is refused, unless `open_server` is true.
    """

    def __init__(
        self,
        receive: Callable[[list[tuple[bytes, bytes]]], None],
        ended: Callable[[str], None],
        open_server: bool = False,
    ) -> None:
        self._receive, self._ended, self._open_server = receive, ended, open_server
        self._reader = NatsReader()
        self._transport: asyncio.Transport
        self._first: asyncio.Future[NatsInfo] = asyncio.get_running_loop().create_future()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unanswered = 0
        self._reason = "the NATS server has closed the connection"
        self.largest = 0
        """Bytes of one message."""

    async def open(self, address: NatsAddress, subject: str, name: str) -> None:
        """Connect, log in and subscribe. Raise NatsUnavailable."""
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.get_running_loop().create_connection(
                    lambda: self, address.host, address.port
                )
                info = await self._first
                if not info.auth_required and not self._open_server:
                    raise NatsRefused(NO_LOGIN)
                tls = await self._secure(info, address)
                login = connect(name, __version__, tls, address.user, address.password)
                self._transport.write(login + subscribe(subject) + PING)
                await self._ready
        except TimeoutError:
            self.close()
            raise NatsUnavailable(
                f"{address} does not answer as a NATS server does within {PATIENCE:g} s"
            ) from None
        except (OSError, UnicodeError) as error:
            self.close()
            raise NatsUnavailable(f"cannot connect to {address}: {_words(error)}") from None
        except NatsUnavailable as problem:
            self.close()
            raise type(problem)(f"{address}: {problem}") from None

    async def _secure(self, info: NatsInfo, address: NatsAddress) -> bool:
        """Start TLS if the address or the server wants it."""
        self.largest = info.max_payload
        if not address.tls and not info.tls_required:
            return False
        if not (info.tls_required or info.tls_available):
            raise NatsRefused("the server has no TLS: use nats:// instead of tls://")
        loop, context = asyncio.get_running_loop(), ssl.create_default_context()
        secured = await loop.start_tls(self._transport, self, context, server_hostname=address.host)
        self._transport = cast(asyncio.Transport, secured)
        return True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(
            asyncio.Transport, transport
        )  # uvloop's transports are not subclasses

    def data_received(self, data: bytes) -> None:
        try:
            events = self._reader.feed(data)
        except BadFrame as problem:
            self._fail(f"this is no NATS server: it sent {problem}", NatsRefused)
            return
        if messages := [event for event in events if isinstance(event, tuple)]:
            self._receive(messages)
        for event in events:
            if not isinstance(event, tuple):
                self._obey(event)

    def _obey(self, event: NatsInfo | NatsError | bytes) -> None:
        if event == PING:
            self._transport.write(PONG)
        elif event == PONG:
            self._unanswered = 0
            with suppress(asyncio.InvalidStateError):
                self._ready.set_result(None)
        elif isinstance(event, NatsInfo):
            with suppress(
                asyncio.InvalidStateError
            ):  # a server sends it again when its cluster changes
                self._first.set_result(event)
        elif isinstance(event, NatsError):
            self._fail(*_explained(event.words))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._ready.done() and not self._ready.cancelled() and self._ready.exception() is None:
            self._ended(self._reason)
        else:
            self._fail(self._reason)

    def _fail(self, reason: str, kind: type[NatsUnavailable] = NatsUnavailable) -> None:
        """End the connection, or the attempt to open it, for a reason."""
        self._reason = reason
        for waiting in (self._first, self._ready):
            if not waiting.done():
                waiting.set_exception(kind(reason))
                waiting.exception()  # if nobody waits for it, that is no error
        self._transport.abort()

    def write(self, data: bytes) -> None:
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > UNWRITTEN:
            self._fail(
                f"the NATS server reads too slowly: more than {UNWRITTEN >> 20} MB waited for it"
            )

    def ping(self) -> None:
        """Ask for a sign of life; end the connection if several went unanswered."""
        if self._unanswered == UNANSWERED:
            self._fail("the NATS server does not answer")
            return
        self._unanswered += 1
        self._transport.write(PING)

    def close(self) -> None:
        self._ended = lambda _: None
        if hasattr(self, "_transport"):
            self._transport.abort()


def _explained(words: str) -> tuple[str, type[NatsUnavailable]]:
    if words.lower().startswith(("authorization violation", "authentication")):
        login = "give it as in nats://USER:PASSWORD@HOST:PORT or nats://TOKEN@HOST:PORT"
        return f"it refuses the login ({words}): {login}", NatsRefused
    return f"it reports {words!r}", NatsUnavailable


def _words(error: OSError | UnicodeError) -> str:
    if isinstance(error, ssl.SSLError):
        return str(getattr(error, "verify_message", "") or error.reason)
    if isinstance(error, gaierror | UnicodeError):
        return "there is no such host"
    return error.strerror or str(error)
