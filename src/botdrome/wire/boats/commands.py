"""Commands of Xterm Boat Sinker's conversation to its room, and the replies."""

from msgspec import Struct

from botdrome.wire.boats.writer import BoatWriter, Taunts
from botdrome.wire.conversation import Command, Reply

GAME = "battleship"


class LookAtRoom(Struct, Command, frozen=True):
    """Show the room with this title, or the room that the client looks at. Answered by RoomShown or Refused."""

    title: bytes = b""
    arriving: bool = False


class CheckBlacklist(Struct, Command, frozen=True):
    """Answered by NameAllowed or Refused."""

    name: bytes


class JoinRoom(Struct, Command, frozen=True):
    """Take a seat in the next game, or return to one. Answered by Joined or Refused."""

    name: bytes
    board: bytes
    secret: bytes
    version: bytes = b""


class ReturnToSeat(Struct, Command, frozen=True):
    """Return to the seat of a guest whose name is now a registered bot's. Otherwise refuse the name with these words."""

    request: JoinRoom
    words: bytes


class Say(Struct, Command, frozen=True):
    """Pass a message on, to one player or to all."""

    to: bytes
    text: bytes


class Depart(Struct, Command, frozen=True):
    """The client is about to leave; the other players get the reason."""

    reason: bytes


class RoomShown(Struct, Reply, frozen=True):
    """The room that the client looks at: its line G, and how long names may be."""

    line: bytes
    longest_name: int


class NameAllowed(Struct, Reply, frozen=True):
    """The name is not on the room's blacklist."""


class Joined(Struct, Reply, frozen=True):
    """The client has a seat, with the taunts that belong to it."""

    taunts: Taunts


class JoinRefused(Struct, Reply, frozen=True):
    """The client cannot have this name, and may try another one."""

    words: bytes


class Kicked(Struct, Reply, frozen=True):
    """The room disconnects the client. The last message may be empty; the other players get the reason."""

    words: bytes
    reason: bytes = b""


class GameStarts(Struct, Reply, frozen=True):
    """The game that the client waited for starts, or it returns to one."""

    writer: BoatWriter
