"""Keys: the operator's token, and the sessions that were opened with it."""

import asyncio
import hmac
import secrets
from collections import OrderedDict
from contextlib import suppress

from msgspec import Struct

from botdrome.server import metrics
from botdrome.server.lobby.guesses import Guesses
from botdrome.store.identity import hashed
from botdrome.store.store import Note, Store, StoreUnavailable

OPERATOR = "operator:"
"""What stands for a name where guesses are counted; no bot can be called so."""
BOOK, TOKEN = "operator", "token"
SESSION = 12 * 3600
"""Seconds that a session lasts."""
MOST_SESSIONS = 100


class NotOperator(Exception):
    """A request does not come from the operator, with the reason."""


class OperatorSession(Struct, frozen=True):
    expires: float
    """By the clock of the loop."""
    token_hash: str
    """Of the token that it was opened with: it ends when that is replaced."""


async def new_token(store: Store) -> str:
    """A token in place of the one that is stored, if there is one."""
    token = secrets.token_urlsafe(24)
    await store.keep([Note(BOOK, TOKEN, {"hash": hashed(token)})])
    return token


class OperatorKeys:
    def __init__(self, store: Store, setting: str, guesses: Guesses) -> None:
        """`setting` is the token from the settings; empty: the one in the store counts."""
        self._store, self._guesses = store, guesses
        self._hash, self._is_set = (hashed(setting) if setting else ""), bool(setting)
        self._sessions: OrderedDict[str, OperatorSession] = OrderedDict()
        self._loop = asyncio.get_running_loop()

    async def open(self) -> str:
        """The token, if it was made just now: it is to be shown this once; empty: there was one."""
        if await self._current():
            return ""
        token = await new_token(self._store)
        self._hash = hashed(token)
        return token

    async def _current(self) -> str:
        """Another process may have replaced it. While the store cannot be read, the last one that was read counts."""
        if not self._is_set:
            with suppress(StoreUnavailable):
                self._hash = (await self._store.notes(BOOK)).get(TOKEN, {}).get("hash", "")
        return self._hash

    async def check(self, token: str) -> str:
        """The hash of the operator's token, if this is it. TooMany or NotOperator otherwise."""
        self._guesses.check(OPERATOR)
        current = await self._current()
        self._guesses.check(OPERATOR)
        if not self._guesses.note(OPERATOR, bool(current) and hmac.compare_digest(hashed(token), current)):
            metrics.REFUSED.labels("operator").inc()
            raise NotOperator("that is not the operator's token")
        return current

    # Sessions.

    async def sign_in(self, token: str) -> str:
        """The secret of a new session. TooMany or NotOperator if that is not the token."""
        session = OperatorSession(self._loop.time() + SESSION, await self.check(token))
        secret = secrets.token_urlsafe(32)
        self._sessions[hashed(secret)] = session
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return secret

    async def check_session(self, secret: str) -> float:
        """Seconds that it still lasts. NotOperator if it is over."""
        session = self._sessions.get(hashed(secret))
        left = 0.0 if session is None else session.expires - self._loop.time()
        if session is None or left <= 0 or session.token_hash != await self._current():
            self.sign_out(secret)
            raise NotOperator("the session is over; sign in again")
        return left

    def sign_out(self, secret: str) -> bool:
        """Whether there was such a session."""
        return self._sessions.pop(hashed(secret), None) is not None
