"""A Bomberman room: users register, play a game and can read its result; then the next registration begins."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from botdrome.contest.lobby import Wish, in_a_wish
from botdrome.games.bomberman import Bomberman
from botdrome.games.bomberman_actions import WORDS
from botdrome.match.course import News
from botdrome.match.events import Began, Ended, Played, Result
from botdrome.match.terms import Milliseconds
from botdrome.server.bomber.plan import BomberPlan
from botdrome.server.bomber.settings import BomberSection
from botdrome.server.bomber.users import BomberUser
from botdrome.server.bomber.waits import Waits
from botdrome.server.lobby.clients import ConnectedClient
from botdrome.server.lobby.desk import Desk, WaitingClient
from botdrome.server.lobby.gathering import GatheredPlayer, Gathering, open_table
from botdrome.server.lobby.registry import Admission
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.wire.bomber.conversation import (
    NOT_FOUND,
    Act,
    ActionJudged,
    Registered,
    RequestRefused,
    RoomReply,
    Round,
    UserState,
    accepted,
    refused_before,
)
from botdrome.wire.bomber.messages import CAME_LATE, IS_AHEAD, IS_DEAD, IS_OVER, BomberWriter, Response, refusal_in
from botdrome.wire.bomber.state import FINISHED, PLAYING, REGISTRATION, State, StateWriter
from botdrome.wire.match_header import MatchHeader

Push = Callable[[], None]
SendReply = Callable[[RoomReply], None]
Moment = dict[str, int]
"""The number of a state, and the milliseconds left until it ends."""
MOVES = {word: ({"action": word}, b'{"action":"%s"}' % word.encode()) for word in WORDS}
"""Each word as a move for the table, and as bytes for the record, without the user_id."""

NOT_TRIED = {
    IS_DEAD: "not taken: the user is dead",
    IS_AHEAD: "not taken: too early",
    CAME_LATE: "not taken: too late",
}
"""Reasons as the record has them."""


class BomberRoom:
    def __init__(self, plan: BomberPlan, desk: Desk, by_address: Counter[str]) -> None:
        self.plan, self.desk, self.game = plan, desk, plan.game
        self.waits = Waits(desk.settings.of(BomberSection).wait, by_address)
        self.pushes: dict[Push, None] = {}
        """Called with every new state."""
        self.table: Table | None = None
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        """The end of the phase on the loop's clock, if known."""
        self._seated: tuple[str, ...] = ()
        """The names of the players, as the states show them."""
        self._users: dict[str, BomberUser] = {}
        wish = Wish(self.game.name, plan.players, in_a_wish(plan.options))
        self._gathering = Gathering(desk, lambda: wish, self._client_waits)
        self._open()

    def _open(self) -> None:
        """Open the registration. Its time runs from the first registered user."""
        self._timer = self.table = None
        for user in self._users.values():
            user.log_out()
        self._users = {}
        self._names: dict[str, BomberUser] = {}
        """Users by their names on this server."""
        self._turn(State(REGISTRATION, 0, (self.game.height, self.game.width), ()))

    def close(self) -> None:
        self._gathering.close()
        if self._timer is not None:
            self._timer.cancel()
        self.waits.close()

    # Users.

    @property
    def registering(self) -> bool:
        return self.state.phase == REGISTRATION and self.table is None and not self.desk.closing

    def user(self, user_id: object) -> BomberUser | None:
        return self._users.get(str(user_id))

    def named(self, name: str) -> BomberUser | None:
        return self._names.get(name)

    def enter(self, user_name: str, admission: Admission, password: str | None, address: str) -> BomberUser:
        """Add a user. The room must be open, and the name free."""
        user = BomberUser(user_name, admission.bot, password, address, self._make_writer)
        self._users[user.user_id] = self._names[admission.name] = user
        self._list(user, admission, address)
        self._note(State(REGISTRATION, 0, self.state.size, self._shown(tuple(self._names))))
        if self._timer is None:
            self._set_timer(self.plan.registration, self._time_is_over)
        self._start_if_full()
        return user

    def _list(self, user: BomberUser, admission: Admission, address: str) -> None:
        lose = partial(self._lose, user, admission.name)
        end = None if admission.bot is None else lose
        client = ConnectedClient(
            "bomberman", admission.name, self.game.name, address, user.traffic, lambda _: lose(), self._match_id, end
        )
        user.log_out = self.desk.registry.clients.enter(client)

    def _match_id(self) -> str | None:
        return None if self.table is None else self.table.entry.id

    def _lose(self, user: BomberUser, name: str) -> None:
        """Block a user whose token changed or whose bot was removed. Before the game its seat becomes free."""
        user.log_out()
        self._users.pop(user.user_id, None)
        if self.registering and self._names.get(name) is user:
            del self._names[name]
            self._note(State(REGISTRATION, 0, self.state.size, self._shown(tuple(self._names))))

    def _shown(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names that users gave. If a guest plays against the bot of the same name, use the server's names."""
        given = tuple(self._names[name].user_name if name in self._names else name for name in names)
        return given if len(set(given)) == len(given) else names

    # The states.

    def _note(self, state: State) -> None:
        self.state, self._writer = state, StateWriter(state)

    def _turn(self, state: State) -> None:
        """Set a new state, and answer the requests that wait for it."""
        self._note(state)
        for user in self._users.values():
            user.traffic.went(1)
        self.waits.wake(state.number if state.phase == PLAYING else None)
        for push in tuple(self.pushes):
            push()

    def comes_after(self, number: int) -> bool:
        """Whether a state after this number is still to come. An earlier game has no more states."""
        gone = self.state.phase == REGISTRATION and number > 0
        return self.state.number <= number and not gone and not (self.desk.closing and self.table is None)

    def time_left(self) -> Milliseconds:
        """Return the time left of the phase or the round."""
        table = self.table
        if self.state.phase == PLAYING and table is not None:
            return max(0, (table.match.deadline or 0) - table.now())
        if self.state.phase == FINISHED and self._timer is None:  # the result is being stored
            return int(self.plan.rest * 1000)
        if self._timer is None and table is None:
            return int(self.plan.registration * 1000)
        return max(0, int((self._due - self._loop.time()) * 1000))

    def until_registration(self) -> Milliseconds:
        """Return the maximum time until the next registration."""
        if self.state.phase == FINISHED:
            return self.time_left()
        return (self.game.rounds - max(0, self.state.number - 1)) * self.plan.round + int(self.plan.rest * 1000)

    def moment(self) -> Moment:
        """Return the state number and time left, which even the answer to a refused request contains."""
        return {"state_number": self.state.number, "time_left": self.time_left()}

    # Replies to users.

    def registered(self, user: BomberUser | None) -> Registered:
        assert user is not None
        return Registered(user.user_id, self.time_left())

    def shown_to(self, user: BomberUser | None) -> UserState:
        return UserState(self._writer, None if user is None else user.player, self.time_left())

    def act(self, action: Act) -> ActionJudged | RequestRefused:
        user = self.user(action.user_id)
        if user is None:
            return RequestRefused(NOT_FOUND, "UNKNOWN_USER", "there is no such user_id in this room", self.moment())
        user.traffic.came()
        response, number = refused_before(self._round(user), action.number)
        move, note = MOVES[action.word]
        table = self.table
        if response is None:
            assert table is not None and user.player is not None
            verdict = table.submit(user.player, move, note)
            response = self._response(verdict, table, user, action.word, number)
        elif table is not None and user.player is not None and response in NOT_TRIED:
            table.note(user.player, note, NOT_TRIED[response])
        return ActionJudged(response, number, self.shown_to(user))

    def _round(self, user: BomberUser) -> Round | None:
        table, player, state = self.table, user.player, self.state
        if table is None or player is None or state.phase == REGISTRATION:
            return None
        match, deadline = table.match, table.match.deadline
        running = match.steps + (1 if deadline is None or table.now() <= deadline else 2)
        return Round(state.phase, match.result is not None, state.number, running, state.place(player) is not None)

    def _response(self, verdict: str, table: Table, user: BomberUser, word: str, step: int) -> Response:
        """Return the response to an action for the round with this number."""
        match, refused = table.match, refusal_in(verdict)
        if match.result is not None and (refused is not None or not self.plan.early):
            return IS_OVER  # the round before was overdue, and ended the game
        if refused is not None:
            assert user.player is not None
            return IS_DEAD if self.state.place(user.player) is None else refused
        previous, user.acted = user.acted, (step, word)
        return accepted(previous, step)

    def _set_timer(self, seconds: float, work: Callable[[], None]) -> None:
        self._due = self._loop.time() + seconds
        self._timer = self._loop.call_later(seconds, work)

    # The start.

    def _client_waits(self) -> None:
        if self._users and self.registering and not self.desk.refusal:
            self._start_if_full()

    def _can_start(self, players: int) -> bool:
        return len(self._users) + len(self._gathering.waiting(self._names)) >= players

    def _start_if_full(self) -> None:
        if self._can_start(self.plan.players):
            self._start()

    def _time_is_over(self) -> None:
        if self.desk.closing:
            return
        if not self.desk.refusal and (self.plan.house or self._can_start(self.plan.least)):
            self._start()
        else:
            self._set_timer(self.plan.registration, self._time_is_over)

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        free = self.plan.players - len(self._users)
        clients: list[tuple[str, BomberUser | WaitingClient]] = [
            *self._names.items(),
            *self._gathering.recruit(self._names, free),
        ]
        players = [GatheredPlayer(name, client.owner, client) for name, client in clients]
        players += self._gathering.house_bots(self.plan.players - len(players)) if self.plan.house else []
        self._seated = self._shown(tuple(player.name for player in players))
        table = self.table = open_table(self.desk, self.game, self.plan.terms, self.plan.options, players)
        table.subscribe(Subscriber(self._hear, over=self._over))
        delay = secrets.randbelow(min(200, self.plan.round)) / 1000
        self._due = self._loop.time() + delay
        self.desk.tables.start_table(table, [player.client for player in players], delay)

    def _make_writer(self, _: MatchHeader) -> BomberWriter:
        return BomberWriter(self.plan.wrapped_responses, self._seated)

    # The game.

    def _hear(self, news: News) -> None:
        """Handle news from the table."""
        if any(isinstance(event, (Played, Began, Ended)) for event, _ in news):
            self._look()

    def _look(self) -> None:
        assert self.table is not None
        match = self.table.match
        phase = PLAYING if match.result is None else FINISHED
        self._turn(self._state(self.table, phase, match.result))

    def _state(self, table: Table, phase: str, result: Result | None) -> State:
        match, position = table.match, table.match.position
        assert isinstance(position, Bomberman)
        known = State(phase, match.steps + 1, self.state.size, self._seated, table.entry.id, match.view(None), result)
        return replace(known, deaths=position.deaths, fuse=position.fuse)

    def _over(self, table: Table) -> None:
        if self.state.phase != FINISHED:  # the result could not be stored, so it was not announced
            self._turn(self._state(table, FINISHED, None))
        self._set_timer(self.plan.rest, self._open)
