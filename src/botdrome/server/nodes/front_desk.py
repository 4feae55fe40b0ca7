"""FrontDesk: the clients here that wait at other nodes, the homes of their wishes."""

from typing import NamedTuple, TypeGuard, cast

from msgspec.structs import replace

from botdrome.contest.lobby import Seeker
from botdrome.server.lobby.desk import Desk, WaitingClient
from botdrome.server.nodes.carrying import CarriedConnection, FrontConnection
from botdrome.server.nodes.cluster import Cluster
from botdrome.server.nodes.desk_messages import ENCODER, AnyMessage, GiveUp, NotComing, SeekHere
from botdrome.server.nodes.home_desk import TOPIC
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.node import NodeId, choose
from botdrome.server.nodes.placement import ClientPlace
from botdrome.server.nodes.resumed import connection_of
from botdrome.server.session import Session


def can_move(client: WaitingClient) -> TypeGuard[Session]:
    """Whether its connection can move to another node."""
    return isinstance(client, Session) and client.luggage is not None


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
            or client.luggage is None
        ):
            return False
        if self._is_lent(client):
            return False
        nodes = [node for node in self._cluster.members.nodes.values() if not node.draining]
        able = [node for node in nodes if self._mover.can_hand_over(client, node.id)]
        if able:
            self._desk.give_up(client)
            errand, messages = client.luggage
            self._mover.move(
                client, choose(client.name, able).id, replace(errand, seeks=True), messages
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

    def put_off(self, ticket: int, words: str, code: int) -> None:
        """No match begins at present at the home of a wish, or none with this client."""
        found = self._waiting[ticket]
        self._desk.give_up(found.client)
        self._desk.put_off.add(found.client, found.seeker, words, code)

    # What other nodes decide.

    def client(self, ticket: int) -> WaitingClient | None:
        found = self._waiting.get(ticket)
        return None if found is None else found.client

    def send(self, to: NodeId, ticket: int, seat: int) -> None:
        """A table at that node has a seat for a client."""
        client = self.take(ticket)
        if isinstance(client, Session) and client.luggage is not None:
            errand, messages = client.luggage
            self._mover.move(client, to, replace(errand, ticket=seat), messages)
        else:
            self.tell(to, NotComing(seat))

    def bring(self, client: WaitingClient, to: NodeId) -> bool:
        """Move a client that returns to the node of its match; False: it cannot move."""
        if not isinstance(client, Session) or client.luggage is None:
            return False
        self._mover.move(client, to, *client.luggage)
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
