"""Listener: a player at a seat, and the dialect in which it is spoken to."""

from collections.abc import Callable, Collection
from typing import Protocol

from botdrome.match.course import News
from botdrome.match.events import Player
from botdrome.store.store import MatchEntry
from botdrome.wire.standing import Standing


class Listener(Protocol):
    """A player at a seat. It is told, and never waits and never raises."""

    def tell(self, messages: list[bytes]) -> None: ...

    def dismiss(self, failed: bool) -> None:
        """The match is over, all was told; `failed`: it could not be stored, and no result was told."""


class Dialect(Protocol):
    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        """The messages for these players. What several are told alike may be one list: it is for reading."""


Tongue = Callable[[MatchEntry], Dialect]
"""How a listener wants to be spoken to: those with the same tongue share the dialect that it makes for a match."""
