"""How boat games are opened: their statistics, rooms and ports, and the console of
`botdrome host`.
"""

from functools import partial
from pathlib import Path

from botdrome.server.boats.host import connect_host
from botdrome.server.boats.port import BoatPort
from botdrome.server.boats.rooms import BoatRooms
from botdrome.server.boats.settings import BoatsSection
from botdrome.server.boats.statistics import BoatStatistics
from botdrome.server.network.listening import tolerated
from botdrome.server.network.websocket import MakeSession
from botdrome.server.protocol import Ports, ServedProtocol, ServerParts
from botdrome.wire.boats.conversation import GAME


async def open_boats(server: ServerParts) -> ServedProtocol:
    desk, folder = server.desk, server.settings.of(BoatsSection).dir
    statistics = BoatStatistics({}, {}, Path(folder) if folder else None)
    rooms = BoatRooms(desk, statistics)

    async def listen(ports: Ports) -> None:
        async def listen_at(boats: BoatPort) -> None:
            factory = boats.protocol_factory(server.connection_limits)
            boats.server = await ports.open(boats.name, boats.key, boats.port, factory, game=GAME)

        rooms.listen = listen_at
        for boats in rooms.all:
            with tolerated(boats.key == "boats.port" and boats.port == BoatsSection().port):
                await listen_at(boats)

    def receive_socket(target: str) -> MakeSession | None:
        return partial(connect_host, server, rooms) if target == "/boats/host" else None

    def titles_at(name: str) -> str:
        """Return the titles of rooms that share a port."""
        titles = [room.plan.title for port in rooms.all if port.name == name for room in port.rooms]
        return ", ".join(titles) if len(titles) > 1 else ""

    load = partial(statistics.load, desk.store, watch=desk.cluster is not None)
    return ServedProtocol(
        rooms,
        rooms.close,
        receive_socket=receive_socket,
        listen=listen,
        describe_port=titles_at,
        open_rooms=load,
        leave_rooms=statistics.late.leave,
        settled=lambda: statistics.settled,
        in_use=rooms.in_use,
        game=GAME,
        targets=("/boats/", "/api/v1/operator/boats"),
    )
