"""The operator's token, and the sessions that were opened with it."""

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
"""The name under which wrong tokens are counted; no bot can have it."""
BOOK, TOKEN = "operator", "token"
SESSION = 12 * 3600
"""Seconds until a session expires."""
MOST_SESSIONS = 100


class NotOperator(Exception):
    """A request does not come from the operator; the text says why."""


class OperatorSession(Struct, frozen=True):
    expires: float
    """On the loop's clock."""
    token_hash: str
    """The hash of the token that opened it: the session ends when that token is replaced."""


async def new_token(store: Store) -> str:
    """Make a new token and store its hash in place of the old one."""
    token = secrets.token_urlsafe(24)
    await store.keep([Note(BOOK, TOKEN, {"hash": hashed(token)})])
    return token


class OperatorKeys:
    def __init__(self, store: Store, setting: str, guesses: Guesses) -> None:
        """`setting` is the token in the settings; empty: the token in the store is used."""
        self._store, self._guesses = store, guesses
        self._hash, self._is_set = (hashed(setting) if setting else ""), bool(setting)
        self._sessions: OrderedDict[str, OperatorSession] = OrderedDict()
        self._loop = asyncio.get_running_loop()

    async def open(self) -> str:
        """Make a token if there is none, and return it so that it can be shown once; empty: there was one."""
        if await self._current():
            return ""
        token = await new_token(self._store)
        self._hash = hashed(token)
        return token

    async def _current(self) -> str:
        """Another process may have replaced the token. While the store is down, the last known token is used."""
        if not self._is_set:
            with suppress(StoreUnavailable):
                self._hash = (await self._store.notes(BOOK)).get(TOKEN, {}).get("hash", "")
        return self._hash

    async def check(self, token: str) -> str:
        """The hash of the operator's token, if this is it; TooMany or NotOperator otherwise."""
        self._guesses.check(OPERATOR)
        current = await self._current()
        self._guesses.check(OPERATOR)
        if not self._guesses.note(OPERATOR, bool(current) and hmac.compare_digest(hashed(token), current)):
            metrics.REFUSED.labels("operator").inc()
            raise NotOperator("that is not the operator's token")
        return current

    # Sessions.

    async def sign_in(self, token: str) -> str:
        """Open a session and return its secret; TooMany or NotOperator if the token is wrong."""
        session = OperatorSession(self._loop.time() + SESSION, await self.check(token))
        secret = secrets.token_urlsafe(32)
        self._sessions[hashed(secret)] = session
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return secret

    async def check_session(self, secret: str) -> float:
        """The seconds until the session expires; NotOperator if it is over."""
        session = self._sessions.get(hashed(secret))
        left = 0.0 if session is None else session.expires - self._loop.time()
        if session is None or left <= 0 or session.token_hash != await self._current():
            self.sign_out(secret)
            raise NotOperator("the session is over; sign in again")
        return left

    def sign_out(self, secret: str) -> bool:
        """Whether there was such a session."""
        return self._sessions.pop(hashed(secret), None) is not None
