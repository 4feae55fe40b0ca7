"""FrontDesk: the clients here that wait at other nodes, the homes of their wishes."""

from typing import TypeGuard

from msgspec.structs import replace

from botdrome.contest.lobby import Seeker
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.waiting_client import WaitingClient
from botdrome.server.nodes.cluster import Cluster
from botdrome.server.nodes.desk_messages import ENCODER, AnyMessage, GiveUp, NotComing, SeekHere
from botdrome.server.nodes.home_desk import TOPIC
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.node import NodeId, choose
from botdrome.server.session import Session


def can_move(client: WaitingClient) -> TypeGuard[Session]:
    """Whether its connection can move to another node."""
    return isinstance(client, Session) and client.luggage is not None


class FrontDesk:
    def __init__(self, desk: Desk, cluster: Cluster, mover: Mover) -> None:
        self._desk, self._cluster, self._mover = desk, cluster, mover
        self._homes: dict[Seeker, NodeId | None] = {}
        """Where each of them waits; None: the home is being claimed."""
        self._by_ticket: dict[int, tuple[Seeker, Session]] = {}

    def tell(self, node: NodeId, message: AnyMessage) -> None:
        self._cluster.links.send(node, TOPIC, ENCODER.encode(message))

    # Clients that seek.

    def seek(self, client: WaitingClient, seeker: Seeker) -> bool:
        """Let a client wait at the home of its wish; False: that is here."""
        if not can_move(client) or not self._is_elsewhere(seeker):
            return False
        self._by_ticket[seeker.ticket] = seeker, client
        self._go(seeker, client, self._home_of(seeker))
        return True

    def send_away(self, client: WaitingClient) -> bool:
        """Move a client of a drained node to another node of this machine, where it seeks again; False: it stays."""
        if not self._cluster.members.here.draining or not can_move(client) or client.luggage is None:
            return False
        nodes = [node for node in self._cluster.members.nodes.values() if not node.draining]
        able = [node for node in nodes if self._mover.can_hand_over(client, node.id)]
        if able:
            self._desk.give_up(client)
            errand, messages = client.luggage
            self._mover.move(client, choose(client.name, able).id, replace(errand, seeks=True), messages)
        return bool(able)

    def _home_of(self, seeker: Seeker) -> NodeId | None:
        return self._cluster.home(self._cluster.key_of(seeker.wish))

    def _is_elsewhere(self, seeker: Seeker) -> bool:
        """Matches against house bots are played here, unless this node is drained."""
        of_house = (seeker.opponent or "").startswith("house:") and not self._cluster.members.here.draining
        return not of_house and self._home_of(seeker) != self._cluster.here

    def _go(self, seeker: Seeker, client: Session, home: NodeId | None) -> None:
        self._homes[seeker] = home
        if home is None:
            self._cluster.with_home(self._cluster.key_of(seeker.wish), lambda _: self.seek_again(seeker.ticket))
        else:
            wish = seeker.wish
            who = (seeker.ticket, seeker.name, client.owner, client.version)
            self.tell(home, SeekHere(*who, wish, seeker.opponent, seeker.by_lot))

    def give_up(self, seeker: Seeker) -> None:
        home = self._homes.pop(seeker, None)
        self._by_ticket.pop(seeker.ticket, None)
        if home is not None:
            self.tell(home, GiveUp(seeker.ticket))

    def take(self, ticket: int) -> WaitingClient | None:
        """Take a client out of the queue; None: it has gone."""
        found = self._by_ticket.get(ticket)
        if found is not None:
            self._desk.give_up(found[1])
        return None if found is None else found[1]

    def seek_again(self, ticket: int) -> None:
        if found := self._by_ticket.get(ticket):
            seeker, client = found
            self._desk.give_up(client)
            self._desk.seek(client, seeker.name, seeker.wish, seeker.opponent, seeker.by_lot)

    # What other nodes decide.

    def client(self, ticket: int) -> WaitingClient | None:
        found = self._by_ticket.get(ticket)
        return None if found is None else found[1]

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
        """Homes have moved, or all that was told to a node is lost: seek anew at the present homes."""
        for seeker, home in tuple(self._homes.items()):
            if home is not None and (lost is not None or self._home_of(seeker) != home):
                self.seek_again(seeker.ticket)
        for client in self._desk.waiting_clients:
            waits = client.seeker
            if can_move(client) and waits is not None and waits not in self._homes and self._is_elsewhere(waits):
                self._desk.give_up(client)
                self._desk.seek(client, waits.name, waits.wish, waits.opponent, waits.by_lot)
