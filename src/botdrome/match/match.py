"""Match: one match, from the first question to the result.

Theory of operation. A match is told what happens and when (`submit`, `leave`, `wake`, ...) and answers with the news:
pairs of an event and the position that it left. It has no clock: times are milliseconds since the start, handed in, and
`deadline` says when the next `wake` is due. Seed and inputs replay it whole.

A match is a row of boards, a board a row of steps (see `Course`). Until a step closes a seat may speak again, and its last
word counts; who says more than there is room for is out (see `InputLog`). A move that comes after the deadline is late, whether
or not the wake has come; in a beat it counts for the next step. An illegal move does not restart the clock. A beat counts from
the last deadline, so that it never drifts. What comes in the pause between two steps counts for the next.

Players keep their numbers for the whole match; seats are theirs for one board and move on by one with each.
"""

from collections.abc import Mapping
from typing import Any

from botdrome.games.chance import Chance
from botdrome.games.game import Game, IllegalMove, Raw
from botdrome.match.course import Course, News
from botdrome.match.events import Amended, Cause, Late, Left, Player, Refused, Returned
from botdrome.match.input_log import TOO_MUCH, Input, InputLog
from botdrome.match.terms import Milliseconds, Terms


class Match(Course):
    __slots__ = ("_misses", "input_log")

    def __init__(self, game: Game[Any], players: int, terms: Terms, seed: int, generator: type[Chance] = Chance) -> None:
        super().__init__(game, players, terms, seed, generator)
        self.input_log = InputLog(players)
        self._misses = [0] * players

    @property
    def inputs(self) -> list[Input]:
        """All that it was told."""
        return self.input_log.inputs

    # What the world tells.

    def start(self) -> News:
        news: News = []
        self._begin(0, news)
        return news

    def submit(self, player: Player, raw: Raw, now: Milliseconds) -> News:
        """Take a player's move, as it was sent."""
        news: News = []
        if self.result is not None:
            return news
        if player in self._dismissed and self.input_log.full(player):
            return [(Refused(player, "you are out", raw, 0), self.position)]
        if not self.input_log.add(now, "move", player, raw):
            news.append((Refused(player, TOO_MUCH, raw, 0), self.position))
            self._dismiss(player, "flood", TOO_MUCH, now, news)
            return news
        due = self.deadline
        if due is not None and now > due and self._overtaken(player, raw, now, now - due, news):
            return news
        seat = self._seat_of[player]
        if seat not in self._open:
            self._refuse_hasty(player, raw, now, news)
            return news
        try:
            self._moves[seat] = self.position.parse(seat, raw)
        except IllegalMove as fault:
            self._refuse(player, str(fault), raw, now, news)
            return news
        self._raws[player] = raw
        self._misses[player] = 0
        if self._disturbed or self._faults or self._beat or self._pause or self.awaited != [player]:
            self._answered(player, now, news)
        else:
            self._turn(now, news)
        return news

    def wake(self, now: Milliseconds) -> News:
        """Time has passed. Does nothing before the deadline."""
        news: News = []
        if self.result is None and self.deadline is not None and now >= self.deadline:
            self.input_log.add(now, "wake", None)
            self._time_up(now, news)
        return news

    def leave(self, player: Player, now: Milliseconds) -> News:
        """A player is gone."""
        news: News = []
        if self.result is not None or player in self._away or player in self._dismissed:
            return news
        self.input_log.add(now, "leave", player)
        if self.terms.gone == "out":
            self._dismiss(player, "disconnect", "", now, news)
            return news
        self._away.add(player)
        self._disturbed = True
        news.append((Left(player), self.position))
        if self._abandoned(now, news):
            return news
        if self._decided():
            self._end_here("complete", news)
        else:
            self._wait_no_longer_for(player, now, news)
        return news

    def rejoin(self, player: Player, now: Milliseconds) -> News:
        """A player that was gone is back. Nothing happens where the terms do not allow it."""
        if self.result is not None or self.terms.gone != "wait" or player not in self._away or self.input_log.full(player):
            return []
        self.input_log.add(now, "rejoin", player)
        abandoned = self._nobody_here
        self._away.remove(player)
        self._given_up.discard(player)
        if abandoned:
            self._set_deadline(now)
        elif player in self.awaited and not self._beat:
            self._set_deadline(self._opened)
        return [(Returned(player), self.position)]

    def expel(self, player: Player, cause: Cause, now: Milliseconds, detail: str = "") -> News:
        """A player is out of the match, whatever the terms say of those who leave."""
        news: News = []
        if self.result is None and player not in self._dismissed:
            self.input_log.add(now, "expel", player, [cause, detail])
            self._dismiss(player, cause, detail, now, news)
        return news

    def amend(self, options: Mapping[str, Any], now: Milliseconds, pause: Milliseconds | None = None) -> News:
        """Other options, and another pause, from the next round on; BadOption where the game does not allow it."""
        if self.result is not None:
            return []
        if options:
            self.position = self.position.amend(options)
        if pause is not None:
            self._pause = pause
            if self.resting:
                self.deadline = max(now, self._rested + pause)
        self.input_log.amend(now, options, pause)
        return [(Amended(dict(options)), self.position)]

    def abort(self, now: Milliseconds) -> News:
        """The match ends here and counts for nobody."""
        news: News = []
        if self.result is None:
            self.input_log.add(now, "abort", None)
            self._end_here("aborted", news)
        return news

    def conclude(self, now: Milliseconds) -> News:
        """The match ends here, and counts as it stands: nothing that could still happen would be worth waiting for."""
        news: News = []
        if self.result is None:
            self.input_log.add(now, "conclude", None)
            self._end_here("complete", news)
        return news

    # Time.

    def _time_up(self, now: Milliseconds, news: News) -> None:
        due, limit = self.deadline or 0, self.terms.pace.limit or 0
        if self._nobody_here:
            return self._end_here("disconnect", news)
        if self.resting:
            self.resting = False
            return self._go_on(now, news)
        for player in self.awaited:
            self._miss(player)
        return self._close(due if self._beat and now - due <= limit else now, news)

    def _overtaken(self, player: Player, raw: Raw, now: Milliseconds, by: Milliseconds, news: News) -> bool:
        """Time was up before this move came. After a beat or a pause it counts for the step that opens; else it was meant for
        the last one."""
        late = self._beat or player in self.awaited
        counts = self._beat or self.resting
        self._time_up(now, news)
        if counts and self.result is None:
            return False
        news.append((Late(player, by) if late else Refused(player, "it is not your turn", raw, 0), self.position))
        return True

    def _miss(self, player: Player) -> None:
        self._misses[player] += 1
        if player in self._away:
            self._given_up.add(player)
        terms = self.terms
        if terms.late == "out" or (terms.patience and self._misses[player] >= terms.patience):
            self._faults[self._seat_of[player]] = ("timeout", f"no move within {terms.pace.limit} ms")

    def _wait_no_longer_for(self, player: Player, now: Milliseconds, news: News) -> None:
        if player not in self.awaited or self._beat:
            return
        if self.terms.gone == "pass":
            self._answered(player, now, news)
        else:
            self._hurry(now)

    # Faults.

    def _refuse_hasty(self, player: Player, raw: Raw, now: Milliseconds, news: News) -> None:
        out = self._seat_of[player] in self._out
        if self.terms.hasty == "illegal" and not out and not self.resting:
            return self._refuse(player, "it is not your turn", raw, now, news)
        news.append((Refused(player, "you are out" if out else "it is not your turn", raw, 0), self.position))

    def _refuse(self, player: Player, why: str, raw: Raw, now: Milliseconds, news: News) -> None:
        limit = self.terms.strikes
        if limit is not None:
            self.strikes = tuple([count + (number == player) for number, count in enumerate(self.strikes)])
        strikes = self.strikes[player]
        news.append((Refused(player, why, raw, strikes), self.position))
        if limit is not None and strikes >= limit:
            self._fault(player, "illegal moves", why, now, news)

    def _dismiss(self, player: Player, cause: Cause, detail: str, now: Milliseconds, news: News) -> None:
        self._dismissed[player] = cause
        self._away.discard(player)
        self._fault(player, cause, detail, now, news)
        if self.result is None and self._away:
            self._abandoned(now, news)

    @property
    def _nobody_here(self) -> bool:
        return bool(self._away) and len(self._away) + len(self._dismissed) == self.players

    def _abandoned(self, now: Milliseconds, news: News) -> bool:
        """All players have left: the match ends as it stands, at once or if none of them comes back in time."""
        nobody = self._nobody_here
        if nobody and self.terms.reunion:
            self.deadline = now + self.terms.reunion
        elif nobody:
            self._end_here("disconnect", news)
        return nobody

    def _fault(self, player: Player, cause: Cause, detail: str, now: Milliseconds, news: News) -> None:
        """A player is out: with the others at fault when an open step closes, otherwise at once."""
        seat = self._seat_of[player]
        asked = seat in self._open and not self.resting
        self._open = tuple(other for other in self._open if other != seat)
        self._moves.pop(seat, None)
        self._raws.pop(player, None)
        if asked:
            self._faults[seat] = (cause, detail)
            self._answered(player, now, news)
        elif seat not in self._out and seat not in self._faults:
            self._put_out(seat, cause, detail, news)
            if self.position.over or self._forfeited():
                self._end_board(now, news)
