"""Errand: why a connection comes to another node, and what the nodes know of its client."""

from msgspec import Struct


class MovedSeat(Struct, frozen=True, array_like=True):
    """The seat of a client whose match goes on at another node, and what the nodes know of the
    client.
    """

    match: str
    player: int
    login: bytes
    """The message with which it logged in."""
    name: str
    owner: str
    version: str
    registered: bool


class AdmittedClient(Struct, frozen=True, array_like=True):
    """What the nodes know of a client that has logged in.

    A node believes it only of sockets that it was handed.
    """

    login: bytes
    name: str
    owner: str
    version: str
    registered: bool


class Errand(Struct, frozen=True, array_like=True):
    """Plain data that travels with the connection."""

    protocol: str
    """The name of the protocol, as in `protocols.py`, or of another kind of WebSocket."""
    target: str = ""
    """The target of the request that opened the WebSocket, or the name of the TCP port."""
    ticket: int = 0
    """The seat that waits for the client on that node; 0: none."""
    told: int = 0
    """The number of messages that the client has already, and that its new session writes again at
    first.
    """
    key: str = ""
    """What the client of a port needs from that node."""
    seeks: bool = False
    """The client seeks a new match, even if its login names one."""
    seat: MovedSeat | None = None
    """The seat that the client has; None: it is not at a table."""
