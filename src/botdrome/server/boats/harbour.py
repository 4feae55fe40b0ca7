"""Harbour: the rooms for boat games, and which of them are at which port."""

import asyncio
from collections.abc import Awaitable, Callable

from botdrome.server.boats.books import Books
from botdrome.server.boats.plan import RoomPlan
from botdrome.server.boats.room import Room
from botdrome.server.boats.settings import BoatsSection
from botdrome.server.lobby.desk import Desk
from botdrome.server.settings import BadSetting

MOST_ROOMS = 100


class Harbour:
    """Rooms at one port: the first is shown to whoever comes, and any other by its title."""

    def __init__(self, port: int, rooms: list[Room], name: str = "xbs", key: str = "boats.port") -> None:
        self.port, self.rooms = port, rooms
        self.name, self.key = name, key
        """What the port is called, and the setting that names it."""
        self.server: asyncio.Server | None = None
        """None: it does not listen."""

    @property
    def listens_on(self) -> int | None:
        return None if self.server is None else int(self.server.sockets[0].getsockname()[1])

    def called(self, title: bytes) -> Room | None:
        return next((room for room in self.rooms if room.offer.title.encode() == title), None)


class BadRoom(Exception):
    """A room that cannot be opened or changed, with the reason."""


class Harbours:
    """All of a server's."""

    def __init__(self, desk: Desk, books: Books) -> None:
        settings = desk.settings.of(BoatsSection)
        self.books, self.guesses = books, desk.registry.guesses
        self._desk, self.tasks = desk, desk.tasks
        self.listen: Callable[[Harbour], Awaitable[None]] | None = None
        """Has a harbour listen at its port. BadSetting where it cannot."""
        self.rooms = [Room(plan, desk, books) for plan in settings.rooms or (RoomPlan(),)]
        shared = [room for room in self.rooms if not room.plan.port]
        own = [Harbour(room.plan.port, [room], f"xbs {room.plan.title}", "boats.rooms") for room in self.rooms if room.plan.port]
        desk.on_closing.append(self._stop)
        self.all: list[Harbour] = ([Harbour(settings.port, shared)] if shared and settings.port else []) + own

    @property
    def titles(self) -> list[str]:
        return [room.plan.title for room in self.rooms]

    def called(self, title: str) -> Room | None:
        """A room by its title; no title: the first."""
        return next((room for room in self.rooms if title in ("", room.plan.title)), None)

    def port_of(self, room: Room) -> int | None:
        """Where players join it; None: nowhere."""
        return next((harbour.listens_on for harbour in self.all if room in harbour.rooms), None)

    # Rooms that are opened while the server runs.

    async def open(self, plan: RoomPlan) -> Room:
        """BadRoom where there can be no such room. It is here until it is over."""
        if plan.title in self.titles:
            raise BadRoom(f"there is a room {plan.title!r} already")
        if len(self.rooms) >= MOST_ROOMS:
            raise BadRoom(f"there are {MOST_ROOMS} rooms already")
        room = Room(plan, self._desk, self.books)
        try:
            harbour = await self._harbour_for(room)
        except BadRoom:
            room.close()
            raise
        self.rooms.append(room)
        room.on_change.add(lambda: self._remove(room, harbour) if room.over else None)
        return room

    async def _harbour_for(self, room: Room) -> Harbour:
        plan = room.plan
        if not plan.port:
            shared = next((harbour for harbour in self.all if harbour.key == "boats.port"), None)
            if shared is None:
                raise BadRoom("rooms share no port here: give the room a port of its own, or -1 for any free one")
            shared.rooms.append(room)
            return shared
        harbour = Harbour(plan.port, [room], f"xbs {plan.title}", "boats.rooms")
        try:
            assert self.listen is not None
            await self.listen(harbour)
        except BadSetting as problem:
            raise BadRoom(str(problem)) from None
        self.all.append(harbour)
        return harbour

    def _remove(self, room: Room, harbour: Harbour) -> None:
        if room not in self.rooms:
            return
        self.rooms.remove(room)
        if not room.plan.port:
            harbour.rooms.remove(room)
        else:
            self.all.remove(harbour)
            if harbour.server is not None:
                harbour.server.close()

    def _stop(self) -> None:
        for room in self.rooms:
            room.close()

    async def close(self) -> None:
        """The games are over."""
        await self.books.close()
