"""Invitations: asks a bot with a URL whether it plays, before it is seated.

All invitations come through here, so that the limit on a bot's matches holds for all of them
together.
"""

from collections import Counter

import structlog
from msgspec import Struct

from botdrome.games.reading import plural
from botdrome.match.terms import PaceName
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.calling.tunnels import tunnel_url
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bot import UrlBot, challenge
from botdrome.server.network.connection import CLIENT_SOURCE
from botdrome.store.store import BotEntry

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

    async def invite(self, callee: Callee, pace: PaceName = "usual") -> UrlBot:
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

    def bot(self, callee: Callee) -> UrlBot:
        """The bot plays from now on, until the match is over, it is turned away, or its token is
        changed.
        """
        name = callee.bot.name
        bot = UrlBot(callee.bot, callee.url, self._desk, self._caller)
        self._caller.playing[name] += 1
        bot.over.add_done_callback(lambda _: self._end(name))
        return bot

    def _bot_for_long_match(self, callee: Callee) -> UrlBot:
        """A match at a pace for people may last for hours: no address may have more of them than
        the bot has matches left.
        """
        name, key = callee.bot.name, (callee.bot.name, CLIENT_SOURCE.get())
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
