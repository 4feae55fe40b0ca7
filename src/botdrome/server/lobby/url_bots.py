"""UrlBots: bots with an address, called to the table when somebody wants to meet them or a contest is on.

Whoever waits for such a bot by its name meets it at once. A bot that its owner entered in a contest comes back for as long as
there is somebody whom it has yet to meet. Both seek like any other guest; the lobby decides. Before a bot is seated it is
asked whether it is there, so that nobody wins against a bot that only does not run.
"""

import asyncio

import structlog

from botdrome.contest.lobby import Seeker, Wish
from botdrome.formats import FORMATS
from botdrome.server.calling.answer import CallFailed
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.tunnels import SCHEME, TunnelSession
from botdrome.server.lobby.challenge import challenge
from botdrome.server.lobby.contest_entries import Entries
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.invitations import Callee, Invitations, NotComing
from botdrome.server.lobby.url_seat import UrlGuest
from botdrome.server.network.connection import Connection
from botdrome.server.workers.asker import ASKER
from botdrome.server.workers.limits import SharedSlots
from botdrome.store.store import BotEntry, StoreUnavailable

log = structlog.get_logger()

REST = 10.0
"""Seconds before a bot that did not answer is tried again for a contest."""
MOST_CHALLENGES = 64
"""Addresses that are tried at the same time on behalf of strangers, none of whom can have them all tried for itself."""


class UrlBots:
    def __init__(self, desk: Desk, callers: BotCaller) -> None:
        self._desk, self._caller = desk, callers
        self._entries = Entries(desk.store)
        self._attending: dict[tuple[Wish, str], UrlGuest | None] = {}
        self._resting: dict[str, float] = {}
        self._invitations = Invitations(desk, callers)
        self._challenges = SharedSlots(MOST_CHALLENGES)
        self._loop = asyncio.get_running_loop()
        desk.on_wait(self._somebody_waits)

    async def open(self) -> None:
        await self._entries.load()
        for game, contest, bot in self._entries:
            self._attend(_usual(game, contest), bot)

    async def close(self) -> None:
        self._caller.close()

    def receive(self, connection: Connection) -> TunnelSession:
        """One who carries calls to a bot that cannot be reached from outside."""
        return TunnelSession(connection, self._desk, self._caller.tunnels, self.arrived)

    # What owners do.

    async def challenge(self, url: str, name: str, game: str) -> None:
        """CallFailed unless the bot of that name answers there."""
        if url.startswith(SCHEME):
            raise CallFailed(f"{SCHEME} is for bots that are connected, and needs no registration")
        await self._challenge(url, name, game)

    async def _challenge(self, url: str, name: str, game: str) -> None:
        """On behalf of somebody of whom nothing is known but where the request came from."""
        asker = ASKER.get()
        if not self._challenges.take(asker):
            raise CallFailed("too many addresses are being tried; try again in a moment")
        try:
            await challenge(self._caller, url, name, game)
        finally:
            self._challenges.release(asker)

    async def enter(self, bot: BotEntry, contest: str) -> None:
        """CallFailed if it has no address, or does not answer there."""
        url = self._invitations.address(bot)
        if url is None:
            raise CallFailed("it has no address, and is not connected")
        await self._challenge(url, bot.name, bot.game)
        await self._entries.change((bot.game, contest, bot.name), entered=True)
        self.arrived(bot.name)

    async def withdraw(self, bot: BotEntry, contest: str) -> None:
        """The match that it plays just now is played to its end."""
        await self._entries.change((bot.game, contest, bot.name), entered=False)
        for (wish, name), guest in tuple(self._attending.items()):
            if (wish.game, wish.contest, name) == (bot.game, contest, bot.name) and guest is not None and guest.seeker:
                guest.turn_away({})

    def arrived(self, name: str) -> None:
        """A bot can be called again."""
        self._resting.pop(name, None)
        for game, contest, bot in self._entries:
            if bot == name:
                self._attend(_usual(game, contest), bot)

    async def _found(self, name: str, game: str) -> Callee | None:
        try:
            return await self._invitations.find(name, game)
        except StoreUnavailable as problem:
            log.warning("a bot could not be looked up", bot=name, why=str(problem))
            return None

    # When somebody waits.

    def _somebody_waits(self, seeker: Seeker) -> None:
        wish, opponent = seeker.wish, seeker.opponent
        if opponent is not None and opponent != seeker.name:
            if wish.contest is None or (wish.game, wish.contest, opponent) in self._entries:
                self._desk.tasks.start(self._meet(seeker, opponent))
        elif wish.contest is not None:
            for bot in self._entries.of(wish.game, wish.contest):
                if bot != seeker.name:
                    self._attend(wish, bot)

    async def _meet(self, seeker: Seeker, name: str) -> None:
        """Somebody wants to meet the bot of this name, and nobody else."""
        callee = await self._found(name, seeker.wish.game)
        if callee is None:
            return
        try:
            bot = await self._invitations.invite(callee, seeker.wish.pace)
        except NotComing as problem:
            guest = self._desk.client_of(seeker)
            if guest is not None:
                guest.turn_away({"error": str(problem)})
        else:
            self._send(bot, seeker)

    def _send(self, bot: UrlGuest, seeker: Seeker) -> None:
        """Who was waited for need not wait: where there is no table for it at once, there is none."""
        waited_for = self._desk.client_of(seeker) is not None
        if waited_for:
            self._desk.seek(bot, bot.name, seeker.wish, seeker.name)
        if not waited_for or bot.seeker is not None:
            bot.turn_away({})

    # Contests.

    def _attend(self, wish: Wish, name: str) -> None:
        rested = self._resting.get(name, 0.0) <= self._loop.time()
        if (wish, name) not in self._attending and rested and not self._desk.closing:
            self._attending[wish, name] = None
            self._desk.tasks.start(self._attended(wish, name))

    async def _attended(self, wish: Wish, name: str) -> None:
        try:
            while await self._plays_on(wish, name) or await self._store_may_come_back():
                pass
        finally:
            del self._attending[wish, name]

    async def _store_may_come_back(self) -> bool:
        """Whether it was the store that kept a bot from playing on; it is tried again later."""
        if self._desk.closing or not self._desk.refusal:
            return False
        await asyncio.sleep(REST)
        return True

    def _entered(self, wish: Wish, name: str) -> bool:
        return wish.contest is not None and (wish.game, wish.contest, name) in self._entries

    async def _plays_on(self, wish: Wish, name: str) -> bool:
        """One more match of a contest; False: not now."""
        if not self._entered(wish, name) or self._desk.refusal or self._desk.complete(wish, name):
            return False
        callee = await self._found(name, wish.game)
        if callee is None:
            return False
        guest = self._invitations.guest(callee)
        try:
            await challenge(self._caller, callee.url, name, wish.game)
        except CallFailed as failure:
            log.info("a bot does not answer", bot=name, contest=wish.contest, why=str(failure))
            self._resting[name] = self._loop.time() + REST
            guest.turn_away({})
        if not self._entered(wish, name):  # it was withdrawn while it was being asked
            guest.turn_away({})
        if guest.present:
            self._attending[wish, name] = guest
            self._desk.seek(guest, name, wish)
        return await guest.over


def _usual(game: str, contest: str) -> Wish:
    """What bots of a contest want, unless they say something else."""
    return Wish(game, max(2, FORMATS[game].game.players[0]), contest=contest)
