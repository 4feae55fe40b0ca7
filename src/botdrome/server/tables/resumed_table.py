"""Resumed table: a match goes on at another node.

Its clock stands still until its players have returned.

That takes at most the grace period. Players that return may move meanwhile; nobody loses time.
Afterwards the terms decide about those that have not returned, as about players that left.

If the former node lives, the connections of the players move here with the match. Then they notice
nothing.
"""

from botdrome.match.events import Player, Returned
from botdrome.match.record import Resumption
from botdrome.match.terms import Milliseconds
from botdrome.server.tables.board_break import BoardBreak
from botdrome.server.tables.kept_table import KeptTable
from botdrome.server.tables.seated_player import SeatedPlayer
from botdrome.wire.writers import standing

MOVED = "the match moved to another node; earlier messages are not in this record"
BACK = "back after the match moved"
NOBODY_BACK = "its node ended without notice, and no player returned"


class ResumedTable(KeptTable):
    def take_up(self, resumption: Resumption) -> None:
        """Take the match as it stands, with its clock."""
        match = self.match
        self._resumption = resumption
        self._stopped: Milliseconds | None = resumption.now
        """The time at which the clock stands; None: it runs."""
        self._since = self._loop.time()
        self.expected: set[Player] = set()
        """The players that have not returned."""
        self._board, self.shown = match.board.number, match.position
        self.writers.recap = resumption.recap, standing(match, resumption.now), range(match.players)

    def go_on(self, expected: set[Player], grace: float) -> None:
        """Go on when the expected players have returned, or the grace period (in
        seconds) is over.
        """
        self.open, self.expected = True, expected
        now = self.now()
        for flight in self._flights:
            flight.came(now, b"", MOVED, self.match.steps)
        if not self._touched:
            self._touch()
        if self.match.result is not None:
            return self._publish(self._resumption.news, now)
        self._loop.call_later(grace, self._end_grace)
        self._look()
        return self._end_grace_if_complete()

    def move_in(self, expected: set[Player], now: Milliseconds, grace: float) -> None:
        """Go on as if nothing had happened: the clock stands at `now`, and all events wait until
        everybody is here.
        """
        self._stopped, self._frozen = now, True
        self._break = BoardBreak([], now, self._since)
        self.go_on(expected, grace)

    def take_again(self, player: Player, seated: SeatedPlayer) -> bool:
        """Give a player whose connection moved with the match its seat, and tell it nothing.

        False: it is not expected.
        """
        if not self._frozen or self._stopped is None or player not in self.expected:
            return False
        self.expected.remove(player)
        self._seated[player] = seated
        self._flights[player].came(self._stopped, b"", BACK, self.match.steps)
        self._end_grace_if_complete()
        return True

    @property
    def can_leave(self) -> bool:
        return self._stopped is None and super().can_leave

    def now(self) -> Milliseconds:
        return super().now() if self._stopped is None else self._stopped

    def rejoin(self, player: Player, seated: SeatedPlayer) -> bool:
        if self._stopped is None or player not in self.expected:
            return super().rejoin(player, seated)
        self.expected.remove(player)
        self.seat(player, seated)
        now, steps = self._stopped, self.match.steps
        self._flights[player].came(now, b"", BACK, steps)
        messages = seated.notify([(Returned(player), self.shown)], standing(self.match, now))
        if messages:
            self._flights[player].out(now, messages, steps)
            seated.tell(messages)
        self._loop.call_soon(self._look)  # the caller has yet to sit down
        self._end_grace_if_complete()
        return True

    def leave(self, player: Player) -> None:
        """A player that returned and leaves again before the grace period is over may
        still return.
        """
        if self._stopped is None or player not in self._seated or player in self.match.dismissed:
            return super().leave(player)
        del self._seated[player]
        self.expected.add(player)
        return self.note(player, b"", "gone")

    def _ring(self) -> None:
        if self._stopped is None:
            super()._ring()
        else:
            self._timer = None

    def _end_grace_if_complete(self) -> None:
        if not self.expected:
            self._loop.call_soon(self._end_grace)

    def _end_grace(self) -> None:
        """Let the clock run."""
        if self._stopped is None or self.match.result is not None:
            return None
        if self._break is not None and not self._frozen:
            return self._break.waiting.append(self._end_grace)
        now, self._stopped = self._stopped, None
        passed = self._loop.time() - self._since
        self._began = self._loop.time() - now / 1000
        self.match.stall(round(passed * 1000), now)
        if self._frozen:
            self._end_pause()
        if self.expected and not self._seated and not self.match.terms.reunion:
            return self.abort(NOBODY_BACK)
        for player in sorted(self.expected):
            self.leave(player)
        return self._let_look_unless_over(now)
