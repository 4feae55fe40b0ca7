"""Tokens: limits for wrong tokens and passwords, and the operator's own token."""

import hmac
import secrets
import sys
from collections import OrderedDict
from contextlib import suppress
from math import ceil
from time import time
from typing import Any

from botdrome.server import metrics
from botdrome.server.network.limits import Buckets
from botdrome.server.workers.jobs import CLIENT
from botdrome.store.entries import Note, StoreUnavailable, hashed
from botdrome.store.store import Store

RATE, BURST = 1.0, 100
"""Wrong tokens from one address a second in the long run, and at once."""
PASSWORD_RATE, PASSWORD_BURST = 1 / 30, 20
"""Wrong passwords of contests from one address a second in the long run, and at once."""
CONTEST_RATE, CONTEST_BURST = 1 / 3, 200
"""Wrong passwords of one contest from all addresses. One address alone cannot reach it."""
CODE_RATE, CODE_BURST = 1.0, 100
"""Wrong join codes of one class a second in the long run, and at once; and of no class."""
REMEMBERED = 10_000


class TooMany(Exception):
    """A limit was exceeded, with the reason."""


class Guesses:
    """Count wrong tokens. While an address has no guess left, no token from there is checked.

    An account that has logged in from an address before has its own guesses there, so that a
    neighbour cannot lock it out.
    """

    def __init__(self) -> None:
        self._wrong = Buckets(RATE, BURST)
        self._proven: OrderedDict[str, None] = OrderedDict()

    def spent(self, name: str) -> float:
        """Return the seconds until the client's address may guess again; 0 if it may now."""
        return self._wrong.dry_for(self._guesser(name)) if self._wrong.known else 0.0

    def check(self, name: str) -> None:
        """Raise TooMany if the client's address has no guess left."""
        seconds = self.spent(name)
        if seconds:
            metrics.REFUSED.labels("guesses").inc()
            raise TooMany(
                f"too many wrong tokens came from your address: try again in {ceil(seconds)} s"
            )

    def note(self, name: str, right: bool) -> bool:
        """Record whether a token was right, and return that."""
        if right:
            known = f"{CLIENT.get().source} {name}"
            if known in self._proven:
                self._proven.move_to_end(known)
            else:
                self._proven[known] = None
                if len(self._proven) > REMEMBERED:
                    self._proven.popitem(last=False)
        else:
            self._wrong.too_fast(self._guesser(name))
        return right

    def _guesser(self, name: str) -> str:
        address = CLIENT.get().source
        known = f"{address} {name}"
        return known if known in self._proven else address


class PasswordGuesses:
    """Count wrong passwords of contests.

    While a contest has no guess left, an address that was wrong there has none either. An address
    that was not may still enter, so that strangers who guess at many addresses lock nobody out.
    """

    what, of_what = "passwords", " for the contest {!r}"

    def __init__(self) -> None:
        self._of_address = Buckets(PASSWORD_RATE, PASSWORD_BURST)
        self._of_contest = Buckets(CONTEST_RATE, CONTEST_BURST)
        self._wrong: OrderedDict[tuple[str, str], None] = OrderedDict()
        """Addresses that were wrong, with the contest."""

    def check(self, contest: str) -> None:
        """Raise TooMany if the client's address has no guess left for the contest."""
        address = CLIENT.get().source
        seconds, whence = self._of_address.dry_for(address), " from your address"
        if not seconds and (address, contest) in self._wrong:
            seconds, whence = self._of_contest.dry_for(contest), self.of_what.format(contest)
        if seconds:
            metrics.REFUSED.labels("guesses").inc()
            whence += f": try again in {ceil(seconds)} s"
            raise TooMany(f"too many wrong {self.what} came{whence}")

    def note_wrong(self, contest: str) -> None:
        address = CLIENT.get().source
        self._of_address.too_fast(address)
        self._of_contest.too_fast(contest)
        self._wrong[address, contest] = None
        self._wrong.move_to_end((address, contest))
        if len(self._wrong) > REMEMBERED:
            self._wrong.popitem(last=False)


class CodeGuesses(PasswordGuesses):
    """Count wrong join codes in the same way, of classes instead of contests.

    An address has no limit of its own, since a class may share one.
    """

    what, of_what = "join codes", ""

    def __init__(self) -> None:
        super().__init__()
        self._of_address = Buckets(CODE_RATE, sys.maxsize)
        self._of_contest = Buckets(CODE_RATE, CODE_BURST)


OPERATOR = "operator:"
"""The name under which wrong tokens are counted; no bot can have it."""
BOOK, TOKEN = "operator", "token"
SESSION = 12 * 3600
"""Seconds until a session expires."""
MOST_SESSIONS = 100


class NotOperator(Exception):
    """A request does not come from the operator; the text says why."""


async def new_token(store: Store) -> str:
    """Make a new token and store its hash in place of the old one."""
    token = secrets.token_urlsafe(24)
    await store.keep([Note(BOOK, TOKEN, {"hash": hashed(token)})])
    return token


class OperatorKeys:
    def __init__(self, store: Store, setting: str, guesses: Guesses) -> None:
        """`setting` is the token in the settings; empty: the token in the store is used."""
        self._store, self._guesses = store, guesses
        self._set_hash = hashed(setting) if setting else ""
        self._notes: dict[str, dict[str, Any]] = {}
        """The token and the sessions, as they were last read."""

    async def open(self) -> str:
        """Make a token if there is none, and return it so that it can be shown once; empty: there
        was one.
        """
        return "" if await self._current() else await new_token(self._store)

    async def _current(self) -> str:
        """Return the hash of the token.

        Other processes may have changed it, or the sessions, at any time.

        While the store is down, the last known token and sessions are used.
        """
        with suppress(StoreUnavailable):
            self._notes = await self._store.notes(BOOK)
        return self._set_hash or str(self._notes.get(TOKEN, {}).get("hash", ""))

    async def check(self, token: str) -> str:
        """The hash of the operator's token, if this is it; TooMany or NotOperator otherwise."""
        self._guesses.check(OPERATOR)
        current = await self._current()
        self._guesses.check(OPERATOR)
        if not self._guesses.note(
            OPERATOR, bool(current) and hmac.compare_digest(hashed(token), current)
        ):
            metrics.REFUSED.labels("operator").inc()
            raise NotOperator("that is not the operator's token")
        return current

    async def is_token(self, token: str) -> bool:
        """Return whether this is the operator's token. A wrong one is not counted: the caller
        checks next whether it is another token. While no guess is left, none is right.
        """
        current = await self._current()
        if not current or self._guesses.spent(OPERATOR):
            return False
        return hmac.compare_digest(hashed(token), current)

    # Sessions. Their names are the hashes of their secrets.

    async def sign_in(self, token: str) -> str:
        """Open a session and return its secret; TooMany or NotOperator if the token is wrong."""
        token_hash, secret = await self.check(token), secrets.token_urlsafe(32)
        old = sorted((note["expires"], name) for name, note in self._notes.items() if name != TOKEN)
        kept = [one for one in old if one[0] > time()][1 - MOST_SESSIONS :]
        session = {"expires": time() + SESSION, "bound": _bound(secret, token_hash)}
        self._notes[hashed(secret)] = session
        with suppress(StoreUnavailable):  # then it holds here, until the store is back
            await self._store.keep([Note(BOOK, hashed(secret), session)])
            await self._store.strike(
                BOOK, [name for expires, name in old if (expires, name) not in kept]
            )
        return secret

    async def check_session(self, secret: str) -> float:
        """The seconds until the session expires; NotOperator if it is over."""
        current = await self._current()
        session = self._notes.get(hashed(secret), {})
        left = float(session.get("expires", 0)) - time()
        if left <= 0 or not hmac.compare_digest(str(session.get("bound")), _bound(secret, current)):
            raise NotOperator("the session is over; sign in again")
        return left

    async def sign_out(self, secret: str) -> bool:
        """Whether there was such a session."""
        await self._current()
        found = self._notes.pop(hashed(secret), None) is not None
        if found:
            await self._store.strike(BOOK, [hashed(secret)])
        return found


def _bound(secret: str, token_hash: str) -> str:
    """Bind a session to the token that opened it: when that token is replaced, the session ends."""
    return hashed(f"{secret} {token_hash}")
