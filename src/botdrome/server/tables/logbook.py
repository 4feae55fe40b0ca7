"""Logbook: the flight records of all seats of a match, and the verdicts that stand in them."""

from collections.abc import Iterable, Sequence

from botdrome.match.course import News
from botdrome.match.events import Cause, Late, Played, Player, Refused
from botdrome.match.terms import Milliseconds
from botdrome.server.tables.flight import Flight


class Logbook:
    __slots__ = ("_missed", "flights")

    def __init__(self, players: int, limit: int) -> None:
        self.flights = [Flight(limit) for _ in range(players)]
        self._missed: dict[Player, Milliseconds] = {}
        """Who let its time run out, and when that was: what it sends next was meant for that step."""

    def move(self, player: Player, now: Milliseconds, message: bytes, news: News, step: int) -> str:
        """Record what a player sent after so many steps, with the verdict that the news gives, and return the verdict."""
        verdict = _verdict(player, news)
        if self._missed:
            verdict = self._in_view_of_the_time(player, verdict, now)
        self.flights[player].came(now, message, verdict, step)
        return verdict

    def silence(self, players: Iterable[Player], now: Milliseconds, due: Milliseconds, step: int) -> None:
        """They let their time run out after so many steps, and are here."""
        for player in players:
            self._missed[player] = due
            self.flights[player].came(now, b"", "no answer in time", step)

    def packed(self, causes: Sequence[Cause]) -> tuple[bytes, ...]:
        return tuple([flight.packed(cause) for flight, cause in zip(self.flights, causes, strict=True)])

    def _in_view_of_the_time(self, player: Player, verdict: str, now: Milliseconds) -> str:
        """What is out of turn because the turn was over came late: the rules cannot know that, the author wants to."""
        due = self._missed.pop(player, None)
        return verdict if due is None or verdict == "accepted" else f"late by {now - due} ms; {verdict}"


def _verdict(player: Player, news: News) -> str:
    if len(news) == 1 and type(news[0][0]) is Played:
        return "accepted"  # nearly always: so much is saved for every move
    for event, _ in news:
        if isinstance(event, (Refused, Late)) and event.player == player:
            return f"illegal: {event.why}" if isinstance(event, Refused) else f"late by {event.by} ms"
    return "accepted"
