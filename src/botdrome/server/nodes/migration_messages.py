"""What nodes tell each other when matches move from one to the other."""

import msgspec
from msgspec import Struct

from botdrome.match.events import Player
from botdrome.match.terms import Milliseconds
from botdrome.server.nodes.node import NodeId
from botdrome.server.tables.kept_table import InputChunk

TOPIC = "migration"


class MovingMatch(Struct, frozen=True, array_like=True):
    match: str
    now: Milliseconds
    """The time at which its clock stands."""
    seated: tuple[Player, ...]
    """The players whose connections follow."""
    called: tuple[Player, ...]
    """The players that the server calls."""
    watchers: tuple[NodeId, ...] = ()
    """The nodes at which people watch it."""
    inputs: InputChunk | None = None
    """All its inputs; None: they are many, and only in the store."""


class TakeMatches(Struct, frozen=True, array_like=True, tag="t"):
    """To a node: adopt these matches, which this node has released."""

    matches: list[MovingMatch]


class MatchTaken(Struct, frozen=True, array_like=True, tag="y"):
    """The answer: the match waits for its players."""

    match: str


class MatchNotTaken(Struct, frozen=True, array_like=True, tag="n"):
    """The answer: the match does not run there."""

    match: str


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(TakeMatches | MatchTaken | MatchNotTaken).decode
