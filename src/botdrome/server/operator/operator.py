"""The actions of the operator. Every change is written to the audit log."""

import asyncio
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from operator import attrgetter, methodcaller
from time import time
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict

from botdrome.games.reading import plural
from botdrome.server.failures import log_failure
from botdrome.server.lobby.bans import Ban, Kind
from botdrome.server.lobby.classes import AnyClassOrder, Classes
from botdrome.server.lobby.clients import ListedClient
from botdrome.server.lobby.desk import Desk, Tasks
from botdrome.server.lobby.hosting import Hosting
from botdrome.server.lobby.tokens import OperatorKeys
from botdrome.server.network.origins import public_origins
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.joining import AnyNode
from botdrome.server.operator.contest_orders import ContestOrders
from botdrome.server.operator.cube_runs import CannotChange, CubeRun, CubeRuns
from botdrome.server.rooms.boat_room import BoatRoom
from botdrome.server.rooms.boat_settings import room_settings
from botdrome.server.rooms.boats import BoatRooms, carry_out
from botdrome.server.rooms.cube import Organisers
from botdrome.server.workers.jobs import CLIENT
from botdrome.store.entries import Epoch, Note
from botdrome.store.store import Store

# The audit log: the operator's actions with time, address and target. The store keeps it.

BOOK = "audit"
WRITING = 2.0
"""Seconds that an action waits until its line is stored; if the store is down, the line is stored
later.
"""
LONGEST = 500
"""Characters of each part of a line."""


class AuditLine(Struct, frozen=True):
    at: Epoch
    who: str
    address: str
    action: str
    target: str = ""
    detail: str = ""


class Audit:
    def __init__(self, store: Store, tasks: Tasks) -> None:
        self._store, self._tasks = store, tasks
        self._numbers = count()

    async def note(self, action: str, target: str = "", detail: str = "") -> None:
        at = int(time() * 1000)
        line = AuditLine(
            at, "operator", CLIENT.get().source, action, target[:LONGEST], detail[:LONGEST]
        )
        # sorts by time, and is unique
        name = f"{at:015}-{next(self._numbers):09}-{secrets.token_hex(4)}"
        written = asyncio.Event()
        self._tasks.start(self._write(Note(BOOK, name, msgspec.to_builtins(line)), written))
        with suppress(TimeoutError):
            async with asyncio.timeout(WRITING):
                await written.wait()

    async def _write(self, note: Note, written: asyncio.Event) -> None:
        try:
            await self._store.keep([note], retry=True)
        except Exception:
            log_failure("a line of the audit log could not be stored")
        written.set()

    async def newest(self, limit: int, offset: int) -> tuple[list[AuditLine], int]:
        """A page of the log, newest line first, and the number of all lines."""
        found, total = await self._store.reports.latest_notes(BOOK, limit, offset)
        return msgspec.convert(found, list[AuditLine]), total


# The list of connected clients, as the operator sees it.
#
# Each node of a cluster lists its own; the operator sees all.

MOST = 10_000
"""Clients that one node lists at a time."""


class ClientLine(Struct, frozen=True):
    node: str
    """Empty: the server is no node."""
    number: int
    """Of its connection. Each node has its own numbers."""
    protocol: str
    name: str
    game: str
    address: str
    since: Epoch
    received: int
    sent: int
    answerMs: float | None = field(name="answer")  # noqa: N815
    """Milliseconds to an answer, on average."""
    match: str | None


class FindClients(Struct, frozen=True):
    """A question: the first clients in this order."""

    search: str
    """In small letters."""
    column: str
    falling: bool
    most: int


class FoundClients(Struct, frozen=True):
    clients: list[ClientLine]
    total: int
    silent: list[str] = []
    """Nodes that did not answer."""


class RemoveClients(Struct, frozen=True):
    """A question: remove the client of that number, or all of that name.

    The answer has their names.
    """

    name: str | None
    number: int | None
    words: str


OWN_COLUMNS = {
    "received": "traffic.received",
    "sent": "traffic.sent",
    "answerMs": "traffic.answer_time",
}
"""Columns of a ListedClient that have other names than those of a line."""
Listed = TypeVar("Listed")


def find_clients(clients: Iterable[ListedClient], node: str, wanted: FindClients) -> FoundClients:
    """Return the clients of one node.

    There may be thousands, so only those that are wanted become lines.
    """
    words, column = wanted.search, wanted.column
    found = [
        one
        for one in clients
        if words in f"{one.name}\n{one.address}\n{one.protocol}\n{one.game}\n{node}".lower()
    ]
    value: Callable[[ListedClient], Any]
    if column == "node":
        value = attrgetter("number")
    else:
        value = (
            methodcaller("match")
            if column == "match"
            else attrgetter(OWN_COLUMNS.get(column, column))
        )
    ordered = _ordered(found, value, wanted.falling)
    return FoundClients([_line(one, node) for one in ordered[: min(wanted.most, MOST)]], len(found))


def merged(found: list[FoundClients], silent: list[str], wanted: FindClients) -> FoundClients:
    """Put the lists of several nodes together."""
    lines = _ordered(
        [line for one in found for line in one.clients], attrgetter(wanted.column), wanted.falling
    )
    return FoundClients(lines[: wanted.most], sum(one.total for one in found), silent)


def _ordered(clients: list[Listed], value: Callable[[Listed], Any], falling: bool) -> list[Listed]:
    """Those without a value come last."""
    known = sorted([one for one in clients if value(one) is not None], key=value, reverse=falling)
    return known + [one for one in clients if value(one) is None]


def _line(one: ListedClient, node: str) -> ClientLine:
    traffic = one.traffic
    answer = None if traffic.answer_time is None else round(traffic.answer_time * 1000, 1)
    return ClientLine(
        node, one.number, one.protocol, one.name, one.game, one.address, one.since,
        traffic.received, traffic.sent, answer, one.match(),
    )  # fmt: skip


REMOVED = "the operator removed this client"


class EndMatch(Struct, frozen=True):
    """A question: abort a match. The answer is whether it ran there."""

    match: str
    reason: str


class Operator:
    def __init__(
        self,
        desk: Desk,
        node: AnyNode,
        keys: OperatorKeys,
        boats: BoatRooms,
        organisers: Organisers,
        contests: ContestOrders,
        classes: Classes,
        hosting: Hosting,
    ) -> None:
        self.keys, self.boats, self.contests = keys, boats, contests
        self.classes, self.hosting = classes, hosting
        self.runs = CubeRuns(organisers)
        self.audit = Audit(desk.store, desk.tasks)
        self.secure = bool(desk.settings.tls.cert)
        """Whether the HTTP port uses TLS."""
        self.public_origins = frozenset(public_origins(desk.settings.network.public_url))
        self._desk, self._asking, self._cluster = desk, node.asking, node.cluster
        self._set_draining = node.set_draining
        self.bans, self._clients = desk.registry.bans, desk.registry.clients
        self._asking.on(FindClients, self._find)
        self._asking.on(RemoveClients, self._remove)
        self._asking.on(EndMatch, self._end_match)

    # Clients, at all nodes.

    async def find_clients(self, wanted: FindClients) -> FoundClients:
        return merged(*await self._asking.ask_all(wanted, FoundClients), wanted)

    async def _find(self, wanted: FindClients) -> FoundClients:
        cluster = self._cluster
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
        elif at is not None or self._cluster is None:
            removed = await self._asking.ask(at, order, list[str])
        if removed:
            await self.audit.note(
                "remove", removed[0], _joined(f"{len(removed)} connections", reason)
            )
        return len(removed)

    def _node_called(self, name: str) -> NodeId | None:
        cluster = self._cluster
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

    # Classes.

    async def create_class(self, name: str, hours: float | None) -> None:
        await self.classes.create(name, hours)
        await self.audit.note("create class", name)

    async def order_class(self, name: str, order: AnyClassOrder) -> None:
        await self.classes.order(name, order)
        values = {key: value for key, value in asdict(order).items() if value is not None}
        await self.audit.note(f"class: {order.__struct_config__.tag}", name, _listed(values))

    async def delete_class(self, name: str) -> None:
        await self.classes.delete(name)
        await self.audit.note("delete class", name)

    # Nodes.

    async def drain_node(self, name: str, draining: bool) -> bool:
        """Have a node take no new matches, or take them again; False: there is no such node."""
        found = await self._set_draining(name, draining)
        if found:
            await self.audit.note("drain node" if draining else "use node again", name)
        return found

    # Hosted bots.

    async def add_runner(self, name: str) -> str:
        """Return the token of the runner."""
        token = await self.hosting.add_runner(name)
        await self.audit.note("add runner", name)
        return token

    async def remove_runner(self, name: str) -> bool:
        """False: there is no such runner."""
        found = await self.hosting.remove_runner(name)
        if found:
            await self.audit.note("remove runner", name)
        return found

    async def invite(self, bot: str, invited: bool) -> bool:
        """Let a bot be uploaded, or no longer; False: there is no such bot."""
        if await self._desk.store.bot(bot) is None:
            return False
        await self.hosting.invite(bot, invited)
        await self.audit.note("invite bot" if invited else "end invitation of bot", bot)
        return True

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
        """Change, pause or resume a run, or raise CannotChange."""
        if setup is not None:
            run.change(setup)
            await self.audit.note("change Battlecube", run.sid, _listed(setup))
        if paused is not None:
            run.pause() if paused else run.resume()
            await self.audit.note("pause Battlecube" if paused else "resume Battlecube", run.sid)

    async def stop_run(self, run: CubeRun) -> None:
        run.stop()
        await self.audit.note("stop Battlecube", run.sid)

    # Boat rooms.

    async def open_room(self, values: dict[str, Any]) -> BoatRoom:
        """Open a room, or raise BadRoomSettings or BadRoom."""
        room = await self.boats.open(room_settings(values))
        await self.audit.note("open boat room", room.settings.title)
        return room

    async def change_room(self, room: BoatRoom, values: dict[str, Any]) -> None:
        """Change the settings of a room, or raise BadRoomSettings or CannotChange."""
        settings = room_settings(
            asdict(room.settings)
            | values
            | {"title": room.settings.title, "port": room.settings.port}
        )
        if not room.change(settings):
            raise CannotChange(
                "players have joined by the present rules: start their game, or send them away "
                "first"
            )
        await self.audit.note("change boat room", settings.title, _listed(values))

    async def order(self, room: BoatRoom, order: dict[str, Any]) -> str:
        """Carry out an order in a room and return what was done, or raise BadOrder."""
        done = carry_out(order, room)
        await self.audit.note(f"boat room: {order.get('do')}", room.settings.title, done)
        return done


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in values.items())


def _joined(words: str, reason: str) -> str:
    return f"{words}: {reason}" if reason else words
