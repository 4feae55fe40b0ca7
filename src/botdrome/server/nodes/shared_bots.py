"""Bots as all nodes know them: changes of bots and bans, and the tunnels of bots to any node."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec
from msgspec import Struct

from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, too_late
from botdrome.server.calling.tunnels import Tunnels
from botdrome.server.failures import log_failure
from botdrome.server.lobby.bans import Ban
from botdrome.server.lobby.desk import Desk
from botdrome.server.nodes.asking import Asking, LateAnswer, NoAnswer
from botdrome.server.nodes.cluster import Cluster, Links, NodeId
from botdrome.store.entries import Epoch

REGISTRY_TOPIC = "registry"


class BotChanged(Struct, frozen=True, array_like=True, tag="b"):
    name: str
    logins_end: bool
    """Its token was changed."""


class BansChanged(Struct, frozen=True, array_like=True, tag="l"):
    """A ban was made or lifted; the store has it."""

    made: Ban | None


CHANGE_DECODER = msgspec.msgpack.Decoder(BotChanged | BansChanged)


class SharedRegistry:
    def __init__(self, desk: Desk, links: Links) -> None:
        self._registry, self._start, self._links = desk.registry, desk.tasks.start, links
        self._registry.on_change.append(lambda name, ends: self._tell(BotChanged(name, ends)))
        self._registry.bans.on_change.append(lambda made: self._tell(BansChanged(made)))
        links.on(REGISTRY_TOPIC, self._receive)

    def _tell(self, message: BotChanged | BansChanged) -> None:
        self._links.broadcast(REGISTRY_TOPIC, msgspec.msgpack.encode(message))

    def _receive(self, _: NodeId, payload: bytes) -> None:
        message = CHANGE_DECODER.decode(payload)
        if isinstance(message, BansChanged):
            self._start(self._load_bans(message.made))
        else:
            self._registry.drop(message.name)
            if message.logins_end:
                self._registry.clients.end_logins(message.name)

    async def _load_bans(self, made: Ban | None) -> None:
        bans = self._registry.bans
        try:
            await bans.load()
        except Exception:
            log_failure("the bans could not be read")
        for client in self._registry.clients.all:
            if made is not None and bans.covers(made, client.name, client.address):
                client.remove(made.words())


TUNNELS_TOPIC = "tunnels"


class OpenTunnels(Struct, frozen=True, array_like=True, tag="o"):
    """Names of bots that have a tunnel to the sender, and when these were opened.

    Of two for a name, the newer one stays.
    """

    tunnels: dict[str, Epoch]


class ClosedTunnel(Struct, frozen=True, array_like=True, tag="c"):
    name: str


class CallThroughTunnel(Struct, frozen=True, array_like=True):
    """A question to the node of a tunnel; the answer is the bot's."""

    name: str
    body: bytes
    limit_seconds: float
    headers: dict[str, str]


TUNNEL_DECODER = msgspec.msgpack.Decoder(OpenTunnels | ClosedTunnel)


class TunnelElsewhere(NamedTuple):
    opened: Epoch
    node: NodeId


class SharedTunnels:
    def __init__(
        self, tunnels: Tunnels, cluster: Cluster, asking: Asking, arrived: Callable[[str], None]
    ) -> None:
        """`arrived` is told the name of a bot that can be called."""
        self._tunnels, self._links, self._members = tunnels, cluster.links, cluster.members
        self._asking, self._arrived = asking, arrived
        self._elsewhere: dict[str, TunnelElsewhere] = {}
        self._told: set[NodeId] = set()
        tunnels.shared = self
        asking.on(CallThroughTunnel, self._call)
        self._links.on(TUNNELS_TOPIC, self._receive)
        self._links.on_lost.append(self._lose)
        self._members.on_change.append(self._greet)
        self._greet()

    # For this node.

    def __contains__(self, name: str) -> bool:
        return name in self._elsewhere

    def opened(self, name: str, at: Epoch) -> Epoch:
        before = self._elsewhere.pop(name, None)
        if before is not None:
            at = max(at, before.opened + 1)  # the clocks of nodes differ
        self._links.broadcast(TUNNELS_TOPIC, msgspec.msgpack.encode(OpenTunnels({name: at})))
        return at

    def closed(self, name: str) -> None:
        self._links.broadcast(TUNNELS_TOPIC, msgspec.msgpack.encode(ClosedTunnel(name)))

    async def post(
        self, name: str, body: bytes, limit_seconds: float, headers: Mapping[str, str]
    ) -> BotAnswer:
        call = CallThroughTunnel(name, body, limit_seconds, dict(headers))
        try:
            return await self._asking.ask(
                self._elsewhere[name].node, call, BotAnswer, limit_seconds
            )
        except LateAnswer:
            raise too_late(limit_seconds) from None
        except NoAnswer as problem:
            raise CallFailed(f"the connection of {name[:100]} broke off: {problem}") from None

    # For other nodes.

    async def _call(self, call: CallThroughTunnel) -> BotAnswer:
        return await self._tunnels.post_here(call.name, call.body, call.limit_seconds, call.headers)

    def _greet(self) -> None:
        """Tell nodes that have joined which tunnels are here."""
        live = self._members.nodes.keys() - {self._members.here.id}
        for node in live - self._told:
            self._tell_all(node)
        self._told = set(live)

    def _tell_all(self, node: NodeId) -> None:
        if here := self._tunnels.opened:
            self._links.send(node, TUNNELS_TOPIC, msgspec.msgpack.encode(OpenTunnels(here)))

    def _receive(self, node: NodeId, payload: bytes) -> None:
        message = TUNNEL_DECODER.decode(payload)
        if isinstance(message, OpenTunnels):
            for name, at in message.tunnels.items():
                self._open(name, TunnelElsewhere(at, node))
        elif (found := self._elsewhere.get(message.name)) is not None and found.node == node:
            del self._elsewhere[message.name]

    def _open(self, name: str, tunnel: TunnelElsewhere) -> None:
        ours = self._tunnels.opened.get(name)
        if ours is not None and (ours, self._members.here.id) > tunnel:
            return  # that node closes its own
        if ours is not None:
            self._tunnels.replace(name)
        if tunnel > self._elsewhere.get(name, tunnel._replace(opened=-1)):
            self._elsewhere[name] = tunnel
            self._arrived(name)

    def _lose(self, node: NodeId) -> None:
        """Messages were lost, or the node is dead."""
        for name in [name for name, tunnel in self._elsewhere.items() if tunnel.node == node]:
            del self._elsewhere[name]
        if node in self._members.nodes:
            self._tell_all(node)
