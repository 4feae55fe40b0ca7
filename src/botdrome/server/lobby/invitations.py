"""Invitations: a bot with an address is asked whether it comes to a table, and comes as a guest.

Every way to such a bot leads through here, so that nobody can have it play more than it may by taking another.
"""

from collections import Counter

import structlog
from msgspec import Struct

from botdrome.match.terms import PaceName
from botdrome.server.calling.answer import CallFailed
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.tunnels import tunnel_url
from botdrome.server.lobby.challenge import challenge
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_seat import UrlGuest
from botdrome.server.workers.asker import ASKER
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
    def __init__(self, desk: Desk, callers: BotCaller) -> None:
        self._desk, self._caller = desk, callers
        self._long: Counter[tuple[str, str]] = Counter()
        """Matches at a pace for people, by the bot and the address of its opponent."""

    def address(self, bot: BotEntry) -> str | None:
        """Where it is called; None: it connects by itself, or plays no more."""
        if bot.token_hash is None or self._desk.registry.bans.name_refusal(bot.name):
            return None
        return tunnel_url(bot.name) if bot.name in self._caller.tunnels else bot.url

    async def find(self, name: str, game: str) -> Callee | None:
        """A bot that plays this game and can be called."""
        bot = self._desk.registry.known(name) or await self._desk.registry.find(name)
        url = self.address(bot) if bot is not None and bot.game == game else None
        return None if bot is None or url is None else Callee(bot, url)

    async def invite(self, callee: Callee, pace: PaceName = "usual") -> UrlGuest:
        """NotComing unless it answers, so that nobody wins against a bot that only does not run."""
        name = callee.bot.name
        if self._caller.playing[name] >= MOST_MATCHES:
            raise NotComing(f"{name} plays {MOST_MATCHES} matches already")
        guest = self.guest(callee) if pace == "usual" else self._guest_for_long(callee)
        try:
            await challenge(self._caller, callee.url, name, callee.bot.game)
        except CallFailed as failure:
            log.info("a bot does not answer", bot=name, why=str(failure))
            guest.turn_away({})
        if not guest.present:
            raise NotComing(f"{name} does not answer")
        return guest

    def guest(self, callee: Callee) -> UrlGuest:
        """One who plays from now on, until the match is over, it is turned away, or its token is changed."""
        name = callee.bot.name
        guest = UrlGuest(callee.bot, callee.url, self._desk, self._caller)
        self._caller.playing[name] += 1
        guest.over.add_done_callback(lambda _: self._end(name))
        return guest

    def _guest_for_long(self, callee: Callee) -> UrlGuest:
        """At a pace for people a match may last for hours: of these, no address has more than the bot could still play."""
        name, key = callee.bot.name, (callee.bot.name, ASKER.get())
        if self._long[key] >= MOST_MATCHES - self._caller.playing[name]:
            raise NotComing(f"{name} plays too many long matches against players from your address already")
        guest = self.guest(callee)
        self._long.update([key])
        guest.over.add_done_callback(lambda _: self._end_long(key))
        return guest

    def _end_long(self, key: tuple[str, str]) -> None:
        self._long -= Counter([key])

    def _end(self, name: str) -> None:
        playing = self._caller.playing
        playing[name] -= 1
        if not playing[name]:
            del playing[name]
