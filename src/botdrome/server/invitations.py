"""Invitations: a bot with an address is asked whether it comes to a table, and comes as a guest.

Every way to such a bot leads through here, so that nobody can have it play more than it may by taking another.
"""

import structlog
from msgspec import Struct

from botdrome.server.calling.answer import CallFailed
from botdrome.server.calling.callers import Callers
from botdrome.server.calling.carriers import carried
from botdrome.server.challenge import challenge
from botdrome.server.desk import Desk
from botdrome.server.url_seat import UrlGuest
from botdrome.store.store import BotEntry

log = structlog.get_logger()

MOST_MATCHES = 200
"""That one bot plays at once, with those for which it is just being asked."""


class NotComing(Exception):
    """A bot cannot be had, with the reason, which begins with its name."""


class Callee(Struct, frozen=True):
    """A bot and the address at which it is called."""

    bot: BotEntry
    url: str


class Invitations:
    def __init__(self, desk: Desk, callers: Callers) -> None:
        self._desk, self._callers = desk, callers

    def address(self, bot: BotEntry) -> str | None:
        """Where it is called; None: it connects by itself, or plays no more."""
        if bot.token_hash is None or self._desk.registry.bans.name_refusal(bot.name):
            return None
        return carried(bot.name) if bot.name in self._callers.carriers else bot.url

    async def find(self, name: str, game: str) -> Callee | None:
        """A bot that plays this game and can be called."""
        bot = self._desk.registry.known(name) or await self._desk.registry.find(name)
        url = self.address(bot) if bot is not None and bot.game == game else None
        return None if bot is None or url is None else Callee(bot, url)

    async def invite(self, callee: Callee) -> UrlGuest:
        """NotComing unless it answers, so that nobody wins against a bot that only does not run."""
        name = callee.bot.name
        if self._callers.playing[name] >= MOST_MATCHES:
            raise NotComing(f"{name} plays {MOST_MATCHES} matches already")
        guest = self.guest(callee)
        try:
            await challenge(self._callers, callee.url, name, callee.bot.game)
        except CallFailed as failure:
            log.info("a bot does not answer", bot=name, why=str(failure))
            guest.turn_away({})
        if not guest.present:
            raise NotComing(f"{name} does not answer")
        return guest

    def guest(self, callee: Callee) -> UrlGuest:
        """One who plays from now on, until the match is over, it is turned away, or its token is changed."""
        name = callee.bot.name
        guest = UrlGuest(callee.bot, callee.url, self._desk, self._callers)
        self._callers.playing[name] += 1
        guest.over.add_done_callback(lambda _: self._end(name))
        return guest

    def _end(self, name: str) -> None:
        playing = self._callers.playing
        playing[name] -= 1
        if not playing[name]:
            del playing[name]
