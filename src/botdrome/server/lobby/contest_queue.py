"""The queue for matches of contests, as the desk and the rooms see it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from botdrome.catalogue import CATALOGUE
from botdrome.contest.document import ContestDocument
from botdrome.contest.lobby import Seeker, Wish, in_a_wish
from botdrome.games.game import Game
from botdrome.games.options import with_options
from botdrome.match.terms import Milliseconds, Terms
from botdrome.server.lobby.house import GatheredPlayer, house_bot
from botdrome.server.tables.running_tables import Candidate
from botdrome.server.tables.table import Table

# Players that wait for their next match in a contest, and the parts of the server that set tables
# for them.


class TableRules(NamedTuple):
    """What all tables of a room have in common."""

    game: Game[Any]
    terms: Terms
    options: Mapping[str, Any]
    sizes: range
    """The numbers of players that a table may have."""

    @property
    def most(self) -> int:
        return self.sizes[-1]

    @property
    def wish(self) -> Wish:
        """The wish of clients at the desk that could join such a table."""
        return Wish(self.game.name, self.most, in_a_wish(self.options))


class ContestTable(NamedTuple):
    """A table to set for a fixture."""

    contest: str
    game: Game[Any]
    terms: Terms
    options: Mapping[str, Any]
    seed: int
    limit: Milliseconds | None
    """The time for a move that the document names; None: it names none."""
    prepare: Callable[[Table], None]
    """Called before the match starts."""


def contest_table(
    document: ContestDocument, seed: int, prepare: Callable[[Table], None]
) -> ContestTable:
    game = with_options(CATALOGUE[document.game].game, document.options)
    limit = (
        document.terms.pace.limit
        if document.clock.control or document.clock.limit is not None
        else None
    )
    return ContestTable(document.name, game, document.terms, document.options, seed, limit, prepare)


class ContestPlayer(NamedTuple):
    """A player that waits, on any protocol."""

    ticket: int
    """Unique."""
    name: str
    owner: str
    opener: "TableOpener"
    take: Callable[[], Candidate | None]
    """Take it from its queue, to seat it now. None: a house bot, which the opener seats."""
    release: Callable[[], None] = lambda: None
    """Called when its contest is over."""
    version: str = ""
    """The version of the bot; empty: it names none."""
    on_seat: Callable[[], Callable[[], None]] = lambda: lambda: None
    """Called when it is seated. What it returns is called after the match."""
    is_house: bool = False
    """It plays any number of matches at once."""

    def gathered(self, game: str) -> GatheredPlayer:
        """Take it from its queue, unless it is a house bot."""
        bot = house_bot(game, self.name) if self.is_house else None
        return GatheredPlayer(self.name, self.owner, self.take(), None if bot is None else bot[1])


class TableOpener(Protocol):
    """Sets tables for contests. Where a table has players of a room, the room sets it."""

    rank: int
    """Of several openers at one table, that with the highest rank sets it."""

    def open_for_contest(self, table: ContestTable, players: Sequence[ContestPlayer]) -> None:
        """Seat the players in this order, and start the match."""


class ContestQueue(Protocol):
    """The bots that wait for matches of contests with a document."""

    on_change: list[Callable[[], None]]
    """Called when a contest has started or is over."""

    def seek(self, seeker: Seeker, client: Any) -> bool:
        """Let a client wait for its next match; False: no such contest has a document."""

    def leave(self, seeker: Seeker) -> None: ...

    def expecting(self, game: str, bot: str) -> str | None:
        """Return the first running contest of a bot, for protocols whose logins name no contest."""

    def expects(self, rules: TableRules, bot: str, owner: str, version: str) -> bool:
        """Return True if a registered bot plays in a running contest with these rules.

        Raise ContestRefusal if no such contest allows this version of it.
        """

    def hold(
        self,
        rules: TableRules,
        bot: str,
        owner: str,
        version: str,
        opener: TableOpener,
        release: Callable[[], None],
    ) -> Callable[[], None]:
        """Let the player of a room wait for its next match.

        Call what is returned when it waits no longer.
        """
