"""Listening sockets, with TLS if the settings configure it."""

import asyncio
import errno
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import structlog

from botdrome.server.settings import BadSetting, Settings

log = structlog.get_logger()

MakeProtocol = Callable[[], asyncio.BaseProtocol]
OpenOn = Callable[..., Coroutine[Any, Any, asyncio.Server]]
LOCALHOST = ["127.0.0.1", "::1"]
EVERYWHERE = ("", "0.0.0.0", "::")
ANYWHERE = socket.AF_INET, ("192.0.2.1", 9)
ANYWHERE_6 = socket.AF_INET6, ("2001:db8::1", 9)
"""An address of no machine; the route to it leads through the network."""
BACKLOG = 2048
"""Connections that wait to be accepted."""
ATTEMPTS = 20
"""Attempts to find a port that is free on all addresses of a host."""
QUIET, BETWEEN, TIMES = 60, 15, 4
"""TCP keep-alive detects dead peers within two minutes: seconds until the first probe and between
probes, and their number.
"""
OPTIONS = {
    "TCP_KEEPIDLE": QUIET,
    "TCP_KEEPALIVE": QUIET,
    "TCP_KEEPINTVL": BETWEEN,
    "TCP_KEEPCNT": TIMES,
    "TCP_USER_TIMEOUT": (QUIET + BETWEEN * TIMES) * 1000,
}
"""Each operating system supports some of these.

The last one is for connections with unsent data.
"""


def network_address(host: str) -> str | None:
    """Return the address by which other machines on the network reach a server that listens on
    `host`. None: they cannot, or this machine has none.
    """
    if host not in EVERYWHERE:
        own = host in ("localhost", *LOCALHOST) or host.startswith("127.")
        return None if own else f"[{host}]" if ":" in host else host
    family, anywhere = ANYWHERE_6 if host == "::" else ANYWHERE
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as chosen:
        chosen.connect(anywhere)  # a datagram socket sends nothing by this
        address = str(chosen.getsockname()[0])
        return f"[{address}]" if ":" in address else address
    return None


class OpenPort:
    """A port on which the server listens."""

    def __init__(self, number: int, close: Callable[[], None]) -> None:
        self.number, self._close = number, close
        self.open = True

    def close(self) -> None:
        if self.open:
            self.open = False
            self._close()


async def listen(
    settings: Settings,
    key: str,
    port: int,
    make: MakeProtocol,
    secure: ssl.SSLContext | None = None,
    serving: bool = True,
) -> asyncio.Server:
    """Listen on a port.

    `key` is its setting; 0 or -1: any free port, the same on all addresses of the host.

    If not `serving`, only take the port.
    """
    host, wanted = settings.host, max(0, port)
    open_on = partial(
        asyncio.get_running_loop().create_server,
        make,
        ssl=secure,
        backlog=BACKLOG,
        start_serving=serving,
    )
    try:
        if _means_localhost(host):
            server = await _on_localhost(open_on, wanted)
        else:
            several = not wanted and len(await _addresses(host)) > 1
            server = await (
                _on_one_port(partial(open_on, host)) if several else open_on(host, port=wanted)
            )
    except (OSError, ValueError) as error:
        raise _explained(error, settings, key, wanted) from None
    keep_alive(server)
    return server


def stop(server: asyncio.Server) -> None:
    """Accept no more connections, and close the port in the next turn of the loop: asyncio would
    neither make nor close a connection that it accepted in this turn.
    """
    loop = asyncio.get_running_loop()
    for listening in server.sockets:
        loop.remove_reader(listening)
    loop.call_soon(server.close)


def _means_localhost(host: str) -> bool:
    """Whether to serve [::1] together with 127.0.0.1.

    Many clients resolve localhost to [::1] first.
    """
    return host in (LOCALHOST[0], "localhost") and _has_ipv6()


async def _on_localhost(open_on: OpenOn, port: int) -> asyncio.Server:
    if not port:
        return await _on_one_port(partial(open_on, LOCALHOST))
    try:
        return await open_on(LOCALHOST, port=port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        server = await open_on(LOCALHOST[0], port=port)
    log.warning(
        "another program listens here: clients that connect to localhost may reach it",
        address=f"[::1]:{port}",
    )
    return server


@cache
def _has_ipv6() -> bool:
    """Whether this machine has [::1]."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


async def _on_one_port(open_on: OpenOn) -> asyncio.Server:
    """Listen on the same free port on all addresses.

    The system would choose a different one for each address.
    """
    for _ in range(ATTEMPTS):
        try:
            return await open_on(port=_free_port())
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    return await open_on(port=_free_port())


async def _addresses(host: str) -> set[str]:
    """Return all addresses of a host; for the empty host, the wildcards of IPv4 and IPv6."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(
        host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return {str(entry[4][0]) for entry in found}


def _free_port() -> int:
    """Return a port that is free on one address, and most likely on the others."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _explained(error: OSError | ValueError, settings: Settings, key: str, port: int) -> BadSetting:
    """Return the error that names the wrong setting: the host, if it is unknown or not local, or
    else the port.
    """
    if isinstance(error, ValueError | socket.gaierror):
        reason = error.strerror if isinstance(error, socket.gaierror) else "not the name of a host"
        return BadSetting(f"host: cannot listen on {settings.host!r}: {reason}")
    if error.errno == errno.EADDRNOTAVAIL:
        return BadSetting(f"host: {settings.host!r} is no address of this machine")
    return BadSetting(f"{key}: cannot listen on {settings.host}:{port}: {error.strerror}")


def secured(settings: Settings) -> ssl.SSLContext | None:
    """Return a TLS context with the certificate and key of the settings, or None if
    neither is set.
    """
    cert, key = settings.tls.cert, settings.tls.key
    if not cert and not key:
        return None
    if not cert or not key:
        missing, given = ("tls.key", "tls.cert") if cert else ("tls.cert", "tls.key")
        raise BadSetting(
            f"{missing}: it has to be given with {given}; where one file has both, name it twice"
        )
    _readable("tls.cert", cert)
    _readable("tls.key", key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(cert)
    except ssl.SSLError as error:
        raise BadSetting(
            f"tls.cert: there is no certificate in {cert} ({_reason(error)})"
        ) from None
    try:
        context.load_cert_chain(cert, key)
    except ssl.SSLError as error:
        raise BadSetting(f"tls.key: {key} is no key for {cert} ({_reason(error)})") from None
    return context


def _readable(setting: str, file: str) -> None:
    try:
        with Path(file).open("rb"):
            pass
    except (OSError, ValueError) as error:
        raise BadSetting(f"{setting}: {file}: {getattr(error, 'strerror', error)}") from None


def _reason(error: ssl.SSLError) -> str:
    return error.reason.replace("_", " ").lower() if error.reason else "not in PEM"


@contextmanager
def tolerated(usual: bool) -> Iterator[None]:
    """Continue without a port that another program uses, if it is only the default port of the
    protocol.
    """
    try:
        yield
    except BadSetting as problem:
        if not usual:
            raise
        log.warning(
            "the default port of a protocol is in use, so the server does not listen there",
            problem=str(problem),
        )


def keep_alive(server: asyncio.Server) -> None:
    """Enable TCP keep-alive on the listening sockets. Connections inherit it."""
    for listening in server.sockets:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in OPTIONS.items():
            with suppress(AttributeError, OSError):
                listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


# Signals that stop the server.

T = TypeVar("T")


@asynccontextmanager
async def stop_signal() -> AsyncIterator[asyncio.Event]:
    """Yield an event that the first SIGTERM or SIGINT sets.

    A second signal ends the process at once.
    """
    wanted, loop = asyncio.Event(), asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)

    def stop(number: signal.Signals) -> None:
        if wanted.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        wanted.set()

    for number in signals:
        loop.add_signal_handler(number, stop, number)
    try:
        yield wanted
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def unless(wanted: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """Do something, and give it up when the event is set: a node may wait for
    PostgreSQL and NATS.
    """
    doing, waiting = asyncio.create_task(work), asyncio.create_task(wanted.wait())
    await asyncio.wait((doing, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if not doing.done():
        doing.cancel()
        await asyncio.wait((doing,))
    return None if doing.cancelled() else doing.result()
