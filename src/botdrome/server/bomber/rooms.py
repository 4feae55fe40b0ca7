"""All rooms of the Bomberman API."""

from collections import Counter
from functools import partial
from typing import Any

from botdrome.server.bomber.contest_rooms import ContestRooms
from botdrome.server.bomber.plan import read_plans
from botdrome.server.bomber.room import PROTOCOL, BomberRoom
from botdrome.server.bomber.settings import BomberSection
from botdrome.server.lobby.desk import Desk


class Rooms:
    """The rooms by name. Paths without a name mean the first room."""

    def __init__(self, desk: Desk) -> None:
        self.desk, settings = desk, desk.settings
        self.waiting_from: Counter[str] = Counter()
        """The number of waiting requests per address."""
        plans = read_plans(settings.of(BomberSection).rooms, settings.house.fill)
        contest_rooms = ContestRooms(desk, self.waiting_from)
        self._rooms = {
            plan.name: BomberRoom(plan, desk, self.waiting_from, contest_rooms) for plan in plans
        }
        if desk.contest_queue is not None:
            desk.contest_queue.on_change.append(self._call_in)
        self.first = next(iter(self._rooms.values()))

    def _call_in(self) -> None:
        """Send users that are expected in a contest that has begun away, so that they register for
        it.
        """
        queue = self.desk.contest_queue
        assert queue is not None
        for room in self._rooms.values():
            room.send_away(partial(queue.expecting, room.game.name))

    def in_use(self) -> bool:
        """Whether users are in a room, or in a contest, or follow a room."""
        users = any(client.protocol == PROTOCOL for client in self.desk.registry.clients.all)
        return users or any(room.pushes for room in self._rooms.values())

    def __getitem__(self, name: str) -> BomberRoom | None:
        return self._rooms.get(name)

    def listed(self) -> list[dict[str, Any]]:
        return [summary(room) for room in self._rooms.values()]

    async def close(self) -> None:
        for room in self._rooms.values():
            room.close()


def summary(room: BomberRoom) -> dict[str, Any]:
    """Return the public description of a room."""
    state = room.state
    return {
        "name": room.plan.name,
        "url": f"/bomber/rooms/{room.plan.name}/rest",
        "phase": state.phase,
        "players": room.plan.players,
        "users": state.names,
        "state_number": state.number,
        "time_left": room.time_left(),
        "game_id": state.game_id,
    }
