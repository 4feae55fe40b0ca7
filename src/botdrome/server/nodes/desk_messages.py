"""What the desks of different nodes tell each other.

A client waits at its front, the node that has its connection.
"""

from typing import Any

import msgspec
from msgspec import Struct

from botdrome.contest.lobby import Wish
from botdrome.server.nodes.node import NodeId


class DeskMessage(Struct, frozen=True, array_like=True, tag=True):
    """`ticket` is the number of the client at its front."""

    ticket: int


class SeekHere(DeskMessage, frozen=True):
    """From a front to the home of the wish: find a table for the client."""

    name: str
    owner: str
    version: str
    wish: Wish
    opponent: str | None
    by_lot: bool
    socket: NodeId = ""
    """The node of the client's socket; empty: that is the front."""
    fixed: bool = False
    """The socket cannot be handed to another process."""


class GiveUp(DeskMessage, frozen=True):
    """From a front to a home: the client waits no longer, or has its seat."""


class SeekAgain(DeskMessage, frozen=True):
    """To a front: no table could be set for the client after all."""


class PlayHouse(DeskMessage, frozen=True):
    """From a home to a front: let the client play against a house bot."""

    opponent: str


class TurnAway(DeskMessage, frozen=True):
    words: dict[str, Any]
    code: int
    for_now: bool = False
    """No match begins there at present: a client that goes on waiting asks again."""


class WaitAtMost(DeskMessage, frozen=True):
    seconds: float
    words: str


class TellComplete(DeskMessage, frozen=True):
    contest: str


class Come(DeskMessage, frozen=True):
    """From the node of a table to a front: send the client's connection.

    `seat` is the number of its seat there.
    """

    seat: int


class NotComing(DeskMessage, frozen=True):
    """From a front to the node of a table: the client has gone.

    `ticket` is the number of its seat.
    """


class TableSeat(Struct, frozen=True, array_like=True):
    front: NodeId
    ticket: int
    name: str
    owner: str
    version: str


class OpenTable(Struct, frozen=True, array_like=True, tag=True):
    """From a home to another node: set a table for these players."""

    wish: Wish
    seats: tuple[TableSeat, ...]


AnyMessage = (
    SeekHere
    | GiveUp
    | SeekAgain
    | PlayHouse
    | TurnAway
    | WaitAtMost
    | TellComplete
    | Come
    | NotComing
    | OpenTable
)
ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(AnyMessage)
