"""Guesses: how often clients of one address may be wrong about a token."""

from collections import OrderedDict
from math import ceil

from botdrome.server import metrics
from botdrome.server.network.rate_limit import Buckets
from botdrome.server.workers.asker import ASKER

RATE, BURST = 1.0, 100
"""Wrong tokens from one address a second in the long run, and at once."""
REMEMBERED = 10_000


class TooMany(Exception):
    """More is asked for than anybody needs, with the reason."""


class Guesses:
    """Counts wrong tokens. While an address has no guess left, no token that comes from there is looked at.

    An account that has logged in from an address before has guesses of its own there: a neighbour cannot lock it out.
    """

    def __init__(self) -> None:
        self._wrong = Buckets(RATE, BURST)
        self._proven: OrderedDict[str, None] = OrderedDict()

    def spent(self, name: str) -> float:
        """Seconds until the address that asks may guess again; 0: it may now."""
        return self._wrong.dry_for(self._guesser(name))

    def check(self, name: str) -> None:
        """TooMany if the address that asks has no guess left."""
        seconds = self.spent(name)
        if seconds:
            metrics.REFUSED.labels("guesses").inc()
            raise TooMany(f"too many wrong tokens came from your address: try again in {ceil(seconds)} s")

    def note(self, name: str, right: bool) -> bool:
        """A token was looked at; whether it was right."""
        if right:
            known = f"{ASKER.get()} {name}"
            self._proven[known] = None
            self._proven.move_to_end(known)
            if len(self._proven) > REMEMBERED:
                self._proven.popitem(last=False)
        else:
            self._wrong.too_fast(self._guesser(name))
        return right

    def _guesser(self, name: str) -> str:
        address = ASKER.get()
        known = f"{address} {name}"
        return known if known in self._proven else address
