"""SeatedPlayer: a player at a table, over any protocol."""

from typing import Protocol

from botdrome.match.course import News
from botdrome.match.events import Player
from botdrome.wire.standing import Standing
from botdrome.wire.writers import MatchWriters


class SeatedPlayer(Protocol):
    """Nothing here waits or raises."""

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        """Join one of the writers of the match."""

    def notify(self, news: News, standing: Standing) -> list[bytes]:
        """Return the messages for this player. Nothing is sent yet: a result is stored first."""

    def tell(self, messages: list[bytes]) -> None:
        """Send the messages."""

    def dismiss(self, failed: bool) -> None:
        """The match is over and was told. `failed`: it could not be stored, so no result was told."""
