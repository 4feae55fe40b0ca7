"""Harbour: the rooms for boat games, and which of them are at which port."""

from collections.abc import Sequence

from botdrome.server.boats.books import Books
from botdrome.server.boats.plan import RoomPlan
from botdrome.server.boats.room import Room
from botdrome.server.desk import Desk


class Harbour:
    """Rooms at one port: the first is shown to whoever comes, and any other by its title."""

    def __init__(self, port: int, rooms: Sequence[Room], name: str = "xbs", key: str = "xbs_port") -> None:
        self.port, self.rooms = port, rooms
        self.name, self.key = name, key
        """What the port is called, and the setting that names it."""

    def called(self, title: bytes) -> Room | None:
        return next((room for room in self.rooms if room.offer.title == title), None)


class Harbours:
    """All of a server's."""

    def __init__(self, desk: Desk, books: Books) -> None:
        settings = desk.settings
        self.books, self.guesses = books, desk.registry.guesses
        self.rooms = [Room(plan, desk, books) for plan in settings.boats or (RoomPlan(),)]
        shared = [room for room in self.rooms if not room.plan.port]
        own = [Harbour(room.plan.port, [room], f"xbs {room.plan.title}", "boats") for room in self.rooms if room.plan.port]
        desk.on_closing.append(self._stop)
        self.all: list[Harbour] = ([Harbour(settings.xbs_port, shared)] if shared and settings.xbs_port else []) + own

    @property
    def titles(self) -> list[str]:
        return [room.plan.title for room in self.rooms]

    def called(self, title: str) -> Room | None:
        """A room by its title; no title: the first."""
        return next((room for room in self.rooms if title in ("", room.plan.title)), None)

    def _stop(self) -> None:
        for room in self.rooms:
            room.close()

    async def close(self) -> None:
        """The games are over."""
        await self.books.close()
