"""SharedDesk: the desks of all nodes as one.

A client waits at the home of its wish, and plays where a player's connection is.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from botdrome.contest.lobby import Seeker, Wish
from botdrome.server.lobby.desk import Desk, WaitingClient
from botdrome.server.network.connection import GOING
from botdrome.server.nodes.cluster import Cluster
from botdrome.server.nodes.desk_messages import (
    DECODER,
    Come,
    GiveUp,
    NotComing,
    OpenTable,
    PlayHouse,
    SeekAgain,
    SeekHere,
    TableSeat,
    TellComplete,
    TurnAway,
    WaitAtMost,
)
from botdrome.server.nodes.front_desk import FrontDesk, can_move, place_of
from botdrome.server.nodes.home_desk import TOPIC, HomeDesk
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.node import NodeId
from botdrome.server.nodes.placement import ClientPlace, Placement
from botdrome.server.nodes.remote_client import RemoteClient


class SharedDesk:
    def __init__(self, desk: Desk, cluster: Cluster, mover: Mover) -> None:
        self._desk, self._cluster = desk, cluster
        self._front, self._home = FrontDesk(desk, cluster, mover), HomeDesk(desk, cluster)
        self._placement = Placement(cluster.members, asyncio.get_running_loop().time)
        cluster.links.on(TOPIC, self._receive)
        cluster.links.on_lost.append(self._lose)
        cluster.members.on_change.append(self._follow)

    def __len__(self) -> int:
        """The number of clients of other nodes that wait here."""
        return len(self._home)

    # What the desk asks.

    def seek(self, client: WaitingClient, seeker: Seeker) -> bool:
        """Let a client wait at another node, or for the rooms of its game to open here; False: it
        waits here.
        """
        return self._front.seek(client, seeker) or self._wait_for_rooms(client, seeker)

    def _wait_for_rooms(self, client: WaitingClient, seeker: Seeker) -> bool:
        """Until its contest is read from the store, this node takes it for one without
        a document.
        """
        key = self._cluster.key_of(seeker.wish)
        rooms = self._cluster.rooms.get(key)
        if rooms is None or rooms.open:
            return False
        if not isinstance(client, RemoteClient) and self._cluster.home(key) != self._cluster.here:
            return False
        rooms.when_open(
            partial(self._seek_again, client, seeker), partial(self._seek_elsewhere, client, seeker)
        )
        return True

    def _seek_elsewhere(self, client: WaitingClient, seeker: Seeker) -> None:
        """The rooms are not here, or no more.

        The front of a client may learn of a new home before that does, or after it.
        """
        if isinstance(client, RemoteClient) and client.seeker is seeker:
            client.turn_away({}, GOING)
        else:
            self._seek_again(client, seeker)

    def _seek_again(self, client: WaitingClient, seeker: Seeker) -> None:
        if client.seeker is seeker:
            self._desk.give_up(client)
            self._desk.seek_again(client, seeker)

    def send_away(self, client: WaitingClient) -> bool:
        """Move a client of a drained node, which seeks, to another node of this machine; False: it
        stays.
        """
        return self._front.send_away(client)

    def arrive(self, number: int, client: WaitingClient) -> bool:
        """Give a connection that came from another node the seat for which it came; False: that
        waits no longer.
        """
        return self._home.arrive(number, client)

    def bring(self, client: WaitingClient, to: NodeId) -> bool:
        """Move a client that returns to the node of its match; False: it cannot move."""
        return self._front.bring(client, to)

    def give_up(self, seeker: Seeker) -> None:
        self._front.give_up(seeker)

    def open_elsewhere(
        self, wish: Wish, seekers: Sequence[Seeker], clients: Sequence[WaitingClient]
    ) -> bool:
        """Have a table set at another node; False: it is set here."""
        to = self._placement.choose([self._place_of(client) for client in clients])
        if to != self._cluster.here:
            seats = [
                self._lend(seeker, client, to)
                for seeker, client in zip(seekers, clients, strict=True)
            ]
            self._home.tell(to, OpenTable(wish, tuple(seats)))
        return to != self._cluster.here

    def _place_of(self, client: WaitingClient) -> ClientPlace | None:
        """Return where a client is; None: it cannot leave this node."""
        if isinstance(client, RemoteClient):
            return client.place
        return place_of(client, self._cluster.here) if can_move(client) else None

    def _lend(self, seeker: Seeker, client: WaitingClient, to: NodeId) -> TableSeat:
        if isinstance(client, RemoteClient):
            self._home.lend(client, to)
            front, ticket = client.front, client.ticket
        else:
            assert can_move(client)
            front, ticket = self._cluster.here, self._front.lend(seeker, client, to)
        return TableSeat(front, ticket, seeker.name, client.owner, client.version)

    def play_house(self, client: WaitingClient, opponent: str) -> bool:
        """Have a client of another node play against house bots there; False: it plays here."""
        if not isinstance(client, RemoteClient) or self._home.draws(client.front):
            return False
        self._home.play_house(client, opponent)
        return True

    # What other desks tell.

    def _receive(self, node: NodeId, payload: bytes) -> None:
        message = DECODER.decode(payload)
        match message:
            case SeekHere():
                self._home.seek(node, message)
            case GiveUp():
                self._home.give_up(node, message.ticket)
            case NotComing():
                self._home.not_coming(message.ticket)
            case OpenTable():
                self._open(message)
            case Come():
                self._front.send(node, message.ticket, message.seat)
            case SeekAgain():
                self._front.seek_again(message.ticket)
            case PlayHouse():
                self._play_house(message)
            case _:
                self._decide(message)

    def _decide(self, message: TurnAway | WaitAtMost | TellComplete) -> None:
        client = self._front.client(message.ticket)
        if client is None:
            return
        match message:
            case TurnAway() if message.for_now:
                self._front.put_off(
                    message.ticket, str(message.words.get("error", "")), message.code
                )
            case TurnAway():
                client.turn_away(message.words, message.code)
            case WaitAtMost():
                client.wait_at_most(message.seconds, message.words)
            case TellComplete():
                client.contest_complete(message.contest)

    def _play_house(self, message: PlayHouse) -> None:
        seeker = None if (client := self._front.client(message.ticket)) is None else client.seeker
        if client is not None and seeker is not None:
            self._desk.against_the_house(seeker, client, message.opponent)

    def _open(self, message: OpenTable) -> None:
        """Set a table for clients of this node and others.

        If one of this node's has gone, the others seek again.
        """
        if any(
            seat.front == self._cluster.here and self._front.client(seat.ticket) is None
            for seat in message.seats
        ):
            return self._put_back(message)
        clients = [self._take(seat) for seat in message.seats]
        return self._desk.open_table(
            message.wish, tuple(seat.name for seat in message.seats), clients
        )

    def _take(self, seat: TableSeat) -> WaitingClient:
        here = self._front.take(seat.ticket) if seat.front == self._cluster.here else None
        return here or RemoteClient(
            self._home, seat.front, seat.ticket, seat.name, seat.owner, seat.version
        )

    def _put_back(self, message: OpenTable) -> None:
        for seat in message.seats:
            if seat.front == self._cluster.here:
                self._front.seek_again(seat.ticket)
            else:
                self._home.tell(seat.front, SeekAgain(seat.ticket))

    # What happens to other nodes.

    def _lose(self, node: NodeId) -> None:
        self._home.lose(node)
        self._front.follow(lost=node)

    def _follow(self) -> None:
        self._front.follow()
        for client in self._desk.waiting_clients:
            self._front.send_away(client)
