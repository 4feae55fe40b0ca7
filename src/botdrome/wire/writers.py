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


# Standing: the state of a match beside its position.


class Standing(Struct, frozen=True):
    now: Milliseconds
    time_left: Milliseconds | None
    """The time until the current step ends, as announced; None: no limit."""
    strikes: tuple[int, ...]
    players: int
    board: int


class Writer(Protocol):
    def on_news(
        self, news: News, standing: Standing, players: Collection[Player]
    ) -> dict[Player, list[bytes]]:
        """Return the messages for these players.

        Messages that several players get alike may be one list: do not change it.
        """


MakeWriter = Callable[[MatchHeader], Writer]


class SharedWriter:
    """A writer and its players. It writes once for all of them, when the first of them asks."""

    __slots__ = ("_news", "_players", "_told", "writer")

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._players: dict[Player, None] = {}
        self._news: News | None = None
        self._told: dict[Player, list[bytes]] = {}

    def add(self, player: Player) -> None:
        self._players[player] = None

    def remove(self, player: Player) -> None:
        self._players.pop(player, None)

    def messages(self, player: Player, news: News, standing: Standing) -> list[bytes]:
        if news is not self._news:
            self._news, self._told = news, self.writer.on_news(news, standing, self._players)
        return self._told.get(player, [])


class MatchWriters:
    """The writers of one match."""

    __slots__ = ("_writers", "header", "recap")

    def __init__(self, header: MatchHeader) -> None:
        self.header = header
        self.recap: tuple[News, Standing, Collection[Player]] | None = None
        """How a match stands that was resumed, and the players that have to know.

        New writers learn it, and tell nobody.
        """
        self._writers: dict[MakeWriter, SharedWriter] = {}

    def join(self, player: Player, make: MakeWriter) -> SharedWriter:
        """Return the writer for a player from now on; players with the same `make` share it."""
        for writer in self._writers.values():
            writer.remove(player)
        shared = self._writers.get(make)
        if shared is None:
            shared = self._writers[make] = SharedWriter(make(self.header))
            if self.recap is not None:
                shared.writer.on_news(*self.recap)
        shared.add(player)
        return shared


# Values that writers need beside the news: the standing of the match, the board of each event, and
# seats.


def standing(match: Match, now: Milliseconds) -> Standing:
    due = match.deadline
    left = None if due is None else _announced(match, due - now)
    return Standing(now, left, match.strikes, match.players, match.board.number)


def _announced(match: Match, left: Milliseconds) -> Milliseconds:
    """Return the time shown to players: the whole limit before a step begins, and never the grace
    period or a credit.
    """
    pace = match.terms.pace
    if match.resting:
        left = max(left, 0) + (pace.limit or 0)
        return min(left, pace.limit) if pace.grace and pace.limit is not None else left
    left -= match.credited
    limit = pace.limit if match.steps or pace.first is None else pace.first
    return max(left - (limit or 0) * pace.grace // 100, 0)


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
