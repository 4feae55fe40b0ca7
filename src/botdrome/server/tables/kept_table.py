"""Kept table: a table of a node in a cluster.

Its inputs are stored, so that another node can resume the match.
"""

from collections.abc import Callable
from functools import partial

import structlog

from botdrome.games.game import Raw
from botdrome.match.events import Player, Returned
from botdrome.match.match import News
from botdrome.match.record import setup_of
from botdrome.match.terms import Milliseconds
from botdrome.server.tables.board_break import BoardBreak
from botdrome.server.tables.input_keeper import InputKeeper
from botdrome.server.tables.kept_inputs import InputChunk, MatchHead, pack_head
from botdrome.server.tables.metronome import Metronome
from botdrome.server.tables.move_times import MoveTimes
from botdrome.server.tables.seated_player import SeatedPlayer
from botdrome.server.tables.table import Table
from botdrome.store.store import MatchEntry, Store
from botdrome.wire.writers import standing

log = structlog.get_logger()

HELD = "held: the match moves to another node"


class KeptTable(Table):
    def __init__(
        self,
        entry: MatchEntry,
        times: MoveTimes,
        store: Store,
        flight_bytes: int,
        metronome: Metronome,
        keeper: InputKeeper,
    ) -> None:
        super().__init__(entry, times, store, flight_bytes, metronome)
        self._keeper = keeper
        self._touched = False
        self.kept = True
        """False: the match is over, and its inputs need not be stored."""
        self.saved = 0
        """The number of inputs that are stored or being stored."""
        self._last_saved = b""
        self._held: list[Callable[[], None]] = []
        """Messages that wait until the inputs behind them are stored."""
        self._leaving: list[tuple[int, list[Callable[[], None]]]] = []
        """Those whose inputs are being stored, with the numbers of the batches of inputs."""
        self._frozen = False
        """Whether the clock stands, and all events wait, because the match moves."""
        self._missing: set[Player] = set()
        """Players that may connect again, since the nodes of their sockets stopped.

        The clock stands until they have.
        """
        self.leaving = False
        """Whether it is about to go on at another node."""
        self.asks = True
        """Whether bots may be called for moves; False: the match is about to move."""
        keeper.enter(self)

    # Its inputs.

    def unsaved(self, batch: int) -> InputChunk:
        """Return the new inputs for the batch with this number. They count as saved."""
        self._touched = False
        log = self.match.input_log
        first, lines = log.unsaved(self.saved, self._last_saved)
        self.saved = first + len(lines)
        if lines:
            self._last_saved = lines[-1]
        if self._held:
            self._leaving.append((batch, self._held))
            self._held = []
        return InputChunk(self.entry.id, first, lines) if first else self._with_head(lines)

    def saved_again(self, first: int, end: int) -> InputChunk:
        """Return inputs that were saved before."""
        lines = self.match.input_log.some(first, end)
        return InputChunk(self.entry.id, first, lines) if first else self._with_head(lines)

    def _with_head(self, lines: list[bytes]) -> InputChunk:
        head = MatchHead(self.entry, setup_of(self.match, self.entry.players), self.resumes)
        return InputChunk(self.entry.id, 0, lines, pack_head(head))

    def _publish(self, news: News, now: Milliseconds) -> None:
        if not self._touched:
            self._touch()
        super()._publish(news, now)

    def _ring(self) -> None:
        if not self._touched:
            self._touch()
        super()._ring()

    def _touch(self) -> None:
        self._touched = True
        self._keeper.touch(self)

    # Moving to another node.

    @property
    def can_leave(self) -> bool:
        """Whether the match can move now, apart from its players."""
        return self.open and self._break is None and self.match.result is None

    @property
    def seated(self) -> dict[Player, SeatedPlayer]:
        return dict(self._seated)

    def freeze(self) -> Milliseconds:
        """Stop the clock, and let all that happens wait for `thaw`.

        Return the time. The table must be able to leave.
        """
        now = self.now()
        self._break, self._frozen, self.leaving = BoardBreak([], now, self._loop.time()), True, True
        return now

    def thaw(self) -> None:
        """Go on here after all."""
        self.leaving, self.asks = False, True
        pause = self._break
        assert pause is not None
        passed = self._loop.time() - pause.since
        self._began += passed
        self.match.stall(round(passed * 1000), pause.now)
        self._end_pause()
        self._let_look_unless_over(pause.now)

    def ask_again(self) -> None:
        """Let bots be called for moves: the match does not move."""
        self.asks = True
        self._look()

    def wait_for(self, player: Player, grace: float) -> bool:
        """Stop the clock until a player has connected again, for at most `grace` seconds.

        False: the match cannot wait.
        """
        if player not in self._seated or not (self.can_leave or self._missing):
            return False
        if not self._missing:
            self._break, self._frozen = BoardBreak([], self.now(), self._loop.time()), True
        del self._seated[player]
        self._missing.add(player)
        self.note(player, b"", "its node stops")
        self._loop.call_later(grace, self._miss, player)
        return True

    def _miss(self, player: Player) -> None:
        """The player has not connected again in time."""
        if player in self._missing and self.open:
            self._missing.remove(player)
            self.leave(player)
            self._thaw_if_complete()

    def rejoin(self, player: Player, seated: SeatedPlayer) -> bool:
        if player not in self._missing:
            return super().rejoin(player, seated)
        self._missing.remove(player)
        self.seat(player, seated)
        now = self.now()
        messages = seated.notify([(Returned(player), self.shown)], standing(self.match, now))
        if messages:
            self._flights[player].out(now, messages, self.match.steps)
            seated.tell(messages)
        self._loop.call_soon(self._thaw_if_complete)  # the caller has yet to sit down
        return True

    def _thaw_if_complete(self) -> None:
        if self._frozen and not self._missing:
            self.thaw()

    def depart(self) -> None:
        """The match goes on at another node: forget it here."""
        self.open = False
        if self._timer is not None:
            self._timer.cancel()
        self._seated = {}
        self._subscribers.over(self)

    def _end_pause(self) -> None:
        """Let the match have what happened while it was frozen."""
        pause, self._break, self._frozen = self._break, None, False
        for act in pause.waiting if pause is not None else ():
            try:
                act()
            except Exception:
                log.exception(
                    "what happened while a match moved could not be told", match=self.entry.id
                )

    def _submit_in_break(self, player: Player, raw: Raw, message: bytes) -> str:
        if not self._frozen or self._break is None:
            return super()._submit_in_break(player, raw, message)
        self._break.waiting.append(partial(self._submit_late, player, raw, message))
        return HELD

    def _submit_late(self, player: Player, raw: Raw, message: bytes) -> None:
        self.submit(player, raw, message)

    def _let_look_unless_over(self, now: Milliseconds) -> None:
        """In a function of its own, since the compiler takes the result to be None still where it
        was None before.
        """
        if self.match.result is None:
            self._let_look(now)

    # News that wait for the store.

    def _tell(self, news: News, now: Milliseconds) -> None:
        """Write the messages now, since the match goes on meanwhile."""
        if not self._keeper.holding:
            if self._held or self._leaving:
                self.release()
            return super()._tell(news, now)
        self.shown = news[-1][1]
        steps, seated = self.match.steps, self._seated
        for player, messages in self._written(news, now):
            if messages:
                self._flights[player].out(now, messages, steps)
                self._held.append(partial(seated[player].tell, messages))
        self._held.append(partial(self._show, news, now))
        return None

    def _let_look(self, now: Milliseconds) -> None:
        """Subscribers look at the match after they were told the news."""
        if not self._keeper.holding:
            return super()._let_look(now)
        due = self.match.deadline
        if due is not None and (self._timer is None or due < self._timer_due):
            self._set_timer(due, now)
        self._held.append(self._look)
        return None

    def _look(self) -> None:
        if self.match.result is None:
            self._subscribers.changed()

    def acknowledged(self, batch: int) -> None:
        """The inputs up to this batch are stored."""
        while self._leaving and self._leaving[0][0] <= batch:
            for tell in self._leaving.pop(0)[1]:
                tell()

    def release(self) -> None:
        """Send what is held at once."""
        leaving, self._leaving = self._leaving, []
        held, self._held = self._held, []
        for tell in [*(tell for _, some in leaving for tell in some), *held]:
            tell()

    def _tell_the_end(self, news: News, now: Milliseconds) -> None:
        self.release()  # the record that is stored now has all inputs
        super()._tell_the_end(news, now)
