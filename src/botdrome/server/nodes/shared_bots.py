"""Bots as all nodes know them: changes of bots and bans, and the tunnels of bots to any node."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, too_late
from botdrome.server.calling.tunnels import Tunnels
from botdrome.server.failures import log_failure
from botdrome.server.lobby.bans import Ban
from botdrome.server.lobby.desk import Desk
from botdrome.server.nodes.asking import Asking, LateAnswer, NoAnswer
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.links import Beat, Links
from botdrome.store.entries import Epoch, StoreUnavailable

KEPT = 10_000
"""The latest changes that a node can tell again."""
AT_ONCE = 100
"""The latest changes in a beat."""
EVERY = 1.0
"""Seconds between two beats."""


class BotChanged(Struct, frozen=True, array_like=True, tag="b"):
    name: str
    logins_end: bool
    """Its token was changed."""


class BansChanged(Struct, frozen=True, array_like=True, tag="l"):
    """A ban was made or lifted; the store has it."""

    made: Ban | None


Change = BotChanged | BansChanged


class RegistryBeat(Struct, frozen=True, array_like=True):
    last: int
    """The number of changes that this node has made so far."""
    changes: list[Change]
    """The last of them."""


class ChangesAfter(Struct, frozen=True):
    """The question to a node: which changes have you made after this number?"""

    number: int


class SharedRegistry:
    """Each node numbers the changes that it makes. A node that misses some asks for them."""

    def __init__(self, desk: Desk, links: Links, asking: Asking) -> None:
        self._registry, self._start, self._asking = desk.registry, desk.tasks.start, asking
        self._changes: deque[Change] = deque(maxlen=KEPT)
        self._last = self._told = 0
        self._known: dict[NodeId, int] = {}
        """The number of changes of each node that are known here."""
        self._asked: set[NodeId] = set()
        self._registry.on_change.append(lambda name, ends: self._note(BotChanged(name, ends)))
        self._registry.bans.on_change.append(lambda made: self._note(BansChanged(made)))
        asking.on(ChangesAfter, self._after)
        self._beat = Beat(links, EVERY, RegistryBeat, self._tell, self._hear)

    def _note(self, change: Change) -> None:
        self._changes.append(change)
        self._last += 1
        self._beat.soon()

    def _tell(self) -> RegistryBeat | None:
        since, self._told = max(self._told, self._last - AT_ONCE), self._last
        return RegistryBeat(self._last, self._since(since)) if self._last else None

    def _since(self, number: int) -> list[Change]:
        missing = min(self._last - number, len(self._changes))
        return list(self._changes)[-missing:] if missing > 0 else []

    async def _after(self, question: ChangesAfter) -> RegistryBeat:
        return RegistryBeat(self._last, self._since(question.number))

    def _hear(self, node: NodeId, beat: RegistryBeat | None) -> None:
        if beat is None or beat.last <= self._known.get(node, 0) or node in self._asked:
            return
        if beat.last - self._known.get(node, 0) <= len(beat.changes):
            self._learn(node, beat)
        else:
            self._asked.add(node)
            self._start(self._ask(node))

    async def _ask(self, node: NodeId) -> None:
        question = ChangesAfter(self._known.get(node, 0))
        try:
            self._learn(node, await self._asking.ask(node, question, RegistryBeat))
        except (NoAnswer, StoreUnavailable):
            """The next beat of that node has it asked again."""
        finally:
            self._asked.discard(node)

    def _learn(self, node: NodeId, beat: RegistryBeat) -> None:
        new = beat.last - self._known.get(node, 0)
        self._known[node], changes = beat.last, beat.changes[-new:]
        for change in changes:
            if isinstance(change, BotChanged):
                self._registry.drop(change.name)
                if change.logins_end:
                    self._registry.clients.end_logins(change.name)
        if bans := [change.made for change in changes if isinstance(change, BansChanged)]:
            self._start(self._load_bans(bans))

    async def _load_bans(self, made: Sequence[Ban | None]) -> None:
        bans = self._registry.bans
        try:
            await bans.load()
        except Exception:
            log_failure("the bans could not be read")
        for client in self._registry.clients.all:
            for ban in made:
                if ban is not None and bans.covers(ban, client.name, client.address):
                    client.remove(ban.words())


class OpenTunnels(Struct, frozen=True, array_like=True):
    """Names of bots that have a tunnel to the sender, and when these were opened.

    Of two for a name, the newer one stays.
    """

    tunnels: dict[str, Epoch]


class CallThroughTunnel(Struct, frozen=True, array_like=True):
    """A question to the node of a tunnel; the answer is the bot's."""

    name: str
    body: bytes
    limit_seconds: float
    headers: dict[str, str]


class SharedTunnels:
    def __init__(
        self, tunnels: Tunnels, links: Links, asking: Asking, arrived: Callable[[str], None]
    ) -> None:
        """`arrived` is told the name of a bot that can be called."""
        self._tunnels, self._here = tunnels, links.members.here.id
        self._asking, self._arrived = asking, arrived
        self._elsewhere: dict[NodeId, dict[str, Epoch]] = {}
        self._told = False
        tunnels.shared = self
        asking.on(CallThroughTunnel, self._call)
        self._beat = Beat(links, EVERY, OpenTunnels, self._tell, self._hear)

    # For this node.

    def __contains__(self, name: str) -> bool:
        return any(name in tunnels for tunnels in self._elsewhere.values())

    def _newest(self, name: str) -> tuple[Epoch, NodeId]:
        found = [(one[name], node) for node, one in self._elsewhere.items() if name in one]
        return max(found, default=(-1, ""))

    def opened(self, name: str, at: Epoch) -> Epoch:
        at = max(at, self._newest(name)[0] + 1)  # the clocks of nodes differ
        self._beat.soon()
        return at

    def closed(self, name: str) -> None:
        self._beat.soon()

    async def post(
        self, name: str, body: bytes, limit_seconds: float, headers: Mapping[str, str]
    ) -> BotAnswer:
        call, node = CallThroughTunnel(name, body, limit_seconds, dict(headers)), self._newest(name)
        try:
            return await self._asking.ask(node[1], call, BotAnswer, limit_seconds)
        except LateAnswer:
            raise too_late(limit_seconds) from None
        except NoAnswer as problem:
            raise CallFailed(f"the connection of {name[:100]} broke off: {problem}") from None

    # For other nodes.

    async def _call(self, call: CallThroughTunnel) -> BotAnswer:
        return await self._tunnels.post_here(call.name, call.body, call.limit_seconds, call.headers)

    def _tell(self) -> OpenTunnels | None:
        here, told = self._tunnels.opened, self._told
        self._told = bool(here)
        return OpenTunnels(here) if here or told else None

    def _hear(self, node: NodeId, beat: OpenTunnels | None) -> None:
        before = self._elsewhere.pop(node, {})
        if beat is None:
            return
        ours = self._tunnels.opened
        there = self._elsewhere[node] = {
            name: at
            for name, at in beat.tunnels.items()
            if name not in ours or (at, node) > (ours[name], self._here)
        }
        for name in there.keys() & ours.keys():
            self._tunnels.replace(name)
        for name in there.keys() - before.keys():
            self._arrived(name)
