"""The queue for matches of contests, as the desk and the rooms see it."""

from collections.abc import Callable
from typing import Any, Protocol

from botdrome.contest.lobby import Seeker
from botdrome.games.game import Game
from botdrome.server.contests.contest_player import TableOpener


class ContestQueue(Protocol):
    """The bots that wait for matches of contests with a document."""

    on_change: list[Callable[[], None]]
    """Called when a contest has started or is over."""

    def seek(self, seeker: Seeker, client: Any) -> bool:
        """Let a client wait for its next match; False: no such contest has a document."""

    def leave(self, seeker: Seeker) -> None: ...

    def expecting(self, game: str, bot: str) -> str | None:
        """Return the first running contest of a bot, for protocols whose logins name no contest."""

    def expects(self, game: Game[Any], sizes: range, bot: str, owner: str, version: str) -> bool:
        """Return True if a registered bot plays in a running contest with these rules, at tables of
        one of these sizes.

        Raise ContestRefusal if no such contest allows this version of it.
        """

    def hold(
        self,
        game: Game[Any],
        sizes: range,
        bot: str,
        owner: str,
        version: str,
        opener: TableOpener,
        release: Callable[[], None],
    ) -> Callable[[], None]:
        """Let the player of a room wait for its next match.

        Call what is returned when it waits no longer.
        """
