"""SharedDesk: the desks of all nodes as one.

A client waits at the home of its wish, and plays where a player's connection is.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeGuard, cast

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.lobby import Seeker, Wish
from botdrome.match.events import Player
from botdrome.server.lobby.desk import Desk, OtherNodes, WaitingClient
from botdrome.server.network.connection import GOING, NORMAL
from botdrome.server.nodes.carrying import CarriedConnection, FrontConnection, connection_of
from botdrome.server.nodes.cluster import Cluster, Members, Node, NodeId, able, choose
from botdrome.server.nodes.moving import Mover
from botdrome.server.session import Session
from botdrome.server.tables.running_tables import Candidate
from botdrome.server.tables.table import Table
from botdrome.wire.writers import MatchWriters

# What the desks of different nodes tell each other.
#
# A client waits at its front, the node that has its connection.


class DeskMessage(Struct, frozen=True, array_like=True, tag=True):
    """`ticket` is the number of the client at its front."""

    ticket: int


class SeekHere(DeskMessage, frozen=True):
    """From a front to the home of the wish: find a table for the client."""

    name: str
    owner: str
    version: str
    wish: Wish
    opponent: str | None
    by_lot: bool
    socket: NodeId = ""
    """The node of the client's socket; empty: that is the front."""
    fixed: bool = False
    """The socket cannot be handed to another process."""


class GiveUp(DeskMessage, frozen=True):
    """From a front to a home: the client waits no longer, or has its seat."""


class SeekAgain(DeskMessage, frozen=True):
    """To a front: no table could be set for the client after all."""


class PlayHouse(DeskMessage, frozen=True):
    """From a home to a front: let the client play against a house bot."""

    opponent: str


class TurnAway(DeskMessage, frozen=True):
    words: dict[str, Any]
    code: int
    for_now: bool = False
    """No match begins there at present: a client that goes on waiting asks again."""


class WaitAtMost(DeskMessage, frozen=True):
    seconds: float
    words: str


class TellComplete(DeskMessage, frozen=True):
    contest: str


class Come(DeskMessage, frozen=True):
    """From the node of a table to a front: send the client's connection.

    `seat` is the number of its seat there.
    """

    seat: int


class NotComing(DeskMessage, frozen=True):
    """From a front to the node of a table: the client has gone.

    `ticket` is the number of its seat.
    """


class TableSeat(Struct, frozen=True, array_like=True):
    front: NodeId
    ticket: int
    name: str
    owner: str
    version: str


class OpenTable(Struct, frozen=True, array_like=True, tag=True):
    """From a home to another node: set a table for these players."""

    wish: Wish
    seats: tuple[TableSeat, ...]


AnyMessage = (
    SeekHere
    | GiveUp
    | SeekAgain
    | PlayHouse
    | TurnAway
    | WaitAtMost
    | TellComplete
    | Come
    | NotComing
    | OpenTable
)
ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(AnyMessage)


# Placement: chooses the node of each table, so that tables spread evenly and few connections have
# to move or be carried.

SLACK = 1 / 8
"""A node with so much more tables than the least busy one is about as busy: connections do not move
for less.
"""
SETTLING = 2.0
"""Seconds after which what a node tells counts as much as what was known of it. Short matches begin
and end between two beats, so the number of tables in one beat says little, and tables would follow
it from node to node.
"""


class ClientPlace(NamedTuple):
    """Where a client is."""

    session: NodeId
    socket: NodeId
    """If this is another node than that of the session, the client's messages are carried."""
    fixed: bool = False
    """Its socket cannot be handed to another process."""


class Placement:
    """The nodes know each other's number of tables from their beats.

    Between beats, the tables that are placed count.
    """

    def __init__(self, members: Members, clock: Callable[[], float]) -> None:
        """`clock` returns seconds."""
        self._members, self._clock, self._last = members, clock, clock()
        self._nodes: dict[NodeId, Node] = {}
        self._able: dict[NodeId, Node] = {}
        self._groups: dict[str, set[NodeId]] = {}
        """By machine: the nodes that take sockets, and know the same games as this one."""
        self._tables: dict[NodeId, float] = {}
        """An estimate for each node.

        Each table that is placed there adds one, and beats correct it.
        """

    def choose(self, clients: Sequence[ClientPlace | None]) -> NodeId:
        """Return the node for a table of these clients: among those with few tables the one with
        the least work for connections.

        That is a node of one of the clients, or another one to which all sockets can be handed.
        None: a client cannot leave this node.
        """
        self._read()
        found = [client for client in clients if client is not None]
        nodes = self._candidates(found) if len(found) == len(clients) else set()
        chosen = self._best(nodes, found) if nodes else self._members.here.id
        self._tables[chosen] += 1
        return chosen

    def _read(self) -> None:
        nodes = self._members.nodes
        if nodes is self._nodes:
            return
        now, told = self._clock(), {node.id: node.load.get("tables", 0) for node in nodes.values()}
        passed, self._last = now - self._last, now
        weight, known = (
            passed / (passed + SETTLING),
            {one: self._tables.get(one, number) for one, number in told.items()},
        )
        self._nodes, self._tables = (
            nodes,
            {one: known[one] + weight * (told[one] - known[one]) for one in told},
        )
        self._able, self._groups = {node.id: node for node in able(list(nodes.values()))}, {}
        for node in self._able.values():
            if node.handover and node.version == self._members.here.version:
                self._groups.setdefault(node.machine, set()).add(node.id)

    def _candidates(self, clients: list[ClientPlace]) -> set[NodeId]:
        own = {
            node for client in clients for node in (client.session, client.socket)
        } & self._able.keys()
        machines = {None if client.fixed else self._machine(client.socket) for client in clients}
        return own | self._groups.get(machines.pop() or "", set()) if len(machines) == 1 else own

    def _best(self, nodes: set[NodeId], clients: list[ClientPlace]) -> NodeId:
        tables = self._tables
        least = min(tables[node] for node in nodes)
        few = [node for node in nodes if tables[node] < least + 1 + least * SLACK]

        def work(node: NodeId) -> tuple[int, int, float, NodeId]:
            carried = sum(self._is_carried(client, node) for client in clients)
            return carried, sum(client.session != node for client in clients), tables[node], node

        return min(few, key=work)

    def _is_carried(self, client: ClientPlace, node: NodeId) -> bool:
        """Whether a client's messages would be carried to a table at that node."""
        if client.socket == node:
            return False
        there = self._nodes[node]
        return client.fixed or not there.handover or self._machine(client.socket) != there.machine

    def _machine(self, node: NodeId) -> str | None:
        return None if (found := self._nodes.get(node)) is None else found.machine


# RemoteClient: a client that waits here, while its connection is at another node, its front.


class RemoteClient:
    """When it gets a seat, its connection is fetched.

    Until that has come, the seat hears nothing.
    """

    def __init__(
        self, desk: "HomeDesk", front: NodeId, ticket: int, name: str, owner: str, version: str
    ) -> None:
        self._desk, self.front, self.ticket = desk, front, ticket
        self.place = ClientPlace(front, front)
        self.name, self.owner, self.version = name, owner, version
        self.seeker: Seeker | None = None
        self.arrived: Candidate | None = None
        """Its session here."""

    # What the desk decides.

    def wait_at_most(self, seconds: float, words: str) -> None:
        self._desk.tell(self.front, WaitAtMost(self.ticket, seconds, words))

    def contest_complete(self, contest: str) -> None:
        self._desk.tell(self.front, TellComplete(self.ticket, contest))

    def turn_away(self, words: dict[str, Any], code: int = NORMAL) -> None:
        """If this node is stopping, the client seeks at another one."""
        self._leave(TurnAway(self.ticket, words, code), code)

    def postpone(self, words: dict[str, Any], code: int) -> None:
        self._leave(TurnAway(self.ticket, words, code, for_now=True), code)

    def _leave(self, message: TurnAway, code: int) -> None:
        self._desk.forget(self)
        self._desk.tell(self.front, SeekAgain(self.ticket) if code == GOING else message)

    # What the table does.

    @property
    def present(self) -> bool:
        return self.arrived is not None and self.arrived.present

    def sit_down(self, table: Table, player: Player) -> None:
        self._desk.fetch(self, table, player)

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        """Its session does so when it has come."""

    def tell(self, messages: list[bytes]) -> None:
        """There is nothing to tell before the match has started."""

    def network_time(self) -> float:
        return 0.0

    def delay(self) -> float:
        return 0.0

    def dismiss(self, failed: bool) -> None:
        """The match was over before the connection came."""
        self._desk.tell(self.front, SeekAgain(self.ticket))


# HomeDesk: the clients of other nodes that wait here, and the connections that come for seats at
# tables here.

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


# FrontDesk: the clients here that wait at other nodes, the homes of their wishes.


def can_move(client: WaitingClient) -> TypeGuard[Session]:
    """Whether its connection can move to another node."""
    return isinstance(client, Session) and client.transfer_login is not None


def place_of(session: Session, here: NodeId) -> ClientPlace:
    connection = connection_of(session)
    if isinstance(connection, CarriedConnection):
        return ClientPlace(here, connection.front, fixed=True)
    return ClientPlace(here, here, cast(FrontConnection, connection).secure)


class WaitingElsewhere(NamedTuple):
    seeker: Seeker
    client: Session
    node: NodeId | None
    """None: the home of its wish is being claimed."""
    lent: bool = False
    """It was paired here, and waits for its seat at a table of that node.

    Otherwise that is the home of its wish.
    """


class FrontDesk:
    def __init__(self, desk: Desk, cluster: Cluster, mover: Mover) -> None:
        self._desk, self._cluster, self._mover = desk, cluster, mover
        self._waiting: dict[int, WaitingElsewhere] = {}
        """By ticket."""

    def tell(self, node: NodeId, message: AnyMessage) -> None:
        self._cluster.links.send(node, TOPIC, ENCODER.encode(message))

    # Clients that seek.

    def seek(self, client: WaitingClient, seeker: Seeker) -> bool:
        """Let a client wait at the home of its wish; False: that is here."""
        if not can_move(client) or not self._is_elsewhere(seeker):
            return False
        self._go(seeker, client, self._home_of(seeker))
        return True

    def lend(self, seeker: Seeker, client: Session, to: NodeId) -> int:
        """Let a client that waited here wait for its seat at another node.

        Return its new ticket: timers of the old one end.
        """
        seeker = replace(seeker, ticket=next(self._desk.tickets))
        self._desk.enqueue(seeker, client)
        self._waiting[seeker.ticket] = WaitingElsewhere(seeker, client, to, lent=True)
        return seeker.ticket

    def _is_lent(self, client: Session) -> bool:
        found = None if client.seeker is None else self._waiting.get(client.seeker.ticket)
        return found is not None and found.lent

    def send_away(self, client: WaitingClient) -> bool:
        """Move a client of a drained node to another node of this machine, where it seeks again;
        False: it stays.
        """
        if (
            not self._cluster.members.here.draining
            or not can_move(client)
            or client.transfer_login is None
        ):
            return False
        if self._is_lent(client):
            return False
        nodes = [node for node in self._cluster.members.nodes.values() if not node.draining]
        able = [node for node in nodes if self._mover.can_hand_over(client, node.id)]
        if able:
            self._desk.give_up(client)
            transfer, messages = client.transfer_login
            self._mover.move(
                client, choose(client.name, able).id, replace(transfer, seeks=True), messages
            )
        return bool(able)

    def _home_of(self, seeker: Seeker) -> NodeId | None:
        return self._cluster.home(self._cluster.key_of(seeker.wish))

    def _is_elsewhere(self, seeker: Seeker) -> bool:
        """Matches against house bots are played here, unless this node is drained."""
        of_house = (seeker.opponent or "").startswith(
            "house:"
        ) and not self._cluster.members.here.draining
        return not of_house and self._home_of(seeker) != self._cluster.here

    def _go(self, seeker: Seeker, client: Session, home: NodeId | None) -> None:
        self._waiting[seeker.ticket] = WaitingElsewhere(seeker, client, home)
        if home is None:
            self._cluster.with_home(
                self._cluster.key_of(seeker.wish), lambda _: self.seek_again(seeker.ticket)
            )
        else:
            here, socket, fixed = place_of(client, self._cluster.here)
            who = (seeker.ticket, seeker.name, client.owner, client.version)
            what = (seeker.wish, seeker.opponent, seeker.by_lot)
            self.tell(home, SeekHere(*who, *what, "" if socket == here else socket, fixed))

    def give_up(self, seeker: Seeker) -> None:
        found = self._waiting.pop(seeker.ticket, None)
        if found is not None and found.node is not None and not found.lent:
            self.tell(found.node, GiveUp(seeker.ticket))

    def take(self, ticket: int) -> WaitingClient | None:
        """Take a client out of the queue; None: it has gone."""
        client = self.client(ticket)
        if client is not None:
            self._desk.give_up(client)
        return client

    def seek_again(self, ticket: int) -> None:
        if found := self._waiting.get(ticket):
            self._desk.give_up(found.client)
            self._desk.seek_again(found.client, found.seeker)

    def postpone(self, ticket: int, words: str, code: int) -> None:
        """No match begins at present at the home of a wish, or none with this client."""
        found = self._waiting[ticket]
        self._desk.give_up(found.client)
        self._desk.postponed.add(found.client, found.seeker, words, code)

    # What other nodes decide.

    def client(self, ticket: int) -> WaitingClient | None:
        found = self._waiting.get(ticket)
        return None if found is None else found.client

    def send(self, to: NodeId, ticket: int, seat: int) -> None:
        """A table at that node has a seat for a client."""
        client = self.take(ticket)
        if isinstance(client, Session) and client.transfer_login is not None:
            transfer, messages = client.transfer_login
            self._mover.move(client, to, replace(transfer, ticket=seat), messages)
        else:
            self.tell(to, NotComing(seat))

    def bring(self, client: WaitingClient, to: NodeId) -> bool:
        """Move a client that returns to the node of its match; False: it cannot move."""
        if not isinstance(client, Session) or client.transfer_login is None:
            return False
        self._mover.move(client, to, *client.transfer_login)
        return True

    def follow(self, lost: NodeId | None = None) -> None:
        """Homes have moved, or all that was told to a node is lost: seek anew at the
        present homes.
        """
        for ticket, found in tuple(self._waiting.items()):
            moved = (
                not found.lent
                and found.node is not None
                and (lost is not None or self._home_of(found.seeker) != found.node)
            )
            if moved or (found.lent and found.node == lost):
                self.seek_again(ticket)
        for client in self._desk.waiting_clients:
            waits = client.seeker
            if (
                can_move(client)
                and waits is not None
                and waits.ticket not in self._waiting
                and self._is_elsewhere(waits)
            ):
                self._desk.give_up(client)
                self._desk.seek_again(client, waits)


class SharedDesk(OtherNodes):
    alone = False

    def __init__(self, desk: Desk, cluster: Cluster, mover: Mover) -> None:
        self._desk, self._cluster = desk, cluster
        self._front, self._home = FrontDesk(desk, cluster, mover), HomeDesk(desk, cluster)
        self._placement = Placement(cluster.members, asyncio.get_running_loop().time)
        cluster.links.on(TOPIC, self._receive)
        cluster.links.on_lost.append(self._lose)
        self.on_change = cluster.members.on_change
        self.on_change.append(self._follow)

    @property
    def draining(self) -> bool:
        return self._cluster.members.here.draining

    @property
    def drained(self) -> bool:
        return self._cluster.drained

    @property
    def connected(self) -> bool:
        return self._cluster.links.connected

    def has_rooms(self, game: str) -> bool:
        return self._cluster.has_rooms(game)

    def is_home(self, wish: Wish) -> bool:
        return self._cluster.home(self._cluster.key_of(wish)) == self._cluster.here

    def __len__(self) -> int:
        return len(self._home)

    # What the desk asks.

    def seek(self, client: WaitingClient, seeker: Seeker) -> bool:
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
        return self._front.send_away(client)

    def arrive(self, number: int, client: WaitingClient) -> bool:
        return self._home.arrive(number, client)

    def bring(self, client: WaitingClient, to: NodeId) -> bool:
        elsewhere = to in self._cluster.members.nodes and to != self._cluster.here
        return elsewhere and self._front.bring(client, to)

    def give_up(self, seeker: Seeker) -> None:
        self._front.give_up(seeker)

    def open_elsewhere(
        self, wish: Wish, seekers: Sequence[Seeker], clients: Sequence[WaitingClient]
    ) -> bool:
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
                self._front.postpone(
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
