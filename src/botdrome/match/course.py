"""Course: how a match runs, board by board and step by step, until its result."""

from collections.abc import Mapping
from typing import Any

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, Raw, Seat
from botdrome.match.board import Board, Step
from botdrome.match.events import Began, BoardEnded, BoardResult, Cause, Ended, Event, Left, Out, Played, Player, Result
from botdrome.match.player_clocks import PlayerClocks
from botdrome.match.results import match_result
from botdrome.match.terms import Milliseconds, Terms

News = list[tuple[Event, Game[Any]]]

MOST_TURNS = 100_000
"""Turns of all players together, after which a match ends with the current scores, since memory needs a limit."""


class Course:
    """The mechanics of a match.

    A step opens for the seats that the position awaits. It closes when all of them have answered or committed a fault or, in
    a beat, when its time is up. Then the seats at fault go out together, the moves are played, and the next step opens.
    """

    __slots__ = (
        "_allowed", "_boards", "_chance", "_disturbed", "_given_up", "_misses", "_pause", "_rested", "_turns", "away", "beat",
        "board", "clocks", "deadline", "dismissed", "game", "players", "resting", "result", "step", "steps", "terms",
    )  # fmt: skip

    def __init__(self, game: Game[Any], players: int, terms: Terms, chance: Chance) -> None:
        if players not in game.players:
            raise BadOption(f"{game.name} is for {game.players.start} to {game.players.stop - 1} players, not {players}")
        self.game, self.players, self.terms, self.clocks = game, players, terms, PlayerClocks(players, terms.pace)
        self.steps = self._turns = 0
        self.deadline: Milliseconds | None = None
        self.result: Result | None = None
        self.resting = False
        """True in the pause between two steps: a move that comes then counts for the next step."""
        self.beat, self._pause, self._allowed = terms.pace.beat, terms.pace.pause, terms.pace.allowed(1)
        self._disturbed = False
        """True as soon as a player is away or out: the quick way to close a step is closed then."""
        self.away: set[Player] = set()
        self._given_up: set[Player] = set()
        """Players who are away and whose time to return is over: their turns pass at once until they return."""
        self.dismissed: dict[Player, Cause] = {}
        """Players who are out of the whole match."""
        self._misses = [0] * players
        self._boards: list[BoardResult] = []
        self._chance = chance
        self.board, self.step = Board(0, game.start(players, chance), players), Step()

    # Boards.

    def begin(self, now: Milliseconds, news: News) -> None:
        board = self.board
        news.append((Began(board.number, board.order), board.position))
        for player, cause in self.dismissed.items():
            self._put_out(board.seat_of[player], cause, "", news)
        self._go_on(now, news)

    def _end_board(self, now: Milliseconds, news: News) -> None:
        board = self.board
        result = board.result()
        self._boards.append(result)
        news.append((BoardEnded(board.number, result), board.position))
        if board.number + 1 == self.terms.boards:
            return self._end(match_result(self._boards), news)
        position = self.game.start(self.players, self._chance.turn_to(self.steps))
        self.board, self.step, self.resting = Board(board.number + 1, position, self.players), Step(), False
        return self.begin(now, news)

    def _end(self, result: Result, news: News) -> None:
        self.step, self.resting, self.deadline, self.result = Step(), False, None, result
        news.append((Ended(result), self.board.position))

    def result_if_ended(self, cause: Cause) -> Result:
        return match_result([*self._boards, self.board.result(cause)])

    def end_here(self, cause: Cause, news: News) -> None:
        self._end(self.result_if_ended(cause), news)

    # Steps.

    def _go_on(self, now: Milliseconds, news: News) -> None:
        """Lead the board on to a step that awaits a player, or to its end."""
        board, step = self.board, self.step
        while not board.position.over:
            if self._turns >= MOST_TURNS or self._decided:
                return self.end_here("complete", news)
            if self._disturbed and board.forfeited:
                break
            step.seats = seats = self._seats_to_ask() if self._disturbed else board.position.to_move
            step.awaited = [board.order[seat] for seat in seats]
            self._turns += len(seats) or self.players  # a step that awaits no seat was planned by all
            if seats or self.beat:
                return self._open(now, news)
            self._play(news)
            if self._pause:
                return self._rest(now)
        return self._end_board(now, news)

    def _open(self, now: Milliseconds, news: News) -> None:
        """A player that answered in the pause before is not asked again."""
        step = self.step
        step.opened = now
        if step.moves:
            step.awaited = [player for player in step.awaited if self.board.seat_of[player] not in step.moves]
            if not step.awaited and not self.beat:
                return self._close(now, news)
        return self.set_deadline(now)

    def _seats_to_ask(self) -> tuple[Seat, ...]:
        board, silent = self.board, self.away if self.terms.gone == "pass" else ()
        return tuple(seat for seat in board.position.to_move if seat not in board.out and board.order[seat] not in silent)

    def accept(self, player: Player, seat: Seat, move: Any, raw: Raw, now: Milliseconds, news: News) -> None:
        """A legal move. Until the step closes another one may replace it.

        Most steps close here: no player is away, out or at fault, and there is no beat and no pause. `_answered` does the same.
        """
        step, board = self.step, self.board
        step.moves[seat], step.raws[player] = move, raw
        self._misses[player] = 0
        if (clocks := self.clocks).active:
            clocks.answered(player, 0 if self.resting else now - step.opened)
        if clocks.active or self._disturbed or step.faults or self.beat or self._pause or step.awaited != [player]:
            return self._answered(player, now, news)
        self._play(news)
        seats, allowed = board.position.to_move, self._allowed
        if not seats or self._turns >= MOST_TURNS:
            return self._go_on(now, news)
        self._turns += len(seats)
        step.seats, step.opened = seats, now
        step.awaited = [board.order[seat] for seat in seats] if board.number else list(seats)
        self.deadline = None if allowed is None else now + allowed
        return None

    def _answered(self, player: Player, now: Milliseconds, news: News) -> None:
        """The step need not wait for this player any longer; it closes with the last one."""
        awaited = self.step.awaited
        if player in awaited:
            awaited.remove(player)
        if self.beat or self.resting:
            return
        if not awaited:
            self._close(now, news)
        elif self.away:
            self._hurry(now)
        elif self.clocks.active:
            self.set_deadline(self.step.opened)

    def _close(self, now: Milliseconds, news: News) -> None:
        """Put the seats at fault out together, and play the moves of the others."""
        faults = self.step.faults
        self.clocks.settle(self.step, self.steps)
        if faults:
            self.step.faults = {}
            for seat in sorted(faults):
                self._put_out(seat, *faults[seat], news)
            if self.board.position.over or self.board.forfeited:
                return self._end_board(now, news)
        self._play(news)
        return self._rest(now) if self._pause else self._go_on(now, news)

    def _play(self, news: News) -> None:
        board, step, number = self.board, self.step, self.steps
        position = board.position
        board.position = after = position.play(step.moves, self._chance.turn_to(number))
        news.append((Played(number, {} if position.secret else step.raws), after))
        self.steps = number + 1
        step.moves, step.raws = {}, {}

    # Time.

    def time_up(self, now: Milliseconds, news: News) -> None:
        due, limit = self.deadline or 0, self.terms.pace.limit or 0
        if self._nobody_here:
            return self.end_here("disconnect", news)
        if self.resting:
            self.resting = False
            return self._go_on(now, news)
        late = self.clocks.withdraw_late(self.step, self.board, self.away, due, self.steps)
        for player in late:
            self._miss(player)
        if late is not self.step.awaited:
            return self.set_deadline(self.step.opened)
        return self._close(due if self.beat and now - due <= limit else now, news)

    def _miss(self, player: Player) -> None:
        self._misses[player] += 1
        self.clocks.left[player] = 0
        if player in self.away:
            self._given_up.add(player)
        terms = self.terms
        if terms.late == "out" or (terms.patience and self._misses[player] >= terms.patience):
            self.step.faults[self.board.seat_of[player]] = ("timeout", f"no move within {terms.pace.limit} ms")

    def _rest(self, now: Milliseconds) -> None:
        self.step, self.resting, self._rested = Step(), True, now
        self.deadline = now + self._pause
        if not self.board.position.over:
            self.step.seats = self._seats_to_ask()

    def amend(self, options: Mapping[str, Any], now: Milliseconds, pause: Milliseconds | None) -> None:
        if options:
            self.board.position = self.board.position.amend(options)
        if pause is not None:
            self._pause = pause
            if self.resting:
                self.deadline = max(now, self._rested + pause)

    def set_deadline(self, base: Milliseconds) -> None:
        allowed, awaited = self._allowed if self.steps else self.terms.pace.allowed(0), self.step.awaited
        if self.away and awaited and not self.beat and self.away.issuperset(awaited):
            allowed = self._patience() if allowed is None else min(allowed, self._patience())
        elif self.clocks.active and awaited:
            allowed = self.clocks.shortest(awaited, self.steps)
        self.deadline = None if allowed is None else base + allowed

    def _patience(self) -> Milliseconds:
        """How long a step waits for players who are away."""
        return 0 if self._given_up.issuperset(self.step.awaited) else self.terms.absence

    def _hurry(self, now: Milliseconds) -> None:
        """Wait for players who are away no longer than the terms say."""
        if self.away.issuperset(self.step.awaited):
            soon = now + self._patience()
            self.deadline = soon if self.deadline is None else min(soon, self.deadline)

    # Players who leave, return or are put out.

    def leave(self, player: Player, now: Milliseconds, news: News) -> None:
        self.away.add(player)
        self._disturbed = True
        news.append((Left(player), self.board.position))
        if self._abandoned(now, news):
            return None
        if self._decided:
            return self.end_here("complete", news)
        if player in self.step.awaited and not self.beat:
            return self._answered(player, now, news) if self.terms.gone == "pass" else self._hurry(now)

    def rejoin(self, player: Player, now: Milliseconds) -> None:
        abandoned = self._nobody_here
        self.away.remove(player)
        self._given_up.discard(player)
        if abandoned:
            self.set_deadline(now)
        elif player in self.step.awaited and not self.beat:
            self.set_deadline(self.step.opened)

    def dismiss(self, player: Player, cause: Cause, detail: str, now: Milliseconds, news: News) -> None:
        """Put a player out of the whole match."""
        self.dismissed[player] = cause
        self.away.discard(player)
        self.fault(player, cause, detail, now, news)
        if self.result is None and self.away:
            self._abandoned(now, news)

    def fault(self, player: Player, cause: Cause, detail: str, now: Milliseconds, news: News) -> None:
        """Put a player out of the board: with the others at fault when an open step closes, otherwise at once."""
        board, step = self.board, self.step
        seat = board.seat_of[player]
        asked = seat in step.seats and not self.resting
        step.withdraw(seat, player)
        if asked:
            step.faults[seat] = (cause, detail)
            self._answered(player, now, news)
        elif seat not in board.out and seat not in step.faults:
            self._put_out(seat, cause, detail, news)
            if board.position.over or board.forfeited:
                self._end_board(now, news)

    def _put_out(self, seat: Seat, cause: Cause, detail: str, news: News) -> None:
        self._disturbed = True
        self.board.put_out(seat, cause, self.steps)
        news.append((Out(self.board.order[seat], cause, detail), self.board.position))

    @property
    def _decided(self) -> bool:
        """Whether the terms and the rules end the match here, since the players present have nothing left to play for."""
        if not self._disturbed or not self.terms.early_end:
            return False
        board = self.board
        return bool(board.position.decided({*board.out, *[board.seat_of[player] for player in self.away]}))

    @property
    def _nobody_here(self) -> bool:
        return bool(self.away) and len(self.away) + len(self.dismissed) == self.players

    def _abandoned(self, now: Milliseconds, news: News) -> bool:
        """All players have left: the match ends with the current scores, at once or if none of them returns in time."""
        nobody = self._nobody_here
        if nobody and self.terms.reunion:
            self.deadline = now + self.terms.reunion
        elif nobody:
            self.end_here("disconnect", news)
        return nobody
