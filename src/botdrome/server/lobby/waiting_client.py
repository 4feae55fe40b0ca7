"""WaitingClient: a client that has logged in, and wants a table."""

from typing import Any, Protocol

from botdrome.contest.lobby import Seeker
from botdrome.server.network.connection import NORMAL
from botdrome.server.tables.running_tables import Candidate


class WaitingClient(Candidate, Protocol):
    """A client that has logged in."""

    seeker: Seeker | None

    @property
    def owner(self) -> str:
        """The owner of the seats that it takes (see `owners.py`)."""

    def wait_at_most(self, seconds: float, words: str) -> None: ...

    def contest_complete(self, contest: str) -> None:
        """The client has met all others in the contest: it may leave, or wait for newcomers."""

    def turn_away(self, words: dict[str, Any], code: int = NORMAL) -> None:
        """Send the message, if the client knows such messages, and close."""

    def put_off(self, words: dict[str, Any], code: int) -> None:
        """No match begins at present.

        A client that knows no such messages goes on waiting; others are turned away.
        """
