"""The actions of the operator. Every change is written to the audit log."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from botdrome.games.reading import plural
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.lobby.bans import Ban, Kind
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.tokens import OperatorKeys
from botdrome.server.network.origins import public_origins
from botdrome.server.nodes.node import NodeId
from botdrome.server.operator.audit import Audit
from botdrome.server.operator.client_list import (
    FindClients,
    FoundClients,
    RemoveClients,
    find_clients,
    merged,
)
from botdrome.server.operator.contest_orders import ContestOrders
from botdrome.server.operator.cube_runs import CubeRun, CubeRuns
from botdrome.server.rooms.boat_orders import carry_out
from botdrome.server.rooms.boat_room import BoatRoom
from botdrome.server.rooms.boat_settings import make_plan
from botdrome.server.rooms.boats import BadRoom, BoatRooms
from botdrome.server.rooms.cube_host import CubeHost
from botdrome.store.store import Epoch


async def nobody_drains(_name: str, _draining: bool) -> bool:
    """A single server has no nodes."""
    return False


REMOVED = "the operator removed this client"


class EndMatch(Struct, frozen=True):
    """A question: abort a match. The answer is whether it ran there."""

    match: str
    reason: str


class Operator:
    def __init__(
        self,
        desk: Desk,
        keys: OperatorKeys,
        boats: BoatRooms,
        organisers: CubeHost,
        contests: ContestOrders,
    ) -> None:
        self.keys, self.boats, self.runs, self.contests = (
            keys,
            boats,
            CubeRuns(organisers),
            contests,
        )
        self.audit = Audit(desk.store, desk.tasks)
        self.secure = bool(desk.settings.tls.cert)
        """Whether the HTTP port uses TLS."""
        self.public_origins = frozenset(public_origins(desk.settings.network.public_url))
        self._desk, self._asking = desk, desk.asking
        self.set_draining: Callable[[str, bool], Awaitable[bool]] = nobody_drains
        self.bans, self._clients = desk.registry.bans, desk.registry.clients
        self._asking.on(FindClients, self._find)
        self._asking.on(RemoveClients, self._remove)
        self._asking.on(EndMatch, self._end_match)

    # Clients, at all nodes.

    async def find_clients(self, wanted: FindClients) -> FoundClients:
        return merged(*await self._asking.ask_all(wanted, FoundClients), wanted)

    async def _find(self, wanted: FindClients) -> FoundClients:
        cluster = self._desk.cluster
        return find_clients(
            self._clients.all, "" if cluster is None else cluster.members.here.name, wanted
        )

    async def remove(self, name: str | None, number: int | None, node: str, reason: str) -> int:
        """Remove the client of that number at a node, or all of that name; return how many there
        were.
        """
        order = RemoveClients(name, number, _joined(REMOVED, reason))
        removed: list[str] = []
        at = self._node_called(node)
        if number is None:
            removed = [
                one for names in (await self._asking.ask_all(order, list[str]))[0] for one in names
            ]
        elif at is not None or self._desk.cluster is None:
            removed = await self._asking.ask(at, order, list[str])
        if removed:
            await self.audit.note(
                "remove", removed[0], _joined(f"{len(removed)} connections", reason)
            )
        return len(removed)

    def _node_called(self, name: str) -> NodeId | None:
        cluster = self._desk.cluster
        nodes = () if cluster is None else cluster.members.nodes.values()
        return next((node.id for node in nodes if node.name == name), None)

    async def _remove(self, order: RemoveClients) -> list[str]:
        wanted, number = order.name, order.number
        found = [
            one
            for one in self._clients.all
            if (one.name == wanted if number is None else one.number == number)
        ]
        for client in found:
            client.remove(order.words)
        return [one.name for one in found]

    # Bans.

    async def ban(self, kind: Kind, subject: str, reason: str, until: Epoch | None) -> Ban:
        """Ban a name or an address, and remove its clients.

        Raise BadBan if it is neither. Other nodes are told.
        """
        ban = await self.bans.add(kind, subject, reason, until)
        for client in self._clients.all:
            if self.bans.covers(ban, client.name, client.address):
                client.remove(ban.words())
        await self.audit.note(f"ban {kind}", ban.subject, reason)
        return ban

    async def lift(self, kind: Kind, subject: str) -> Ban | None:
        ban = await self.bans.lift(kind, subject)
        if ban is not None:
            await self.audit.note(f"lift ban of {kind}", ban.subject)
        return ban

    # Matches.

    async def end_match(self, match_id: str, reason: str) -> bool:
        """Abort a match at any node; False: no such match runs."""
        ended = any((await self._asking.ask_all(EndMatch(match_id, reason), bool))[0])
        if ended:
            await self.audit.note("end match", match_id, reason)
        return ended

    async def _end_match(self, order: EndMatch) -> bool:
        table = self._desk.tables[order.match]
        if table is None or table.match.result is not None:
            return False
        table.abort(_joined("the operator ended it", order.reason))
        return True

    # Nodes.

    async def drain_node(self, name: str, draining: bool) -> bool:
        """Have a node take no new matches, or take them again; False: there is no such node."""
        found = await self.set_draining(name, draining)
        if found:
            await self.audit.note("drain node" if draining else "use node again", name)
        return found

    # Battlecube.

    async def start_run(
        self, setup: dict[str, Any], players: list[dict[str, Any]], games: int
    ) -> CubeRun:
        """Start Battlecube games, or raise BadRun."""
        run = await self.runs.start(setup, players, games)
        await self.audit.note(
            "start Battlecube",
            run.sid,
            f"{plural(games, 'game')}: {', '.join(one['name'] for one in players)}",
        )
        return run

    async def change_run(
        self, run: CubeRun, setup: dict[str, Any] | None, paused: bool | None
    ) -> None:
        """Change, pause or resume a run, or raise BadRun."""
        if setup is not None:
            run.change(setup)
            await self.audit.note(
                "change Battlecube",
                run.sid,
                ", ".join(f"{key}={value}" for key, value in setup.items()),
            )
        if paused is not None:
            run.pause() if paused else run.resume()
            await self.audit.note("pause Battlecube" if paused else "resume Battlecube", run.sid)

    async def stop_run(self, run: CubeRun) -> None:
        run.stop()
        await self.audit.note("stop Battlecube", run.sid)

    # Boat rooms.

    async def open_room(self, values: dict[str, Any]) -> BoatRoom:
        """Open a room, or raise BadPlan or BadRoom."""
        room = await self.boats.open(make_plan(values))
        await self.audit.note("open boat room", room.plan.title)
        return room

    async def change_room(self, room: BoatRoom, values: dict[str, Any]) -> None:
        """Change the plan of a room, or raise BadPlan or BadRoom."""
        plan = make_plan(
            asdict(room.plan) | values | {"title": room.plan.title, "port": room.plan.port}
        )
        if not room.change(plan):
            raise BadRoom(
                "players have joined by the present rules: start their game, or send them away "
                "first"
            )
        await self.audit.note(
            "change boat room",
            plan.title,
            ", ".join(f"{key}={value}" for key, value in values.items()),
        )

    async def order(self, room: BoatRoom, order: dict[str, Any]) -> str:
        """Carry out an order in a room and return what was done, or raise BadOrder."""
        done = carry_out(order, room)
        await self.audit.note(f"boat room: {order.get('do')}", room.plan.title, done)
        return done


async def open_operator(
    desk: Desk,
    keys: OperatorKeys,
    boats: BoatRooms,
    organisers: CubeHost,
    caller: BotCaller,
    contests: ContestOrders,
) -> Operator:
    """Load the bans; they hold for bots that are called, too."""
    registry = desk.registry
    await registry.bans.load()
    caller.refuse_banned(registry.bans.covers_address)
    return Operator(desk, keys, boats, organisers, contests)


def _joined(words: str, reason: str) -> str:
    return f"{words}: {reason}" if reason else words
