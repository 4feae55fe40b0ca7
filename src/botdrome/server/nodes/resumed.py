"""Resumed: a moved connection as its new session sees it until it has caught up; and the
connections of sessions that move.
"""

from collections.abc import Callable
from typing import cast

from botdrome.server.network.connection import NORMAL, Connection, Traffic
from botdrome.server.network.tcp import StreamReceiver
from botdrome.server.nodes.carrying import (
    CarriedConnection,
    FrontConnection,
    HeldInput,
    MovingConnection,
)
from botdrome.server.nodes.node import NodeId
from botdrome.server.session import AdmittedClient, Errand, Session

MakeArrival = Callable[[Connection, Errand, AdmittedClient | None], StreamReceiver]


def connection_of(session: Session) -> MovingConnection:
    shown = session.connection
    return cast(MovingConnection, shown.connection if isinstance(shown, Resumed) else shown)


def front_of(session: Session, here: NodeId) -> NodeId:
    """Return the node that has the client's socket."""
    connection = connection_of(session)
    return connection.front if isinstance(connection, CarriedConnection) else here


def hold_input(session: Session) -> HeldInput:
    """Hold what the client sends, until the connection moves or `give_back` is called."""
    held, connection = HeldInput(), connection_of(session)
    connection.redirect(held)
    _pause(connection, True)
    return held


def give_back(session: Session, held: HeldInput) -> None:
    """Let the session have what was held, and go on."""
    connection = connection_of(session)
    connection.redirect(session)
    connection.replay(held.messages)
    held.hand_to(connection, session)
    _pause(connection, False)


def _pause(connection: MovingConnection, paused: bool) -> None:
    if not isinstance(connection, CarriedConnection):
        cast(FrontConnection, connection).pause(paused)


def admitted(session: Session) -> AdmittedClient | None:
    """Return what spares the client a second login at another node; None: it has to log in."""
    if session.luggage is None:
        return None
    _, (login,) = session.luggage
    return AdmittedClient(login, session.name, session.owner, session.version, session.registered)


def arrive(
    connection: MovingConnection,
    make: MakeArrival,
    errand: Errand,
    client: AdmittedClient | None = None,
) -> StreamReceiver:
    """Make the session of a connection that comes from another node.

    Without a client, it is about to log in again.
    """
    if client is not None:
        return make(connection, errand, client)
    shown = Resumed(connection, errand.told) if errand.told else connection
    receiver = make(shown, errand, None)
    if isinstance(receiver, Session):
        receiver.errand = errand
        if isinstance(shown, Resumed):
            shown.session = receiver
    return receiver


class Resumed:
    """Leaves out the messages that the client has already."""

    def __init__(self, connection: Connection, told: int) -> None:
        self.connection, self._told = connection, told
        self.session: Session | None = None

    @property
    def address(self) -> str:
        return self.connection.address

    @property
    def traffic(self) -> Traffic:
        return self.connection.traffic

    def send(self, messages: list[bytes]) -> None:
        told, self._told = self._told, max(0, self._told - len(messages))
        if len(messages) > told:
            if self.session is not None:  # it has caught up: from now on it needs no layer
                self.session.connection, self.session.tell = self.connection, self.connection.send
            self.connection.send(messages[told:])

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        self.connection.close(code, reason)

    def network_time(self) -> float:
        return self.connection.network_time()

    def delay(self) -> float:
        return self.connection.delay()
