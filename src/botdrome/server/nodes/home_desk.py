"""HomeDesk: the clients of other nodes that wait here, and the connections that come for seats at
tables here.
"""

import asyncio
from itertools import count
from typing import NamedTuple

import structlog

from botdrome.match.events import Player
from botdrome.server.lobby.desk import Desk
from botdrome.server.nodes.cluster import Cluster
from botdrome.server.nodes.desk_messages import (
    ENCODER,
    AnyMessage,
    Come,
    PlayHouse,
    SeekAgain,
    SeekHere,
)
from botdrome.server.nodes.node import NodeId
from botdrome.server.nodes.placement import ClientPlace
from botdrome.server.nodes.remote_client import RemoteClient
from botdrome.server.tables.running_tables import Candidate
from botdrome.server.tables.table import Table

log = structlog.get_logger()

TOPIC = "desk"
COMING = 5.0
"""Seconds for a connection to come. Then its player has left the match."""


class AwaitedSeat(NamedTuple):
    """A seat whose player's connection is under way."""

    client: RemoteClient
    table: Table
    player: Player
    timeout: asyncio.TimerHandle


class HomeDesk:
    def __init__(self, desk: Desk, cluster: Cluster) -> None:
        self._desk, self._cluster = desk, cluster
        self._waiting: dict[tuple[NodeId, int], RemoteClient] = {}
        self._going: dict[tuple[NodeId, int], NodeId] = {}
        """The nodes that set tables for clients that waited here, until the fronts of the clients
        confirm it (GiveUp).
        """
        self._seats: dict[int, AwaitedSeat] = {}
        self._numbers = count(1)
        self._loop = asyncio.get_running_loop()

    def __len__(self) -> int:
        return len(self._waiting)

    def tell(self, node: NodeId, message: AnyMessage) -> None:
        self._cluster.links.send(node, TOPIC, ENCODER.encode(message))

    # Clients of other nodes.

    def seek(self, front: NodeId, message: SeekHere) -> None:
        """A front repeats itself after trouble, so the client may wait here already."""
        if (front, message.ticket) in self._waiting:
            return
        client = RemoteClient(
            self, front, message.ticket, message.name, message.owner, message.version
        )
        client.place = ClientPlace(front, message.socket or front, message.fixed)
        self._waiting[front, message.ticket] = client
        self._desk.seek(client, message.name, message.wish, message.opponent, message.by_lot)

    def give_up(self, front: NodeId, ticket: int) -> None:
        self._going.pop((front, ticket), None)
        client = self._waiting.pop((front, ticket), None)
        if client is not None:
            self._desk.give_up(client)

    def forget(self, client: RemoteClient) -> None:
        """The client is told that it waits no longer, or gets a seat."""
        self.give_up(client.front, client.ticket)

    def play_house(self, client: RemoteClient, opponent: str) -> None:
        """The match against house bots is played at its front."""
        self.forget(client)
        self.tell(client.front, PlayHouse(client.ticket, opponent))

    def lend(self, client: RemoteClient, to: NodeId) -> None:
        """Let another node seat a client. If that is lost before, the client seeks again."""
        self._waiting.pop((client.front, client.ticket), None)
        self._going[client.front, client.ticket] = to

    # Tables.

    def draws(self, front: NodeId) -> bool:
        """Whether a table is set here in place of a front that is drained."""
        nodes, here = self._cluster.members.nodes, self._cluster.members.here
        return front in nodes and nodes[front].draining and not here.draining

    def fetch(self, client: RemoteClient, table: Table, player: Player) -> None:
        """Call for the connection of a player. The match starts when it is here."""
        self._waiting.pop((client.front, client.ticket), None)
        number = next(self._numbers)
        timeout = self._loop.call_later(COMING, self.not_coming, number)
        self._seats[number] = AwaitedSeat(client, table, player, timeout)
        self._desk.tables.hold(table)
        self.tell(client.front, Come(client.ticket, number))

    def arrive(self, number: int, client: Candidate) -> bool:
        """Give a connection that has come its seat; False: the seat waits no longer."""
        seat = self._seats.pop(number, None)
        if seat is None:
            return False
        seat.timeout.cancel()
        seat.client.arrived = client
        taken = seat.table.match.result is None
        if taken:
            client.sit_down(seat.table, seat.player)
            seat.table.seat(seat.player, client)
        self._desk.tables.release(seat.table)
        return taken

    def not_coming(self, number: int) -> None:
        seat = self._seats.pop(number, None)
        if seat is not None:
            seat.timeout.cancel()
            self._desk.tables.release(seat.table)

    def lose(self, node: NodeId) -> None:
        """Nothing more comes from a node."""
        for (front, ticket), to in list(self._going.items()):
            if node in (front, to):
                del self._going[front, ticket]
            if node == to != front:  # its front has heard nothing
                self.tell(front, SeekAgain(ticket))
        for front, ticket in [key for key in self._waiting if key[0] == node]:
            self.give_up(front, ticket)
        for number in [number for number, seat in self._seats.items() if seat.client.front == node]:
            self.not_coming(number)
