"""Match: one match, from the first question to the result.

Theory of operation. A match is told what happens and when (`submit`, `leave`, `wake`, ...) and answers with the news: pairs of
an event and the position that it left. It has no clock: times are milliseconds since the start, passed in, and `deadline` says
when the next `wake` is due. Seed and inputs replay it whole (`InputLog`).

A match is a row of boards, a board a row of steps (`Course`). Until a step closes, a seat may move again, and its last move
counts. A player that sends more than the log has room for is out. A move after the deadline is late, whether or not the wake
has come; in a beat it counts for the next step. An illegal move does not restart the clock. A beat counts from the last
deadline, so it never drifts. A move received between two steps counts for the next one.

A player is charged for its thinking only (`PlayerClocks`): `credit` says how much of its time is the network's and the arena's.
So the players of a step may have different deadlines; `deadline` is the first of them.

Players keep their numbers for the whole match; seats are theirs for one board and move on by one with each.
"""

from collections.abc import Mapping
from typing import Any

from botdrome.games.chance import Chance
from botdrome.games.game import Game, IllegalMove, Raw, Seat, View
from botdrome.match.course import Course, News
from botdrome.match.events import Amended, Cause, Late, Player, Refused, Result, Returned
from botdrome.match.input_log import TOO_MUCH, InputLog
from botdrome.match.inputs import Input
from botdrome.match.player_clocks import MOST_CREDIT
from botdrome.match.terms import Milliseconds, Terms


class Match:
    __slots__ = ("course", "game", "generator", "input_log", "players", "seed", "terms")

    def __init__(self, game: Game[Any], players: int, terms: Terms, seed: int, generator: type[Chance] = Chance) -> None:
        self.game, self.players, self.terms, self.seed, self.generator = game, players, terms, seed, generator
        self.course = Course(game, players, terms, generator(seed))
        self.input_log = InputLog(players)

    # How it stands.

    @property
    def inputs(self) -> list[Input]:
        return self.input_log.inputs

    @property
    def deadline(self) -> Milliseconds | None:
        """When the next `wake` is due."""
        return self.course.deadline

    @property
    def credited(self) -> Milliseconds:
        """The part of the time until the deadline that is credit, which is not announced to players."""
        clocks = self.course.clocks
        return min([clocks.uncharged(player) for player in self.awaited], default=0) if clocks.active else 0

    @property
    def result(self) -> Result | None:
        return self.course.result

    @property
    def steps(self) -> int:
        """The number of steps that were played."""
        return self.course.steps

    @property
    def awaited(self) -> list[Player]:
        """The players that have yet to answer in this step."""
        return self.course.step.awaited

    @property
    def resting(self) -> bool:
        """Whether it is in the pause between two steps."""
        return self.course.resting

    @property
    def board(self) -> int:
        return self.course.board.number

    @property
    def position(self) -> Game[Any]:
        return self.course.board.position

    @property
    def order(self) -> tuple[Player, ...]:
        """The player at each seat."""
        return self.course.board.order

    @property
    def strikes(self) -> tuple[int, ...]:
        """The illegal moves on this board by player, where the terms count them."""
        return self.course.board.strikes

    def seat_of(self, player: Player) -> Seat:
        """The player's seat on this board."""
        return self.course.board.seat_of[player]

    def view(self, player: Player | None) -> View:
        """The position as this player (None: the public) may know it."""
        return self.course.board.view(player)

    def result_if_ended(self, cause: Cause) -> Result:
        """The result if the match ended now, for this cause."""
        return self.course.result_if_ended(cause)

    # What it is told.

    def start(self) -> News:
        news: News = []
        self.course.begin(0, news)
        return news

    def submit(self, player: Player, raw: Raw, now: Milliseconds) -> News:
        """Take a player's move, as it was sent."""
        news: News = []
        course = self.course
        if course.result is not None:
            return news
        board = course.board
        if player in course.dismissed and self.input_log.full(player):
            return [(Refused(player, "you are out", raw, 0), board.position)]
        if not self.input_log.add(now, "move", player, raw):
            news.append((Refused(player, TOO_MUCH, raw, 0), board.position))
            course.dismiss(player, "flood", TOO_MUCH, now, news)
            return news
        due = course.deadline
        if due is not None and now > due and self._overtaken(player, raw, now, now - due, news):
            return news
        if course.clocks.active and self._changes_late(player, now, news):
            return news
        board = course.board
        seat = board.seat_of[player]
        if seat not in course.step.seats:
            self._refuse_hasty(player, raw, now, news)
            return news
        try:
            move = board.position.parse(seat, raw)
        except IllegalMove as fault:
            self._refuse(player, str(fault), raw, now, news)
            return news
        course.accept(player, seat, move, raw, now, news)
        return news

    def wake(self, now: Milliseconds) -> News:
        """Time has passed. Does nothing before the deadline."""
        news: News = []
        course = self.course
        if course.result is None and course.deadline is not None and now >= course.deadline:
            self.input_log.add(now, "wake", None)
            course.time_up(now, news)
        return news

    def credit(self, player: Player, network: Milliseconds, arena: Milliseconds, now: Milliseconds) -> News:
        """Do not charge a player for the network, from now on, and for the time by which the arena is late in the open step.

        Nothing happens in a beat, where all players have the same time.
        """
        course = self.course
        if course.result is not None or course.beat:
            return []
        if not (0 <= network <= MOST_CREDIT and arena >= 0):
            raise ValueError(f"credit is 0 to {MOST_CREDIT} ms for the network, and 0 or more for the arena: {network}, {arena}")
        self.input_log.time(now, "credit", player, [network, arena])
        step = course.step
        thinks = player in step.awaited and not course.resting
        course.clocks.credit(player, network, min(arena, now - step.opened) if thinks else 0)
        if thinks and player not in course.away:
            course.set_deadline(step.opened)
        return []

    def stall(self, milliseconds: Milliseconds, now: Milliseconds) -> News:
        """Record that the arena's clock stood still this long. Nobody is charged for that."""
        if self.course.result is None:
            self.input_log.time(now, "stall", None, milliseconds)
        return []

    def leave(self, player: Player, now: Milliseconds) -> News:
        """A player is gone."""
        news: News = []
        course = self.course
        if course.result is not None or player in course.away or player in course.dismissed:
            return news
        self.input_log.add(now, "leave", player)
        if self.terms.gone == "out":
            course.dismiss(player, "disconnect", "", now, news)
        else:
            course.leave(player, now, news)
        return news

    def rejoin(self, player: Player, now: Milliseconds) -> News:
        """A player that was gone is back. Nothing happens where the terms do not allow it."""
        course = self.course
        if course.result is not None or self.terms.gone != "wait" or player not in course.away or self.input_log.full(player):
            return []
        self.input_log.add(now, "rejoin", player)
        course.rejoin(player, now)
        return [(Returned(player), course.board.position)]

    def expel(self, player: Player, cause: Cause, now: Milliseconds, detail: str = "") -> News:
        """Put a player out of the match, whatever the terms say of players who leave."""
        news: News = []
        if self.course.result is None and player not in self.course.dismissed:
            self.input_log.add(now, "expel", player, [cause, detail])
            self.course.dismiss(player, cause, detail, now, news)
        return news

    def amend(self, options: Mapping[str, Any], now: Milliseconds, pause: Milliseconds | None = None) -> News:
        """Change the options, and the pause, from the next round on; BadOption where the game does not allow it."""
        if self.course.result is not None:
            return []
        self.course.amend(options, now, pause)
        self.input_log.amend(now, options, pause)
        return [(Amended(dict(options)), self.course.board.position)]

    def abort(self, now: Milliseconds) -> News:
        """End the match here, without a winner."""
        news: News = []
        if self.course.result is None:
            self.input_log.add(now, "abort", None)
            self.course.end_here("aborted", news)
        return news

    def conclude(self, now: Milliseconds) -> News:
        """End the match here, with the current scores."""
        news: News = []
        if self.course.result is None:
            self.input_log.add(now, "conclude", None)
            self.course.end_here("complete", news)
        return news

    # Moves that are not accepted.

    def _overtaken(self, player: Player, raw: Raw, now: Milliseconds, by: Milliseconds, news: News) -> bool:
        """Time was up before this move came. After a beat or a pause it counts for the step that opens now; otherwise it was
        meant for the last one."""
        course = self.course
        late = course.beat or player in course.step.awaited
        counts = course.beat or course.resting
        if course.clocks.active:
            own = self._due_of(player)
            counts = counts or (late and own is not None and now <= own)
            by = now - own if own is not None and not counts else by
        course.time_up(now, news)
        while course.clocks.active and course.deadline is not None and now > course.deadline:
            course.time_up(now, news)
        if counts and course.result is None:
            return False
        event = Late(player, by) if late else Refused(player, "it is not your turn", raw, 0)
        news.append((event, course.board.position))
        return True

    def _due_of(self, player: Player) -> Milliseconds | None:
        return self.course.clocks.due_of(player, self.course.step, self.course.steps)

    def _changes_late(self, player: Player, now: Milliseconds, news: News) -> bool:
        """Refuse a move of a player whose own time is up while the step waits for others."""
        course = self.course
        due = self._due_of(player) if player in course.step.raws and not course.resting else course.step.late.get(player)
        if due is None or now <= due:
            return False
        news.append((Late(player, now - due), course.board.position))
        return True

    def _refuse_hasty(self, player: Player, raw: Raw, now: Milliseconds, news: News) -> None:
        board = self.course.board
        out = board.seat_of[player] in board.out
        if self.terms.hasty == "illegal" and not out and not self.course.resting:
            return self._refuse(player, "it is not your turn", raw, now, news)
        news.append((Refused(player, "you are out" if out else "it is not your turn", raw, 0), board.position))

    def _refuse(self, player: Player, why: str, raw: Raw, now: Milliseconds, news: News) -> None:
        limit, board = self.terms.strikes, self.course.board
        if limit is not None:
            board.strikes = tuple([count + (number == player) for number, count in enumerate(board.strikes)])
        strikes = board.strikes[player]
        news.append((Refused(player, why, raw, strikes), board.position))
        if limit is not None and strikes >= limit:
            self.course.fault(player, "illegal moves", why, now, news)
