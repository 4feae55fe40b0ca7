"""Guesses: limits for wrong tokens, and for wrong passwords of contests."""

from collections import OrderedDict
from math import ceil

from botdrome.server import metrics
from botdrome.server.network.connection import CLIENT_SOURCE
from botdrome.server.network.rate_limit import Buckets

RATE, BURST = 1.0, 100
"""Wrong tokens from one address a second in the long run, and at once."""
PASSWORD_RATE, PASSWORD_BURST = 1 / 30, 20
"""Wrong passwords of contests from one address a second in the long run, and at once."""
CONTEST_RATE, CONTEST_BURST = 1 / 3, 200
"""Wrong passwords of one contest from all addresses. One address alone cannot reach it."""
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
        return self._wrong.dry_for(self._guesser(name))

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
            known = f"{CLIENT_SOURCE.get()} {name}"
            self._proven[known] = None
            self._proven.move_to_end(known)
            if len(self._proven) > REMEMBERED:
                self._proven.popitem(last=False)
        else:
            self._wrong.too_fast(self._guesser(name))
        return right

    def _guesser(self, name: str) -> str:
        address = CLIENT_SOURCE.get()
        known = f"{address} {name}"
        return known if known in self._proven else address


class PasswordGuesses:
    """Count wrong passwords of contests.

    While a contest has no guess left, an address that was wrong there has none either. An address
    that was not may still enter, so that strangers who guess at many addresses lock nobody out.
    """

    def __init__(self) -> None:
        self._of_address = Buckets(PASSWORD_RATE, PASSWORD_BURST)
        self._of_contest = Buckets(CONTEST_RATE, CONTEST_BURST)
        self._wrong: OrderedDict[tuple[str, str], None] = OrderedDict()
        """Addresses that were wrong, with the contest."""

    def check(self, contest: str) -> None:
        """Raise TooMany if the client's address has no guess left for the contest."""
        address = CLIENT_SOURCE.get()
        seconds, whence = self._of_address.dry_for(address), "came from your address"
        if not seconds and (address, contest) in self._wrong:
            seconds, whence = self._of_contest.dry_for(contest), f"came for the contest {contest!r}"
        if seconds:
            metrics.REFUSED.labels("guesses").inc()
            raise TooMany(f"too many wrong passwords {whence}: try again in {ceil(seconds)} s")

    def note_wrong(self, contest: str) -> None:
        address = CLIENT_SOURCE.get()
        self._of_address.too_fast(address)
        self._of_contest.too_fast(contest)
        self._wrong[address, contest] = None
        self._wrong.move_to_end((address, contest))
        if len(self._wrong) > REMEMBERED:
            self._wrong.popitem(last=False)
