"""The rooms of a game move while nobody is in them, and every client finds them."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from botdrome.contest.lobby import Seeker, Wish
from botdrome.server.lobby.desk import WaitingClient
from botdrome.server.nodes import rooms as under_test
from botdrome.server.nodes.cluster import PLACES, Node, rooms_of, spread
from botdrome.server.nodes.rooms import Cluster, Rooms, RoomsHere
from botdrome.server.nodes.shared_desk import SharedDesk, can_move
from botdrome.store.entries import Wanted
from tests.patience import until
from tests.server.contests.entrants import entered, open_contest, play_all
from tests.server.nodes.fixed_members import FixedMembers, node
from tests.server.nodes.serving import home_of, spread_out
from tests.server.nodes.serving import nodes as opened_nodes

pytestmark = pytest.mark.anyio

ANT, BEE, CAT = node("ant"), node("bee"), node("cat")


def test_each_node_gets_its_share_of_the_rooms() -> None:
    for nodes in ([ANT], [ANT, BEE], [ANT, BEE, CAT]):
        homes = list(spread(PLACES, nodes).values())
        shares = [homes.count(one) for one in nodes]
        assert sum(shares) == len(PLACES) and max(shares) - min(shares) <= 1
    assert spread(PLACES, [ANT, BEE, CAT]) == spread(PLACES, [CAT, BEE, ANT])


class House:
    """A node that has the rooms of a game which belong to another one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(under_test, "SETTLE", 0.0)
        monkeypatch.setattr(under_test, "RETRY", 0.0)
        self.members = FixedMembers(ANT)
        self.cluster = Cluster(self.members, self._start)
        self.key = next(key for key, home in spread(PLACES, [ANT, BEE]).items() if home == BEE)
        monkeypatch.setattr(
            self.cluster,
            "place",
            lambda key, nodes=None: spread(PLACES, nodes or [*self.members.nodes.values()])[key],
        )
        self.diary: list[str] = []
        self.guests, self.fails, self.stored = 0, False, True
        self._tasks: set[asyncio.Task[None]] = set()
        self.rooms = RoomsHere(
            self.cluster,
            self.key,
            Rooms(self._open, self._leave, self._in_use, lambda: self.stored),
            self._start,
            self._on_disk,
        )

    async def _on_disk(self) -> None:
        """All that the rooms tell is stored at once."""

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.get_running_loop().create_task(work))

    def _in_use(self) -> bool:
        return self.guests > 0

    def _leave(self) -> None:
        self._note("left")

    async def _open(self) -> None:
        if self.fails:
            self.fails = False
            raise OSError("the store is away")
        self._note("opened")

    def _note(self, what: str) -> None:
        self.diary.append(what)

    async def until(self, *diary: str) -> None:
        await until(lambda: self.diary == list(diary))

    def come(self) -> None:
        self.rooms.when_open(lambda: self._note("came in"), lambda: self._note("went on"))


@pytest.fixture
async def house(monkeypatch: pytest.MonkeyPatch) -> House:
    return House(monkeypatch)


async def test_rooms_move_to_the_node_that_joins(house: House) -> None:
    house.come()
    await house.until("opened", "came in")
    house.members.change(BEE)
    house.come()
    await house.until("opened", "came in", "left", "went on")
    assert house.cluster.home(house.key) == BEE.id and not house.rooms.open


async def test_a_drained_node_leaves_its_rooms_before_another_opens_them(house: House) -> None:
    await house.until("opened")
    house.guests, house.stored, house.members.leaving = 1, False, True
    house.members.change(BEE)
    assert house.diary == ["opened", "left"] and not house.rooms.open
    house.come()
    await asyncio.sleep(0)
    assert house.cluster.home(house.key) == ANT.id  # not all is stored
    house.stored = True
    await house.until("opened", "left", "went on")
    assert house.cluster.home(house.key) == BEE.id


async def test_rooms_open_again_if_the_node_is_drained_no_more(house: House) -> None:
    """Giving them up has failed, or what happened in them was not stored in time."""
    await house.until("opened")
    house.members.leaving, house.stored = True, False
    house.members.change(BEE)
    assert house.diary == ["opened", "left"]
    house.members.leaving = False
    house.members.change()
    house.come()
    await asyncio.sleep(0)
    assert house.diary == ["opened", "left"]
    house.stored = True
    await house.until("opened", "left", "opened", "came in")


async def test_rooms_that_are_being_opened_are_left_if_the_node_is_drained(house: House) -> None:
    house.members.leaving = True
    house.members.change(BEE)
    await house.until("opened", "left")
    await until(lambda: house.cluster.home(house.key) == BEE.id)
    assert not house.rooms.open


async def test_rooms_in_use_stay_until_their_last_guest_leaves(house: House) -> None:
    await house.until("opened")
    house.guests = 1
    house.members.change(BEE)
    house.come()
    await house.until("opened", "came in")
    house.guests = 0
    await house.until("opened", "came in", "left")


async def test_a_guest_that_came_just_before_keeps_the_rooms(house: House) -> None:
    await house.until("opened")
    house.members.change(BEE)
    assert not house.rooms.open
    house.guests = 1
    house.come()
    await house.until("opened", "came in")


async def test_rooms_that_cannot_be_given_open_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.until("opened")

    async def fail(*_: object) -> str:
        house.guests = 1
        raise OSError("the store is away")

    monkeypatch.setattr(house.members, "give", fail)
    house.members.change(BEE)
    house.come()
    await house.until("opened", "left", "opened", "came in")


async def test_rooms_that_cannot_be_opened_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(monkeypatch)
    house.fails = True
    house.come()
    await house.until("opened", "came in")


async def test_the_home_is_read_once_for_all_that_come_at_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims, claim = list[str](), house.members.claim

    async def counted(key: str, *choice: Any) -> str:
        claims.append(key)
        return await claim(key, *choice)

    await house.until("opened")
    house.members.change(BEE)
    await house.until("opened", "left")
    await until(lambda: not house.rooms._changing)
    monkeypatch.setattr(house.members, "claim", counted)
    for _ in range(3):
        house.come()
    await house.until("opened", "left", *["went on"] * 3)
    assert claims == [house.key]


async def test_guests_of_games_with_rooms_wait_where_the_rooms_are(house: House) -> None:
    house.cluster.room_games.add("gomoku")
    assert house.cluster.key_of(Wish("gomoku", options='{"width": 9}')) == rooms_of("gomoku")
    assert house.cluster.key_of(Wish("bumblebots")) != rooms_of("bumblebots")
    assert house.cluster.key_of(Wish("bumblebots", contest="cup")) == rooms_of("bumblebots")


def test_a_drained_node_gets_no_rooms() -> None:
    drained = Node("dog", 1, "here", "", "1", draining=True)
    assert drained not in spread(PLACES, [ANT, drained]).values()


async def test_a_new_home_lets_nobody_play_before_it_has_read_the_contests(
    postgres_url: str, nats_url: str
) -> None:
    async with opened_nodes(postgres_url, nats_url, 1) as (home,):
        await open_contest(home)
        logins = await entered(home, "ada", "bob")
        await home.contests.act("cup", "start", "operator")
        home.contests._stored.clear()
        home.contests._running.clear()
        assert home.node.cluster is not None
        home.node.cluster.rooms[rooms_of("noughts-and-crosses")].open = False
        cup = await play_all(home, logins)
        assert [bool(result.match) for result in cup.results.values()] == [True, True]


async def test_a_node_that_another_takes_for_the_home_lets_nobody_play(
    postgres_url: str, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_nodes(postgres_url, nats_url, 2) as two:
        await spread_out(two)
        home = home_of(two, "noughts-and-crosses")
        (other,) = [one for one in two if one is not home]
        await open_contest(home)
        logins = await entered(home, "ada", "bob")
        await home.contests.act("cup", "start", "operator")
        assert isinstance(home.desk.others, SharedDesk) and other.node.cluster is not None
        others, there, sent = home.desk.others, other.node.cluster.here, set[str]()
        seek = others.seek

        def mistaken(client: WaitingClient, seeker: Seeker) -> bool:
            if seeker.name in sent or not can_move(client):
                return seek(client, seeker)
            sent.add(seeker.name)
            return others._go(client, seeker, there)

        monkeypatch.setattr(others, "seek", mistaken)
        cup = await play_all(home, logins)
        played = {entry.id for entry in await home.arena.store.matches(Wanted(contest="cup"))}
        assert {result.match for result in cup.results.values()} == played and len(played) == 2
        assert sent == {"ada", "bob"}
