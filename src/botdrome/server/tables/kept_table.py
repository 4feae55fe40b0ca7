"""Kept table: a table of a node in a cluster. Its inputs are stored, so that another node can resume the match."""

from collections.abc import Callable
from functools import partial

from botdrome.match.course import News
from botdrome.match.record import setup_of
from botdrome.match.terms import Milliseconds
from botdrome.server.tables.input_keeper import InputKeeper
from botdrome.server.tables.kept_inputs import InputChunk, MatchHead, pack_head
from botdrome.server.tables.metronome import Metronome
from botdrome.server.tables.move_times import MoveTimes
from botdrome.server.tables.table import Table
from botdrome.store.store import MatchEntry, Store


class KeptTable(Table):
    def __init__(
        self, entry: MatchEntry, times: MoveTimes, store: Store, flight_bytes: int, metronome: Metronome, keeper: InputKeeper
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
