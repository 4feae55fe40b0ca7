"""ProtocolHost: the part of the server that the clients of one protocol meet."""

from typing import TYPE_CHECKING, Protocol

from botdrome.wire.conversation import Command

if TYPE_CHECKING:
    from botdrome.server.session import Session


class ProtocolHost(Protocol):
    """Executes the commands of its protocol alone."""

    protocol: str
    """Its name in the list of clients."""

    def act(self, session: "Session", command: Command) -> None: ...
