"""Writers: turn the news of a match into messages for its players, one writer for each protocol at a table."""

from collections.abc import Callable, Collection
from typing import Protocol

from botdrome.match.events import Player
from botdrome.match.match import News
from botdrome.wire.match_header import MatchHeader
from botdrome.wire.standing import Standing


class Writer(Protocol):
    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        """Return the messages for these players. Messages that several players get alike may be one list: do not change it."""


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
        """How a match stands that was resumed, and the players that have to know. New writers learn it, and tell nobody."""
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
