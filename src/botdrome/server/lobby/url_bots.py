"""Registered bots with a URL: the server calls them when a client wants to meet them, or for a
contest.

A client that waits for such a bot by name meets it at once. A bot that its owner entered in a
contest plays as long as there are opponents whom it has not met. Before it is seated, a bot must
answer a challenge, so that nobody wins against a bot that is not running.
"""

import asyncio
from collections.abc import Iterator

import msgspec
import structlog

from botdrome.catalogue import CATALOGUE
from botdrome.contest.lobby import Seeker, Wish
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.calling.tunnels import SCHEME
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.invitations import BotUnavailable, Callee, Invitations
from botdrome.server.lobby.url_bot import UrlBot, challenge
from botdrome.server.network.connection import CLIENT_SOURCE, Connection
from botdrome.server.nodes.shared_tunnels import SharedTunnels
from botdrome.server.session import Session
from botdrome.server.workers.limits import SharedSlots
from botdrome.store.store import BotEntry, Note, Store, StoreUnavailable

log = structlog.get_logger()

REST = 10.0
"""Seconds before a bot that did not answer is tried again for a contest."""
MOST_CHALLENGES = 64
"""Challenges at the same time that anybody may cause; no address may cause all of them."""


BOOK = "contest entries"

ContestEntry = tuple[str, str, str]
"""Game, contest and bot."""


class ContestEntries:
    """The bots that are entered in contests, as the store keeps them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._bots: dict[tuple[str, str], dict[str, None]] = {}

    async def load(self, game: str) -> None:
        """Read those of one game."""
        found = (await self._store.notes(BOOK)).values()
        for key in [key for key in self._bots if key[0] == game]:
            del self._bots[key]
        for value in found:
            if value["entered"] and value["game"] == game:
                self._bots.setdefault((value["game"], value["contest"]), {})[value["bot"]] = None

    async def change(self, entry: ContestEntry, entered: bool) -> None:
        game, contest, bot = entry
        value = {"game": game, "contest": contest, "bot": bot, "entered": entered}
        await self._store.keep([Note(BOOK, msgspec.json.encode(entry).decode(), value)])
        bots = self._bots.setdefault((game, contest), {})
        if entered:
            bots[bot] = None
        else:
            bots.pop(bot, None)

    def of(self, game: str, contest: str) -> list[str]:
        return list(self._bots.get((game, contest), {}))

    def __contains__(self, entry: ContestEntry) -> bool:
        return entry[2] in self._bots.get(entry[:2], {})

    def __iter__(self) -> Iterator[ContestEntry]:
        return iter(
            [(game, contest, bot) for (game, contest), bots in self._bots.items() for bot in bots]
        )


class UrlBots:
    def __init__(self, desk: Desk, caller: BotCaller) -> None:
        self._desk, self._caller = desk, caller
        self._entries = ContestEntries(desk.store)
        self._attending: dict[tuple[Wish, str], UrlBot | None] = {}
        self._resting: dict[str, float] = {}
        self.invitations = Invitations(desk, caller)
        self._challenges = SharedSlots(MOST_CHALLENGES)
        self._loop = asyncio.get_running_loop()
        self._opened = False
        desk.on_wait(self._client_waits)
        if desk.cluster is not None:
            SharedTunnels(caller.tunnels, desk.cluster, desk.asking, self.arrived)
            desk.cluster.members.on_change.append(self._follow_homes)

    async def open(self) -> None:
        """Call bots from now on."""
        self._opened = True
        self._attend_all()

    async def load_entries(self, game: str) -> None:
        """The contests of a game are at this node from now on; before, another node may have
        changed the entries.
        """
        await self._entries.load(game)
        self._attend_all()

    def _attend_all(self) -> None:
        for game, contest, bot in self._entries:
            self._attend(_usual(game, contest), bot)

    def _is_home(self, wish: Wish) -> bool:
        """Whether the contest of a wish is played at this node."""
        cluster = self._desk.cluster
        return cluster is None or cluster.home(cluster.key_of(wish)) == cluster.here

    def _follow_homes(self) -> None:
        """Bots that wait for contests which have left this node are called at the new home."""
        for (wish, _), playing in tuple(self._attending.items()):
            if playing is not None and playing.seeker and not self._is_home(wish):
                playing.turn_away({})

    async def close(self) -> None:
        self._caller.close()

    def receive(self, connection: Connection) -> Session:
        """Open a tunnel to a bot behind a firewall."""
        return self._caller.tunnels.receive(connection, self._desk, self.arrived)

    # Actions of bot owners.

    async def challenge(self, url: str, name: str, game: str) -> None:
        """Raise CallFailed unless the bot of that name answers at the URL."""
        if url.startswith(SCHEME):
            raise CallFailed(f"{SCHEME} is for bots that are connected, and needs no registration")
        await self._challenge(url, name, game)

    async def _challenge(self, url: str, name: str, game: str) -> None:
        """Challenges are limited per address of the client that causes them."""
        source = CLIENT_SOURCE.get()
        if not self._challenges.take(source):
            raise CallFailed("too many addresses are being tried; try again in a moment")
        try:
            await challenge(self._caller, url, name, game)
        finally:
            self._challenges.release(source)

    async def enter(self, bot: BotEntry, contest: str) -> None:
        """Raise CallFailed if the bot has no URL, or does not answer there."""
        url = self.invitations.address(bot)
        if url is None:
            raise CallFailed("it has no address, and is not connected")
        await self._challenge(url, bot.name, bot.game)
        await self._entries.change((bot.game, contest, bot.name), entered=True)
        self.arrived(bot.name)

    async def withdraw(self, bot: BotEntry, contest: str) -> None:
        """A match that runs is played to its end."""
        await self._entries.change((bot.game, contest, bot.name), entered=False)
        for (wish, name), playing in tuple(self._attending.items()):
            if (
                (wish.game, wish.contest, name) == (bot.game, contest, bot.name)
                and playing is not None
                and playing.seeker
            ):
                playing.turn_away({})

    def arrived(self, name: str) -> None:
        """A bot can be called again."""
        self._resting.pop(name, None)
        for game, contest, bot in self._entries:
            if bot == name:
                self._attend(_usual(game, contest), bot)

    async def _found(self, name: str, game: str) -> Callee | None:
        try:
            return await self.invitations.find(name, game)
        except StoreUnavailable as problem:
            log.warning("a bot could not be looked up", bot=name, why=str(problem))
            return None

    # When a client waits.

    def _client_waits(self, seeker: Seeker) -> None:
        wish, opponent = seeker.wish, seeker.opponent
        if opponent is not None and opponent != seeker.name:
            if wish.contest is None or (wish.game, wish.contest, opponent) in self._entries:
                self._desk.tasks.start(self._meet(seeker, opponent))
        elif wish.contest is not None:
            for bot in self._entries.of(wish.game, wish.contest):
                if bot != seeker.name:
                    self._attend(wish, bot)

    async def _meet(self, seeker: Seeker, name: str) -> None:
        """A client waits for the bot of this name only."""
        callee = await self._found(name, seeker.wish.game)
        if callee is None:
            return
        try:
            bot = await self.invitations.invite(callee, seeker.wish.pace)
        except BotUnavailable as problem:
            client = self._desk.client_of(seeker)
            if client is not None:
                client.turn_away({"error": str(problem)})
        else:
            self._send(bot, seeker)

    def _send(self, bot: UrlBot, seeker: Seeker) -> None:
        """Seat the bot at once, or send it away."""
        waited_for = self._desk.client_of(seeker) is not None
        if waited_for:
            self._desk.seek(bot, bot.name, seeker.wish, seeker.name)
        if not waited_for or bot.seeker is not None:
            bot.turn_away({})

    # Contests.

    def _attend(self, wish: Wish, name: str) -> None:
        rested = self._resting.get(name, 0.0) <= self._loop.time()
        attends = self._opened and rested and not self._desk.closing and self._is_home(wish)
        if attends and (wish, name) not in self._attending:
            self._attending[wish, name] = None
            self._desk.tasks.start(self._attended(wish, name))

    async def _attended(self, wish: Wish, name: str) -> None:
        try:
            while await self._plays_on(wish, name) or await self._store_may_come_back():
                pass
        finally:
            del self._attending[wish, name]

    async def _store_may_come_back(self) -> bool:
        """Whether the store is down: then wait and try again."""
        if self._desk.closing or not self._desk.refusal:
            return False
        await asyncio.sleep(REST)
        return True

    def _entered(self, wish: Wish, name: str) -> bool:
        return (
            wish.contest is not None
            and (wish.game, wish.contest, name) in self._entries
            and self._is_home(wish)
        )

    async def _plays_on(self, wish: Wish, name: str) -> bool:
        """Play one more match of a contest; False: not now."""
        if not self._entered(wish, name) or self._desk.refusal or self._desk.complete(wish, name):
            return False
        callee = await self._found(name, wish.game)
        if callee is None:
            return False
        playing = self.invitations.bot(callee)
        try:
            playing.version = await challenge(self._caller, callee.url, name, wish.game)
        except CallFailed as failure:
            log.info("a bot does not answer", bot=name, contest=wish.contest, why=str(failure))
            self._resting[name] = self._loop.time() + REST
            playing.turn_away({})
        if not self._entered(wish, name):  # it was withdrawn meanwhile
            playing.turn_away({})
        if playing.present:
            self._attending[wish, name] = playing
            self._desk.seek(playing, name, wish)
        return await playing.over


def _usual(game: str, contest: str) -> Wish:
    """The wish of a bot that is entered in a contest."""
    return Wish(game, max(2, CATALOGUE[game].game.players[0]), contest=contest)
