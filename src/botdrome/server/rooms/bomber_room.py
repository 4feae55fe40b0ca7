"""A Bomberman room: users register, play a game and read its result; then users register again."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from botdrome.games.bomberman import WORDS, Bomberman
from botdrome.games.game import BadOption
from botdrome.games.options import unusual, with_options
from botdrome.match.events import Began, Ended, Played, Player, Result
from botdrome.match.match import Match, News
from botdrome.match.terms import Milliseconds, Pace, Terms
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import (
    ConnectedClient,
    bot_owner,
    guest_owner,
    is_guests,
    no_login,
)
from botdrome.server.lobby.contest_queue import ContestPlayer, ContestTable, TableRules
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import GatheredPlayer
from botdrome.server.lobby.registry import Admission, Banned, Denied
from botdrome.server.network.connection import Traffic
from botdrome.server.rooms.room import Room
from botdrome.server.settings import (
    AnyPort,
    BadSetting,
    Positive,
    PositiveFloat,
    ProtocolSection,
    UpToAnHour,
)
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.contest_journal import ContestRefusal
from botdrome.store.entries import BotEntry
from botdrome.wire.bomber.conversation import (
    CAME_LATE,
    CONFLICT,
    FORBIDDEN,
    HAS_NOT_BEGUN,
    IS_AHEAD,
    IS_DEAD,
    IS_OVER,
    NOT_FOUND,
    UNAVAILABLE,
    Act,
    ActionJudged,
    BomberConversation,
    BomberWriter,
    RegisterUser,
    Registration,
    RequestRefused,
    Response,
    RoomReply,
    UserRegistered,
    UserState,
    accepted,
    refusal_in,
    refused_before,
    registration_refused,
)
from botdrome.wire.bomber.request import DEFAULT
from botdrome.wire.bomber.state import FINISHED, PLAYING, REGISTRATION, State, StateWriter
from botdrome.wire.writers import MakeWriter, MatchHeader, MatchWriters

Name = Annotated[str, Meta(pattern="^[A-Za-z0-9_.-]{1,32}$")]


class BomberRoomSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Name = "default"
    players: Annotated[int, Meta(ge=2, le=8)] = 4
    """seats; a full room starts at once"""
    least: Annotated[int, Meta(ge=2, le=8)] = 2
    """users without whom no game starts"""
    registration: Annotated[float, Meta(gt=0, le=86400)] = 10.0
    """seconds from the first registration to the start"""
    round: Annotated[int, Meta(ge=10, le=60_000)] = 200
    """milliseconds"""
    rest: UpToAnHour = 5.0
    """seconds from the end of a game to the next registration"""
    house: bool = False
    """house bots take the free seats"""
    early: bool = False
    """a round ends as soon as all living users have acted"""
    wrapped_responses: bool = False
    """DECLINED, with the word as information, for all that is refused"""
    options: dict[str, Any] = {}
    """Options of the game that differ from the defaults."""

    @property
    def game(self) -> Bomberman:
        return with_options(Bomberman(), self.options)

    @property
    def terms(self) -> Terms:
        return Terms(Pace(self.round, beat=not self.early), late="pass", gone="pass")

    def shown(self) -> dict[str, Any]:
        """Return the settings without the options of the game."""
        return {key: getattr(self, key) for key in KEYS}


KEYS = tuple(field for field in BomberRoomSettings.__struct_fields__ if field != "options")


def read_room_settings(
    rooms: str | Sequence[Mapping[str, Any]], house: bool
) -> list[BomberRoomSettings]:
    """Parse one table per room, or a text: `NAME` or `NAME:KEY=VALUE,KEY=VALUE`, with blanks
    between rooms.

    Keys are settings of a room or options of the game.
    """
    tables = [_table(word) for word in rooms.split()] if isinstance(rooms, str) else rooms
    found = [_room_settings(table, house) for table in tables]
    names = [room.name for room in found]
    if not found or len(set(names)) < len(names):
        raise BadSetting(
            "bomber.rooms: there is at least one room, and each has a name of its own, not "
            f"{rooms!r}"
        )
    return found


def _table(word: str) -> dict[str, Any]:
    name, _, rest = word.partition(":")
    return {"name": name} | {
        key: value for key, _, value in (pair.partition("=") for pair in rest.split(",") if pair)
    }


def _room_settings(table: Mapping[str, Any], house: bool) -> BomberRoomSettings:
    name = table.get("name", "default")
    known: dict[str, Any] = {"house": house} | {
        key: value for key, value in table.items() if key in KEYS
    }
    options = {key: value for key, value in table.items() if key not in KEYS}
    try:
        game = with_options(Bomberman(), options)
        settings = msgspec.convert(
            known | {"options": unusual(game)}, BomberRoomSettings, strict=False
        )
        for players in range(settings.least, settings.players + 1):
            game.check(players)
    except (msgspec.ValidationError, BadOption) as problem:
        raise BadSetting(f"bomber.rooms: {name}: {problem}") from None
    if settings.least > settings.players:
        raise BadSetting(f"bomber.rooms: {name}: least is more than players")
    return settings


class BomberSection(ProtocolSection, frozen=True):
    """The Bomberman API"""

    port: AnyPort = 9800
    """the Bomberman API alone, at the original's port; 0: off, -1: any free port"""
    rooms: str | tuple[dict[str, Any], ...] = "default"
    """the rooms, a `[[bomber.rooms]]` table each, or NAME:KEY=VALUE,KEY=VALUE separated by
    blanks
    """
    wait: PositiveFloat = 25.0
    """seconds that a request may wait for the next state"""
    waits: Positive = 1000
    """waiting requests from one address at a time"""


class BomberUser:
    """The client of a seat.

    The server sends it nothing unasked; it polls, and gets an answer to each action at once.
    """

    seeker = None
    present = True
    """Always present: a user that misses a round stands still, and may act again."""

    def __init__(
        self,
        user_name: str,
        admission: Admission,
        password: str | None,
        address: str,
        make_writer: MakeWriter,
    ) -> None:
        bot, self.version = admission.bot, admission.version
        self.user_name, self.make_writer = user_name, make_writer
        self.user_id = secrets.token_hex(16)
        """A secret shared by the server and the user."""
        self.owner = guest_owner(self.user_id, password) if bot is None else bot_owner(bot)
        self.is_bot, self._sealed, self._address = bot is not None, bool(password), address
        self.log_out = self.leave_contests = no_login
        self.traffic = Traffic()
        self.player: Player | None = None
        self.acted: tuple[int, str] | None = None
        """The round of the last accepted action, and its word."""

    def is_known_by(self, bot: BotEntry | None, password: str | None, address: str) -> bool:
        """Return whether a client is this user: by token, by password, or without either by
        address.
        """
        if bot is not None or self.is_bot:
            return bot is not None and self.owner == bot_owner(bot)
        if not password:
            return not self._sealed and address == self._address
        return self._sealed and is_guests(self.owner, password)

    def sit_down(self, table: Table, player: Player) -> None:
        self.player = player

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        writers.join(player, self.make_writer)

    def tell(self, messages: list[bytes]) -> None:
        pass

    def network_time(self) -> float:
        return 0.0

    def delay(self) -> float:
        return 0.0

    def dismiss(self, failed: bool) -> None:
        pass


MOVES = {word: ({"action": word}, b'{"action":"%s"}' % word.encode()) for word in WORDS}
"""Each word as a move for the table, and as bytes for the record, without the user_id."""

NOT_TRIED = {
    IS_DEAD: "not taken: the user is dead",
    IS_AHEAD: "not taken: too early",
    CAME_LATE: "not taken: too late",
}
"""Reasons as the record has them."""


class Wait:
    __slots__ = ("address", "after", "due", "tell")

    def __init__(self, after: int, address: str, tell: Callable[[], None]) -> None:
        self.after, self.address, self.tell, self.due = after, address, tell, 0.0


class Waits:
    """The waiting requests of one room. All have the same timeout, so one timer serves them all."""

    def __init__(self, seconds: float, by_address: Counter[str]) -> None:
        self._seconds, self._by_address = seconds, by_address
        self._waits: dict[Wait, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def __len__(self) -> int:
        return len(self._waits)

    def from_address(self, address: str) -> int:
        """Return how many requests from this address wait, in all rooms."""
        return self._by_address[address]

    def add(self, wait: Wait) -> None:
        wait.due = self._loop.time() + self._seconds
        self._waits[wait] = None
        self._by_address[wait.address] += 1
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._ring)

    def remove(self, wait: Wait) -> None:
        """Remove a request whose client has disconnected."""
        if wait in self._waits:
            del self._waits[wait]
            self._by_address[wait.address] -= 1
            if not self._by_address[wait.address]:
                del self._by_address[wait.address]

    def wake(self, number: int | None = None) -> None:
        """Answer the requests that wait for a state up to this number; None: all requests."""
        if not self._waits:
            return
        for wait in [wait for wait in self._waits if number is None or number > wait.after]:
            self._end(wait)

    def _end(self, wait: Wait) -> None:
        if wait in self._waits:
            self.remove(wait)
            wait.tell()

    def _ring(self) -> None:
        now = self._loop.time()
        for wait in [wait for wait in self._waits if wait.due <= now + 0.001]:
            self._end(wait)
        first = next(iter(self._waits), None)
        self._timer = None if first is None else self._loop.call_later(first.due - now, self._ring)

    def close(self) -> None:
        self.wake()
        if self._timer is not None:
            self._timer.cancel()


PROTOCOL = "bomberman"
Push = Callable[[], None]
SendReply = Callable[[RoomReply], None]
Moment = dict[str, int]
"""The number of a state, and the milliseconds left until it ends."""


class BomberRoom(Room):
    def __init__(
        self, settings: BomberRoomSettings, rooms: "BomberRooms", private: bool = False
    ) -> None:
        """`private`: it plays one match, which a contest starts."""
        sizes = range(settings.least, settings.players + 1)
        super().__init__(
            rooms.desk, TableRules(settings.game, settings.terms, settings.options, sizes)
        )
        self.settings, self.rooms, self.game, self._private = (
            settings,
            rooms,
            settings.game,
            private,
        )
        self.talk = BomberConversation(wrapped=settings.wrapped_responses, may_wait=True)
        """With HTTP clients that ask for nothing special."""
        self.house, self.retry = settings.house, settings.registration
        self.on_end: Callable[[], None] = self._open
        """Called when users have had time to read the result."""
        self.waits = Waits(self.desk.settings.of(BomberSection).wait, rooms.waiting_from)
        self.pushes: dict[Push, None] = {}
        """Called with every new state."""
        self.table: Table | None = None
        self._starts_at = 0.0
        """When the table starts, on the loop's clock."""
        self._seated: tuple[str, ...] = ()
        """The names of the players, as the states show them."""
        self._users: dict[str, BomberUser] = {}
        self._open()
        if not private:
            self.follow()

    def _open(self) -> None:
        """Open the registration. Its time runs from the first registered user."""
        self.table = None
        for user in self._users.values():
            user.log_out()
        self._users = {}
        self._names: dict[str, BomberUser] = {}
        """Users by their names on this server."""
        self._turn(State(REGISTRATION, 0, (self.game.height, self.game.width), ()))

    def close(self) -> None:
        super().close()
        self.waits.close()

    # Users.

    @property
    def registering(self) -> bool:
        return self.state.phase == REGISTRATION and self.table is None and not self.desk.closing

    def user(self, user_id: object) -> BomberUser | None:
        return self._users.get(str(user_id))

    def room_of(self, user_id: object) -> "BomberRoom":
        """The private room of a user that plays in a contest, or this room."""
        return self.rooms.contest_rooms.get(str(user_id), self)

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
                self.set_timer(self._loop.time() + self.settings.registration, self.wait_is_over)
            self.start_if_full()
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
        if self._private:
            if room.registering:
                self.rooms.drop(name, user)
        elif self.registering and self._names.get(name) is user:
            del self._names[name]
            self._note(State(REGISTRATION, 0, self.state.size, self._shown(tuple(self._names))))

    def contests_changed(self) -> None:
        """Send registered bots away that are expected in a contest that has begun: they register
        again.
        """
        queue = self.desk.contest_queue
        assert queue is not None
        for name, user in tuple(self._names.items() if self.registering else ()):
            if user.is_bot and queue.expecting(self.game.name, name):
                self._lose(user, name)

    def _shown(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names that users gave.

        If a guest plays against the bot of the same name, use the server's names.
        """
        given = tuple(
            self._names[name].user_name if name in self._names else name for name in names
        )
        return given if len(set(given)) == len(given) else names

    # Registration. The store checks names and tokens; the rules are in `wire/bomber`.

    def register(self, command: RegisterUser, address: str, reply: SendReply) -> None:
        self.desk.tasks.start(self._register(command, address, reply))

    async def _register(self, command: RegisterUser, address: str, reply: SendReply) -> None:
        reply(await self._registration(command, address))

    async def _registration(self, command: RegisterUser, address: str) -> RoomReply:
        try:
            admission = await self.desk.registry.admit(
                command.name, command.password, self.game.name, "never"
            )
        except Banned as words:
            return RequestRefused(FORBIDDEN, "BANNED", str(words))
        except Denied as words:
            user = self._names.get(command.name)  # the name may have been registered meanwhile
            if user is not None and self._returns(command, address, user):
                return self._registered(user)
            return RequestRefused(FORBIDDEN, "NAME_TAKEN", str(words))
        except Exception:
            log_failure("a bot could not be looked up")
            return RequestRefused(UNAVAILABLE, "UNAVAILABLE", "names cannot be looked up now")
        admission = replace(admission, version=command.version)
        if admission.bot is not None:
            self.desk.registry.note_protocol(admission.name, PROTOCOL)
        try:
            if user := self._contest_user(command, admission, address):
                return self.room_of(user.user_id)._registered(user)
        except ContestRefusal as problem:
            return RequestRefused(CONFLICT, "VERSION_REFUSED", str(problem))
        return self._entered(command, admission, address)

    def _entered(self, command: RegisterUser, admission: Admission, address: str) -> RoomReply:
        known, closing = self._names.get(admission.name), self.desk.closing
        refusal = self.desk.refusal
        asked = Registration(
            command.name,
            with_password=bool(command.password),
            phase=self.state.phase,
            open=self.registering,
            stopping=refusal if closing else "",
            no_games=refusal,
            known=known is not None,
            returns=known is not None
            and not closing
            and self._returns(command, address, known, admission.bot),
            next_registration=self.until_registration(),
        )
        refused = registration_refused(asked)
        if refused is not None:
            return refused
        return self._registered(
            known or self.enter(command.name, admission, command.password, address)
        )

    def _contest_user(
        self, command: RegisterUser, admission: Admission, address: str
    ) -> BomberUser | None:
        """Return the user that plays in a contest under this name, or let it wait for its next
        match there.
        """
        known = self.rooms.contest_users.get(admission.name)
        if known is not None:
            right = known.is_known_by(admission.bot, command.password, address)
            return known if right else None
        who = admission.name, admission.owner, admission.version
        if self.desk.refusal or not self.expects(*who):
            return None
        return self.enter_contests(command.name, admission, command.password, address)

    def _returns(
        self, command: RegisterUser, address: str, user: BomberUser, bot: BotEntry | None = None
    ) -> bool:
        """Return whether the client is that user. During a game it must send its password or
        token.
        """
        if self.state.phase == FINISHED or not (command.password or self.registering):
            return False
        guesses = self.desk.registry.guesses
        if command.password and guesses.spent(command.name):
            return False
        right = user.is_known_by(bot, command.password, address)
        if command.password:
            guesses.note(command.name, right)
        return right

    def _registered(self, user: BomberUser) -> UserRegistered:
        return UserRegistered(user.user_id, self.time_left())

    # The states.

    def _note(self, state: State) -> None:
        self.state, self._writer = state, StateWriter(state)

    def _turn(self, state: State) -> None:
        """Set a new state, and answer the requests that wait for it."""
        self._note(state)
        now = self._loop.time()
        for user in self._users.values():
            traffic = user.traffic
            traffic.sent += 1  # went(), without the call
            traffic.asked = now
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

    def time_left(self, now: Milliseconds | None = None) -> Milliseconds:
        """Return the time left of the phase or the round. `now` is the time at the table."""
        table = self.table
        if self.state.phase == PLAYING and table is not None:
            left = (table.match.deadline or 0) - (table.now() if now is None else now)
            return left if left > 0 else 0  # max() costs more
        if self.state.phase == FINISHED and self._timer is None:  # the result is being stored
            return int(self.settings.rest * 1000)
        if self._timer is None and table is None:
            return int(self.settings.registration * 1000)
        due = self._starts_at if self._timer is None else self._timer.when()
        return max(0, int((due - self._loop.time()) * 1000))

    def until_registration(self) -> Milliseconds:
        """Return the maximum time until the next registration."""
        if self.state.phase == FINISHED:
            return self.time_left()
        return (self.game.rounds - max(0, self.state.number - 1)) * self.settings.round + int(
            self.settings.rest * 1000
        )

    def moment(self) -> Moment:
        """Return the state number and time left, which even the answer to a refused request
        contains.
        """
        return {"state_number": self.state.number, "time_left": self.time_left()}

    def summary(self) -> dict[str, Any]:
        """Return the public description of the room."""
        state, name = self.state, self.settings.name
        return {
            "name": name,
            "url": f"/bomber/rooms/{name}/rest",
            "phase": state.phase,
            "players": self.settings.players,
            "users": state.names,
            "state_number": state.number,
            "time_left": self.time_left(),
            "game_id": state.game_id,
        }

    # Replies to users.

    def shown_to(self, user: BomberUser | None) -> UserState:
        return UserState(self._writer, None if user is None else user.player, self.time_left())

    def told(self, user_id: str, at: float) -> tuple[bytes, bytes]:
        """Return the state as a user gets it at this time of the loop, in two parts."""
        user = self._users.get(user_id)
        left = self.time_left(0 if self.table is None else self.table.now(at))
        return self._writer.told(DEFAULT, left, None if user is None else user.player)

    def act(self, action: Act, at: float) -> ActionJudged | RequestRefused:
        """Take an action at this time of the loop; the ticks that were due went first."""
        user, table = self._users.get(str(action.user_id)), self.table
        if user is None:
            return RequestRefused(
                NOT_FOUND, "UNKNOWN_USER", "there is no such user_id in this room", self.moment()
            )
        traffic = user.traffic
        if traffic.asked:  # came(), without the call
            traffic.answers += 1
            traffic.waited, traffic.asked = traffic.waited + at - traffic.asked, 0.0
        else:
            traffic.others += 1
        now, player = 0 if table is None else table.now(at), user.player
        response, number = HAS_NOT_BEGUN, 0
        if table is not None and player is not None:
            match, (move, note) = table.match, MOVES[action.word]
            due, over = match.deadline, match.result is not None
            running = match.steps + (1 if due is None or now <= due else 2)
            refused, number = refused_before(self.state, player, over, running, action.number)
            if refused is None:
                verdict = table.submit(player, move, note, now)
                response = self._response(verdict, match, user, action.word, number)
            else:
                response = refused
                if refused in NOT_TRIED:
                    table.note(player, note, NOT_TRIED[refused])
        return ActionJudged(self._writer, player, self.time_left(now), response, number)

    def _response(
        self, verdict: str, match: Match, user: BomberUser, word: str, number: int
    ) -> Response:
        """Return the response to an action for the round with this number."""
        is_accepted = verdict == "accepted"
        if match.result is not None and not (is_accepted and self.settings.early):
            return IS_OVER  # the round before was overdue, and ended the game
        if is_accepted:
            previous, user.acted = user.acted, (number, word)
            return accepted(previous, number)
        assert user.player is not None
        return IS_DEAD if self.state.place(user.player) is None else refusal_in(verdict)

    # The start.

    @property
    def names(self) -> Collection[str]:
        return self._names.keys()

    @property
    def gathers(self) -> bool:
        return bool(self._names) and self.registering and not self._private

    def complete(self, others: Sequence[GatheredPlayer]) -> None:
        self.stop_timer()
        users = [GatheredPlayer(name, user.owner, user) for name, user in self._names.items()]
        players = [*users, *others]
        self.begin(players, self.set_table(players))

    def begin(self, players: list[GatheredPlayer], table: Table) -> None:
        """Begin the game of these players."""
        self._seated, self.table = self._shown(tuple(player.name for player in players)), table
        table.subscribe(Subscriber(self._hear, over=self._over))
        delay = secrets.randbelow(min(200, self.settings.round)) / 1000
        self._starts_at = self._loop.time() + delay
        self.desk.tables.start_table(table, [player.client for player in players], delay)

    def _make_writer(self, _: MatchHeader) -> BomberWriter:
        return BomberWriter(self.settings.wrapped_responses, self._seated)

    # The game.

    def _hear(self, news: News) -> None:
        """Handle news from the table."""
        for event, _ in news:
            if isinstance(event, (Played, Began, Ended)):
                return self._look()
        return None

    def _look(self) -> None:
        assert self.table is not None
        match = self.table.match
        phase = PLAYING if match.result is None else FINISHED
        self._turn(self._state(self.table, phase, match.result))

    def _state(self, table: Table, phase: str, result: Result | None) -> State:
        match, position = table.match, table.match.position
        assert isinstance(position, Bomberman)
        number, game_id = match.steps + 1, table.entry.id
        return State(phase, number, self.state.size, self._seated, game_id, position, result)

    def _over(self, table: Table) -> None:
        if self.state.phase != FINISHED:  # the result could not be stored, so it was not announced
            self._turn(self._state(table, FINISHED, None))
        self.set_timer(self._loop.time() + self.settings.rest, self.on_end)

    # Contests.

    def enter_contests(
        self, user_name: str, admission: Admission, password: str | None, address: str
    ) -> BomberUser:
        """Let a user wait for its next match in a private room."""
        room, rooms, name = (
            BomberRoom(self.settings, self.rooms, private=True),
            self.rooms,
            admission.name,
        )
        user = room.enter(user_name, admission, password, address)
        rooms.contest_rooms[user.user_id], rooms.contest_users[name] = room, user
        release = partial(rooms.drop, name, user)
        user.leave_contests = room.hold(name, admission.owner, admission.version, release)
        return user

    def open_for_contest(self, wanted: ContestTable, players: Sequence[ContestPlayer]) -> None:
        """Play here, and take the users in that wait in other private rooms."""
        rooms = [(player.name, player.opener) for player in players]
        users = {
            name: self._take_in(name, room) for name, room in rooms if isinstance(room, BomberRoom)
        }
        gathered = [
            GatheredPlayer(player.name, player.owner, users[player.name])
            if player.name in users
            else player.gathered(self.game.name)
            for player in players
        ]
        terms = self.rules.terms
        if wanted.limit is not None:
            terms = replace(terms, pace=replace(terms.pace, limit=wanted.limit))
        table = self.contest_table(wanted, terms, gathered)
        self.on_end = partial(self.rooms.drop_all, users)
        self.begin(gathered, table)

    def _take_in(self, name: str, other: "BomberRoom") -> BomberUser:
        """Requests that wait in the other room are answered."""
        user = other._names[name]
        if other is not self:
            self._users[user.user_id] = self._names[name] = user
            self.rooms.contest_rooms[user.user_id] = self
            user.make_writer = self._make_writer
            self.pushes |= other.pushes
            other.close()
        return user


class BomberRooms:
    """The rooms by name. Paths without a name mean the first room."""

    def __init__(self, desk: Desk) -> None:
        self.desk, settings = desk, desk.settings
        self.waiting_from: Counter[str] = Counter()
        """The number of waiting requests per address."""
        self.contest_rooms: dict[str, BomberRoom] = {}
        """The private rooms of users that wait or play in a contest, by user_id."""
        self.contest_users: dict[str, BomberUser] = {}
        """These users, by name."""
        rooms = read_room_settings(settings.of(BomberSection).rooms, settings.house.fill)
        self._rooms = {one.name: BomberRoom(one, self) for one in rooms}
        self.first = next(iter(self._rooms.values()))

    def drop(self, name: str, user: BomberUser) -> None:
        """A user waits or plays in a contest no longer: it may register again."""
        room = self.contest_rooms.pop(user.user_id, None)
        if self.contest_users.get(name) is user:
            del self.contest_users[name]
        user.leave_contests()
        if room is not None:
            user.log_out()
            room.close()

    def drop_all(self, users: dict[str, BomberUser]) -> None:
        for name, user in users.items():
            self.drop(name, user)

    def in_use(self) -> bool:
        """Whether users are in a room, or in a contest, or follow a room."""
        users = any(client.protocol == PROTOCOL for client in self.desk.registry.clients.all)
        return users or any(room.pushes for room in self._rooms.values())

    def __getitem__(self, name: str) -> BomberRoom | None:
        return self._rooms.get(name)

    def listed(self) -> list[dict[str, Any]]:
        return [room.summary() for room in self._rooms.values()]

    async def close(self) -> None:
        for room in self._rooms.values():
            room.close()
