"""Arena: all that the doors for people and tools may ask of the server."""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from time import time
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from botdrome.server.audience import Spectator
from botdrome.store.store import BotEntry, Store

LONGEST_NAME = 64


class BadName(Exception):
    """A name that no bot can have, with the reason."""


class LiveTable(Struct, frozen=True):
    """A match that runs."""

    id: str
    game: str
    players: tuple[str, ...]
    contest: str | None
    started: int
    steps: int
    spectators: int


class Tables(Protocol):
    """The running tables, as the desk keeps them."""

    def live(self) -> list[LiveTable]: ...

    def watch(self, match_id: str, spectator: Spectator) -> bool:
        """Show a running match to a spectator, from its present position on; False: it does not run."""

    def unwatch(self, match_id: str, spectator: Spectator) -> None: ...

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Have `tell` called whenever a table opens or closes, until the function that this returns is called."""


class Forgetful(Protocol):
    """Whoever keeps bots at hand, and must be told when one changes."""

    def forget(self, name: str) -> None: ...


class Arena:
    def __init__(self, store: Store, tables: Tables, registry: Forgetful | None = None) -> None:
        self.store, self.tables, self._registry = store, tables, registry

    async def register(self, game: str, name: str, owner: str) -> tuple[BotEntry, str]:
        """A new bot and its token, which is shown this once. BadName or NameTaken where it cannot be."""
        check_name(name)
        token = secrets.token_hex(32)
        bot = BotEntry(name, game, owner, int(time() * 1000), hashed(token))
        await self.store.register(bot)
        return bot, token

    async def holder(self, name: str, token: object) -> BotEntry | None:
        """The bot of that name, if the token is its token."""
        if not isinstance(token, str):
            return None
        bot = await self.store.bot(name)
        return bot if bot and holds(bot, token) else None

    async def rotate(self, bot: BotEntry) -> tuple[BotEntry, str]:
        """A new token in place of the old one."""
        token = secrets.token_hex(32)
        return await self._change(bot, hashed(token)), token

    async def revoke(self, bot: BotEntry) -> BotEntry:
        return await self._change(bot, None)

    async def _change(self, bot: BotEntry, token_hash: str | None) -> BotEntry:
        await self.store.change_token(bot.name, token_hash)
        if self._registry is not None:
            self._registry.forget(bot.name)
        return replace(bot, token_hash=token_hash)


def check_name(name: str) -> None:
    if not name.strip():
        raise BadName("a name must not be empty")
    if len(name) > LONGEST_NAME:
        raise BadName(f"a name has at most {LONGEST_NAME} characters")
    if name.startswith("house:"):
        raise BadName("names that begin with house: are the house's")
    if not name.isprintable():
        raise BadName("a name has printable characters only")


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def holds(bot: BotEntry, token: str) -> bool:
    return bot.token_hash is not None and hmac.compare_digest(bot.token_hash, hashed(token))
