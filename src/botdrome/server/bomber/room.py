"""Room: users register, play a game, can read how it ended, and then the next ones register."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from botdrome.contest.lobby import Wish, in_a_wish
from botdrome.games.bomberman import Bomberman
from botdrome.match.course import News
from botdrome.match.events import Began, Ended, Late, Played, Player, Refused, Result
from botdrome.match.terms import Milliseconds
from botdrome.server.bomber.mailbox import Mailbox
from botdrome.server.bomber.plan import Plan
from botdrome.server.bomber.settings import BomberSection
from botdrome.server.bomber.waits import Waits
from botdrome.server.lobby.clients import ConnectedClient
from botdrome.server.lobby.desk import Desk, WaitingClient
from botdrome.server.lobby.gathering import GatheredPlayer, Gathering, open_table
from botdrome.server.lobby.registry import Admission
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.wire.bomber.messages import CAME_LATE, BomberDialect, Response, refusal
from botdrome.wire.bomber.shape import Shape
from botdrome.wire.bomber.state import FINISHED, PLAYING, REGISTRATION, State, beginning, beginning_for, whereabouts
from botdrome.wire.match_header import MatchHeader

Push = Callable[[], None]
Moment = dict[str, int]
"""The number of a state, and the milliseconds that are left of it."""


class Room:
    def __init__(self, plan: Plan, desk: Desk, by_address: Counter[str]) -> None:
        self.plan, self.desk, self.game = plan, desk, plan.game
        self.waits = Waits(desk.settings.of(BomberSection).wait, by_address)
        self.pushes: dict[Push, None] = {}
        """Called with every new state."""
        self.table: Table | None = None
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        """When the phase is over, if that is known."""
        self._refused: dict[Player, Response] = {}
        self._seated: tuple[str, ...] = ()
        """Those at the table, by the names that the states have for them."""
        self._users: dict[str, Mailbox] = {}
        wish = Wish(self.game.name, plan.players, in_a_wish(plan.options))
        self._gathering = Gathering(desk, lambda: wish, self._client_waits)
        self._open()

    def _open(self) -> None:
        """Registration begins. Its time runs from the first who comes."""
        self._timer = self.table = None
        for user in self._users.values():
            user.log_out()
        self._users = {}
        self._names: dict[str, Mailbox] = {}
        """By their names in the house."""
        self._turn(State(REGISTRATION, 0, (self.game.height, self.game.width), ()))

    def close(self) -> None:
        self._gathering.close()
        if self._timer is not None:
            self._timer.cancel()
        self.waits.close()

    # Who is here.

    @property
    def registering(self) -> bool:
        return self.state.phase == REGISTRATION and self.table is None and not self.desk.closing

    def user(self, user_id: object) -> Mailbox | None:
        return self._users.get(str(user_id))

    def named(self, name: str) -> Mailbox | None:
        return self._names.get(name)

    def enter(self, user_name: str, admission: Admission, password: str | None, address: str) -> Mailbox:
        """A new user. The room is open, and nobody has that name in the house."""
        user = Mailbox(user_name, admission.bot, password, address, self._make_writer)
        self._users[user.user_id] = self._names[admission.name] = user
        self._list(user, admission, address)
        self._note(State(REGISTRATION, 0, self.state.size, self._shown(tuple(self._names))))
        if self._timer is None:
            self._set_timer(self.plan.registration, self._time_is_over)
        self._start_if_full()
        return user

    def _list(self, user: Mailbox, admission: Admission, address: str) -> None:
        lose = partial(self._lose, user, admission.name)
        end = None if admission.bot is None else lose
        client = ConnectedClient(
            "bomberman", admission.name, self.game.name, address, user.traffic, lambda _: lose(), self._match_id, end
        )
        user.log_out = self.desk.registry.clients.enter(client)

    def _match_id(self) -> str | None:
        return None if self.table is None else self.table.entry.id

    def _lose(self, user: Mailbox, name: str) -> None:
        """Its token was changed, or it was removed: nobody acts for it any more. Before the game its seat is free again."""
        user.log_out()
        self._users.pop(user.user_id, None)
        if self.registering and self._names.get(name) is user:
            del self._names[name]
            self._note(State(REGISTRATION, 0, self.state.size, self._shown(tuple(self._names))))

    def _shown(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names that users gave. Where a guest meets the very bot whose name it gave, those of the house tell them apart."""
        given = tuple(self._names[name].user_name if name in self._names else name for name in names)
        return given if len(set(given)) == len(given) else names

    # The states.

    def _note(self, state: State) -> None:
        self.state = state
        self._spelled: dict[Shape, bytes] = {}

    def _turn(self, state: State) -> None:
        """A new state, and those who wait for it."""
        self._note(state)
        for user in self._users.values():
            user.traffic.went(1)
        self.waits.wake(state.number if state.phase == PLAYING else None)
        for push in tuple(self.pushes):
            push()

    def comes_after(self, number: int) -> bool:
        """Whether a state after this one is yet to come. Of a game that is gone, none is."""
        gone = self.state.phase == REGISTRATION and number > 0
        return self.state.number <= number and not gone and not (self.desk.closing and self.table is None)

    def told(self, shape: Shape, user: Mailbox | None, fields: dict[str, Any] | None = None) -> tuple[bytes, bytes]:
        """The state as it is told to a user, or to anybody, in two pieces; `fields` go first."""
        state, spelled = self.state, self._spelled.get(shape)
        if spelled is None:
            spelled = self._spelled[shape] = state.spelled(shape)
        own = fields or {}
        if user is not None and user.player is not None and state.view is not None:
            place = state.place(user.player)
            if not own and not shape.python:
                return beginning_for(place, self.time_left()), spelled
            own |= whereabouts(place)
        return beginning(shape, self.time_left(), own), spelled

    def time_left(self) -> Milliseconds:
        """Of the phase or the round."""
        table = self.table
        if self.state.phase == PLAYING and table is not None:
            return max(0, (table.match.deadline or 0) - table.now())
        if self.state.phase == FINISHED and self._timer is None:  # it is being stored
            return int(self.plan.rest * 1000)
        if self._timer is None and table is None:
            return int(self.plan.registration * 1000)
        return max(0, int((self._due - self._loop.time()) * 1000))

    def until_registration(self) -> Milliseconds:
        """At the latest."""
        if self.state.phase == FINISHED:
            return self.time_left()
        return (self.game.rounds - max(0, self.state.number - 1)) * self.plan.round + int(self.plan.rest * 1000)

    def moment(self) -> Moment:
        """What also those are told whose request could not be understood."""
        return {"state_number": self.state.number, "time_left": self.time_left()}

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
        clients: list[tuple[str, Mailbox | WaitingClient]] = [*self._names.items(), *self._gathering.recruit(self._names, free)]
        players = [GatheredPlayer(name, client.owner, client) for name, client in clients]
        players += self._gathering.house_bots(self.plan.players - len(players)) if self.plan.house else []
        self._seated = self._shown(tuple(player.name for player in players))
        table = self.table = open_table(self.desk, self.game, self.plan.terms, self.plan.options, players)
        table.subscribe(Subscriber(self._hear, over=self._over, sees_secrets=True))
        delay = secrets.randbelow(min(200, self.plan.round)) / 1000
        self._due = self._loop.time() + delay
        self.desk.floor.start_table(table, [player.client for player in players], delay)

    def _make_writer(self, _: MatchHeader) -> BomberDialect:
        return BomberDialect(self.plan.wrapped_responses, self._seated)

    # The game.

    def _hear(self, news: News) -> None:
        """What happens at the table."""
        turned = False
        for event, _ in news:
            if isinstance(event, (Played, Began, Ended)):
                turned = True
            elif isinstance(event, Refused):
                self._refused[event.player] = refusal(event.why)
            elif isinstance(event, Late):
                self._refused[event.player] = CAME_LATE
        if turned:
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

    def refused(self, player: Player) -> Response | None:
        """Why the action that was just submitted is not taken."""
        return self._refused.pop(player, None)

    def _over(self, table: Table) -> None:
        if self.state.phase != FINISHED:  # nobody was told the result: it could not be stored
            self._turn(self._state(table, FINISHED, None))
        self._set_timer(self.plan.rest, self._open)
