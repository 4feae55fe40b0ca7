"""ContestRooms: private rooms for the matches of contests, which users of any room reach by their
user_id.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from botdrome.server.bomber.plan import BomberPlan
from botdrome.server.bomber.room import BomberRoom
from botdrome.server.bomber.users import BomberUser
from botdrome.server.contests.contest_player import ContestPlayer, ContestTable
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.gathering import GatheredPlayer, open_table
from botdrome.server.lobby.house import house_bot
from botdrome.server.lobby.registry import Admission
from botdrome.wire.bomber.conversation import Registered


class ContestRooms:
    rank = 1

    def __init__(self, desk: Desk, by_address: Counter[str]) -> None:
        self._desk, self._by_address = desk, by_address
        self._rooms: dict[str, BomberRoom] = {}
        """By user_id."""
        self._users: dict[str, BomberUser] = {}
        """By name."""
        self._leave: dict[str, Callable[[], None]] = {}
        """By the names of users that wait."""

    def room_of(self, user_id: object) -> BomberRoom | None:
        return self._rooms.get(str(user_id))

    def named(self, name: str) -> BomberUser | None:
        return self._users.get(name)

    def expects(self, plan: BomberPlan, admission: Admission) -> bool:
        """Return True if a registered bot plays in a running contest with the rules of the room, or
        raise ContestRefusal.
        """
        queue = self._desk.contest_queue
        return queue is not None and queue.expects(
            plan.game, _sizes(plan), admission.name, admission.owner, admission.version
        )

    def enter(
        self, plan: BomberPlan, name: str, admission: Admission, password: str | None, address: str
    ) -> BomberUser:
        """Let a user wait for its next match in a room of its own."""
        room = BomberRoom(plan, self._desk, self._by_address, contest_rooms=self, private=True)
        user = room.enter(name, admission, password, address)
        self._rooms[user.user_id], self._users[admission.name] = room, user
        queue = self._desk.contest_queue
        assert queue is not None
        release = partial(self.drop, admission.name, user)
        leave = queue.hold(
            plan.game,
            _sizes(plan),
            admission.name,
            admission.owner,
            admission.version,
            self,
            release,
        )
        if self._rooms.get(user.user_id) is room and room.table is None:
            self._leave[admission.name] = leave
        return user

    def registered(self, user: BomberUser) -> Registered:
        return self._rooms[user.user_id].registered(user)

    def drop(self, name: str, user: BomberUser) -> None:
        """The user waits or plays no longer: it may register again."""
        room = self._rooms.pop(user.user_id, None)
        if self._users.get(name) is user:
            del self._users[name]
        if leave := self._leave.pop(name, None):
            leave()
        if room is not None:
            user.log_out()
            room.close()

    def open_for_contest(self, plan: ContestTable, players: Sequence[ContestPlayer]) -> None:
        own = {player.name: self._users[player.name] for player in players if player.opener is self}
        room = self._rooms[next(iter(own.values())).user_id]
        for name, user in own.items():
            self._leave.pop(name, None)
            other, self._rooms[user.user_id] = self._rooms[user.user_id], room
            if other is not room:
                room.take_over(name, user, other)
                other.close()
        gathered, terms = [self._gathered(player, own) for player in players], room.plan.terms
        if plan.limit is not None:
            terms = replace(terms, pace=replace(terms.pace, limit=plan.limit))
        table = open_table(
            self._desk, plan.game, terms, plan.options, gathered, plan.contest, plan.seed
        )
        plan.prepare(table)
        room.on_end = partial(self._end, own)
        room.begin(gathered, table)

    def _gathered(self, player: ContestPlayer, own: dict[str, BomberUser]) -> GatheredPlayer:
        if player.name in own:
            return GatheredPlayer(player.name, player.owner, own[player.name])
        bot = house_bot("bomberman", player.name) if player.is_house else None
        return GatheredPlayer(
            player.name, player.owner, player.take(), bot[1] if bot is not None else None
        )

    def _end(self, users: dict[str, BomberUser]) -> None:
        for name, user in users.items():
            self.drop(name, user)


def _sizes(plan: BomberPlan) -> range:
    return range(plan.least, plan.players + 1)
