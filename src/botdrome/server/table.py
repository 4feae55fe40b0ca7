"""Table: a match, its listeners and the real clock; the only place where they meet."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from time import monotonic, time
from typing import Any, Protocol

import structlog

from botdrome.games.game import Raw
from botdrome.match.course import News
from botdrome.match.events import Cause, Player, Result, meant_for
from botdrome.match.match import Match
from botdrome.match.record import jotted
from botdrome.match.terms import Milliseconds
from botdrome.server import metrics
from botdrome.server.arena import LiveTable
from botdrome.server.audience import Audience, Billing, Spectator
from botdrome.server.logbook import Logbook
from botdrome.server.metronome import Metronome
from botdrome.store.store import Finish, MatchEntry, Note, Status, Store
from botdrome.wire.standing import Standing
from botdrome.wire.vocabulary import standing

log = structlog.get_logger()


class Listener(Protocol):
    """A player at a seat. It is told, and never waits and never raises."""

    def tell(self, messages: list[bytes]) -> None: ...

    def dismiss(self, failed: bool) -> None:
        """The match is over, all was told; `failed`: it could not be stored, and no result was told."""


class Dialect(Protocol):
    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        """The messages for these players. What several are told alike may be one list: it is for reading."""


class Timer(Protocol):
    def cancel(self) -> None: ...


class Timers(Protocol):
    def call_later(self, delay: float, callback: Callable[[], None], /) -> Timer: ...


class Bookkeeper(Protocol):
    """Keeps statistics of matches, which are stored together with the result and told only once they are stored."""

    def notes(self, table: "Table") -> tuple[Note, ...]:
        """Return what is stored together with the result of this match. Nothing that anybody is told changes yet."""

    def stored(self, table: "Table") -> None:
        """Everything is on disk. This is called before anybody is told, and never for a match that could not be stored."""


Tongue = Callable[[MatchEntry], Dialect]
"""How a listener wants to be spoken to: those with the same tongue share the dialect that it makes for a match."""


class Table:
    def __init__(self, entry: MatchEntry, match: Match, store: Store, flight_bytes: int, metronome: Metronome) -> None:
        self.entry, self.match = entry, match
        self.audience = Audience(Billing(entry.id, entry.game, entry.players, entry.contest, entry.started))
        self.on_over: list[Callable[[Table], None]] = []
        self.bookkeeper: Bookkeeper | None = None
        self.watchers: list[Callable[[], None]] = []
        """Called after each change: by those at the table who look for themselves."""
        self.reporters: list[Callable[[News], None]] = []
        """Told all news, secret or not: by those who run the table."""
        self.open = False
        self._store = store
        self._listeners: dict[Player, Listener] = {}
        self._tongues: dict[Tongue, tuple[Dialect, dict[Player, None]]] = {}
        self._logbook = Logbook(len(entry.players), flight_bytes)
        self._flights = self._logbook.flights
        self._loop = asyncio.get_running_loop()
        self._began = 0.0
        self._timers: Timers = metronome if match.terms.pace.beat else self._loop
        self._timer: Timer | None = None
        self._timer_due: Milliseconds = 0
        self._reason = ""
        self._last: tuple[News, Milliseconds, float]
        """The news of the end, and when they came, on either clock."""
        self._last_words: dict[Player, list[bytes]] = {}
        self._ending: asyncio.Future[None]
        """Kept here, for the loop itself holds on to no task."""

    def seat(self, player: Player, listener: Listener, tongue: Tongue) -> None:
        """Give a seat to a listener, or to another one than before."""
        self._listeners[player] = listener
        for _, players in self._tongues.values():
            players.pop(player, None)
        if tongue not in self._tongues:
            self._tongues[tongue] = tongue(self.entry), {}
        self._tongues[tongue][1][player] = None

    def start(self) -> None:
        self.open = True
        self._began = self._loop.time()
        self._publish(self.match.start(), 0)

    def now(self) -> Milliseconds:
        return int((self._loop.time() - self._began) * 1000) if self.open else 0

    # What players do.

    def submit(self, player: Player, raw: Raw, message: bytes, move: Any = None) -> None:
        """A player's move, as it was sent; `move`: what the rules make of it, where that is known already."""
        now, due = self.now(), self.match.deadline
        if due is not None and now > due:
            self._note_lateness(now - due)
        news = self.match.submit(player, raw, now, move)
        self._logbook.move(player, now, message, news)
        self._publish(news, now)

    def leave(self, player: Player) -> None:
        now = self.now()
        self._listeners.pop(player, None)
        self._flights[player].came(now, b"", "gone")
        self._publish(self.match.leave(player, now), now)

    def rejoin(self, player: Player, listener: Listener, tongue: Tongue) -> bool:
        """Whether the seat may be taken again, and now is."""
        now = self.now()
        news = self.match.rejoin(player, now)
        if news:
            self.seat(player, listener, tongue)
            self._publish(news, now)
        return bool(news)

    def expel(self, player: Player, cause: Cause, detail: str) -> None:
        """A player is out of the match, whatever the terms say of those who leave."""
        now = self.now()
        self._publish(self.match.expel(player, cause, now, detail), now)

    def amend(self, options: Mapping[str, Any], pause: Milliseconds | None = None) -> None:
        """Other options, and another pause, from the next round on; BadOption where the game does not allow it."""
        now = self.now()
        self._publish(self.match.amend(options, now, pause), now)

    def note(self, player: Player, message: bytes, verdict: str) -> None:
        """Something for the flight record that is no move."""
        self._flights[player].came(self.now(), message, verdict)

    def abort(self, reason: str) -> None:
        if self.match.result is None:  # else it may still have to be written down
            self._reason = reason
        now = self.now()
        self._publish(self.match.abort(now), now)

    def conclude(self) -> None:
        """The match ends here, and counts as it stands."""
        now = self.now()
        self._publish(self.match.conclude(now), now)

    # What spectators do.

    def watch(self, spectator: Spectator) -> None:
        order = tuple(self.entry.players[player] for player in self.match.order)
        self.audience.join(spectator, self.now(), order, self.match.view(None))

    def live(self) -> LiveTable:
        entry = self.entry
        return LiveTable(entry.id, entry.game, entry.players, entry.contest, entry.started, self.match.steps, len(self.audience))

    # How it goes on.

    def _publish(self, news: News, now: Milliseconds) -> None:
        if news and self.match.result is not None:
            self._end(news, now)
        elif news:
            self._tell(news, now)
            self._let_look(now)

    def _let_look(self, now: Milliseconds) -> None:
        due = self.match.deadline
        if due is not None and (self._timer is None or due < self._timer_due):
            self._set_timer(due, now)
        for look in self.watchers:
            look()

    def _tell(self, news: News, now: Milliseconds) -> None:
        stands, listeners = standing(self.match, now), self._listeners
        for dialect, players in self._tongues.values():
            for player, messages in dialect.on_news(news, stands, players).items():
                listener = listeners.get(player)
                if messages and listener is not None:
                    self._flights[player].out(now, messages)
                    listener.tell(messages)
        self._show(news, now)

    def _show(self, news: News, now: Milliseconds) -> None:
        """To those who do not play."""
        for report in self.reporters:
            report(news)
        if self.audience:
            self.audience.see(now, [(event, position.view(None)) for event, position in news if meant_for(event) is None])

    def _set_timer(self, due: Milliseconds, now: Milliseconds) -> None:
        """One timer serves many deadlines: when it rings too early, it is set again."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        self._timer = self._timers.call_later(max(0, due - now) / 1000, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self.match.result is not None:
            return
        now, due = self.now(), self.match.deadline
        if due is not None and now >= due:
            self._note_lateness(now - due)
        awaited = set() if self.match.terms.pace.beat or self.match.resting else set(self.match.awaited)
        news = self.match.wake(now)
        if news and due is not None:
            self._logbook.silence(awaited & self._listeners.keys(), now, due)
        self._publish(news, now) if news else self._let_look(now)

    def _note_lateness(self, late: Milliseconds) -> None:
        """A beat that rings, or that a message finds overdue."""
        if self.match.terms.pace.beat:
            metrics.LATENESS.observe(late / 1000)

    def _end(self, news: News, now: Milliseconds) -> None:
        """The result is on disk before anyone is told of it. Books and flight records are closed here and now."""
        if self._timer is not None:
            self._timer.cancel()
        self._last = news, now, monotonic()
        result = self.match.result
        assert result is not None
        try:
            notes = self.bookkeeper.notes(self) if self.bookkeeper else ()
            self._find_last_words()
            flights = self._logbook.packed(result.causes)
            self._ending = self._loop.create_task(self._write_down(result, flights, notes))
        except Exception as problem:
            self._ending = self._loop.create_future()
            self._ending.set_exception(problem)
        self._ending.add_done_callback(self._stored)

    async def _write_down(self, result: Result, flights: tuple[bytes, ...], notes: tuple[Note, ...]) -> None:
        """Bit by bit: in between the loop looks after all others."""
        match, entry = self.match, self.entry
        metrics.MOVES.inc(match.minutes.moves)
        record, view = jotted(match, entry.players), match.view(None)
        await asyncio.sleep(0)
        status: Status = "aborted" if result.aborted else "ended"
        await self._store.finish(Finish(entry.id, status, int(time() * 1000), result, view, record, flights, self._reason, notes))

    def _stored(self, ending: asyncio.Future[None]) -> None:
        if ending.cancelled():
            return  # the loop is being closed
        (news, now, since), problem = self._last, ending.exception()
        metrics.STORE.observe(monotonic() - since)
        if problem is not None:
            log.error("a match could not be stored", match=self.entry.id, exc_info=problem)
        else:
            self._tell_the_end(news, now)
        listeners, self._listeners = self._listeners, {}
        for listener in listeners.values():
            listener.dismiss(failed=problem is not None)
        self.audience.dismiss()
        for tell in self.on_over:
            tell(self)

    def _tell_the_end(self, news: News, now: Milliseconds) -> None:
        """Whatever goes wrong here, the table is cleared."""
        try:
            if self.bookkeeper is not None:
                self.bookkeeper.stored(self)
            for player, messages in self._last_words.items():
                if (listener := self._listeners.get(player)) is not None:
                    listener.tell(messages)
            self._show(news, now)
        except Exception:
            log.exception("the end of a match could not be told", match=self.entry.id)

    def _find_last_words(self) -> None:
        """What the players will be told of the end: it is in their flight records before these are stored."""
        news, now, _ = self._last
        stands = standing(self.match, now)
        try:
            for dialect, players in self._tongues.values():
                told = dialect.on_news(news, stands, players)
                self._last_words |= {player: told[player] for player in told if told[player] and player in self._listeners}
        except Exception:
            log.exception("there are no words for the end of a match", match=self.entry.id)
        for player, messages in self._last_words.items():
            self._flights[player].out(now, messages)
