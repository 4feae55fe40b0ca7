"""The messages by which nodes carry connections.

The front is the node that has the client's socket; the session is elsewhere.

The front numbers the channels. A channel ends with LostClient or ShutChannel, or with the link. To
move on, the node of the session asks the front to hold the client's input, and then names the node
to which the front opens the next channel.
"""

import msgspec
from msgspec import Struct

from botdrome.server.nodes.node import NodeId
from botdrome.server.session import Errand

TOPIC = "carry"


class CarryMessage(Struct, frozen=True, array_like=True):
    channel: int


# From the front to the session.


class OpenChannel(CarryMessage, frozen=True, tag="o"):
    errand: Errand
    address: str
    network: float
    """The network time of the client, in seconds."""
    messages: list[bytes]


class Heard(CarryMessage, frozen=True, tag="h"):
    at: float
    """When the message arrived, in seconds on the clock of the front."""
    message: bytes


class Measured(CarryMessage, frozen=True, tag="m"):
    """The network time of the client has changed."""

    network: float


class InvalidInput(CarryMessage, frozen=True, tag="i"):
    why: str


class TooSlow(CarryMessage, frozen=True, tag="t"):
    """The client reads too slowly and is about to be lost."""


class HeardAll(CarryMessage, frozen=True, tag="e"):
    """The client has sent EOF."""


class LostClient(CarryMessage, frozen=True, tag="l"):
    pass


class FrontStops(CarryMessage, frozen=True, tag="f"):
    """The node of the client's socket stops. The client can connect to another one."""


class InputHeld(CarryMessage, frozen=True, tag="d"):
    """The front holds the client's input from now on."""


# From the session to the front.


class Write(CarryMessage, frozen=True, tag="w"):
    messages: list[bytes]


class ShutChannel(CarryMessage, frozen=True, tag="s"):
    """Close the connection."""

    code: int
    reason: str


class HoldInput(CarryMessage, frozen=True, tag="p"):
    """The session is about to move on."""


class MoveOn(CarryMessage, frozen=True, tag="n"):
    """Move the connection. The messages go before the input that the front holds."""

    to: NodeId
    errand: Errand
    messages: list[bytes]


FromFront = (
    OpenChannel
    | Heard
    | Measured
    | InvalidInput
    | TooSlow
    | HeardAll
    | LostClient
    | FrontStops
    | InputHeld
)
FromSession = Write | ShutChannel | HoldInput | MoveOn
encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(FromFront | FromSession).decode
