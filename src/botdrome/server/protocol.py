"""The interface between the server and a protocol. `botdrome/protocols.py` lists the protocols."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from typing import Protocol as TypingProtocol

from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.tokens import OperatorKeys
from botdrome.server.network.dispatcher import SocketOptions
from botdrome.server.network.http import DirectService
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import (
    MakeProtocol,
    OpenPort,
    listen,
    secured,
    stop,
    tolerated,
)
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import Origin, Proxies, Shares, sharing
from botdrome.server.network.websocket import MakeSession
from botdrome.server.settings import ProtocolSection, Settings

ReceiveSocket = Callable[[str], MakeSession | SocketOptions | bytes | None]
"""Opens a WebSocket for a target; bytes: the answer that refuses it; None: it is for another
protocol.
"""


class ServerParts(NamedTuple):
    """The parts of the server that all protocols share."""

    settings: Settings
    desk: Desk
    connection_limits: ConnectionLimits
    origins: Origins
    callers: BotCaller
    keys: OperatorKeys


class Listener(TypingProtocol):
    """Opens ports: in this process, or in the one that accepts for all nodes of this machine."""

    async def listen(
        self, name: str, key: str, port: int, make: MakeProtocol, secure: ssl.SSLContext | None
    ) -> OpenPort:
        """Take connections on a port. `key` is the setting that has it.

        Raise BadSetting if that is not possible.
        """

    def set_avoided(self, avoided: bool) -> None:
        """A node that is avoided gets connections only if no other node takes them."""


class OwnListener:
    """Opens ports in this process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def listen(
        self, name: str, key: str, port: int, make: MakeProtocol, secure: ssl.SSLContext | None
    ) -> OpenPort:
        server = await listen(self._settings, key, port, make, secure)
        return OpenPort(int(server.sockets[0].getsockname()[1]), partial(stop, server))

    def set_avoided(self, avoided: bool) -> None:
        """Do nothing: no other node takes connections of these ports."""


Route = Callable[[MakeProtocol, str, str], MakeProtocol]
"""From the protocol factory of a port, its name and the game in whose rooms its clients are (empty:
in none) to one that gives connections away while those rooms are at another node.
"""


class Ports:
    """The ports on which the server listens, by the names that clients of the API see."""

    def __init__(
        self, settings: Settings, callers: BotCaller, listener: Listener | None = None
    ) -> None:
        """`listener` is that of a node which shares its ports; None: this server has its own."""
        self._settings, self._callers = settings, callers
        self._own_listener = OwnListener(settings)
        self._listener: Listener = listener or self._own_listener
        self.set_avoided = self._listener.set_avoided
        self._shares = Shares()
        self._shared = partial(sharing, shares=self._shares, proxies=Proxies(settings))
        self._open: dict[str, OpenPort] = {}
        self.own: OpenPort | None = None
        """The HTTP port of this node alone, if the others are shared."""
        self.route: Route | None = None
        """None: this server is alone."""

    @property
    def numbers(self) -> dict[str, int]:
        return {name: port.number for name, port in self._open.items() if port.open}

    async def open_http(self, protocol_factory: MakeProtocol) -> None:
        """The only port with TLS: clients of the other protocols know none."""
        settings = self._settings
        await self.open("http", "port", settings.port, protocol_factory, secured(settings))
        own = self._own_listener
        if self._listener is not own and (port := settings.cluster.port):
            make = self._shared(protocol_factory)
            self.own = await own.listen("own", "cluster.port", port, make, secured(settings))
            self._callers.listen_on([self.own.number])

    async def open(
        self,
        name: str,
        key: str,
        port: int,
        protocol_factory: MakeProtocol,
        secure: ssl.SSLContext | None = None,
        game: str = "",
    ) -> OpenPort:
        """`key` is the setting that has the port, and `game` the one in whose rooms its clients
        are; empty: they are in none.

        Raise BadSetting if the server cannot listen there.
        """
        if self.route is not None:
            protocol_factory = self.route(protocol_factory, name, game)
        make = self._shared(protocol_factory)
        opened = await self._listener.listen(name, key, port, make, secure)
        self._open[name] = opened
        self._callers.listen_on([opened.number])
        return opened

    def arriving(self, protocol_factory: MakeProtocol, origin: Origin) -> MakeProtocol:
        """Wrap the protocol of a client that another node has accepted."""
        return self._shared(protocol_factory, origin=origin)

    def close(self) -> None:
        for port in (*self._open.values(), *filter(None, [self.own])):
            port.close()

    async def disconnect(self) -> None:
        """Close the connections that are left, such as those that wait for another request."""
        for connection in tuple(self._shares.connections):
            connection.abort() if connection.get_write_buffer_size() else connection.close()
        await asyncio.sleep(0)  # the loop closes the sockets in its next turn
        await asyncio.sleep(0)


async def _nothing() -> None:
    return None


@dataclass
class ServedProtocol:
    """A protocol that the server speaks: its server, and the ways by which clients reach it."""

    server: Any
    """The object that its clients meet."""
    close: Callable[[], Awaitable[None]] = _nothing
    """Called when the matches are over: lets all clients go."""
    protocol_factory: MakeProtocol | None = None
    """Accepts connections on the protocol's own port. None: its apps are served there."""
    apps: Mapping[str, Any] = field(default_factory=dict)
    """ASGI applications, by the path on the HTTP port."""
    body_limits: Mapping[bytes, int] = field(default_factory=dict)
    """Limits of request bodies in bytes other than the usual one, by the beginning of the target.
    """
    direct: DirectService | None = None
    """Answers requests on the HTTP port without an ASGI application."""
    receive_socket: ReceiveSocket = lambda _: None
    sockets: tuple[str, ...] = ("",)
    """The beginnings of the targets for which `receive_socket` is asked."""
    has_session: Callable[[str], bool] = lambda _: False
    """Whether a path belongs to a session that has rate limits of its own."""
    listen: Callable[[Ports], Awaitable[None]] | None = None
    """Opens the ports, if it is more than one."""
    describe_port: Callable[[str], str] = lambda _: ""
    """More about the port of that name, for the start-up screen."""
    game: str = ""
    """The game of its rooms, in which its clients meet.

    Of several nodes, one has them. Empty: all nodes serve it alike.
    """
    targets: tuple[str, ...] = ()
    """The beginnings of the targets on the HTTP port that are answered in these rooms."""
    open_rooms: Callable[[], Awaitable[None]] = _nothing
    """Reads the state of its rooms from the store.

    Of several nodes, only the one that has the rooms does so.
    """
    leave_rooms: Callable[[], None] = lambda: None
    """Called when another node gets the rooms: this one stores nothing of theirs from now on that
    another may change.
    """
    settled: Callable[[], bool] = lambda: True
    """Whether everything in its rooms is stored, so that another node can read their state."""
    in_use: Callable[[], bool] = lambda: False
    """Whether clients are in the rooms. Tables and contests count anyway."""


class Protocol(NamedTuple):
    """A row: all that the server knows of a protocol before it is opened."""

    name: str
    """Also the section of its settings."""
    open: Callable[[ServerParts], Awaitable[ServedProtocol]]
    section: type[ProtocolSection] | None = None
    """None: it has no port of its own."""
    port_title: str = ""
    """The start-up screen's words for its port."""
    http_title: str = ""
    http_path: str = ""
    """The start-up screen's words for its part of the HTTP port, and the path."""
    port_name: str = ""
    """The name of its port in the API. Empty: the protocol's."""

    async def listen(
        self, settings: Settings, served: ServedProtocol, factory: MakeProtocol | None, ports: Ports
    ) -> None:
        if served.listen is not None:
            return await served.listen(ports)
        if (
            self.section is not None
            and factory is not None
            and (port := settings.of(self.section).port)
        ):
            with tolerated(port == self.section().port):
                await ports.open(
                    self.port_name or self.name,
                    f"{self.name}.port",
                    port,
                    factory,
                    game=served.game,
                )
        return None
