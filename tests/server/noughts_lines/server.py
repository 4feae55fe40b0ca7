"""The server of the protocol: its settings, and its clients' way to the desk."""

from typing import Annotated

from msgspec import Meta

from botdrome.contest.lobby import Wish
from botdrome.server.lobby.desk import Desk
from botdrome.server.network.connection import Connection
from botdrome.server.network.tcp import tcp_factory
from botdrome.server.protocol import Protocol, ServedProtocol, ServerParts
from botdrome.server.session import Session
from botdrome.server.settings import ProtocolSection
from botdrome.wire.conversation import Command
from botdrome.wire.framing.streams import Lines
from tests.server.noughts_lines.conversation import GAME, NoughtsConversation


class NoughtsSection(ProtocolSection, frozen=True):
    """Noughts and crosses over lines"""

    port: Annotated[
        int, Meta(description="the port; 0: off, -1: any free port", ge=-1, le=65535)
    ] = 4444


class NoughtsServer:
    protocol = "noughts over lines"

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def connect(self, connection: Connection) -> Session:
        return Session(connection, NoughtsConversation(), self, self._desk)

    def act(self, session: Session, command: Command) -> None:
        self._desk.seek(session, session.name, Wish(GAME))


async def open_noughts(server: ServerParts) -> ServedProtocol:
    lines = NoughtsServer(server.desk)
    factory = tcp_factory(Lines, lines.connect, server.connection_limits)
    return ServedProtocol(lines, protocol_factory=factory, game=GAME)


NOUGHTS = Protocol("noughts", open_noughts, NoughtsSection, "noughts (TCP)")
