"""Arena: the server as GraphQL, REST and the pages see it."""

import secrets
from collections.abc import Callable
from math import ceil
from time import time
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.lobby import Seeker
from botdrome.server.calling.webhooks import Webhooks
from botdrome.server.contests.contests import EnterContest, LeaveContest
from botdrome.server.lobby.classes import Classes
from botdrome.server.lobby.clients import is_bots, is_guests
from botdrome.server.lobby.desk import Desk, Unplayed
from botdrome.server.lobby.hosting import Hosting
from botdrome.server.lobby.registry import LANGUAGES, check_name, check_spelling, holds
from botdrome.server.lobby.tokens import OperatorKeys, TooMany
from botdrome.server.lobby.url_bots import UrlBots
from botdrome.server.network.limits import Buckets
from botdrome.server.nodes.asking import Asking
from botdrome.server.nodes.cluster import Node
from botdrome.server.rooms.duel import DuelLeaderboard
from botdrome.server.tables.audience import Tables
from botdrome.server.workers.jobs import CLIENT
from botdrome.store.classes import owner_in
from botdrome.store.entries import BotEntry, MatchEntry, NameTaken, Note, RefusedUpload, hashed

if TYPE_CHECKING:
    from botdrome.server.operator.contest_orders import ContestOrders
    from botdrome.server.operator.operator import Audit

# What the arena asks all nodes: how a running match stands, and which players wait.


class LookAtMatch(Struct, frozen=True):
    match: str


class MatchLook(Struct, frozen=True):
    """A running match, as far as a node knows it."""

    view: dict[str, Any] | None
    """The present public position; None: it does not run there."""
    protocols: dict[str, str]
    """Of the players that are connected there, by name."""


class LookBack(Struct, frozen=True):
    """Asks for lines of the match file of a running match."""

    match: str
    first: int


class MatchPast(Struct, frozen=True):
    lines: list[bytes] | None
    """None: it does not run there, or spectators have not seen all of it yet."""


class FindWaiting(Struct, frozen=True):
    most: int


class WaitingPlayers(Struct, frozen=True):
    seekers: list[Seeker]
    """The longest wait first."""
    unplayed: list[Unplayed]
    """The matches left in contests."""


class FindInvited(Struct, frozen=True):
    invite: str
    declined: bool
    """Turn them away."""


class _Glance:
    """A spectator that takes the first message."""

    def __init__(self) -> None:
        self.view: dict[str, Any] | None = None

    def show(self, message: bytes) -> None:
        if self.view is None:
            self.view = msgspec.json.decode(message)["view"]

    def end(self) -> None:
        pass


def glance(tables: Tables, match_id: str) -> dict[str, Any] | None:
    """The present public position of a match that runs at this node."""
    one = _Glance()
    if tables.watch(match_id, one):
        tables.unwatch(match_id, one)
    return one.view


class ServerAddresses(Struct, frozen=True):
    """The URL and the ports of the server."""

    url: str | None = None
    """None: use the URL of the client's request."""
    tls: bool = False
    ports: dict[str, int] = {}
    house: bool = False
    network_url: str | None = None
    """For other machines; None: it is unknown, or they cannot reach the server."""


class Arena:
    def __init__(
        self,
        desk: Desk,
        tables: Tables,
        url_bots: UrlBots,
        duel: DuelLeaderboard,
        asking: Asking,
    ) -> None:
        self.desk, self.tables, self.url_bots, self.duel = desk, tables, url_bots, duel
        self.store, self.workers, self._registry = desk.store, desk.workers, desk.registry
        self.clients, self._guesses = desk.registry.clients, desk.registry.guesses
        limits = desk.settings.registration
        self._registrations = Buckets(limits.rate, limits.burst)
        self.addresses = ServerAddresses()
        self.classes = Classes(desk)
        self.hosting = Hosting(self.store, self._registry, desk.settings.hosting)
        self.contests: ContestOrders | None = None
        self.keys: OperatorKeys | None = None
        self.audit: Audit
        self.webhooks: Webhooks
        self.nodes: Callable[[], list[Node]] = list
        """Returns the live nodes; none on a single server."""
        self.games_at: Callable[[Node], list[str]] = lambda _: []
        """Returns the games whose rooms and contests a node has."""
        self._own_tables, self._asking = tables, asking
        asking.on(LookAtMatch, self._look)
        asking.on(LookBack, self._look_back)
        asking.on(FindWaiting, self._find_waiting)
        asking.on(FindInvited, self._find_invited)

    async def register(
        self,
        game: str,
        name: str,
        owner: str,
        url: str | None = None,
        owner_token: str | None = None,
        language: str = "",
    ) -> tuple[BotEntry, str]:
        """Register a bot and return its token, which is shown once.

        With an `owner_token` its owner is that participant of a class. Raise BadName, TooMany,
        NameTaken, CallFailed, PermissionError or ClassRefusal.
        """
        check_name(name)
        check_spelling(name)
        owner = await self.classes.owner(owner_token, owner)
        client = "your address" if owner_token is None else owner
        if seconds := self._registrations.too_fast(owner if owner_token else CLIENT.get().source):
            raise TooMany(
                f"too many bots are being registered from {client}: try again in {ceil(seconds)} s"
            )
        if url is not None:
            if await self.store.bot(name) is not None:
                raise NameTaken(name)
            await self.url_bots.challenge(url, name, game)
        token = secrets.token_hex(32)
        bot = BotEntry(name, game, owner, int(time() * 1000), hashed(token), url)
        token_hash = None if owner_token is None else hashed(owner_token)
        bot = await self.store.classes.register(bot, token_hash)  # the class may have changed
        if language:
            await self.store.keep([Note(LANGUAGES, name, {"language": language})])
        return bot, token

    # At all nodes.

    async def look(self, match_id: str) -> MatchLook:
        """A running match, wherever it runs."""
        question = LookAtMatch(match_id)
        here = await self._look(question)
        if here.view is not None:
            return here
        looks, _ = await self._asking.ask_all(question, MatchLook)
        return next((look for look in looks if look.view is not None), here)

    async def _look(self, question: LookAtMatch) -> MatchLook:
        match_id = question.match
        protocols = {one.name: one.protocol for one in self.clients.all if one.match() == match_id}
        return MatchLook(glance(self._own_tables, match_id), protocols)

    async def past(self, match_id: str, first: int) -> list[bytes] | None:
        """Some lines of the match file of a running match, from a line on; empty: that is all.

        None: they cannot be shown now.
        """
        question = LookBack(match_id, first)
        here = await self._look_back(question)
        if here.lines is not None:
            return here.lines
        found, _ = await self._asking.ask_all(question, MatchPast)
        return next((one.lines for one in found if one.lines is not None), None)

    async def _look_back(self, question: LookBack) -> MatchPast:
        table = self.desk.tables[question.match]
        return MatchPast(None if table is None else table.past(question.first))

    async def waiting(self, most: int) -> WaitingPlayers:
        """The players that wait for an opponent, and the matches left in contests; of this node
        first.
        """
        found, _ = await self._asking.ask_all(FindWaiting(most), WaitingPlayers)
        seekers, unplayed = (
            [one for all_ in found for one in all_.seekers],
            [one for all_ in found for one in all_.unplayed],
        )
        return WaitingPlayers(seekers[:most], unplayed[:most])

    async def _find_waiting(self, question: FindWaiting) -> WaitingPlayers:
        return WaitingPlayers(self.desk.seekers(question.most), self.desk.unplayed(question.most))

    async def invited(self, invite: str, declined: bool = False) -> list[str]:
        """The names of the players that wait with an invite. `declined`: turn them away."""
        found, _ = await self._asking.ask_all(FindInvited(invite, declined), list[str])
        return [name for names in found for name in names]

    async def _find_invited(self, question: FindInvited) -> list[str]:
        if question.declined:
            return self.desk.decline(question.invite)
        return [seeker.name for seeker in self.desk.invited(question.invite)]

    # Bots.

    async def holder(self, name: str, token: object) -> BotEntry | None:
        """Return the bot of that name if the token is valid for it."""
        if not isinstance(token, str):
            return None
        self._guesses.check(name)
        bot = await self.store.bot(name)
        return bot if self._guesses.note(name, bot is not None and holds(bot, token)) else None

    async def author(self, name: str, token: str) -> BotEntry | None:
        """Return the bot of that name if the token is its own, or that of the participant of a
        class that owns it.
        """
        bot, one = await self.store.bot(name), await self.store.classes.holder(hashed(token))
        if bot is not None and one is not None and bot.owner == owner_in(one.class_name, one.name):
            return bot
        return await self.holder(name, token)

    async def owns(self, entry: MatchEntry, seat: int, token: str) -> bool:
        """Return True if this is the token of the bot, or the secret of the guest, in that seat."""
        self._guesses.check(entry.players[seat])
        if entry.owners and is_guests(entry.owners[seat], token):
            return True
        bot = await self.holder(entry.players[seat], token)
        return bot is not None and is_bots(entry, seat, bot)

    async def enter(self, bot: BotEntry, contest: str, password: str = "") -> None:
        """Enter a bot in a contest.

        Raise ContestRefusal with the rule that it breaks, or CallFailed if it cannot be called.
        """
        assert self.contests is not None
        await self.contests.order(contest, EnterContest(bot, password), bot.game)

    async def withdraw(self, bot: BotEntry, contest: str) -> None:
        assert self.contests is not None
        await self.contests.order(contest, LeaveContest(bot), bot.game)

    async def rotate(self, bot: BotEntry) -> tuple[BotEntry, str]:
        """Replace the token, and close the sessions of the old one."""
        token = secrets.token_hex(32)
        return await self._change(bot, hashed(token)), token

    async def revoke(self, bot: BotEntry) -> BotEntry:
        """Remove the token, and close its sessions."""
        return await self._change(bot, None)

    async def move(self, bot: BotEntry, url: str | None) -> BotEntry:
        """Change or remove the URL of a bot. Raise CallFailed if the bot does not answer there, and
        RefusedUpload if it is hosted.
        """
        if url is not None:
            if bot.hosted is not None:
                raise RefusedUpload(f"{bot.name} is hosted here; pause it first")
            await self.url_bots.challenge(url, bot.name, bot.game)
        await self.store.change_url(bot.name, url)
        self._registry.forget(bot.name)
        return replace(bot, url=url)

    async def _change(self, bot: BotEntry, token_hash: str | None) -> BotEntry:
        await self.store.change_token(bot.name, token_hash)
        self._registry.forget(bot.name)
        if bot.hosted is None or token_hash is None:  # a lease has a credential of its own
            self._registry.end_logins(bot.name)
        return replace(bot, token_hash=token_hash)
