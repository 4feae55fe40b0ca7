"""The messages by which nodes relay whole connections, byte by byte.

The front is the node that has the client's socket.

The front numbers the connections. One ends with ClientLost or EndRelay, or with the link. It
returns to the front if its next request is for a third node, or if the home has changed: Recall,
then Recalled, which is the last message from the front, then GiveBack.
"""

import msgspec
from msgspec import Struct

from botdrome.server.nodes.node import Key

TOPIC = "relay"


class RelayMessage(Struct, frozen=True, array_like=True):
    number: int


# From the front.


class OpenRelay(RelayMessage, frozen=True, tag="o"):
    port: str
    """The name of the port on which the client came."""
    key: Key
    """What it needs."""
    address: str
    client_port: int
    proxied: bool
    tls: bool


class Input(RelayMessage, frozen=True, tag="i"):
    data: bytes


class InputEnded(RelayMessage, frozen=True, tag="e"):
    pass


class OutputPaused(RelayMessage, frozen=True, tag="p"):
    """The client reads too slowly, or again."""

    paused: bool


class ClientLost(RelayMessage, frozen=True, tag="l"):
    pass


class Recalled(RelayMessage, frozen=True, tag="r"):
    """Input is held from now on."""


# To the front.


class Output(RelayMessage, frozen=True, tag="w"):
    data: bytes


class OutputEnded(RelayMessage, frozen=True, tag="f"):
    pass


class PauseInput(RelayMessage, frozen=True, tag="d"):
    paused: bool


class EndRelay(RelayMessage, frozen=True, tag="s"):
    """Close the connection; `abort`: without the output that is not sent yet."""

    abort: bool


class Recall(RelayMessage, frozen=True, tag="c"):
    """Hold input."""


class GiveBack(RelayMessage, frozen=True, tag="b"):
    key: Key
    """What it needs now."""
    data: bytes
    """Input that counts anew."""


FromFront = OpenRelay | Input | InputEnded | OutputPaused | ClientLost | Recalled
ToFront = Output | OutputEnded | PauseInput | EndRelay | Recall | GiveBack
encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(FromFront | ToFront).decode
