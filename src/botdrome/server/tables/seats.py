"""Seats: the listeners at a table, and the dialects in which they are spoken to."""

from botdrome.match.course import News
from botdrome.match.events import Player
from botdrome.server.tables.listener import Dialect, Listener, Tongue
from botdrome.store.store import MatchEntry
from botdrome.wire.standing import Standing


class Seats:
    def __init__(self, entry: MatchEntry) -> None:
        self._entry = entry
        self.listeners: dict[Player, Listener] = {}
        self._tongues: dict[Tongue, tuple[Dialect, dict[Player, None]]] = {}

    def give(self, player: Player, listener: Listener, tongue: Tongue) -> None:
        """Give a seat to a listener, or to another one than before."""
        self.listeners[player] = listener
        for _, players in self._tongues.values():
            players.pop(player, None)
        if tongue not in self._tongues:
            self._tongues[tongue] = tongue(self._entry), {}
        self._tongues[tongue][1][player] = None

    def words(self, news: News, standing: Standing) -> dict[Player, list[bytes]]:
        """What those who are here are to be told."""
        listeners = self.listeners
        return {
            player: messages
            for dialect, players in self._tongues.values()
            for player, messages in dialect.on_news(news, standing, players).items()
            if messages and player in listeners
        }
