"""Guesses: a limit for wrong tokens from one address."""

from collections import OrderedDict
from math import ceil

from botdrome.server import metrics
from botdrome.server.network.client_source import CLIENT_SOURCE
from botdrome.server.network.rate_limit import Buckets

RATE, BURST = 1.0, 100
"""Wrong tokens from one address a second in the long run, and at once."""
REMEMBERED = 10_000


class TooMany(Exception):
    """A limit was exceeded, with the reason."""


class Guesses:
    """Count wrong tokens. While an address has no guess left, no token from there is checked.

    An account that has logged in from an address before has its own guesses there, so that a neighbour cannot lock it out.
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
            raise TooMany(f"too many wrong tokens came from your address: try again in {ceil(seconds)} s")

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
