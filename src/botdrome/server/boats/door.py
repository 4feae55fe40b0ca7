"""Boat door: a port for boat games."""

from botdrome.server.boats.harbour import Harbour
from botdrome.server.boats.session import BoatSession
from botdrome.server.lobby.desk import Desk
from botdrome.server.network.door import Crowd
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.tcp import tcp_door
from botdrome.wire.framing.streams import Lines


def boat_door(harbour: Harbour, desk: Desk, crowd: Crowd) -> MakeProtocol:
    return tcp_door(Lines, lambda connection: BoatSession(connection, connection.address, harbour, desk), crowd)
