"""Registered bots with a URL: the server calls them when a client wants to meet them, or for a
contest.

A client that waits for such a bot by name meets it at once. A bot that its owner entered in a
contest plays as long as there are opponents whom it has not met. Before it is seated, a bot must
answer a challenge, so that nobody wins against a bot that is not running.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
import structlog
from msgspec import Struct

from botdrome.catalogue import CATALOGUE
from botdrome.contest.lobby import Seeker, Wish
from botdrome.games.reading import UNREADABLE, bounded, plural
from botdrome.match.events import Player
from botdrome.match.terms import PaceName
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, TooLate
from botdrome.server.calling.tunnels import SCHEME, tunnel_url
from botdrome.server.lobby.clients import ConnectedClient, bot_owner
from botdrome.server.lobby.desk import Desk
from botdrome.server.network.connection import NORMAL, Traffic
from botdrome.server.tables.table import Subscriber, Table
from botdrome.server.workers.jobs import CLIENT, SharedSlots
from botdrome.store.entries import BotEntry, Note, StoreUnavailable
from botdrome.store.store import Store
from botdrome.wire.battlebot.conversation import value_of
from botdrome.wire.battlebot.messages import battlebot_with_extras, game_type
from botdrome.wire.conversation import TOKEN_CHANGED, BadLogin, read_version
from botdrome.wire.writers import MatchWriters

# A bot with a URL.
#
# The server calls it with the native message that asks for a move; its answer is the move.

ON_A_BEAT = 2.0
"""Seconds for a call in games with ticks, where a late answer counts for a later step."""
WITHOUT_LIMIT = 60.0
CLOCK_FIRST = 0.25
"""Seconds by which a call outlasts its step, so that the table's clock decides whether it is late.
"""
ASKED_AGAIN = 20
"""Calls in one step, where illegal moves cost nothing."""
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between attempts to reach a bot that does not answer."""
LAST_WORDS = 5.0
"""Seconds for the call with the result."""
CHALLENGE_LIMIT = 5.0


async def challenge(caller: BotCaller, url: str, name: str, game: str) -> str:
    """Check that the bot of this name answers at this URL: it must repeat a random secret.

    Raise CallFailed otherwise.

    Return the version in the answer; empty: it names none.
    """
    secret = secrets.token_hex(16)
    question = msgspec.json.encode({"challenge": secret, "name": name, "gameType": game_type(game)})
    answer = await caller.post(
        url, question, CHALLENGE_LIMIT, {"x-botdrome-bot": quote(name, safe="")}
    )
    try:
        said = msgspec.json.decode(bounded(answer.body))
    except UNREADABLE:
        said = None
    if (
        not 200 <= answer.status < 300
        or not isinstance(said, dict)
        or said.get("challenge") != secret
    ):
        raise CallFailed("the answer does not repeat the challenge")
    try:
        return read_version(said.get("version"))
    except BadLogin as problem:
        raise CallFailed(str(problem)) from None


class CalledBot:
    """A client of the desk, and the player at its seat."""

    def __init__(self, bot: BotEntry, url: str, desk: Desk, caller: BotCaller) -> None:
        self.name, self.owner, self.url = bot.name, bot_owner(bot), url
        self.version = ""
        self.seeker: Seeker | None = None
        self.over: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Done when the bot has left; the result says whether it has played."""
        self._desk, self._caller = desk, caller
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._table: Table | None = None
        self._player: Player = 0
        self._headers: dict[str, str] = {}
        self._news: bytes | None = None
        """The last message, until it is sent."""
        self._call: asyncio.Task[None] | None = None
        self._step, self._asked = -1, 0
        self._answer: BotAnswer | None = None
        """The last answer."""
        self._traffic = Traffic()
        self._log_in(bot.game)

    def _log_in(self, game: str) -> None:
        address = urlsplit(self.url).netloc.rpartition("@")[2]
        leave = self._desk.registry.clients.enter(
            ConnectedClient(
                "url",
                self.name,
                game,
                address,
                self._traffic,
                self._expel,
                self._plays,
                self._lose_token,
            )
        )
        self.over.add_done_callback(lambda _: leave())

    def _plays(self) -> str | None:
        return None if self._table is None else self._table.entry.id

    # At the desk.

    @property
    def present(self) -> bool:
        return not self.over.done()

    def wait_at_most(self, seconds: float, words: str) -> None:
        self._stop_timer()
        self._timer = self._loop.call_later(seconds, self.turn_away, {"error": words})

    def contest_complete(self, contest: str) -> None:
        """The bot leaves, and is called again when a new opponent waits."""
        self.turn_away({})

    def turn_away(self, words: dict[str, Any], code: int = NORMAL) -> None:
        if self.present:
            self._stop_timer()
            self._desk.give_up(self)
            self.over.set_result(False)

    postpone = turn_away

    def sit_down(self, table: Table, player: Player) -> None:
        self._stop_timer()
        self._table, self._player = table, player
        self._headers = {
            "x-botdrome-match": table.entry.id,
            "x-botdrome-bot": quote(self.name, safe=""),
        }
        table.subscribe(Subscriber(changed=self._look, over=self._go))

    def _expel(self, words: str) -> None:
        if self._table is None:
            self.turn_away({"error": words})
        else:
            self._table.expel(self._player, "disconnect", words)

    def _lose_token(self) -> None:
        """The token was changed: the bot leaves as if its connection was lost."""
        table = self._table
        if table is None or not self.present:
            return self.turn_away({})
        self._stop_call()
        table.note(self._player, b"", TOKEN_CHANGED)
        self.over.set_result(True)
        return table.leave(self._player)

    def _stop_call(self) -> None:
        if self._call is not None:
            self._call.cancel()
            self._call = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # At the table.

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        writers.join(player, battlebot_with_extras)

    def tell(self, messages: list[bytes]) -> None:
        self._news = messages[-1]

    def network_time(self) -> float:
        return 0.0 if self._answer is None else self._answer.network

    def delay(self) -> float:
        return 0.0 if self._answer is None else self._answer.waited

    def dismiss(self, failed: bool) -> None:
        """Send the result; the bot need not answer."""
        if self._news is not None and not failed:
            self._desk.tasks.start(self._send_result(self._news))

    async def _send_result(self, message: bytes) -> None:
        try:
            await self._caller.post(self.url, message, LAST_WORDS, self._headers)
        except CallFailed:
            return

    def _go(self, table: Table) -> None:
        self._stop_call()
        if self.present:
            self.over.set_result(True)

    # Calls.

    def _look(self) -> None:
        """Called after each change of the match: call the bot if it is to move."""
        assert self._table is not None
        match = self._table.match
        if match.steps != self._step and not match.terms.pace.beat:
            self._stop_call()
        if (
            self._news is None
            or self._call is not None
            or self._player not in match.awaited
            or not self.present
        ):
            return
        if match.steps != self._step:
            self._step, self._asked = match.steps, 0
        self._asked += 1
        if self._asked == ASKED_AGAIN:
            self._table.note(
                self._player, b"", f"asked {ASKED_AGAIN} times in one step, and not again"
            )
        elif self._asked < ASKED_AGAIN:
            message, self._news = self._news, None
            self._call = asyncio.ensure_future(self._ask(message, self._limit()))

    def _limit(self) -> float:
        assert self._table is not None
        match = self._table.match
        if match.terms.pace.beat:
            return ON_A_BEAT
        return (
            WITHOUT_LIMIT
            if match.deadline is None
            else max(0, match.deadline - self._table.now()) / 1000 + CLOCK_FIRST
        )

    async def _ask(self, message: bytes, limit: float) -> None:
        assert self._table is not None
        outcome: BotAnswer | CallFailed
        self._traffic.went(1)
        try:
            outcome = await self._caller.post(self.url, message, limit, self._headers)
            self._traffic.came()
            self._answer = outcome
        except CallFailed as problem:
            outcome = problem
        self._call = None
        if isinstance(outcome, BotAnswer):
            self._take(outcome)
        elif isinstance(outcome, TooLate):
            self._table.note(self._player, b"", str(outcome))
        else:
            self._fail(f"the call failed: {outcome}")
        if self._table.match.result is None:
            self._look()

    def _take(self, answer: BotAnswer) -> None:
        assert self._table is not None
        if not 200 <= answer.status < 300:
            return self._fail(f"the answer has the status {answer.status}", answer.body)
        if not answer.body:
            return self._table.note(self._player, b"", "no move")
        try:
            move = value_of(answer.body)
        except UNREADABLE as error:
            return self._fail(f"unreadable: {error}", answer.body)
        self._table.submit(self._player, move, answer.body)
        return None

    # A failed call counts like a lost connection.

    def _fail(self, words: str, message: bytes = b"") -> None:
        assert self._table is not None
        self._table.note(self._player, message, words)
        gone = self._table.match.terms.gone
        if gone != "pass":
            self._table.leave(self._player)
        if gone == "wait":
            self._desk.tasks.start(self.come_back())

    async def come_back(self, first: float = PAUSES[0]) -> None:
        """Call the bot, first after `first` seconds, until it answers and takes its seat again."""
        assert self._table is not None
        for pause in chain((first,), PAUSES[1:], repeat(PAUSES[-1])):
            await asyncio.sleep(pause)
            if self._table.match.result is not None or not self.present:
                return
            try:
                await challenge(self._caller, self.url, self.name, self._table.entry.game)
            except CallFailed:
                continue
            if self.present and not self._table.rejoin(self._player, self):
                self._go(self._table)
            return


# Invitations: asks a bot with a URL whether it plays, before it is seated.
#
# All invitations come through here, so that the limit on a bot's matches holds for all of them
# together.

log = structlog.get_logger()

MOST_MATCHES = 200
"""Matches that one bot plays at once, including those for which it is being asked."""


class BotUnavailable(Exception):
    """A bot does not play. The text begins with its name and says why."""


class Callee(Struct, frozen=True):
    """A bot and the URL at which it is called."""

    bot: BotEntry
    url: str


class Invitations:
    def __init__(self, desk: Desk, caller: BotCaller) -> None:
        self._desk, self._caller = desk, caller
        self._long: Counter[tuple[str, str]] = Counter()
        """Matches at a pace for people, by the bot and the address of its opponent."""

    def address(self, bot: BotEntry) -> str | None:
        """The URL at which the bot is called; None: it has none, or may not play."""
        if bot.token_hash is None or self._desk.registry.bans.name_refusal(bot.name):
            return None
        return tunnel_url(bot.name) if bot.name in self._caller.tunnels else bot.url

    async def find(self, name: str, game: str) -> Callee | None:
        """A bot that plays this game and can be called."""
        bot = self._desk.registry.known(name) or await self._desk.registry.find(name)
        url = self.address(bot) if bot is not None and bot.game == game else None
        return None if bot is None or url is None else Callee(bot, url)

    async def invite(self, callee: Callee, pace: PaceName = "usual") -> CalledBot:
        """Raise BotUnavailable unless the bot answers, so that nobody wins against a bot that is
        not running.
        """
        name = callee.bot.name
        if self._caller.playing[name] >= MOST_MATCHES:
            raise BotUnavailable(f"{name} plays {plural(MOST_MATCHES, 'match', 'es')} already")
        bot = self.bot(callee) if pace == "usual" else self._bot_for_long_match(callee)
        try:
            bot.version = await challenge(self._caller, callee.url, name, callee.bot.game)
        except CallFailed as failure:
            log.info("a bot does not answer", bot=name, why=str(failure))
            bot.turn_away({})
        if not bot.present:
            raise BotUnavailable(f"{name} does not answer")
        return bot

    def bot(self, callee: Callee) -> CalledBot:
        """The bot plays from now on, until the match is over, it is turned away, or its token is
        changed.
        """
        name = callee.bot.name
        bot = CalledBot(callee.bot, callee.url, self._desk, self._caller)
        self._caller.playing[name] += 1
        bot.over.add_done_callback(lambda _: self._end(name))
        return bot

    def _bot_for_long_match(self, callee: Callee) -> CalledBot:
        """A match at a pace for people may last for hours: no address may have more of them than
        the bot has matches left.
        """
        name, key = callee.bot.name, (callee.bot.name, CLIENT.get().source)
        if self._long[key] >= MOST_MATCHES - self._caller.playing[name]:
            raise BotUnavailable(
                f"{name} plays too many long matches against players from your address already"
            )
        bot = self.bot(callee)
        self._long.update([key])
        bot.over.add_done_callback(lambda _: self._end_long(key))
        return bot

    def _end_long(self, key: tuple[str, str]) -> None:
        self._long -= Counter([key])

    def _end(self, name: str) -> None:
        playing = self._caller.playing
        playing[name] -= 1
        if not playing[name]:
            del playing[name]


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
        self._attending: dict[tuple[Wish, str], CalledBot | None] = {}
        self._resting: dict[str, float] = {}
        self.invitations = Invitations(desk, caller)
        self._challenges = SharedSlots(MOST_CHALLENGES)
        self._loop = asyncio.get_running_loop()
        self._opened = False
        desk.on_wait(self._client_waits)
        desk.others.on_change.append(self._follow_homes)

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

    def _follow_homes(self) -> None:
        """Bots that wait for contests which have left this node are called at the new home."""
        for (wish, _), playing in tuple(self._attending.items()):
            if playing is not None and playing.seeker and not self._desk.others.is_home(wish):
                playing.turn_away({})

    async def close(self) -> None:
        self._caller.close()

    # Actions of bot owners.

    async def challenge(self, url: str, name: str, game: str) -> None:
        """Raise CallFailed unless the bot of that name answers at the URL."""
        if url.startswith(SCHEME):
            raise CallFailed(f"{SCHEME} is for bots that are connected, and needs no registration")
        await self._challenge(url, name, game)

    async def _challenge(self, url: str, name: str, game: str) -> None:
        """Challenges are limited per address of the client that causes them."""
        source = CLIENT.get().source
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

    def _send(self, bot: CalledBot, seeker: Seeker) -> None:
        """Seat the bot at once, or send it away."""
        waited_for = self._desk.client_of(seeker) is not None
        if waited_for:
            self._desk.seek(bot, bot.name, seeker.wish, seeker.name)
        if not waited_for or bot.seeker is not None:
            bot.turn_away({})

    # Contests.

    def _attend(self, wish: Wish, name: str) -> None:
        rested = self._resting.get(name, 0.0) <= self._loop.time()
        attends = (
            self._opened and rested and not self._desk.closing and self._desk.others.is_home(wish)
        )
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
            and self._desk.others.is_home(wish)
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
