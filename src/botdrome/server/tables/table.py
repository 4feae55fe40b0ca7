"""Table: a match, its players, its subscribers and the real clock; the only place where
they meet.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from itertools import accumulate
from sys import maxsize
from time import monotonic, time
from typing import Any, Final

import structlog

from botdrome.games.game import Game, Raw
from botdrome.match.events import Cause, Player, Result, meant_for, rotated
from botdrome.match.match import News
from botdrome.match.record import ENCODER, setup_of, unchecked_file, unchecked_pieces
from botdrome.match.terms import Milliseconds
from botdrome.server import metrics
from botdrome.server.tables.audience import (
    Audience,
    LiveTable,
    SeatedPlayer,
    Spectator,
    header_of,
    live_table,
)
from botdrome.server.tables.flight_records import SHOWN, FlightRecords, sent, shortened
from botdrome.server.tables.timing import NOTHING, MoveTimes, TickTimers, Timer, Timers
from botdrome.store.entries import (
    AlreadyOver,
    AnyNote,
    Finish,
    MatchEntry,
    Status,
    StoreUnavailable,
)
from botdrome.store.store import Store
from botdrome.wire.writers import MatchStatus, MatchWriters, match_status


class BoardBreak:
    """The table's clock stands still, and all events wait until the board is stored."""

    def __init__(self, news: News, now: Milliseconds, since: float) -> None:
        self.news = news
        """The news of the end of the board."""
        self.now, self.since = now, since
        """When the break began, on the table's clock and on the loop's."""
        self.waiting: list[Callable[[], object]] = []


SHORT, LIGHT = 50, 1 << 14
"""Inputs and their bytes up to which a match is stored in one piece."""
SOME_LINES, SOME_BYTES = 500, 1 << 16
"""Lines of a running match that are read at a time, and their bytes; one line may have more."""


# Subscriber: follows the match at a table.
#
# Spectators, statistics, contests, house bots and rooms all do so in this way.


class Subscriber:
    """The functions that a table calls.

    None of them waits or raises. Those that are not given are not called.
    """

    __slots__ = ("changed", "notes", "notify", "over", "stored")

    def __init__(
        self,
        notify: Callable[[News], None] | None = None,
        changed: Callable[[], None] | None = None,
        notes: Callable[["Table"], tuple[AnyNote, ...]] | None = None,
        stored: Callable[["Table"], None] | None = None,
        over: Callable[["Table"], None] | None = None,
    ) -> None:
        """`notify` gets the news that everybody may see; a result only once it is stored.

        `changed` is called after each change that does not end the match: a subscriber may look at
        the match then. `notes` returns statistics that are stored together with a board or the
        result. They are told to nobody before `stored` is called, which is never called for notes
        that could not be stored. `over` is called last. `Table.stored` says whether the result was
        stored. A match without a result then goes on at another node.
        """
        self.notify, self.changed, self.notes = notify, changed, notes
        self.stored, self.over = stored, over


class Subscribers:
    """All subscribers of one table, called in the order in which they came."""

    __slots__ = ("_all", "changed", "notified")

    def __init__(self) -> None:
        self._all: list[Subscriber] = []
        self.notified: list[Callable[[News], None]] = []
        self.changed: list[Callable[[], None]] = []

    def add(self, subscriber: Subscriber) -> None:
        self._all.append(subscriber)
        if subscriber.notify is not None:
            self.notified.append(subscriber.notify)
        if subscriber.changed is not None:
            self.changed.append(subscriber.changed)

    def remove(self, subscriber: Subscriber) -> None:
        """The lists are made anew, since a subscriber may leave while it is being called."""
        rest = [one for one in self._all if one is not subscriber]
        self._all, self.notified, self.changed = [], [], []
        for one in rest:
            self.add(one)

    def notify(self, news: News) -> None:
        if self.notified:
            public = [piece for piece in news if meant_for(piece[0]) is None]
            for notify in self.notified:
                notify(public)

    def notes(self, table: "Table") -> tuple[AnyNote, ...]:
        return tuple(
            [note for one in self._all if one.notes is not None for note in one.notes(table)]
        )

    def stored(self, table: "Table") -> None:
        for subscriber in self._all:
            if subscriber.stored is not None:
                subscriber.stored(table)

    def over(self, table: "Table") -> None:
        for subscriber in self._all:
            if subscriber.over is not None:
                subscriber.over(table)


log = structlog.get_logger()

NEVER: Final[Milliseconds] = maxsize

BETWEEN_BOARDS = "ignored: the next board has not started"


class Table:
    def __init__(
        self,
        entry: MatchEntry,
        times: MoveTimes,
        store: Store,
        flight_bytes: int,
        tick_timers: TickTimers,
    ) -> None:
        self.entry, self._times = entry, times
        self.match = match = times.match
        self.writers = MatchWriters(header_of(entry))
        self.audience = Audience(self.writers.header, match.terms.pace.limit)
        self._subscribers = Subscribers()
        self.open = False
        self.resumes = True
        """Whether another node may resume the match; False: a room has players that can return
        nowhere else.
        """
        self._board = 0
        self.shown: Game[Any] = match.position
        """The position that players and spectators were last told of."""
        self._break: BoardBreak | None = None
        self.stored = False
        """The end is stored, so it may be told."""
        self._store = store
        self._seated: dict[Player, SeatedPlayer] = {}
        self._records = FlightRecords(len(entry.players), flight_bytes)
        self._flights = self._records.flights
        self._loop, self._began = asyncio.get_running_loop(), 0.0
        self._tick_timers = tick_timers if match.terms.pace.beat else None
        self._timers: Timers = self._tick_timers or self._loop
        self._timer: Timer | None = None
        self._timer_due, self._reason = NEVER, ""
        self._last: tuple[News, Milliseconds, float]
        self._last_words: dict[Player, list[bytes]] = {}
        self._ending: asyncio.Future[None]

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Return a function that ends the subscription."""
        self._subscribers.add(subscriber)
        return partial(self._subscribers.remove, subscriber)

    def seat(self, player: Player, seated: SeatedPlayer) -> None:
        seated.take_seat(player, self.writers)
        self._seated[player] = seated

    def seat_house(self, player: Player) -> None:
        """A house bot has this seat, and is not charged for its time."""
        self._times.seat_house(player)

    def start(self) -> None:
        self.open = True
        self._began = self._loop.time()
        self._publish(self._times.start(self._seated), 0)

    def now(self, at: float | None = None) -> Milliseconds:
        """Return the time since the start, without the time in which boards were being stored.

        `at` is the time of the loop, if the caller has just read it.
        """
        if self._break is not None:
            return self._break.now
        if not self.open:
            return 0
        return int(((self._loop.time() if at is None else at) - self._began) * 1000)

    # Actions of players.

    def submit(
        self,
        player: Player,
        raw: Raw,
        message: bytes,
        now: Milliseconds | None = None,
        at: float | None = None,
    ) -> str:
        """Take a player's move as it was sent, and return what became of it: "accepted", or why it
        was not.

        `now` is the time, if the caller has just read it and let the ticks that were due go first.
        `at` is the same on the loop's clock, if ticks may be due.
        """
        if at is not None and self._tick_timers is None:  # the usual case
            now = int((at - self._began) * 1000)
        elif now is None:
            if self._tick_timers is not None:
                self._tick_timers.catch_up()
            now = self.now()
        if self._break is not None:
            return self._submit_in_break(player, raw, message)
        match, records = self.match, self._records
        uncharged = self._times.before_move(player, self._seated, now)
        step = match.steps
        news = match.submit(player, raw, now)
        if uncharged is not NOTHING and uncharged[1] and match.steps == step:
            self._times.after_refusal(player, uncharged, now)
        if records.missed or (news and (len(news) > 1 or match.steps == step)):
            verdict = records.move(player, now, message, news, step, uncharged)
            self._publish(news, now)
            return verdict
        # Nearly always: the step waits for others, or was played, and that is all the news.
        said = message if len(message) <= SHOWN else shortened(message)
        row, times = records.rows[player], None if uncharged is NOTHING else uncharged
        row += (now, True, said, "accepted", step, times)  # received(), without the call
        if news:
            self._tell(news, now)
        if len(row) >= records.full:
            records.turn_over()
        return "accepted"

    def _submit_in_break(self, player: Player, raw: Raw, message: bytes) -> str:
        self.note(player, message, BETWEEN_BOARDS)
        return BETWEEN_BOARDS

    def leave(self, player: Player) -> None:
        self._seated.pop(player, None)
        self._times.leave(player)
        self._flights[player].came(self.now(), b"", "gone", self.match.steps)
        self._inform(lambda now: self.match.leave(player, now))

    def rejoin(self, player: Player, seated: SeatedPlayer) -> bool:
        """Give a player its seat back, and return whether the rules allow that."""
        now = self.now()
        news = self.match.rejoin(player, now)
        if news:
            self.seat(player, seated)
            self._publish(news, now)
        return bool(news)

    def expel(self, player: Player, cause: Cause, detail: str) -> None:
        """Take a player out of the match, even if the terms do not let it leave."""
        self._inform(lambda now: self.match.expel(player, cause, now, detail))

    def amend(self, options: Mapping[str, Any], pause: Milliseconds | None = None) -> None:
        """Change options, and the pause, from the next round on.

        Raise BadOption if the game does not allow it.
        """
        now = self.now()
        self._publish(self.match.amend(options, now, pause), now)

    def note(self, player: Player, message: bytes, verdict: str) -> None:
        """Put something that is no move into the flight record."""
        self._flights[player].came(self.now(), message, verdict, self.match.steps)

    def abort(self, reason: str) -> None:
        if self.match.result is None:  # else it may still have to be written down
            self._reason = reason
        self._inform(self.match.abort)

    def conclude(self) -> None:
        """End the match with the current scores."""
        self._inform(self.match.conclude)

    def _inform(self, tell: Callable[[Milliseconds], News]) -> None:
        """Tell the match something that may end a board or the match.

        In a break it waits for the next board.
        """
        if self._break is not None:
            self._break.waiting.append(partial(self._inform, tell))
        else:
            now = self.now()
            self._publish(tell(now), now)

    # Spectators.

    def watch(self, spectator: Spectator) -> None:
        order = tuple(
            [self.entry.players[player] for player in rotated(self.match.players, self._board)]
        )
        self.audience.join(spectator, self.now(), order, self.shown.view(None))

    def live(self) -> LiveTable:
        return live_table(self.entry, self.match.steps, len(self.audience))

    def past(self, first: int) -> list[bytes] | None:
        """Lines of the match file so far, the set-up first: `first` and some of those after it.

        None: spectators have not seen the last of them yet, since it is being stored.
        """
        if self._break is not None or self.match.result is not None:
            return None
        setup = [ENCODER.encode(setup_of(self.match, self.entry.players))] if not first else []
        some = self.match.input_log.some(max(0, first - 1), first + SOME_LINES - 1)
        starts = accumulate(map(len, some), initial=0)
        return setup + [line for line, at in zip(some, starts, strict=False) if at < SOME_BYTES]

    # News.

    def _publish(self, news: News, now: Milliseconds) -> None:
        if not news:
            return
        match = self.match
        if self._break is not None:
            self._break.waiting.append(partial(self._publish, news, now))
        elif match.result is not None:
            self._end(news, now)
        elif match.board.number != self._board:
            self._end_board(news, now)
        else:
            self._tell(news, now)

    def _end_board(self, news: News, now: Milliseconds) -> None:
        """Store a board before its result is sent and before the next one starts."""
        self._break = BoardBreak(news, now, self._loop.time())
        self._under_way(self._write_board).add_done_callback(self._board_stored)

    def _under_way(self, write: Callable[[], Awaitable[None]]) -> asyncio.Future[None]:
        """Start a write. The future also gets an exception that is raised at once."""
        try:
            return asyncio.ensure_future(write())
        except Exception as problem:
            failed: asyncio.Future[None] = self._loop.create_future()
            failed.set_exception(problem)
            return failed

    def _write_board(self) -> Awaitable[None]:
        """Store the boards so far, in case nothing else is ever stored of the match."""
        entry, match = self.entry, self.match
        record, result = unchecked_file(match, entry.players), match.result_if_ended("aborted")
        view, notes = match.view(None), self._subscribers.notes(self)
        return self._store.finish(
            Finish(entry.id, "running", None, result, view, record, notes=notes)
        )

    def _board_stored(self, storing: asyncio.Future[None]) -> None:
        pause = self._break
        if pause is None or storing.cancelled():
            return  # the loop is being closed
        seconds = self._loop.time() - pause.since
        metrics.STORE.observe(seconds)
        self._began += seconds
        self._break = None
        try:
            storing.result()
            self._board = self.match.board.number
            self._subscribers.stored(self)
            self._publish(pause.news, pause.now)
        except Exception:
            log.exception("a board could not be stored and told", match=self.entry.id)
            self.abort("a board could not be stored")
        for act in pause.waiting:
            try:
                act()
            except Exception:
                log.exception(
                    "what happened between two boards could not be told", match=self.entry.id
                )

    def _tell(self, news: News, now: Milliseconds) -> None:
        """All messages are written before the first is sent."""
        self.shown = news[-1][1]
        match, only = self.match, self.writers.only
        board, step = match.board, match.steps
        status = MatchStatus(now, board.strikes, match.players, board.number, match)
        if only is not None:  # written(), without the call
            writer, players = only
            told = writer.on_news(news, status, players)
        else:
            told = self.writers.written(news, status)
        records, seated, last = self._records, self._seated, None
        rows = records.rows
        for player, messages in told.items():
            if messages and (one := seated.get(player)) is not None:
                if messages is not last:  # players that get the same have the same entries
                    last, entries = messages, sent(now, messages, step)
                row = rows[player]
                row += entries
                one.tell(messages)
        if last and len(row) >= records.full:
            records.turn_over()
        if self._subscribers.notified or self.audience.spectators:
            self._show(news, now)
        due = match.deadline  # _let_look(), without the call
        if due is not None and due < self._timer_due:
            self._set_timer(due, now)
        for changed in self._subscribers.changed:
            changed()

    def _let_look(self, now: Milliseconds) -> None:
        due = self.match.deadline
        if due is not None and due < self._timer_due:
            self._set_timer(due, now)
        for changed in self._subscribers.changed:
            changed()

    def _show(self, news: News, now: Milliseconds) -> None:
        self._subscribers.notify(news)
        if self.audience.spectators:
            self.audience.see(
                now,
                [
                    (event, position.view(None))
                    for event, position in news
                    if meant_for(event) is None
                ],
            )

    def _set_timer(self, due: Milliseconds, now: Milliseconds) -> None:
        """One timer serves many deadlines. When it rings too early, it is set again."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        self._timer = self._timers.call_later(max(0, due - now) / 1000, self._ring)

    def _ring(self) -> None:
        self._timer, self._timer_due = None, NEVER
        if self.match.result is not None or self._break is not None:
            return None
        now, due = self.now(), self.match.deadline
        if self._times.reads_first(now):
            return self._set_timer(now + 1, now)
        awaited = (
            set() if self.match.terms.pace.beat or self.match.resting else set(self.match.awaited)
        )
        step = self.match.steps
        news = self.match.wake(now)
        if news and due is not None:
            self._records.silence(awaited & self._seated.keys(), now, due, step)
        return self._publish(news, now) if news else self._let_look(now)

    def _end(self, news: News, now: Milliseconds) -> None:
        """Store the result before it is sent. Flight records end here."""
        if self._timer is not None:
            self._timer.cancel()
        self._last = news, now, monotonic()
        self._find_last_words()
        metrics.MOVES.inc(self.match.input_log.moves)
        self._ending = self._under_way(self._write_end)
        self._ending.add_done_callback(self._stored)

    def _write_end(self) -> Awaitable[None]:
        """Store a long match in pieces, so that the event loop serves other matches in between."""
        result = self.match.result
        assert result is not None
        log, flights = self.match.input_log, self._records.packed(result.causes)
        if len(log) > SHORT or sum(map(len, log.some(0, SHORT))) > LIGHT:
            return self._write_in_pieces(result, flights)
        return self._finish(result, unchecked_file(self.match, self.entry.players), flights)

    async def _write_in_pieces(self, result: Result, flights: tuple[bytes, ...]) -> None:
        pieces: list[bytes] = []
        for piece in unchecked_pieces(self.match, self.entry.players):
            pieces.append(piece)
            await asyncio.sleep(0)
        await self._finish(result, b"".join(pieces), flights)

    def _finish(self, result: Result, record: bytes, flights: tuple[bytes, ...]) -> Awaitable[None]:
        """The notes are made now, so that all are stored in the order in which they were made."""
        status: Status = "aborted" if result.aborted else "ended"
        now, view, notes = int(time() * 1000), self.match.view(None), self._subscribers.notes(self)
        return self._store.finish(
            Finish(self.entry.id, status, now, result, view, record, flights, self._reason, notes)
        )

    def _stored(self, ending: asyncio.Future[None]) -> None:
        if ending.cancelled():
            return  # the loop is being closed
        (news, now, since), problem = self._last, ending.exception()
        metrics.STORE.observe(monotonic() - since)
        self.stored = problem is None
        if isinstance(problem, AlreadyOver | StoreUnavailable):
            log.error(
                "a result was not stored, and is told to nobody",
                match=self.entry.id,
                why=str(problem),
            )
        elif problem is not None:
            log.error("a match could not be stored", match=self.entry.id, exc_info=problem)
        else:
            self._tell_the_end(news, now)
        players, self._seated = self._seated, {}
        for player in players.values():
            player.dismiss(failed=problem is not None)
        self.audience.dismiss()
        self._subscribers.over(self)

    def _tell_the_end(self, news: News, now: Milliseconds) -> None:
        try:
            self._subscribers.stored(self)
            for player, messages in self._last_words.items():
                if messages and (seated := self._seated.get(player)) is not None:
                    seated.tell(messages)
            self._show(news, now)
        except Exception:
            log.exception("the end of a match could not be told", match=self.entry.id)

    def _find_last_words(self) -> None:
        """Write the last messages for the players now, so that the stored flight
        records have them.
        """
        news, now, _ = self._last
        try:
            self._last_words = self.writers.written(news, match_status(self.match, now))
        except Exception:
            log.exception("there are no words for the end of a match", match=self.entry.id)
        for player in self._last_words.keys() & self._seated.keys():
            row = self._records.rows[player]
            row += sent(now, self._last_words[player], self.match.steps)
