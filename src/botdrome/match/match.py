"""Match: one match, from the first question to the result.

Theory of operation. A match is told what happens and when (`submit`, `leave`, `wake`, ...) and
answers with the news: pairs of an event and the position that it left. It has no clock: times are
milliseconds since the start, passed in, and `deadline` says when the next `wake` is due. Seed and
inputs replay it whole (`InputLog`).

A match is a row of boards, a board a row of steps. Until a step closes, a seat may move again, and
its last move counts. A player that sends more than the log has room for is out. A move after the
deadline is late, whether or not the wake has come; in a beat it counts for the next step. An
illegal move does not restart the clock. A beat counts from the last deadline, so it never drifts. A
move received between two steps counts for the next one.

A player is charged for its thinking only (`PlayerClocks`): `credit` says how much of its time is
the network's and the arena's. So the players of a step may have different deadlines; `deadline` is
the first of them.

Players keep their numbers for the whole match; seats are theirs for one board and move on by one
with each.
"""

from collections.abc import Mapping
from typing import Any

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, Seat, View
from botdrome.match.board import MOST_CREDIT, Board, PlayerClocks, Step, match_result
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
from botdrome.match.inputs import TOO_MUCH, Input, InputLog, Kind
from botdrome.match.terms import Milliseconds, Terms

News = list[tuple[Event, Game[Any]]]

MOST_TURNS = 100_000
"""Turns of all players together, after which a match ends with the current scores, since memory
needs a limit.
"""


class Match:
    """A match.

    The methods of "what it is told" keep the input, and pass it on to the mechanics below.

    A step opens for the seats that the position awaits. It closes when all of them have answered or
    committed a fault or, in a beat, when its time is up. Then the seats at fault go out together,
    the moves are played, and the next step opens.
    """

    __slots__ = (
        "_allowed", "_chance", "_disturbed", "_given_up", "_misses", "_pause", "_rested",
        "_turns", "away", "beat", "board", "clocks", "deadline", "dismissed", "ended_boards",
        "game", "generator", "input_log", "players", "quick", "resting", "result", "seed", "step",
        "steps", "terms",
    )  # fmt: skip

    def __init__(
        self,
        game: Game[Any],
        players: int,
        terms: Terms,
        seed: int,
        generator: type[Chance] = Chance,
    ) -> None:
        if players not in game.players:
            raise BadOption(
                f"{game.name} is for {game.players.start} to {game.players.stop - 1} players, not "
                f"{players}"
            )
        self.game, self.players, self.terms, self.seed, self.generator = (
            game,
            players,
            terms,
            seed,
            generator,
        )
        self.input_log, self.clocks = InputLog(players), PlayerClocks(players, terms.pace)
        self.steps = self._turns = 0
        """`steps` is the number of steps that were played."""
        self.deadline: Milliseconds | None = None
        """When the next `wake` is due."""
        self.result: Result | None = None
        self.resting = False
        """True in the pause between two steps: a move that comes then counts for the next step."""
        self.beat, self._pause, self._allowed = (
            terms.pace.beat,
            terms.pace.pause,
            terms.pace.allowed(1),
        )
        self._disturbed = False
        """True as soon as a player is away or out."""
        self.quick = not (self.beat or self._pause or self.clocks.active)
        """All have the whole limit for each step, until a player is away, out or credited."""
        self.away: set[Player] = set()
        self._given_up: set[Player] = set()
        """Players who are away and whose time to return is over: their turns pass at once until
        they return.
        """
        self.dismissed: dict[Player, Cause] = {}
        """Players who are out of the whole match."""
        self._misses = [0] * players
        self.ended_boards: list[BoardResult] = []
        self._chance = generator(seed)
        self.board, self.step = Board(0, game.start(players, self._chance), players), Step()

    # How it stands.

    @property
    def inputs(self) -> list[Input]:
        return self.input_log.inputs

    @property
    def credited(self) -> Milliseconds:
        """The part of the time until the deadline that is credit, which is not announced to
        players.
        """
        clocks = self.clocks
        return (
            min([clocks.uncharged(player) for player in self.step.awaited], default=0)
            if clocks.active
            else 0
        )

    @property
    def awaited(self) -> list[Player]:
        """The players that have yet to answer in this step."""
        return self.step.awaited

    @property
    def position(self) -> Game[Any]:
        return self.board.position

    @property
    def order(self) -> tuple[Player, ...]:
        """The player at each seat."""
        return self.board.order

    @property
    def strikes(self) -> tuple[int, ...]:
        """The illegal moves on this board by player, where the terms count them."""
        return self.board.strikes

    def seat_of(self, player: Player) -> Seat:
        """The player's seat on this board."""
        return self.board.seat_of[player]

    def view(self, player: Player | None) -> View:
        """The position as this player (None: the public) may know it."""
        return self.board.view(player)

    # What it is told.

    def start(self) -> News:
        news: News = []
        self._begin(0, news)
        return news

    def submit(self, player: Player, raw: Raw, now: Milliseconds) -> News:
        """Take a player's move, as it was sent."""
        news: News = []
        step, due, log = self.step, self.deadline, self.input_log
        # quick: the step closes with this move, and nobody is late
        quick = (  # _awaits_only(), without the call
            self.quick
            and step.awaited == [player]
            and not (step.moves or step.faults)
            and (due is None or now <= due)
        )
        if not quick and self.result is not None:
            return news
        if not quick and player in self.dismissed and log.full(player):
            return [(Refused(player, "you are out", raw, 0), self.board.position)]
        if not log.move(now, player, raw):
            return self._flood(player, raw, now)
        if not quick and (
            (due is not None and now > due and self._overtaken(player, raw, now, now - due, news))
            or (self.clocks.active and self._changes_late(player, now, news))
        ):
            return news
        board = self.board
        seat = board.seat_of[player]
        if not quick and seat not in self.step.seats:
            self._refuse_hasty(player, raw, now, news)
            return news
        try:
            move = board.position.parse(seat, raw)
        except IllegalMove as fault:
            return self._refuse(player, str(fault), raw, now, news)
        if quick:
            self._play_at_once(player, seat, move, raw, now, news)
        else:
            self._keep_move(player, seat, move, raw, now, news)
        return news

    def wake(self, now: Milliseconds) -> News:
        """Time has passed. Does nothing before the deadline."""
        news: News = []
        if self.result is None and self.deadline is not None and now >= self.deadline:
            self.input_log.add(now, "wake", None)
            self._time_up(now, news)
        return news

    def credit(
        self, player: Player, network: Milliseconds, arena: Milliseconds, now: Milliseconds
    ) -> News:
        """Do not charge a player for the network, from now on, and for the time by which the arena
        is late in the open step.

        Nothing happens in a beat, where all players have the same time.
        """
        if self.result is not None or self.beat:
            return []
        if not (0 <= network <= MOST_CREDIT and arena >= 0):
            raise ValueError(
                f"credit is 0 to {MOST_CREDIT} ms for the network, and 0 or more for the arena: "
                f"{network}, {arena}"
            )
        self.input_log.time(now, "credit", player, [network, arena])
        step = self.step
        thinks = player in step.awaited and not self.resting
        self.clocks.credit(player, network, min(arena, now - step.opened) if thinks else 0)
        self.quick = False
        if thinks and player not in self.away:
            self._set_deadline(step.opened)
        return []

    def stall(self, milliseconds: Milliseconds, now: Milliseconds) -> News:
        """Record that the arena's clock stood still this long. Nobody is charged for that."""
        if self.result is None:
            self.input_log.time(now, "stall", None, milliseconds)
        return []

    def leave(self, player: Player, now: Milliseconds) -> News:
        """A player is gone."""
        news: News = []
        if self.result is not None or player in self.away or player in self.dismissed:
            return news
        self.input_log.add(now, "leave", player)
        if self.terms.gone == "out":
            self._dismiss(player, "disconnect", "", now, news)
        else:
            self._go_away(player, now, news)
        return news

    def rejoin(self, player: Player, now: Milliseconds) -> News:
        """A player that was gone is back. Nothing happens where the terms do not allow it."""
        if (
            self.result is not None
            or self.terms.gone != "wait"
            or player not in self.away
            or self.input_log.full(player)
        ):
            return []
        self.input_log.add(now, "rejoin", player)
        self._come_back(player, now)
        return [(Returned(player), self.board.position)]

    def expel(self, player: Player, cause: Cause, now: Milliseconds, detail: str = "") -> News:
        """Put a player out of the match, whatever the terms say of players who leave."""
        news: News = []
        if self.result is None and player not in self.dismissed:
            self.input_log.add(now, "expel", player, [cause, detail])
            self._dismiss(player, cause, detail, now, news)
        return news

    def amend(
        self, options: Mapping[str, Any], now: Milliseconds, pause: Milliseconds | None = None
    ) -> News:
        """Change the options, and the pause, from the next round on; BadOption where the game does
        not allow it.
        """
        if self.result is not None:
            return []
        self._amend(options, now, pause)
        self.input_log.amend(now, options, pause)
        return [(Amended(dict(options)), self.board.position)]

    def abort(self, now: Milliseconds) -> News:
        """End the match here, without a winner."""
        news: News = []
        if self.result is None:
            self.input_log.add(now, "abort", None)
            self._end_here("aborted", news)
        return news

    def conclude(self, now: Milliseconds) -> News:
        """End the match here, with the current scores."""
        news: News = []
        if self.result is None:
            self.input_log.add(now, "conclude", None)
            self._end_here("complete", news)
        return news

    # Moves that are not accepted.

    def _flood(self, player: Player, raw: Raw, now: Milliseconds) -> News:
        """Put out a player whose move the log has no room for."""
        news: News = [(Refused(player, TOO_MUCH, raw, 0), self.board.position)]
        self._dismiss(player, "flood", TOO_MUCH, now, news)
        return news

    def _overtaken(
        self, player: Player, raw: Raw, now: Milliseconds, by: Milliseconds, news: News
    ) -> bool:
        """Time was up before this move came. After a beat or a pause it counts for the step that
        opens now; otherwise it was meant for the last one.
        """
        late = self.beat or player in self.step.awaited
        counts = self.beat or self.resting
        if self.clocks.active:
            own = self._due_of(player)
            counts = counts or (late and own is not None and now <= own)
            by = now - own if own is not None and not counts else by
        self._time_up(now, news)
        while self.clocks.active and self.deadline is not None and now > self.deadline:
            self._time_up(now, news)
        if counts and self.result is None:
            return False
        event = Late(player, by) if late else Refused(player, "it is not your turn", raw, 0)
        news.append((event, self.board.position))
        return True

    def _due_of(self, player: Player) -> Milliseconds | None:
        return self.clocks.due_of(player, self.step, self.steps)

    def _changes_late(self, player: Player, now: Milliseconds, news: News) -> bool:
        """Refuse a move of a player whose own time is up while the step waits for others."""
        due = (
            self._due_of(player)
            if player in self.step.raws and not self.resting
            else self.step.late.get(player)
        )
        if due is None or now <= due:
            return False
        news.append((Late(player, now - due), self.board.position))
        return True

    def _refuse_hasty(self, player: Player, raw: Raw, now: Milliseconds, news: News) -> None:
        board = self.board
        out = board.seat_of[player] in board.out
        if self.terms.hasty == "illegal" and not out and not self.resting:
            self._refuse(player, "it is not your turn", raw, now, news)
            return
        news.append(
            (
                Refused(player, "you are out" if out else "it is not your turn", raw, 0),
                board.position,
            )
        )

    def _refuse(self, player: Player, why: str, raw: Raw, now: Milliseconds, news: News) -> News:
        limit, board = self.terms.strikes, self.board
        if limit is not None:
            board.strikes = tuple(
                [count + (number == player) for number, count in enumerate(board.strikes)]
            )
        strikes = board.strikes[player]
        news.append((Refused(player, why, raw, strikes), board.position))
        if limit is not None and strikes >= limit:
            self._fault(player, "illegal moves", why, now, news)
        return news

    # Boards.

    def _begin(self, now: Milliseconds, news: News) -> None:
        board = self.board
        news.append((Began(board.number, board.order), board.position))
        for player, cause in self.dismissed.items():
            self._put_out(board.seat_of[player], cause, "", news)
        self._go_on(now, news)

    def _end_board(self, now: Milliseconds, news: News) -> None:
        board = self.board
        result = board.result()
        self.ended_boards.append(result)
        news.append((BoardEnded(board.number, result), board.position))
        if board.number + 1 == self.terms.boards:
            return self._end(match_result(self.ended_boards), news)
        position = self.game.start(self.players, self._chance.turn_to(self.steps))
        self.board, self.step, self.resting = (
            Board(board.number + 1, position, self.players),
            Step(),
            False,
        )
        return self._begin(now, news)

    def _end(self, result: Result, news: News) -> None:
        self.step, self.resting, self.deadline, self.result = Step(), False, None, result
        news.append((Ended(result), self.board.position))

    def result_if_ended(self, cause: Cause) -> Result:
        """The result if the match ended now, for this cause."""
        return match_result([*self.ended_boards, self.board.result(cause)])

    def _end_here(self, cause: Cause, news: News) -> None:
        self._end(self.result_if_ended(cause), news)

    # Steps.

    def _go_on(self, now: Milliseconds, news: News) -> None:
        """Lead the board on to a step that awaits a player, or to its end."""
        board, step = self.board, self.step
        while not board.position.over:
            if self._turns >= MOST_TURNS or (self._disturbed and self._decided):
                return self._end_here("complete", news)
            if self._disturbed and board.forfeited:
                break
            step.seats = seats = self._seats_to_ask() if self._disturbed else board.position.to_move
            step.awaited = [board.order[seat] for seat in seats]
            self._turns += (
                len(seats) or self.players
            )  # a step that awaits no seat was planned by all
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
            step.awaited = [
                player for player in step.awaited if self.board.seat_of[player] not in step.moves
            ]
            if not step.awaited and not self.beat:
                return self._close(now, news)
        return self._set_deadline(now)

    def _seats_to_ask(self) -> tuple[Seat, ...]:
        board, silent = self.board, self.away if self.terms.gone == "pass" else ()
        return tuple(
            seat
            for seat in board.position.to_move
            if seat not in board.out and board.order[seat] not in silent
        )

    def accept(
        self, player: Player, seat: Seat, move: Any, raw: Raw, now: Milliseconds, news: News
    ) -> None:
        """Take a legal move without logging it.

        Another one may replace it until the step closes.
        """
        if self._awaits_only(player):
            self._play_at_once(player, seat, move, raw, now, news)
        else:
            self._keep_move(player, seat, move, raw, now, news)

    def _awaits_only(self, player: Player) -> bool:
        """Whether the step closes with a move of this player, as most do: it awaits no other one,
        and no player is away, out or at fault.
        """
        step = self.step
        return self.quick and step.awaited == [player] and not (step.moves or step.faults)

    def _play_at_once(
        self, player: Player, seat: Seat, move: Any, raw: Raw, now: Milliseconds, news: News
    ) -> None:
        """Play the move that closes the step, as `_keep_move` would."""
        board, step, number = self.board, self.step, self.steps
        position, allowed = board.position, self._allowed
        self._misses[player] = 0
        board.position = after = position.play({seat: move}, self._chance.turn_to(number))
        news.append((Played(number, {} if position.secret else {player: raw}), after))
        self.steps = number + 1
        seats = after.to_move
        if not seats or self._turns >= MOST_TURNS:
            return self._go_on(now, news)
        self._turns += len(seats)
        step.seats, step.opened = seats, now
        step.awaited = [board.order[seat] for seat in seats] if board.number else list(seats)
        self.deadline = None if allowed is None else now + allowed
        return None

    def _keep_move(
        self, player: Player, seat: Seat, move: Any, raw: Raw, now: Milliseconds, news: News
    ) -> None:
        """Keep a move until the step closes."""
        step = self.step
        self._misses[player] = 0
        step.moves[seat], step.raws[player] = move, raw
        if self.clocks.active:
            self.clocks.answered(player, 0 if self.resting else now - step.opened)
        if len(step.awaited) > 1 and not (self.away or self.clocks.active):
            if player in step.awaited:  # _answered(), without the call
                step.awaited.remove(player)
        else:
            self._answered(player, now, news)

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
            self._set_deadline(self.step.opened)

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

    def _time_up(self, now: Milliseconds, news: News) -> None:
        due, limit = self.deadline or 0, self.terms.pace.limit or 0
        if self.away and self._nobody_here:
            return self._end_here("disconnect", news)
        if self.resting:
            self.resting = False
            return self._go_on(now, news)
        late = self.clocks.withdraw_late(self.step, self.board, self.away, due, self.steps)
        for player in late:
            self._miss(player)
        if late is not self.step.awaited:
            return self._set_deadline(self.step.opened)
        return self._close(due if self.beat and now - due <= limit else now, news)

    def _miss(self, player: Player) -> None:
        self._misses[player] += 1
        self.clocks.left[player] = 0
        if player in self.away:
            self._given_up.add(player)
        terms = self.terms
        if terms.late == "out" or (terms.patience and self._misses[player] >= terms.patience):
            self.step.faults[self.board.seat_of[player]] = (
                "timeout",
                f"no move within {terms.pace.limit} ms",
            )

    def _rest(self, now: Milliseconds) -> None:
        self.step, self.resting, self._rested = Step(), True, now
        self.deadline = now + self._pause
        if not self.board.position.over:
            self.step.seats = self._seats_to_ask()

    def _amend(
        self, options: Mapping[str, Any], now: Milliseconds, pause: Milliseconds | None
    ) -> None:
        if options:
            self.board.position = self.board.position.amend(options)
        if pause is not None:
            self._pause, self.quick = pause, False
            if self.resting:
                self.deadline = max(now, self._rested + pause)

    def _set_deadline(self, base: Milliseconds) -> None:
        allowed, awaited = (
            self._allowed if self.steps else self.terms.pace.allowed(0),
            self.step.awaited,
        )
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

    def _go_away(self, player: Player, now: Milliseconds, news: News) -> None:
        self.away.add(player)
        self._disturbed, self.quick = True, False
        news.append((Left(player), self.board.position))
        if self._abandoned(now, news):
            return None
        if self._decided:
            return self._end_here("complete", news)
        if player in self.step.awaited and not self.beat:
            return (
                self._answered(player, now, news) if self.terms.gone == "pass" else self._hurry(now)
            )

    def _come_back(self, player: Player, now: Milliseconds) -> None:
        abandoned = self._nobody_here
        self.away.remove(player)
        self._given_up.discard(player)
        if abandoned:
            self._set_deadline(now)
        elif player in self.step.awaited and not self.beat:
            self._set_deadline(self.step.opened)

    def _dismiss(
        self, player: Player, cause: Cause, detail: str, now: Milliseconds, news: News
    ) -> None:
        """Put a player out of the whole match."""
        self.dismissed[player] = cause
        self.away.discard(player)
        self._fault(player, cause, detail, now, news)
        if self.result is None and self.away:
            self._abandoned(now, news)

    def _fault(
        self, player: Player, cause: Cause, detail: str, now: Milliseconds, news: News
    ) -> None:
        """Put a player out of the board: with the others at fault when an open step closes,
        otherwise at once.
        """
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
        self._disturbed, self.quick = True, False
        self.board.put_out(seat, cause, self.steps)
        news.append((Out(self.board.order[seat], cause, detail), self.board.position))

    @property
    def _decided(self) -> bool:
        """Whether the terms and the rules end the match here, since the players present have
        nothing left to play for.
        """
        if not self.terms.early_end:
            return False
        board = self.board
        return bool(
            board.position.decided({*board.out, *[board.seat_of[player] for player in self.away]})
        )

    @property
    def _nobody_here(self) -> bool:
        return bool(self.away) and len(self.away) + len(self.dismissed) == self.players

    def _abandoned(self, now: Milliseconds, news: News) -> bool:
        """All players have left: the match ends with the current scores, at once or if none of them
        returns in time.
        """
        nobody = self._nobody_here
        if nobody and self.terms.reunion:
            self.deadline = now + self.terms.reunion
        elif nobody:
            self._end_here("disconnect", news)
        return nobody


# Applying inputs: a match is given again what it was given before.


def apply(match: Match, told: Input) -> News:
    """Give a match an input from its record."""
    now, kind, player, words = told
    if player is None:
        return _apply_to_all(match, kind, words, now)
    if kind == "move":
        return match.submit(player, words, now)
    if kind == "expel":
        return match.expel(player, words[0], now, words[1])
    if kind == "credit":
        return match.credit(player, words[0], words[1], now)
    return match.leave(player, now) if kind == "leave" else match.rejoin(player, now)


def _apply_to_all(match: Match, kind: Kind, words: Any, now: Milliseconds) -> News:
    if kind == "amend":
        return match.amend(words[0], now, words[1])
    if kind == "conclude":
        return match.conclude(now)
    if kind == "stall":
        return match.stall(words, now)
    return match.wake(now) if kind == "wake" else match.abort(now)
