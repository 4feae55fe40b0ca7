"""Match: one match, from the first question to the result.

Theory of operation. A match is told what happens and when (`submit`, `leave`, `wake`, ...) and answers with the news:
pairs of an event and the position that it left. It has no clock: times are milliseconds since the start, handed in, and
`deadline` says when the next `wake` is due. Seed and inputs replay it whole.

A match is a row of boards, a board a row of steps. A step opens for the seats that the position awaits; each of them
answers, or commits a fault, or lets its time pass. It closes with the last answer or, in a beat, when its time is up: then
the seats at fault go out together, the position is played on with the moves, and the next step opens. A step that awaits
nobody is played at once. Until a step closes a seat may speak again, and its last word counts.

Players keep their numbers for the whole match; seats are theirs for one board and move on by one with each.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, Seat, View
from botdrome.match.events import (
    Amended,
    Began,
    BoardEnded,
    BoardResult,
    Cause,
    Ended,
    Event,
    Late,
    Left,
    Out,
    Played,
    Player,
    Refused,
    Result,
    Returned,
)
from botdrome.match.inputs import Input
from botdrome.match.reckoning import board_result, match_result
from botdrome.match.terms import Milliseconds, Terms

News = list[tuple[Event, Game[Any]]]


class Match:
    __slots__ = (
        "_away", "_beat", "_boards", "_chance", "_dismissed", "_faults", "_misses", "_missing", "_moves", "_open", "_opened",
        "_out", "_plain", "_raws", "_resting", "_seat_of", "_step", "_strikes", "board", "deadline", "game", "inputs", "order",
        "players", "position", "result", "seed", "terms",
    )  # fmt: skip

    def __init__(self, game: Game[Any], players: int, terms: Terms, seed: int) -> None:
        if players not in game.players:
            raise BadOption(f"{game.name} is for {game.players.start} to {game.players.stop - 1} players, not {players}")
        self.game, self.players, self.terms, self.seed = game, players, terms, seed
        self.inputs: list[Input] = []
        self.result: Result | None = None
        self.deadline: Milliseconds | None = None
        self._chance = Chance(seed)
        self._step = 0
        self._beat = terms.pace.beat
        self._resting = False
        self._boards: list[BoardResult] = []
        self._away: set[Player] = set()
        self._dismissed: dict[Player, Cause] = {}
        self._misses = [0] * players
        self.board = 0
        self.position: Game[Any]
        self.order: tuple[Player, ...]
        self._lay_board(game.start(players, self._chance))

    # What the world may ask.

    @property
    def steps(self) -> int:
        """How many steps were played."""
        return self._step

    @property
    def awaited(self) -> list[Player]:
        """The players that have yet to answer in this step."""
        return [self.order[seat] for seat in self._missing]

    def view(self, player: Player | None) -> View:
        """The position as this player (None: the public) may know it."""
        return self.position.view(None if player is None else self._seat_of[player])

    # What the world tells.

    def start(self) -> News:
        news: News = []
        self._begin(0, news)
        return news

    def submit(self, player: Player, raw: Raw, now: Milliseconds) -> News:
        """A player's move, as it was sent."""
        if self.result is not None:
            return []
        self.inputs.append((now, "move", player, raw))
        news: News = []
        due = self.deadline
        if due is not None and now > due and self._overtaken(player, now, now - due, news):
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
        self._missing.discard(seat)
        if not self._missing and not self._beat:
            self._close(now, news)
        return news

    def wake(self, now: Milliseconds) -> News:
        """Time has passed. Does nothing before the deadline."""
        news: News = []
        if self.result is None and self.deadline is not None and now >= self.deadline:
            self.inputs.append((now, "wake", None, None))
            self._time_up(now, news)
        return news

    def leave(self, player: Player, now: Milliseconds) -> News:
        """A player is gone."""
        news: News = []
        if self.result is not None or player in self._away or player in self._dismissed:
            return news
        self.inputs.append((now, "leave", player, None))
        if self.terms.gone == "out":
            self._dismiss(player, "disconnect", "", now, news)
            return news
        self._away.add(player)
        news.append((Left(player), self.position))
        if len(self._away) + len(self._dismissed) == self.players:
            self._end_here("disconnect", news)
        else:
            self._wait_no_longer_for(player, now, news)
        return news

    def rejoin(self, player: Player, now: Milliseconds) -> News:
        """A player that was gone is back. Nothing happens where the terms do not allow it."""
        if self.result is not None or self.terms.gone != "wait" or player not in self._away:
            return []
        self.inputs.append((now, "rejoin", player, None))
        self._away.remove(player)
        if not self._resting:
            self._set_deadline(self._opened)
        return [(Returned(player), self.position)]

    def expel(self, player: Player, cause: Cause, now: Milliseconds, detail: str = "") -> News:
        """A player is out of the match, whatever the terms say of those who leave."""
        news: News = []
        if self.result is None and player not in self._dismissed:
            self.inputs.append((now, "expel", player, [cause, detail]))
            self._dismiss(player, cause, detail, now, news)
        return news

    def amend(self, options: Mapping[str, Any], now: Milliseconds, pause: Milliseconds | None = None) -> News:
        """Other options, and another pause, from the next round on; BadOption where the game does not allow it."""
        if self.result is not None:
            return []
        if options:
            self.position = self.position.amend(options)
        if pause is not None:
            self.terms = replace(self.terms, pace=replace(self.terms.pace, pause=pause))
        self.inputs.append((now, "amend", None, [dict(options), pause]))
        return [(Amended(dict(options)), self.position)]

    def abort(self, now: Milliseconds) -> News:
        """The match ends here and counts for nobody."""
        news: News = []
        if self.result is None:
            self.inputs.append((now, "abort", None, None))
            self._end_here("aborted", news)
        return news

    # Boards.

    def _lay_board(self, position: Game[Any]) -> None:
        players = self.players
        self.order = tuple((seat + self.board) % players for seat in range(players))
        self._seat_of = tuple((player - self.board) % players for player in range(players))
        self.position = position
        self._out: dict[Seat, tuple[Cause, int]] = {}
        self._strikes = [0] * players
        self._plain = not self._away and not self._dismissed
        self._clear()

    def _clear(self) -> None:
        self._open: tuple[Seat, ...] = ()
        self._missing: set[Seat] = set()
        self._moves: dict[Seat, Any] = {}
        self._raws: dict[Player, Raw] = {}
        self._faults: dict[Seat, tuple[Cause, str]] = {}

    def _begin(self, now: Milliseconds, news: News) -> None:
        news.append((Began(self.board, self.order), self.position))
        for player, cause in self._dismissed.items():
            self._put_out(self._seat_of[player], cause, "", news)
        self._go_on(now, news)

    def _end_board(self, now: Milliseconds, news: News) -> None:
        result = board_result(self.position, self._seat_of, self._out)
        self._boards.append(result)
        news.append((BoardEnded(self.board, result), self.position))
        if self.board + 1 == self.terms.boards:
            return self._end(match_result(self._boards), news)
        self.board += 1
        self._lay_board(self.game.start(self.players, self._chance.turn_to(self._step)))
        self._begin(now, news)

    def _end(self, result: Result, news: News) -> None:
        self._clear()
        self.deadline = None
        self.result = result
        news.append((Ended(result), self.position))

    def _end_here(self, cause: Cause, news: News) -> None:
        board = board_result(self.position, self._seat_of, self._out, cause)
        self._end(match_result([*self._boards, board]), news)

    # Steps.

    def _go_on(self, now: Milliseconds, news: News) -> None:
        """Lead the board on to a step that awaits somebody, or to its end."""
        while not self._decided():
            self._open = self._seats_to_ask()
            self._missing = set(self._open)
            if self._open or self._beat:
                self._opened = now
                return self._set_deadline(now)
            self._play(news)
            if self._rest(now):
                return None
        return self._end_board(now, news)

    def _decided(self) -> bool:
        if self.position.over:
            return True
        return not self._plain and not self.game.counts_departures and 0 < len(self._out) >= self.players - 1

    def _seats_to_ask(self) -> tuple[Seat, ...]:
        seats = self.position.to_move
        if self._plain:
            return tuple(seats)
        silent = self._away if self.terms.gone == "pass" else ()
        return tuple(seat for seat in seats if seat not in self._out and self.order[seat] not in silent)

    def _set_deadline(self, base: Milliseconds) -> None:
        allowed = self.terms.pace.allowed(self._step)
        if self._away and self._open and all(self.order[seat] in self._away for seat in self._missing):
            allowed = self.terms.absence
        self.deadline = None if allowed is None else base + allowed

    def _rest(self, now: Milliseconds) -> bool:
        pause = self.terms.pace.pause
        if pause:
            self._clear()
            self._resting = True
            self.deadline = now + pause
        return self._resting

    def _close(self, now: Milliseconds, news: News) -> None:
        """The step is over: seats at fault go out together, the others' moves are played."""
        if self._faults:
            for seat in sorted(self._faults):
                self._put_out(seat, *self._faults[seat], news)
            if self._decided():
                return self._end_board(now, news)
        self._play(news)
        if not self._rest(now):
            self._go_on(now, news)
        return None

    def _play(self, news: News) -> None:
        step, position = self._step, self.position
        self.position = after = position.play(self._moves, self._chance.turn_to(step))
        news.append((Played(step, {} if position.secret else self._raws), after))
        self._step = step + 1
        self._moves, self._raws, self._faults = {}, {}, {}

    def _time_up(self, now: Milliseconds, news: News) -> None:
        due, limit = self.deadline or 0, self.terms.pace.limit or 0
        if self._resting:
            self._resting = False
            return self._go_on(now, news)
        for seat in self._missing:
            self._miss(seat)
        return self._close(due if self._beat and now - due <= limit else now, news)

    # Faults.

    def _overtaken(self, player: Player, now: Milliseconds, by: Milliseconds, news: News) -> bool:
        """Time was up before this move came. In a beat it counts for the next step; elsewhere it is late."""
        awaited = self._seat_of[player] in self._missing
        self._time_up(now, news)
        late = self.result is not None or (awaited and not self._beat)
        if late:
            news.append((Late(player, by), self.position))
        return late

    def _miss(self, seat: Seat) -> None:
        player, terms = self.order[seat], self.terms
        self._misses[player] += 1
        if terms.late == "out" or (terms.patience and self._misses[player] >= terms.patience):
            self._faults[seat] = ("timeout", "")

    def _refuse_hasty(self, player: Player, raw: Raw, now: Milliseconds, news: News) -> None:
        why = "it is not your turn" if self._seat_of[player] not in self._out else "you are out"
        if self.terms.hasty == "illegal" and not self._resting:
            self._refuse(player, why, raw, now, news)
        else:
            news.append((Refused(player, why, raw, 0), self.position))

    def _refuse(self, player: Player, why: str, raw: Raw, now: Milliseconds, news: News) -> None:
        limit, strikes = self.terms.strikes, 0
        if limit is not None:
            self._strikes[player] = strikes = self._strikes[player] + 1
        news.append((Refused(player, why, raw, strikes), self.position))
        if limit is not None and strikes >= limit:
            self._fault(player, "illegal moves", why, now, news)

    def _dismiss(self, player: Player, cause: Cause, detail: str, now: Milliseconds, news: News) -> None:
        self._dismissed[player] = cause
        self._away.discard(player)
        self._plain = False
        self._fault(player, cause, detail, now, news)

    def _fault(self, player: Player, cause: Cause, detail: str, now: Milliseconds, news: News) -> None:
        """A player is out: with the others at fault when an open step closes, otherwise at once."""
        seat = self._seat_of[player]
        if seat in self._open:
            self._faults[seat] = (cause, detail)
            self._moves.pop(seat, None)
            self._missing.discard(seat)
            if not self._missing and not self._beat:
                self._close(now, news)
        elif seat not in self._out:
            self._put_out(seat, cause, detail, news)
            if self._decided():
                self._end_board(now, news)

    def _put_out(self, seat: Seat, cause: Cause, detail: str, news: News) -> None:
        self._plain = False
        self._out[seat] = (cause, self._step)
        self.position = self.position.without(seat)
        news.append((Out(self.order[seat], cause, detail), self.position))

    def _wait_no_longer_for(self, player: Player, now: Milliseconds, news: News) -> None:
        self._plain = False
        seat = self._seat_of[player]
        if seat not in self._missing:
            return
        if self.terms.gone == "wait":
            self._set_deadline(now)
            return
        self._missing.discard(seat)
        self._open = tuple(other for other in self._open if other != seat)
        if not self._missing and not self._beat:
            self._close(now, news)
