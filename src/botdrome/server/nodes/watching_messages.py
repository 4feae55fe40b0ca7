"""What nodes tell each other about running matches, so that people can watch them from any node."""

import msgspec
from msgspec import Struct

from botdrome.server.nodes.node import NodeId
from botdrome.server.tables.audience import LiveTable

TOPIC = "watching"


class WatchMessage(Struct, frozen=True, array_like=True):
    match: str


class LiveTables(Struct, frozen=True, array_like=True, tag="t"):
    """To all: the matches that run on a node, as far as pages list them, and the numbers of all by
    game.
    """

    tables: list[LiveTable]
    numbers: dict[str, int]


class Watch(WatchMessage, frozen=True, tag="w"):
    """To the node of a match: show it, beginning with the present position.

    Repeated for each new spectator.
    """


class Unwatch(WatchMessage, frozen=True, tag="u"):
    """To the node of a match: nobody watches it here any more."""


class Snapshot(WatchMessage, frozen=True, tag="s"):
    """The present position, for those that have just begun to watch."""

    message: bytes


class Show(WatchMessage, frozen=True, tag="f"):
    message: bytes


class EndOfMatch(WatchMessage, frozen=True, tag="e"):
    """The match is over and everything was shown; or it does not run here."""


class WatchThere(WatchMessage, frozen=True, tag="m"):
    """The match goes on at another node, which does not know that people watch it here."""

    node: NodeId


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(
    LiveTables | Watch | Unwatch | Snapshot | Show | EndOfMatch | WatchThere
).decode
