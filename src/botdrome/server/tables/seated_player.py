"""SeatedPlayer: a player at a table, over any protocol."""

from typing import Protocol

from botdrome.match.events import Player
from botdrome.wire.writers import MatchWriters


class SeatedPlayer(Protocol):
    """Nothing here waits or raises."""

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        """Join one of the writers of the match."""

    def tell(self, messages: list[bytes]) -> None:
        """Send the messages."""

    def network_time(self) -> float:
        """Return the seconds that a question and its answer are on the way, as the server measures
        it; 0: unknown.
        """

    def delay(self) -> float:
        """Return the seconds by which the server was late with the question, or with reading the
        answer that it has now.
        """

    def dismiss(self, failed: bool) -> None:
        """The match is over and was told.

        `failed`: it could not be stored, so no result was told.
        """
