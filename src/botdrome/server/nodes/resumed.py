"""Resumed: a moved connection as its new session sees it until it has caught up with the session before."""

from botdrome.server.network.connection import NORMAL, Connection
from botdrome.server.network.traffic import Traffic
from botdrome.server.session import Session


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
