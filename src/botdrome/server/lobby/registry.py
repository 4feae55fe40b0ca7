"""Registry: the bots that may log in, cached so that a login need not wait for the store."""

import asyncio
import hmac
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

from msgspec import Struct

from botdrome.contest.lobby import Wish
from botdrome.server.lobby.bans import Bans
from botdrome.server.lobby.clients import NOBODY, ConnectedClients, bot_owner, guest_owner, seat_of
from botdrome.server.lobby.tokens import Guesses, TooMany
from botdrome.server.network.peer import current_peer
from botdrome.store.entries import BotEntry, Note, StoreUnavailable, hashed, likeness
from botdrome.store.store import Store
from botdrome.wire.conversation import (
    Admit,
    AdmitGuest,
    Authenticate,
    TokenNeeded,
    can_be_shown,
    unseen,
    written_out,
)

LONGEST_NAME = 64


GUEST = " (guest)"
"""The suffix for a guest whose name is, or looks like, the name of a registered bot."""


HOUSE = "house:"
STORED_AFTER = 1.0
"""Seconds from the login of a bot until its protocol is stored."""
LANGUAGES, PROTOCOLS = "languages of bots", "protocols of bots"
"""Books of notes: the language that its owner has named for a bot, and the protocol that the bot
used last.
"""


class BadName(Exception):
    """An invalid bot name. The message gives the reason."""


def check_name(name: str) -> None:
    if not name.strip():
        raise BadName("a name must not be empty")
    if len(name) > LONGEST_NAME:
        raise BadName(f"a name has at most {LONGEST_NAME} characters")
    if likeness(name).casefold().startswith(likeness(HOUSE)):
        raise BadName("names that begin with house: are those of house bots")
    if not can_be_shown(name):
        raise BadName("a name has printable characters only")


def check_spelling(name: str) -> None:
    """Check a name for registration, so that it cannot be mistaken for another.

    Raise BadName if it can.
    """
    if looks_like_guest(name):
        raise BadName(f"names that end with{GUEST} are those of guests")
    if unseen(name):
        raise BadName("a name must not contain invisible characters")


def looks_like_guest(name: str) -> bool:
    return likeness(name).endswith(likeness(GUEST))


LONGEST_CACHED = 100
"""Characters of a token whose hash is kept; tokens are shorter."""
cached_hash = lru_cache(maxsize=256)(hashed)
"""Of tokens: a bot shows the same one for each of its matches."""


def hash_of(token: str) -> str:
    return cached_hash(token) if len(token) <= LONGEST_CACHED else hashed(token)


def holds(bot: BotEntry, token: str) -> bool:
    return bot.token_hash is not None and hmac.compare_digest(bot.token_hash, hash_of(token))


def may_log_in(bot: BotEntry, token: str) -> bool:
    """Whether a client with this token plays as the bot: while it is hosted, a runner with the
    credential of its lease does, and nobody else. Nobody does if its own token was revoked.
    """
    known = bot.token_hash if bot.hosted is None else bot.hosted
    return (
        known is not None
        and bot.token_hash is not None
        and hmac.compare_digest(known, hash_of(token))
    )


HOSTED = "{0} is hosted here, and logs in with no other token; `botdrome bots pause {0}` ends that"
KEPT = 10_000


class Denied(Exception):
    """A client cannot play under a name, with the reason."""


class Banned(Denied):
    """The operator has banned a name or an address."""


class Admission(Struct, frozen=True):
    """A client may play under a name."""

    name: str
    """Its name on this server.

    The name of a registered bot is for that bot alone, so a guest may get another than it gave.
    """
    bot: BotEntry | None = None
    """None: the client is a guest."""
    owner: str = NOBODY
    """The owner of its seats (see `clients.py`)."""
    version: str = ""
    """The version of the bot; empty: it names none."""


class Registry:
    """All changes in this process go through `Arena`, which drops changed bots from this cache."""

    def __init__(self, store: Store) -> None:
        self._store, self.guesses = store, Guesses()
        self.bans, self.clients = Bans(store), ConnectedClients()
        self._changes = 0
        """Counts changes of bots: a read that began before a change is repeated."""
        self._known: OrderedDict[str, BotEntry] = OrderedDict()
        self._protocols: dict[str, str] = {}
        """Of bots that have logged in."""
        self._unstored: list[Note] = []
        self._timer: asyncio.TimerHandle | None = None
        self._storing: asyncio.Future[None] | None = None
        self.on_change: list[Callable[[str, bool], None]] = []
        """Called with the name of a bot that has changed, and whether its logins end."""

    def known(self, name: str) -> BotEntry | None:
        """Return the bot if it is cached."""
        return self._known.get(name)

    def cannot_meet(self, name: str, wish: Wish, opponent: str | None) -> str:
        """Return the known reason why the opponent of a bot can never come; empty: it may come."""
        if opponent is None:
            return ""
        known = self.known(opponent)
        if opponent == name:
            return "nobody plays against itself"
        if opponent.startswith("house:"):
            return "" if wish.contest is None else "the house plays in no contest"
        return (
            f"{opponent} plays {known.game}"
            if known is not None and known.game != wish.game
            else ""
        )

    async def find(self, name: str) -> BotEntry | None:
        changes = -1
        while changes != self._changes:
            changes = self._changes
            bot = await self._store.bot(name)
        return self._cached(bot)

    async def _find_with_alike(self, name: str) -> tuple[BotEntry | None, bool]:
        """Return the bot, and whether the name looks like another bot's.

        One read is enough, since every guest needs both.
        """
        changes = -1
        while changes != self._changes:
            changes = self._changes
            bot, alike = await self._store.bot_and_alike(name)
        return self._cached(bot), bool(alike)

    def _cached(self, bot: BotEntry | None) -> BotEntry | None:
        if bot is not None:
            self._known[bot.name] = bot
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        return bot

    def recognised(self, name: str, token: str) -> BotEntry | None:
        """Return the bot if it is cached and this is its token.

        If not, ask the store: the cache may be old.
        """
        bot = self._known.get(name)
        if (
            bot is None
            or self.guesses.spent(name)
            or not may_log_in(bot, token)
            or self.bans.refusal(name)
        ):
            return None
        return self._passed(bot)

    async def authenticate(self, name: str, token: str) -> BotEntry | None:
        """Return the bot if this is its token.

        Raise TooMany after too many wrong tokens, Banned, and Denied while it is hosted.
        """
        self.check_bans(name)
        self.guesses.check(name)
        return self._proven(await self.find(name), name, token)

    def _proven(self, bot: BotEntry | None, name: str, token: str) -> BotEntry | None:
        self.guesses.check(name)
        if bot is not None and may_log_in(bot, token):
            return self._passed(bot)
        if bot is not None and holds(bot, token):
            raise Denied(HOSTED.format(name))
        self.guesses.note(name, False)
        return None

    def _passed(self, bot: BotEntry) -> BotEntry:
        self.guesses.note(bot.name, True)
        if (peer := current_peer()) is not None:
            peer.bill(bot.name)
        return bot

    async def admit(
        self, name: str, token: object, game: str, needed: TokenNeeded = "in its game"
    ) -> Admission:
        """Admit a client of a protocol without passwords, as the registered bot or as a guest; or
        raise Denied.
        """
        try:
            check_name(name)
        except BadName as problem:
            raise Denied(str(problem)) from None
        self.check_bans(name)
        given = token if isinstance(token, str) else ""
        bot = self.recognised(name, given)
        found, alike = (bot, False) if bot else await self._find_with_alike(name)
        if found is None:
            house_name = _house_name(name, alike)
            self.check_bans(house_name)
            return Admission(house_name, owner=guest_owner(given))
        if token in (None, "") and (
            needed == "never" or (needed == "in its game" and found.game != game)
        ):
            self.check_bans(name + GUEST)
            return Admission(name + GUEST)
        try:
            bot = bot or self._proven(found, name, given)
        except TooMany as problem:
            raise Denied(str(problem)) from None
        if bot is None:
            raise Denied(f"{name} is a registered bot: its token is needed")
        if bot.game != game:
            raise Denied(f"{name} is registered for {bot.game}")
        return Admission(name, bot, bot_owner(bot))

    async def admit_guest(self, name: str, secret: str, match_id: str | None = None) -> Admission:
        """Admit a person with a secret of its choice.

        Raise Denied if its name looks like a registered bot's.

        A person that comes back to its seat in a match is admitted, even if a bot was registered
        under the name meanwhile.
        """
        try:
            check_name(name)
            check_spelling(name)
        except BadName as problem:
            raise Denied(str(problem)) from None
        self.check_bans(name)
        if written_out(name) != name:
            raise Denied("a name has single spaces, and only between its words")
        bot, alike = await self._find_with_alike(name)
        if (bot is not None or alike) and not (
            match_id and await self._had_seat(name, secret, match_id)
        ):
            what = "is" if bot is not None else "looks like the name of"
            raise Denied(f"{name} {what} a registered bot; choose another name")
        return Admission(name, owner=guest_owner(secret))

    async def _had_seat(self, name: str, secret: str, match_id: str) -> bool:
        """Whether this guest took a seat in the match under this name."""
        entry = await self._store.match(match_id)
        seat = None if entry is None else seat_of(entry, NOBODY, secret)
        return entry is not None and seat is not None and entry.players[seat] == name

    def note_protocol(self, name: str, protocol: str) -> None:
        """A bot has logged in. Logins of one second are stored together."""
        if self._protocols.get(name) == protocol:
            return
        if len(self._protocols) >= KEPT:
            self._protocols.clear()
        self._protocols[name] = protocol
        self._unstored.append(Note(PROTOCOLS, name, {"protocol": protocol}))
        if len(self._unstored) == 1:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(STORED_AFTER, self._begin_to_store)

    def _begin_to_store(self) -> None:
        self._storing = asyncio.ensure_future(self._store_protocols())

    async def close(self) -> None:
        """Store the last protocols. Call it when nobody can log in any more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._storing is not None:
            await self._storing
        await self._store_protocols()

    async def _store_protocols(self) -> None:
        notes, self._unstored = self._unstored, []
        with suppress(StoreUnavailable):  # the next login after a start tells it again
            await self._store.keep(notes)

    def forget(self, name: str) -> None:
        """A bot has changed."""
        self.drop(name)
        for tell in self.on_change:
            tell(name, False)

    def drop(self, name: str) -> None:
        """Drop a bot from the cache."""
        self._changes += 1
        self._known.pop(name, None)

    def end_logins(self, name: str) -> None:
        """The token of a bot has changed."""
        self.clients.end_logins(name)
        for tell in self.on_change:
            tell(name, True)

    def check_bans(self, *names: str) -> None:
        """Raise Banned if one of these names or the client's address is banned."""
        if refusal := self.bans.refusal(*names):
            raise Banned(refusal)


def _house_name(name: str, alike: bool) -> str:
    """Return a guest's name on this server.

    It looks like no registered bot's, and invisible characters are written out.
    """
    shown = written_out(name)
    return shown + GUEST if alike or shown != name or looks_like_guest(name) else name


# The admission of a client that logs in, by any protocol.


async def admission_of(registry: Registry, command: Authenticate | Admit | AdmitGuest) -> Admission:
    """Raise Denied or TooMany if the client is not admitted."""
    if isinstance(command, AdmitGuest):
        return await registry.admit_guest(command.name, command.secret, command.match)
    if isinstance(command, Admit):
        return await registry.admit(command.name, command.token, command.game, command.needed)
    bot = await registry.authenticate(command.name, command.token)
    if bot is None or command.game not in ("", bot.game):
        raise Denied
    return Admission(bot.name, bot, bot_owner(bot))
