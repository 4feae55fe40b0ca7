"""Audience: the spectators of a match. Each message is encoded once for all of them."""

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from botdrome.games.game import View
from botdrome.match.events import Event
from botdrome.match.terms import Milliseconds
from botdrome.store.store import MatchEntry
from botdrome.wire.writers import MatchHeader


class Spectator(Protocol):
    def show(self, message: bytes) -> None:
        """Send a JSON message.

        Never wait or raise: a spectator that reads too slowly is dropped.
        """

    def end(self) -> None:
        """The match is over and everything was shown."""


def header_of(entry: MatchEntry) -> MatchHeader:
    return MatchHeader(
        entry.id, entry.game, entry.players, entry.contest, entry.started, entry.pace
    )


class Audience:
    def __init__(self, header: MatchHeader, limit: Milliseconds | None = None) -> None:
        """`limit` is the time limit for a move, if there is one and it is known."""
        self._header, self._limit = header, limit
        self._spectators: dict[Spectator, None] = {}

    def __len__(self) -> int:
        return len(self._spectators)

    def __bool__(self) -> bool:
        return bool(self._spectators)

    def join(
        self, spectator: Spectator, now: Milliseconds, bots: tuple[str, ...], view: View
    ) -> None:
        """Show a new spectator the current position, then everything that follows.

        `bots` are the players by seat.
        """
        snapshot = msgspec.to_builtins(self._header) | {
            "limit": self._limit, "snapshot": True, "t": now, "bots": bots, "view": view,
        }  # fmt: skip
        self._spectators[spectator] = None
        spectator.show(msgspec.json.encode(snapshot))

    def leave(self, spectator: Spectator) -> None:
        self._spectators.pop(spectator, None)

    def hand_over(self) -> list[Spectator]:
        """Forget the spectators, and return them: the match goes on at another node."""
        spectators, self._spectators = list(self._spectators), {}
        return spectators

    def take(self, spectators: Iterable[Spectator]) -> None:
        """Go on showing the match to those that watched it at another node."""
        self._spectators |= dict.fromkeys(spectators)

    def see(self, now: Milliseconds, shown: list[tuple[Event, View]]) -> None:
        """Show public events, each with the public view of the position after it."""
        for event, view in shown:
            message: dict[str, Any] = {
                "match": self._header.match,
                "t": now,
                "event": event,
                "view": view,
            }
            encoded = msgspec.json.encode(message)
            for spectator in tuple(self._spectators):
                spectator.show(encoded)

    def dismiss(self) -> None:
        for spectator in tuple(self._spectators):
            spectator.end()
        self._spectators.clear()
