"""A Bomberman room: users register, play a game and can read its result; then the next registration
begins.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from botdrome.contest.lobby import Wish, in_a_wish
from botdrome.games.bomberman import Bomberman
from botdrome.match.events import Began, Ended, Played, Result
from botdrome.match.match import News
from botdrome.match.terms import Milliseconds
from botdrome.server.bomber.judging import MOVES, NOT_TRIED, response_to, round_of
from botdrome.server.bomber.plan import BomberPlan
from botdrome.server.bomber.settings import BomberSection
from botdrome.server.bomber.users import BomberUser
from botdrome.server.bomber.waits import Waits
from botdrome.server.lobby.clients import ConnectedClient
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.gathering import GatheredPlayer, Gathering, open_table
from botdrome.server.lobby.registry import Admission
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.wire.bomber.conversation import (
    NOT_FOUND,
    Act,
    ActionJudged,
    BomberWriter,
    Registered,
    RequestRefused,
    RoomReply,
    UserState,
    refused_before,
)
from botdrome.wire.bomber.state import FINISHED, PLAYING, REGISTRATION, State, StateWriter
from botdrome.wire.writers import MatchHeader

if TYPE_CHECKING:
    from botdrome.server.bomber.contest_rooms import ContestRooms

PROTOCOL = "bomberman"
Push = Callable[[], None]
SendReply = Callable[[RoomReply], None]
Moment = dict[str, int]
"""The number of a state, and the milliseconds left until it ends."""


class BomberRoom:
    def __init__(
        self,
        plan: BomberPlan,
        desk: Desk,
        by_address: Counter[str],
        contest_rooms: "ContestRooms | None" = None,
        private: bool = False,
    ) -> None:
        """`private`: it plays one match, which a contest starts."""
        self.plan, self.desk, self.game = plan, desk, plan.game
        self.contest_rooms, self._private = contest_rooms, private
        self.on_end: Callable[[], None] = self._open
        """Called when users have had time to read the result."""
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

    def room_of(self, user_id: object) -> "BomberRoom":
        """The private room of a user that plays in a contest, or this room."""
        return self if self.contest_rooms is None else self.contest_rooms.room_of(user_id) or self

    def take_over(self, name: str, user: BomberUser, other: "BomberRoom") -> None:
        """Take a user of another room in; requests that wait there are answered."""
        self._users[user.user_id] = self._names[name] = user
        other.waits.wake(None)
        self.pushes |= other.pushes

    def enter(
        self, user_name: str, admission: Admission, password: str | None, address: str
    ) -> BomberUser:
        """Add a user. The room must be open, and the name free."""
        user = BomberUser(user_name, admission, password, address, self._make_writer)
        self._users[user.user_id] = self._names[admission.name] = user
        self._list(user, admission, address)
        self._note(State(REGISTRATION, 0, self.state.size, self._shown(tuple(self._names))))
        if not self._private:
            if self._timer is None:
                self._set_timer(self.plan.registration, self._time_is_over)
            self._start_if_full()
        return user

    def _list(self, user: BomberUser, admission: Admission, address: str) -> None:
        lose = partial(self._lose, user, admission.name)
        end = None if admission.bot is None else lose
        client = ConnectedClient(
            PROTOCOL,
            admission.name,
            self.game.name,
            address,
            user.traffic,
            lambda _: lose(),
            self._match_id,
            end,
        )
        user.log_out = self.desk.registry.clients.enter(client)

    def _match_id(self) -> str | None:
        return None if self.table is None else self.table.entry.id

    def _lose(self, user: BomberUser, name: str) -> None:
        """Block a user whose token changed or whose bot was removed.

        Before the game its seat becomes free.
        """
        user.log_out()
        room = self.room_of(user.user_id)  # a contest may have moved it
        room._users.pop(user.user_id, None)
        if self._private and self.contest_rooms is not None:
            if room.registering:
                self.contest_rooms.drop(name, user)
        elif self.registering and self._names.get(name) is user:
            del self._names[name]
            self._note(State(REGISTRATION, 0, self.state.size, self._shown(tuple(self._names))))

    def send_away(self, expected: Callable[[str], object]) -> None:
        """Forget registered bots that are expected in a contest: they register again."""
        for name, user in tuple(self._names.items() if self.registering else ()):
            if user.is_bot and expected(name):
                self._lose(user, name)

    def _shown(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names that users gave.

        If a guest plays against the bot of the same name, use the server's names.
        """
        given = tuple(
            self._names[name].user_name if name in self._names else name for name in names
        )
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
        """Whether a state after this number is still to come.

        An earlier game has no more states.
        """
        gone = self.state.phase == REGISTRATION and number > 0
        return (
            self.state.number <= number
            and not gone
            and not (self.desk.closing and self.table is None)
        )

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
        return (self.game.rounds - max(0, self.state.number - 1)) * self.plan.round + int(
            self.plan.rest * 1000
        )

    def moment(self) -> Moment:
        """Return the state number and time left, which even the answer to a refused request
        contains.
        """
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
            return RequestRefused(
                NOT_FOUND, "UNKNOWN_USER", "there is no such user_id in this room", self.moment()
            )
        user.traffic.came()
        table = self.table
        response, number = refused_before(round_of(table, user.player, self.state), action.number)
        move, note = MOVES[action.word]
        if response is None:
            assert table is not None and user.player is not None
            verdict = table.submit(user.player, move, note)
            response = response_to(
                verdict, table, user, action.word, number, self.state, self.plan.early
            )
        elif table is not None and user.player is not None and response in NOT_TRIED:
            table.note(user.player, note, NOT_TRIED[response])
        return ActionJudged(response, number, self.shown_to(user))

    def _set_timer(self, seconds: float, work: Callable[[], None]) -> None:
        self._due = self._loop.time() + seconds
        self._timer = self._loop.call_later(seconds, work)

    # The start.

    def _client_waits(self) -> None:
        if self._users and self.registering and not self._private and not self.desk.refusal:
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
        players = [GatheredPlayer(name, user.owner, user) for name, user in self._names.items()]
        recruits = self._gathering.recruit(self._names, free)
        players += [GatheredPlayer(name, client.owner, client) for name, client in recruits]
        players += (
            self._gathering.house_bots(self.plan.players - len(players)) if self.plan.house else []
        )
        self.begin(
            players, open_table(self.desk, self.game, self.plan.terms, self.plan.options, players)
        )

    def begin(self, players: list[GatheredPlayer], table: Table) -> None:
        """Begin the game of these players."""
        self._seated, self.table = self._shown(tuple(player.name for player in players)), table
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
        known = State(
            phase,
            match.steps + 1,
            self.state.size,
            self._seated,
            table.entry.id,
            match.view(None),
            result,
        )
        return replace(known, deaths=position.deaths, fuse=position.fuse)

    def _over(self, table: Table) -> None:
        if self.state.phase != FINISHED:  # the result could not be stored, so it was not announced
            self._turn(self._state(table, FINISHED, None))
        self._set_timer(self.plan.rest, self.on_end)
