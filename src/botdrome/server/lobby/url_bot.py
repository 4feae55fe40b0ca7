"""A bot with a URL.

The server calls it with the native message that asks for a move; its answer is the move.
"""

import asyncio
import secrets
from itertools import chain, repeat
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from botdrome.contest.lobby import Seeker
from botdrome.games.reading import UNREADABLE, bounded
from botdrome.match.events import Player
from botdrome.match.match import News
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, TooLate
from botdrome.server.lobby.clients import ConnectedClient
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.owners import bot_owner
from botdrome.server.network.connection import NORMAL, Traffic
from botdrome.server.tables.kept_table import KeptTable
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.store import BotEntry
from botdrome.wire.battlebot.conversation import battlebot_with_extras, value_of
from botdrome.wire.battlebot.messages import game_type
from botdrome.wire.conversation import TOKEN_CHANGED, BadVersion, read_version
from botdrome.wire.writers import MatchWriters, Standing

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
    except BadVersion as problem:
        raise CallFailed(str(problem)) from None


class UrlBot:
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

    @property
    def call(self) -> asyncio.Task[None] | None:
        """The call that the bot has not answered yet."""
        return self._call

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

    put_off = turn_away

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
        self._writer = writers.join(player, battlebot_with_extras)

    def notify(self, news: News, standing: Standing) -> list[bytes]:
        return self._writer.messages(self._player, news, standing)

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
        if isinstance(self._table, KeptTable) and not self._table.asks:
            return  # another node asks
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

    async def come_back(self) -> None:
        """Take the seat again as soon as the bot answers."""
        assert self._table is not None
        for pause in chain(PAUSES, repeat(PAUSES[-1])):
            await asyncio.sleep(pause)
            if self._table.match.result is not None or not self.present:
                return
            try:
                await challenge(self._caller, self.url, self.name, self._table.entry.game)
            except CallFailed:
                continue
            if isinstance(self._table, KeptTable) and self._table.leaving:
                continue  # another node calls the bot, or the match stays after all
            if self.present and not self._table.rejoin(self._player, self):
                self._go(self._table)
            return
