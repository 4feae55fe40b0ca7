"""ContestOrders: what organisers and owners of bots do with contests, from any node.

The home of a contest carries it out.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from botdrome.contest.document import ContestDocument
from botdrome.server.contests.contests import ORGANISER, Action, Contests
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bots import UrlBots
from botdrome.server.nodes.asking import HomeMoves, NoAnswer
from botdrome.server.nodes.cluster import NodeId, rooms_of
from botdrome.store.contest_journal import ContestJournal
from botdrome.store.store import BotEntry

WAIT = 30.0
"""Seconds for an order: a bot may be called, and the store written."""
AGAIN, TIMES = 0.2, 15
"""Seconds between attempts while contests move to another node, and how often an order is tried."""
MOVING = "the contests of {game} are moving to another node: try again in a moment"


class ContestOrder(Struct, frozen=True):
    game: str
    contest: str


class CreateContest(ContestOrder, frozen=True):
    document: ContestDocument


class ChangeContest(ContestOrder, frozen=True):
    document: ContestDocument


class ActOnContest(ContestOrder, frozen=True):
    action: Action


class TakeOut(ContestOrder, frozen=True):
    """The organiser withdraws a bot."""

    bot: str
    why: str


class PlayAgain(ContestOrder, frozen=True):
    bots: tuple[str, ...]
    failed: bool


class EnterContest(ContestOrder, frozen=True):
    bot: BotEntry
    password: str


class LeaveContest(ContestOrder, frozen=True):
    bot: BotEntry


class FindAwaited(ContestOrder, frozen=True):
    """A question: which bots have matches to play and are not connected."""


class ContestOrders:
    def __init__(self, contests: Contests, bots: UrlBots, desk: Desk) -> None:
        self._contests, self._bots, self._desk = contests, bots, desk
        self._journal = ContestJournal(desk.store)
        for kind in (
            CreateContest,
            ChangeContest,
            ActOnContest,
            TakeOut,
            PlayAgain,
            EnterContest,
            LeaveContest,
        ):
            desk.asking.on(kind, self._carry_out)
        desk.asking.on(FindAwaited, self._awaited)
        self._open: set[str] = set()
        """The games whose contests are here."""
        self._busy: Counter[str] = Counter()
        """Orders that are being carried out, by game."""

    # Contests come and go.

    async def open(self, game: str) -> None:
        await self._contests.open(game)
        await self._bots.load_entries(game)
        self._open.add(game)

    def leave(self, game: str) -> None:
        self._open.discard(game)
        self._contests.leave(game)
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

    async def create(self, document: ContestDocument) -> None:
        """Raise ContestRefusal if the name is taken, or an entrant of the document is
        no house bot.
        """
        await self._order(CreateContest(document.game, document.name, document))

    async def change(self, name: str, document: ContestDocument) -> None:
        """Replace the document of a contest that has not started."""
        await self._order(ChangeContest(await self._game_of(name), name, document))

    async def act(self, name: str, action: Action) -> None:
        """Raise ContestRefusal if the state of the contest does not allow that."""
        await self._order(ActOnContest(await self._game_of(name), name, action))

    async def take_out(self, name: str, bot: str, why: str) -> None:
        """The bot forfeits its matches of this round."""
        await self._order(TakeOut(await self._game_of(name), name, bot, why))

    async def rerun(self, name: str, bots: Sequence[str], failed: bool) -> None:
        await self._order(PlayAgain(await self._game_of(name), name, tuple(bots), failed))

    async def enter(self, bot: BotEntry, contest: str, password: str) -> None:
        """Raise ContestRefusal with the rule that the bot breaks, or CallFailed if it cannot be
        called.
        """
        await self._order(EnterContest(bot.game, contest, bot, password))

    async def withdraw(self, bot: BotEntry, contest: str) -> None:
        await self._order(LeaveContest(bot.game, contest, bot))

    async def awaited(self, name: str) -> list[str]:
        game = await self._game_of(name)
        try:
            return await self._desk.asking.ask(self._home(game), FindAwaited(game, name), list[str])
        except NoAnswer:
            return []

    async def _game_of(self, name: str) -> str:
        return (await self.document(name)).game

    async def _order(self, order: ContestOrder) -> None:
        for _ in range(TIMES):
            try:
                return await self._ask(order)
            except HomeMoves:
                await asyncio.sleep(AGAIN)
        return await self._ask(order)

    async def _ask(self, order: ContestOrder) -> None:
        await self._desk.asking.ask(self._home(order.game), order, bool, WAIT)

    def _home(self, game: str) -> NodeId | None:
        """None: this server is alone."""
        cluster = self._desk.cluster
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
            await self._do(order)
        finally:
            self._busy[order.game] -= 1

    async def _do(self, order: ContestOrder) -> None:
        contests, name = self._contests, order.contest
        match order:
            case CreateContest():
                await contests.create(order.document, ORGANISER)
            case ChangeContest():
                await contests.change(name, order.document, ORGANISER)
            case ActOnContest():
                await contests.act(name, order.action, ORGANISER)
            case TakeOut():
                await contests.withdraw(name, order.bot, ORGANISER, order.why)
            case PlayAgain():
                await contests.rerun(name, order.bots, order.failed, ORGANISER)
            case EnterContest():
                await self._enter(order.bot, name, order.password)
            case LeaveContest():
                await self._withdraw(order.bot, name)

    async def _enter(self, bot: BotEntry, contest: str, password: str) -> None:
        """A contest without a document takes only bots that the server can call; others name it
        when they log in.
        """
        if self._contests.of_game(bot.game, contest) is not None:
            await self._contests.enter(contest, bot, bot.name, password)
            if bot.url is None:
                return
        await self._bots.enter(bot, contest)

    async def _withdraw(self, bot: BotEntry, contest: str) -> None:
        if self._contests.of_game(bot.game, contest) is not None:
            await self._contests.withdraw(contest, bot.name, bot.name)
        await self._bots.withdraw(bot, contest)

    async def _awaited(self, question: FindAwaited) -> list[str]:
        return self._contests.awaited(question.contest)
