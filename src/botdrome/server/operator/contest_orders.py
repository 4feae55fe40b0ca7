"""ContestOrders: what organisers and owners of bots do with contests, from any node.

The home of a contest carries it out.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.contest.document import ContestDocument
from botdrome.server.contests.contests import (
    ORGANISER,
    ChangeContest,
    ContestAction,
    CreateContest,
    EnterContest,
    LeaveContest,
    RerunOfContest,
    ServerContests,
    Withdrawal,
)
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bots import UrlBots
from botdrome.server.nodes.asking import HomeMoves, NoAnswer
from botdrome.server.nodes.cluster import NodeId, rooms_of
from botdrome.server.nodes.joining import AnyNode
from botdrome.store.contest_journal import ContestJournal

WAIT = 30.0
"""Seconds for an order: a bot may be called, and the store written."""
AGAIN, TIMES = 0.2, 15
"""Seconds between attempts while contests move to another node, and how often an order is tried."""
MOVING = "the contests of {game} are moving to another node: try again in a moment"


class ContestOrder(Struct, frozen=True):
    """An order for the home of a contest."""

    game: str
    contest: str
    verb: str
    """The name of a verb, which is the type of the body."""
    body: bytes


class FindAwaited(Struct, frozen=True):
    """A question: which bots have matches to play and are not connected."""

    contest: str


class ContestOrders:
    def __init__(self, contests: ServerContests, bots: UrlBots, desk: Desk, node: AnyNode) -> None:
        self._asking, self._cluster = node.asking, node.cluster
        self._contests, self._bots, self._desk = contests, bots, desk
        self._journal = ContestJournal(desk.store)
        self._verbs: dict[type[Struct], Callable[[str, Any], Awaitable[object]]] = {
            CreateContest: lambda _, order: contests.create(order.document, ORGANISER),
            ChangeContest: lambda name, order: contests.change(name, order.document, ORGANISER),
            ContestAction: lambda name, order: contests.act(name, order.action, ORGANISER),
            Withdrawal: lambda name, order: contests.withdraw(
                name, order.bot, ORGANISER, order.reason
            ),
            RerunOfContest: lambda name, order: contests.rerun(
                name, order.bots, order.failed, ORGANISER
            ),
            EnterContest: self._enter,
            LeaveContest: self._leave,
        }
        """What is done with a contest. REST, GraphQL, pages and commands give these orders."""
        self._kinds = {kind.__name__: kind for kind in self._verbs}
        self._asking.on(ContestOrder, self._carry_out)
        self._asking.on(FindAwaited, self._awaited)
        self._open: set[str] = set()
        """The games whose contests are here."""
        self._busy: Counter[str] = Counter()
        """Orders that are being carried out, by game."""

    # Contests come and go.

    async def open(self, game: str) -> None:
        await self._contests.open(game)
        await self._bots.load_entries(game)
        self._open.add(game)
        self._contests.webhooks.open(game)

    def leave(self, game: str) -> None:
        self._open.discard(game)
        self._contests.leave(game)
        self._contests.webhooks.leave(game)
        self._desk.close_books(game)

    def in_use(self, game: str) -> bool:
        return self._contests.are_running(game) or not self.settled(game)

    def settled(self, game: str) -> bool:
        """Whether no order is being carried out, and no contest starts or ends on time."""
        return not self._busy[game] and not self._contests.moments.acting[game]

    # At any node.

    async def document(self, name: str) -> ContestDocument:
        """Raise UnknownContest if there is no such contest."""
        return (await self._journal.entry(name)).document

    async def order(self, name: str, verb: Struct, game: str = "") -> None:
        """Have a verb carried out. `game` is that of the contest; empty: it is looked up.

        Raise ContestRefusal if the contest does not allow it, UnknownContest if there is none, and
        CallFailed if a bot with a URL cannot be called.
        """
        game = game or (await self.document(name)).game
        order = ContestOrder(game, name, type(verb).__name__, msgspec.msgpack.encode(verb))
        for _ in range(TIMES):
            try:
                return await self._ask(order)
            except HomeMoves:
                await asyncio.sleep(AGAIN)
        return await self._ask(order)

    async def awaited(self, name: str) -> list[str]:
        home = self._home((await self.document(name)).game)
        try:
            return await self._asking.ask(home, FindAwaited(name), list[str])
        except NoAnswer:
            return []

    async def _ask(self, order: ContestOrder) -> None:
        await self._asking.ask(self._home(order.game), order, bool, WAIT)

    def _home(self, game: str) -> NodeId | None:
        """None: this server is alone."""
        cluster = self._cluster
        home = None if cluster is None else cluster.home(rooms_of(game))
        if home is None and cluster is not None:
            raise HomeMoves(MOVING.format(game=game))
        return home

    # At the home.

    async def _carry_out(self, order: ContestOrder) -> bool:
        """Carry out an order to its end, even if the node that asked is lost: half of it may be
        stored.
        """
        if order.game not in self._open:
            raise HomeMoves(MOVING.format(game=order.game))
        await asyncio.shield(self._counted(order))
        return True

    async def _counted(self, order: ContestOrder) -> None:
        self._busy[order.game] += 1
        try:
            kind = self._kinds[order.verb]
            verb = msgspec.msgpack.decode(order.body, type=kind)
            await self._verbs[kind](order.contest, verb)
        finally:
            self._busy[order.game] -= 1

    async def _enter(self, contest: str, order: EnterContest) -> None:
        """A contest without a document takes only bots that the server can call; others name it
        when they log in.
        """
        bot = order.bot
        if self._contests.of_game(bot.game, contest) is not None:
            await self._contests.enter(contest, bot, bot.name, order.password)
            if bot.url is None:
                return
        await self._bots.enter(bot, contest)

    async def _leave(self, contest: str, order: LeaveContest) -> None:
        bot = order.bot
        if self._contests.of_game(bot.game, contest) is not None:
            await self._contests.withdraw(contest, bot.name, bot.name)
        await self._bots.withdraw(bot, contest)

    async def _awaited(self, question: FindAwaited) -> list[str]:
        return self._contests.awaited(question.contest)
