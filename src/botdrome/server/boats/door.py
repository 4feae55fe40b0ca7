"""Boat door: a port for boat games."""

from botdrome.server.boats.harbour import Harbour
from botdrome.server.boats.session import BoatSession
from botdrome.server.desk import Desk
from botdrome.server.door import Crowd
from botdrome.server.listening import MakeProtocol
from botdrome.server.tcp import tcp_door
from botdrome.wire.framing import Lines


def boat_door(harbour: Harbour, desk: Desk, crowd: Crowd) -> MakeProtocol:
    return tcp_door(Lines, lambda connection: BoatSession(connection, connection.address, harbour, desk), crowd)
