"""Nodes in one loop, without stores, and a protocol whose clients ask to be moved from one to
another.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from botdrome.protocols import load_settings
from botdrome.server.lobby.desk import Desk
from botdrome.server.network.connection import Connection
from botdrome.server.network.dispatcher import Dispatcher, Entrance
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import MakeProtocol, stop
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import Proxies, Shares, sharing
from botdrome.server.network.steady_loop import run
from botdrome.server.network.tcp import tcp_factory
from botdrome.server.nodes.cluster import Node
from botdrome.server.nodes.moving import Arrival, Mover
from botdrome.server.nodes.pipes import Header, PipedTransport
from botdrome.server.session import AdmittedClient, Session, Transfer
from botdrome.wire.conversation import Close, Command, Out, Redeliver, Reply
from botdrome.wire.framing.streams import Frames, Lines
from tests.patience import until

FRAMINGS: dict[str, Callable[[], Any] | None] = {
    "websocket": None,
    "frames": Frames,
    "lines": Lines,
}


class Travel(Struct, Command, frozen=True):
    to: str


class TravelConversation:
    """Greets, echoes, and obeys commands in the messages.

    The first message is the login, which is answered.
    """

    deadline: float | None = None

    def __init__(self, where: str, sends_to: str, known: bool) -> None:
        self.where, self._sends_to, self._known = where, sends_to, known

    def begin(self, now: float) -> Sequence[Out]:
        if self._known:
            return ()
        return (Travel(self._sends_to),) if self._sends_to else (b"who are you?",)

    def receive(self, message: bytes, now: float) -> Sequence[Out]:
        if not self._known:
            self._known = True
            return (b"welcome " + message,)
        word, _, rest = message.decode().partition(" ")
        if word == "go":
            return (Travel(rest),)
        if word == "again":
            return Travel(rest), b"not told twice", Redeliver((b"first", b"second"))
        if word == "bye":
            return b"farewell", Close(4000, "enough")
        if word == "fail":
            raise RuntimeError("a session with a fault")
        if word == "flood":
            return [b"x" * 60_000] * 40
        return (self.where.encode() if word == "where" else message.upper(),)

    def answer(self, reply: Reply, now: float) -> Sequence[Out]:
        return ()

    def wake(self, now: float) -> Sequence[Out]:
        return ()


@cache
def travel_session() -> type[Session]:
    """Return a session that answers EOF."""

    class TravelSession(Session):
        """Answers EOF, one turn of the loop later, and invalid input."""

        def heard_all(self) -> bool:
            if not self.closed:
                asyncio.get_running_loop().call_soon(self._say_goodbye)
            return not self.closed

        def _say_goodbye(self) -> None:
            if not self.closed:
                self.connection.send([b"you said all"])
                self.close()

        def unreadable(self, why: str) -> bool:
            self.connection.send([b"unreadable"])
            return False

        def lost(self) -> None:
            super().lost()
            cast(TravelNode, self._server).lost.append(self.transfer)

    return TravelSession


class OtherNodes:
    def __init__(self, here: Node, nodes: dict[str, Node]) -> None:
        self.here, self.nodes, self.on_change = here, nodes, list[Callable[[], None]]()


class TravelNode:
    protocol = "travel"

    def __init__(self, node: Node, nodes: dict[str, Node], **settings: Any) -> None:
        self.id, self.nodes, self._settings = node.id, nodes, load_settings({"port": 0} | settings)
        self.members = OtherNodes(node, nodes)
        self.mover = Mover(cast(Any, self.members), "the secret of the cluster")
        self.pipes = 0
        """The number of pipes that other nodes have opened to this one."""
        self.limits = ConnectionLimits(self._settings)
        self.lost: list[Transfer | None] = []
        """The transfers of sessions that were lost."""
        self.sessions: dict[Session, str] = {}
        self.ports: dict[str, int] = {}
        self.sends_to, self._kind = "", ""
        """Where it moves all clients as soon as they connect."""
        self.shares, self.proxies = Shares(), Proxies(self._settings)
        for kind, framing in FRAMINGS.items():
            self.mover.arrivals[kind] = Arrival(
                lambda connection, transfer, client: self.connect(
                    transfer.protocol, connection, client
                ),
                framing,
            )
        take = self.mover._pipes._take

        def count(piped: PipedTransport, header: Header) -> None:
            self.pipes += 1
            take(piped, header)

        self.mover._pipes._take = count

    def connect(
        self, kind: str, connection: Connection, client: AdmittedClient | None = None
    ) -> Session:
        self._kind = kind
        talk = TravelConversation(self.id, self.sends_to, client is not None)
        session = travel_session()(connection, talk, self, cast(Desk, None))
        self.sessions[session] = kind
        return session

    def act(self, session: Session, command: Command) -> None:
        assert isinstance(command, Travel)
        if command.to == self.sends_to:
            self.mover.move(session, command.to, Transfer(self._kind))
        elif command.to in self.nodes:
            session.transfer_login = b"ada"
            self.mover.move(session, command.to, Transfer(self.sessions[session]))

    def factory(self, kind: str) -> MakeProtocol:
        framing = FRAMINGS[kind]
        if framing is not None:
            return tcp_factory(framing, partial(self.connect, kind), self.limits)
        settings = self._settings
        found = partial(self.connect, kind)
        entrance = Entrance(lambda *_: found, self.limits, settings, Origins(settings))
        return lambda: Dispatcher(entrance)

    async def open(self) -> None:
        """Take connections of other nodes."""
        shared = partial(sharing, shares=self.shares, proxies=self.proxies)
        places = await self.mover.open(
            self._settings, self.limits, lambda make, origin: shared(make, origin=origin)
        )
        pipes, _, path = places.partition(" ")
        self.nodes[self.id] = replace(self.nodes[self.id], pipes=pipes, handover=path)

    async def listen(self, stack: AsyncExitStack) -> None:
        loop = asyncio.get_running_loop()
        for kind in FRAMINGS:
            shared = sharing(self.factory(kind), self.shares, self.proxies)
            server = await loop.create_server(shared, "127.0.0.1", 0)
            stack.callback(stop, server)
            self.ports[kind] = server.sockets[0].getsockname()[1]


@asynccontextmanager
async def travel_nodes(
    *names: str, one_machine: bool = False, **settings: Any
) -> AsyncIterator[list[TravelNode]]:
    """Nodes on one machine pass sockets."""
    nodes = {f"{name}.1": Node(name, 1, "" if one_machine else name, "", "1") for name in names}
    async with AsyncExitStack() as stack:
        found = [TravelNode(node, nodes, **settings) for node in nodes.values()]
        for one in found:
            await one.listen(stack)
            await one.open()
            stack.callback(one.mover.close)
        yield found
        await until(lambda: not any(one.limits._inside or one.mover.piped for one in found))


async def serve_alone() -> None:
    async with travel_nodes("b", one_machine=True) as (node,):
        print(node.nodes["b.1"].handover, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    run(serve_alone())
