"""What the arena asks all nodes: how a running match stands, and which players wait."""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from botdrome.contest.lobby import Seeker

if TYPE_CHECKING:
    from botdrome.server.tables.audience import Tables


class LookAtMatch(Struct, frozen=True):
    match: str


class MatchLook(Struct, frozen=True):
    """A running match, as far as a node knows it."""

    view: dict[str, Any] | None
    """The present public position; None: it does not run there."""
    protocols: dict[str, str]
    """Of the players that are connected there, by name."""


class Unplayed(Struct, frozen=True):
    """Players with matches left in a contest."""

    game: str
    contest: str
    players: tuple[str, ...]
    left: int


class FindWaiting(Struct, frozen=True):
    most: int


class WaitingPlayers(Struct, frozen=True):
    seekers: list[Seeker]
    """The longest wait first."""
    unplayed: list[Unplayed]
    """The matches left in contests."""


class _Glance:
    """A spectator that takes the first message."""

    def __init__(self) -> None:
        self.view: dict[str, Any] | None = None

    def show(self, message: bytes) -> None:
        if self.view is None:
            self.view = msgspec.json.decode(message)["view"]

    def end(self) -> None:
        pass


def glance(tables: "Tables", match_id: str) -> dict[str, Any] | None:
    """The present public position of a match that runs at this node."""
    one = _Glance()
    if tables.watch(match_id, one):
        tables.unwatch(match_id, one)
    return one.view
