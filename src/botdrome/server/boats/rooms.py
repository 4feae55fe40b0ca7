"""BoatRooms: all boat rooms of a server, and the ports at which clients find them."""

from collections.abc import Awaitable, Callable

from botdrome.server.boats.plan import RoomPlan
from botdrome.server.boats.port import BoatPort
from botdrome.server.boats.room import BoatRoom
from botdrome.server.boats.settings import BoatsSection
from botdrome.server.boats.statistics import BoatStatistics
from botdrome.server.lobby.desk import Desk
from botdrome.server.settings import BadSetting

MOST_ROOMS = 100


class BadRoom(Exception):
    """A room that cannot be opened or changed, with the reason."""


class BoatRooms:
    def __init__(self, desk: Desk, statistics: BoatStatistics) -> None:
        settings = desk.settings.of(BoatsSection)
        self._desk, self.statistics = desk, statistics
        self.listen: Callable[[BoatPort], Awaitable[None]] | None = None
        """Listens at a port, or raises BadSetting."""
        self.rooms = [BoatRoom(plan, desk, statistics) for plan in settings.rooms or (RoomPlan(),)]
        shared = [room for room in self.rooms if not room.plan.port]
        own = [self._own_port(room) for room in self.rooms if room.plan.port]
        desk.on_closing.append(self._stop)
        self.all: list[BoatPort] = (
            [BoatPort(desk, settings.port, shared)] if shared and settings.port else []
        ) + own

    @property
    def titles(self) -> list[str]:
        return [room.plan.title for room in self.rooms]

    def called(self, title: str) -> BoatRoom | None:
        """Return a room by its title; without a title, the first."""
        return next((room for room in self.rooms if title in ("", room.plan.title)), None)

    def port_of(self, room: BoatRoom) -> int | None:
        """Return the port at which players join it; None: it does not listen."""
        return next((port.listens_on for port in self.all if room in port.rooms), None)

    def in_use(self) -> bool:
        """Whether a client or a host is here, or a room that was opened later."""
        return any(port.visits for port in self.all) or any(room.on_change for room in self.rooms)

    # Rooms that are opened while the server runs.

    async def open(self, plan: RoomPlan) -> BoatRoom:
        """Open a room until its last game is over, or raise BadRoom."""
        if plan.title in self.titles:
            raise BadRoom(f"there is a room {plan.title!r} already")
        if len(self.rooms) >= MOST_ROOMS:
            raise BadRoom(f"there are {MOST_ROOMS} rooms already")
        room = BoatRoom(plan, self._desk, self.statistics)
        try:
            port = await self._port_for(room)
        except BadRoom:
            room.close()
            raise
        self.rooms.append(room)
        room.on_change.add(lambda: self._remove(room, port) if room.over else None)
        return room

    def _own_port(self, room: BoatRoom) -> BoatPort:
        return BoatPort(self._desk, room.plan.port, [room], f"xbs {room.plan.title}", "boats.rooms")

    async def _port_for(self, room: BoatRoom) -> BoatPort:
        plan = room.plan
        if not plan.port:
            shared = next((port for port in self.all if port.key == "boats.port"), None)
            if shared is None:
                raise BadRoom(
                    "rooms share no port here: give the room a port of its own, or -1 for any free "
                    "one"
                )
            shared.rooms.append(room)
            return shared
        port = self._own_port(room)
        try:
            assert self.listen is not None
            await self.listen(port)
        except BadSetting as problem:
            raise BadRoom(str(problem)) from None
        self.all.append(port)
        return port

    def _remove(self, room: BoatRoom, port: BoatPort) -> None:
        if room not in self.rooms:
            return
        self.rooms.remove(room)
        if not room.plan.port:
            port.rooms.remove(room)
        else:
            self.all.remove(port)
            if port.server is not None:
                port.server.close()

    def _stop(self) -> None:
        for room in self.rooms:
            room.close()

    async def close(self) -> None:
        """The games are over."""
        await self.statistics.close()
