"""Boats: clients on Xterm Boat Sinker's lines, as simple as a bot's, and a server for them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from botdrome.app import RunningServer
from botdrome.client.protocol_clients import BoatsStream
from botdrome.games.chance import Chance
from botdrome.server.rooms.boat_room import BoatRoom
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from botdrome.server.rooms.boats import BoatRooms
from tests.server.clients import PATIENCE, Client, client, server

BOARD = ".........................B..EE.....B....CCC..B.........B....................DDD............AAAAA...."
FLEET = [
    (6, 3),
    (6, 4),
    (6, 5),
    (6, 6),
    (9, 3),
    (10, 3),
    (1, 5),
    (2, 5),
    (3, 5),
    (7, 8),
    (8, 8),
    (9, 8),
    *((x, 10) for x in range(2, 7)),
]
"""Where the boats of that board lie, as shots."""
TOKEN = "the host's own"


@asynccontextmanager
async def boat_server(
    folder: Path, *plans: BoatRoomSettings, **changes: Any
) -> AsyncIterator[RunningServer]:
    async with server(
        folder, **{"boats_port": -1, "boats_rooms": plans, "boats_host_token": TOKEN} | changes
    ) as house:
        yield house


def boat_rooms(house: RunningServer) -> BoatRooms:
    return house.server_of(BoatRooms)


def the_room(house: RunningServer, title: str = "") -> BoatRoom:
    room = boat_rooms(house).called(title)
    assert room is not None
    return room


class Rigged(Chance):
    """Let the players named first begin; all others come after them."""

    def __init__(self, *names: str) -> None:
        super().__init__(0)
        self._names = [name.encode() for name in names]

    def shuffle(self, items: Any) -> None:
        items.sort(
            key=lambda sailor: (
                self._names.index(sailor.name) if sailor.name in self._names else len(self._names)
            )
        )


class Line(BoatsStream):
    patience = PATIENCE

    async def receive(self) -> str:
        line = await super().receive()
        assert line or self.reader.at_eof(), "no line is ever empty"
        return line

    async def until(self, beginning: str) -> list[str]:
        """All lines to the first that begins so."""
        lines = [await self.receive()]
        while not lines[-1].startswith(beginning):
            assert lines[-1], f"closed, and no {beginning} came: {lines}"
            lines.append(await self.receive())
        return lines

    async def expect(self, *lines: str) -> None:
        for line in lines:
            came = await self.receive()
            assert came == line, f"{came!r} came instead of {line!r}"

    async def rest(self) -> list[str]:
        """All lines to the close."""
        lines = []
        while line := await self.receive():
            lines.append(line)
        return lines


@asynccontextmanager
async def line(house: RunningServer, port: str = "xbs") -> AsyncIterator[Line]:
    """A connection that has read nothing yet."""
    async with Line.connected(house.ports[port]) as one:
        yield one


@asynccontextmanager
async def sailor(
    house: RunningServer, name: str, *extra: str, board: str = BOARD
) -> AsyncIterator[Line]:
    """A player that has joined and has read its own J."""
    async with line(house) as one:
        assert (await one.receive()).startswith("G|")
        one.send("|".join(("J", name, board, *extra)))
        await one.expect(f"J|{name}")
        yield one


@asynccontextmanager
async def sailors(
    house: RunningServer, *names: str, board: str = BOARD
) -> AsyncIterator[list[Line]]:
    """A game that has just started, with turns in this order; N has been read."""
    the_room(house).chance = Rigged(*names)
    async with line(house) as first, line(house) as second, line(house) as third:
        ships = [first, second, third][: len(names)]
        for name, ship in zip(names, ships, strict=True):
            await ship.receive()
            ship.send(f"J|{name}|{board}")
            await ship.expect(f"J|{name}")
        for ship in ships:
            assert (await ship.until("N|"))[-1] == f"N|{names[0]}"
        yield ships


@asynccontextmanager
async def host(house: RunningServer, room: str = "", token: str = TOKEN) -> AsyncIterator[Client]:
    async with client(house, "/boats/host") as one:
        await one.send({"token": token, "room": room})
        yield one


async def order(one: Client, **words: Any) -> Any:
    """Give an order; its answer, past all pictures of the room."""
    await one.send(words)
    answer = await one.receive()
    while "room" in answer:
        answer = await one.receive()
    return answer


def squares(
    shots: Sequence[tuple[int, int]],
    marks: dict[str, Sequence[tuple[int, int]]] | None = None,
    width: int = 10,
) -> str:
    """A masked board with hits at these squares, and others marked so."""
    board = ["."] * width * width
    for mark, places in {"X": shots, **(marks or {})}.items():
        for x, y in places:
            board[(y - 1) * width + x - 1] = mark
    return "".join(board)
