"""SharedRegistry: tells the other nodes which bots and bans have changed, so that none of them goes
by old data.
"""

import msgspec
from msgspec import Struct

from botdrome.server.failures import log_failure
from botdrome.server.lobby.bans import Ban
from botdrome.server.lobby.desk import Desk
from botdrome.server.nodes.node import Links, NodeId

TOPIC = "registry"


class BotChanged(Struct, frozen=True, array_like=True, tag="b"):
    name: str
    logins_end: bool
    """Its token was changed."""


class BansChanged(Struct, frozen=True, array_like=True, tag="l"):
    """A ban was made or lifted; the store has it."""

    made: Ban | None


DECODER = msgspec.msgpack.Decoder(BotChanged | BansChanged)


class SharedRegistry:
    def __init__(self, desk: Desk, links: Links) -> None:
        self._registry, self._start, self._links = desk.registry, desk.tasks.start, links
        self._registry.on_change.append(lambda name, ends: self._tell(BotChanged(name, ends)))
        self._registry.bans.on_change.append(lambda made: self._tell(BansChanged(made)))
        links.on(TOPIC, self._receive)

    def _tell(self, message: BotChanged | BansChanged) -> None:
        self._links.broadcast(TOPIC, msgspec.msgpack.encode(message))

    def _receive(self, _: NodeId, payload: bytes) -> None:
        message = DECODER.decode(payload)
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
