"""Writers: turn the news of a match into messages for its players, one writer for each protocol at
a table.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from msgspec import Struct

from botdrome.games.game import Seat
from botdrome.match.events import Began, Player
from botdrome.match.match import Match, News
from botdrome.match.terms import Milliseconds, PaceName

# Match header: the facts of a match at its start.


class MatchHeader(Struct, frozen=True):
    match: str
    game: str
    players: tuple[str, ...]
    contest: str | None
    started: int
    pace: PaceName = "usual"


# Match status: the state of a match beside its position.


class MatchStatus(Struct, frozen=True, gc=False):
    """`time_left` is computed when it is read: read it before the next input."""

    now: Milliseconds
    strikes: tuple[int, ...]
    players: int
    board: int
    match: Match

    @property
    def time_left(self) -> Milliseconds | None:
        """The time until the current step ends, as announced; None: no limit.

        Few writers need it. It is the whole limit before a step begins, and never has the grace
        period or a credit.
        """
        match = self.match
        due, pace = match.deadline, match.terms.pace
        if due is None:
            return None
        if match.quick and match.step.opened == self.now and match.steps:  # nearly always
            return pace.limit
        left = due - self.now
        if match.resting:
            left = max(left, 0) + (pace.limit or 0)
            return min(left, pace.limit) if pace.grace and pace.limit is not None else left
        if match.clocks.active:
            left -= match.credited
        if grace := pace.grace:
            limit = pace.limit if match.steps or pace.first is None else pace.first
            left -= (limit or 0) * grace // 100
        return left if left > 0 else 0


def match_status(match: Match, now: Milliseconds) -> MatchStatus:
    board = match.board
    return MatchStatus(now, board.strikes, match.players, board.number, match)


PlayerMessages = dict[Player, list[bytes]]
"""Messages that several players get alike may be one list: do not change it."""


class Writer(Protocol):
    def on_news(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        """Return the messages for these players."""


MakeWriter = Callable[[MatchHeader], Writer]


class MatchWriters:
    """The writers of one match, each with its players: it writes once for all of them."""

    __slots__ = ("_shared", "_writers", "header", "only", "recap")

    def __init__(self, header: MatchHeader) -> None:
        self.header = header
        self.recap: tuple[News, MatchStatus, Collection[Player]] | None = None
        """How a match stands that was resumed, and the players that have to know.

        New writers learn it, and tell nobody.
        """
        self._writers: dict[MakeWriter, tuple[Writer, dict[Player, None]]] = {}
        self._shared: list[tuple[Writer, Collection[Player]]] = []
        """The writers that have players."""
        self.only: tuple[Writer, Collection[Player]] | None = None
        """The writer of all players, if there is just one."""

    def join(self, player: Player, make: MakeWriter) -> Writer:
        """Return the writer for a player from now on; players with the same `make` share it."""
        writers = self._writers
        if make not in writers:
            writers[make] = make(self.header), {}
            if self.recap is not None:
                writers[make][0].on_news(*self.recap)
        if len(writers) > 1:
            for _, players in writers.values():
                players.pop(player, None)
        writer, players = own = writers[make]
        players[player] = None
        if len(writers) == 1:
            self._shared = [own]
        else:
            self._shared = [one for one in writers.values() if one[1]]
        self.only = own if len(self._shared) == 1 else None
        return writer

    def written(self, news: News, status: MatchStatus) -> PlayerMessages:
        """Return the messages for all players."""
        told: PlayerMessages = {}
        for writer, players in self._shared:
            told |= writer.on_news(news, status, players)
        return told


# Values that writers need beside the news and the status: the board of each event, and seats.


def boards_of(news: News, last: int) -> Sequence[int]:
    """Return the board of each event; `last` is the board of the latest."""
    if len(news) == 1:
        return (last,)
    board = last - sum([isinstance(event, Began) for event, _ in news])
    boards = []
    for event, _ in news:
        if isinstance(event, Began):
            board = event.board
        boards.append(board)
    return boards


def seat_on(board: int, player: Player, players: int) -> Seat:
    return (player - board) % players
