"""Course: how a match runs, board by board and step by step, until its result."""

from collections.abc import Collection
from functools import cache
from typing import Any

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, Raw, Seat, View
from botdrome.match.events import Began, BoardEnded, BoardResult, Cause, Ended, Event, Out, Played, Player, Result
from botdrome.match.results import board_result, match_result
from botdrome.match.terms import Milliseconds, Terms

News = list[tuple[Event, Game[Any]]]

MOST_TURNS = 100_000
"""Of all players of a match together. After so many it ends as it stands: what has to be remembered of it must have an end."""


@cache
def rotated(players: int, by: int) -> tuple[int, ...]:
    return tuple((number + by) % players for number in range(players))


class Course:
    """The mechanics of a match; `Match` is what drives it.

    A step opens for the seats that the position awaits. It closes when all of them have answered or committed a fault or, in
    a beat, when its time is up: then the seats at fault go out together, the position is played on, and the next step opens.
    """

    __slots__ = (
        "_allowed", "_away", "_beat", "_boards", "_chance", "_dismissed", "_disturbed", "_faults", "_given_up", "_moves",
        "_open", "_opened", "_out", "_pause", "_raws", "_rested", "_seat_of", "_turns", "awaited", "board", "deadline",
        "game", "generator", "order", "players", "position", "resting", "result", "seed", "steps", "strikes", "terms",
    )  # fmt: skip

    def __init__(self, game: Game[Any], players: int, terms: Terms, seed: int, generator: type[Chance] = Chance) -> None:
        if players not in game.players:
            raise BadOption(f"{game.name} is for {game.players.start} to {game.players.stop - 1} players, not {players}")
        self.game, self.players, self.terms, self.seed, self.generator = game, players, terms, seed, generator
        self.steps = 0
        """How many steps were played."""
        self._turns = 0
        self.deadline: Milliseconds | None = None
        """When the next `wake` is due."""
        self.result: Result | None = None
        self._beat, self._pause, self._allowed = terms.pace.beat, terms.pace.pause, terms.pace.allowed(1)
        self._disturbed = False
        """True as soon as somebody is away or out: until then there is nothing to look out for."""
        self._away: set[Player] = set()
        self._given_up: set[Player] = set()
        """Of those who are away: their time to come back is over, and their turns pass at once until they do."""
        self._dismissed: dict[Player, Cause] = {}
        self._boards: list[BoardResult] = []
        self._chance = generator(seed)
        self._lay_board(0, game.start(players, self._chance))

    def seat_of(self, player: Player) -> Seat:
        """The player's seat on this board."""
        return self._seat_of[player]

    def view(self, player: Player | None) -> View:
        """The position as this player (None: the public) may know it."""
        view: View = self.position.view(None if player is None else self._seat_of[player])
        return view

    # Boards.

    def _lay_board(self, board: int, position: Game[Any]) -> None:
        self.board, self.position = board, position
        self.order = rotated(self.players, board)
        """The player at each seat."""
        self._seat_of = rotated(self.players, -board)
        self._out: dict[Seat, tuple[Cause, int]] = {}
        """Seats that are out of this board, why, and since which step."""
        self.strikes = (0,) * self.players
        """The illegal moves on this board, player by player, where the terms count them."""
        self._clear()

    def _clear(self) -> None:
        self.resting = False
        """True in the pause between two steps: what comes then counts for the next."""
        self._open: Collection[Seat] = ()
        self.awaited: list[Player] = []
        """The players that have yet to answer in this step."""
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
        self._lay_board(self.board + 1, self.game.start(self.players, self._chance.turn_to(self.steps)))
        return self._begin(now, news)

    def _end(self, result: Result, news: News) -> None:
        self._clear()
        self.deadline = None
        self.result = result
        news.append((Ended(result), self.position))

    def result_if_ended(self, cause: Cause) -> Result:
        """What the match comes to if it ends here, for this cause."""
        board = board_result(self.position, self._seat_of, self._out, cause)
        return match_result([*self._boards, board])

    def _end_here(self, cause: Cause, news: News) -> None:
        self._end(self.result_if_ended(cause), news)

    # Steps.

    def _go_on(self, now: Milliseconds, news: News) -> None:
        """Lead the board on to a step that awaits somebody, or to its end."""
        while not self.position.over:
            if self._turns >= MOST_TURNS or self._decided():
                return self._end_here("complete", news)
            if self._disturbed and self._forfeited():
                break
            self._open = seats = self._seats_to_ask() if self._disturbed else self.position.to_move
            self.awaited = [self.order[seat] for seat in seats]
            self._turns += len(seats) or self.players  # a step for which nobody is asked was planned by all
            if seats or self._beat:
                return self._open_step(now, news)
            self._play(news)
            if self._pause:
                return self._rest(now)
        return self._end_board(now, news)

    def _open_step(self, now: Milliseconds, news: News) -> None:
        """Those who answered in the pause before are not asked again."""
        self._opened = now
        if self._moves:
            self.awaited = [player for player in self.awaited if self._seat_of[player] not in self._moves]
            if not self.awaited and not self._beat:
                return self._close(now, news)
        return self._set_deadline(now)

    def _decided(self) -> bool:
        """Whether the terms and the rules end the board here, since the seats that are present have nothing left to play for."""
        if not self._disturbed or not self.terms.early_end:
            return False
        absent = {*self._out, *[self._seat_of[player] for player in self._away]}
        decided: bool = self.position.decided(absent)
        return decided

    def _forfeited(self) -> bool:
        """All but one are out, and the rules leave it to the match to say what that means."""
        return not self.game.counts_departures and 0 < len(self._out) >= self.players - 1

    def _seats_to_ask(self) -> tuple[Seat, ...]:
        silent = self._away if self.terms.gone == "pass" else ()
        return tuple(seat for seat in self.position.to_move if seat not in self._out and self.order[seat] not in silent)

    def _set_deadline(self, base: Milliseconds) -> None:
        allowed = self._allowed if self.steps else self.terms.pace.allowed(0)
        if self._away and self.awaited and not self._beat and self._away.issuperset(self.awaited):
            allowed = self._patience() if allowed is None else min(allowed, self._patience())
        self.deadline = None if allowed is None else base + allowed

    def _patience(self) -> Milliseconds:
        """How long those who are away are waited for."""
        return 0 if self._given_up.issuperset(self.awaited) else self.terms.absence

    def _rest(self, now: Milliseconds) -> None:
        self._clear()
        self.resting, self._rested = True, now
        self.deadline = now + self._pause
        if not self.position.over:
            self._open = self._seats_to_ask()

    def _answered(self, player: Player, now: Milliseconds, news: News) -> None:
        """This player need not be waited for any longer; the step closes with the last one."""
        awaited = self.awaited
        if player in awaited:
            awaited.remove(player)
        if self._beat or self.resting:
            return
        if not awaited:
            self._close(now, news)
        elif self._away:
            self._hurry(now)

    def _hurry(self, now: Milliseconds) -> None:
        """Those who are gone are not waited for as long as the others."""
        if self._away.issuperset(self.awaited):
            soon = now + self._patience()
            self.deadline = soon if self.deadline is None else min(soon, self.deadline)

    def _close(self, now: Milliseconds, news: News) -> None:
        """The step is over: seats at fault go out together, the others' moves are played."""
        if self._faults:
            for seat in sorted(self._faults):
                self._put_out(seat, *self._faults[seat], news)
            self._faults = {}
            if self.position.over or self._forfeited():
                return self._end_board(now, news)
        self._play(news)
        return self._rest(now) if self._pause else self._go_on(now, news)

    def _turn(self, now: Milliseconds, news: News) -> None:
        """What `_close` comes to where nobody is away, out or at fault, and there is neither a beat nor a pause: most steps."""
        self._play(news)
        seats, allowed = self.position.to_move, self._allowed
        if not seats or self._turns >= MOST_TURNS:
            return self._go_on(now, news)
        self._turns += len(seats)
        self._open, self._opened = seats, now
        self.awaited = [self.order[seat] for seat in seats] if self.board else list(seats)
        self.deadline = None if allowed is None else now + allowed
        return None

    def _play(self, news: News) -> None:
        step, position = self.steps, self.position
        self.position = after = position.play(self._moves, self._chance.turn_to(step))
        news.append((Played(step, {} if position.secret else self._raws), after))
        self.steps = step + 1
        self._moves, self._raws = {}, {}

    def _put_out(self, seat: Seat, cause: Cause, detail: str, news: News) -> None:
        self._disturbed = True
        self._out[seat] = (cause, self.steps)
        self.position = self.position.without(seat)
        news.append((Out(self.order[seat], cause, detail), self.position))
