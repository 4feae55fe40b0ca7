"""Fair sharing of turns, slots and request rates."""

from collections.abc import Callable

import pytest

from botdrome.server.network import limits as bucket
from botdrome.server.network.connection import source_of
from botdrome.server.network.limits import Buckets
from botdrome.server.workers import pool
from botdrome.server.workers.jobs import SharedSlots
from botdrome.server.workers.pool import FairTurns


class Table:
    """Bots of the house that think for so long, again and again, and note when they were done."""

    def __init__(self, host: str, cost: float, world: "World") -> None:
        self.host, self._cost, self._world = host, cost, world
        self.waited: list[float] = []

    def ask(self) -> None:
        asked = self._world.now

        def thought() -> None:
            self.waited.append(self._world.now - asked)
            self._world.now += self._cost

        self._world.turns.wait(self.host, thought)


class World:
    """One worker, and a clock that advances with its work."""

    def __init__(self) -> None:
        self.now = 0.0
        self.turns: FairTurns[Callable[[], None]] = FairTurns(0.01)

    def work(self, times: int) -> None:
        for _ in range(times):
            guest, taken, thought = self.turns.next()
            began = self.now
            thought()
            self.turns.settle(guest, taken, self.now - began)


def test_many_thoughts_for_one_guest_do_not_keep_another_waiting() -> None:
    world = World()
    crowd, other = (
        [Table("organiser", 0.05, world) for _ in range(20)],
        Table("somebody", 0.001, world),
    )
    for table in crowd:
        table.ask()
    for _ in range(100):
        world.work(1)
        other.ask()
        for table in crowd:
            table.ask()
        world.work(1)
    assert len(other.waited) == 100
    assert max(other.waited) <= 0.05, "one thought of another is all that it ever waits for"
    assert sum(len(table.waited) for table in crowd) == 100, "and the others get on"


def test_guests_share_alike_and_who_thinks_little_goes_first() -> None:
    world = World()
    heavy, light = (
        [Table(f"table {number}", 0.05, world) for number in range(20)],
        Table("light", 0.001, world),
    )
    for table in heavy:
        table.ask()
    world.work(20)
    for _ in range(50):
        for table in heavy:
            table.ask()
        light.ask()
        world.work(21)
    assert max(light.waited) <= 0.06
    assert {len(table.waited) for table in heavy} == {51}


def test_who_had_a_cheap_turn_cannot_queue_dear_ones_before_others() -> None:
    queue: FairTurns[str] = FairTurns(1.0)
    queue.wait("a", "cheap")
    queue.settle(*queue.next()[:2], 0.001)
    for number in range(50):
        queue.wait("a", f"dear {number}")
    for number in range(3):
        queue.wait("b", f"b {number}")
    order = []
    while queue:
        guest, taken, wish = queue.next()
        order.append(wish)
        queue.settle(guest, taken, 100.0 if guest == "a" else 1.0)
    assert [wish for wish in order[:5] if wish.startswith("b")] == ["b 0", "b 1", "b 2"]


def test_nobody_saves_up_turns() -> None:
    queue: FairTurns[str] = FairTurns(1.0)
    for number in range(10):
        queue.wait("early", f"early {number}")
    assert [queue.next()[2] for _ in range(5)] == [f"early {number}" for number in range(5)]
    for number in range(5):
        queue.wait("late", f"late {number}")
    assert [queue.next()[2].partition(" ")[0] for _ in range(10)] == ["late", "early"] * 5
    assert not queue


def test_who_is_level_with_everybody_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "REMEMBERED", 2)
    queue: FairTurns[int] = FairTurns(1.0)
    for number in range(9):
        queue.wait(f"guest {number // 3}", number)
    order = []
    while queue:
        guest, taken, wish = queue.next()
        queue.settle(guest, taken, taken)
        order.append(wish)
    assert order == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    queue.settle("nobody", 1.0, 2.0)


def test_nobody_has_more_places_than_are_free() -> None:
    places = SharedSlots(8)
    assert [places.take("one") for _ in range(5)] == [True] * 4 + [False]
    assert [places.take("two") for _ in range(3)] == [True] * 2 + [False]
    assert [places.take("three") for _ in range(2)] == [True, False]
    assert places.take("four") and not places.take("five")
    places.release("four")
    assert places.take("five")
    for _ in range(4):
        places.release("one")
    assert [places.take("one") for _ in range(3)] == [True] * 2 + [False]


def test_each_client_has_a_bucket_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(bucket, "monotonic", lambda: clock[0])
    monkeypatch.setattr(bucket, "REMEMBERED", 2)
    buckets = Buckets(rate=0.5, size=2)
    assert [buckets.too_fast("one") for _ in range(3)] == [0.0, 0.0, 2.0]
    assert buckets.too_fast("two") == 0.0
    clock[0] = 1.0
    assert buckets.too_fast("one") == 1.0
    assert buckets.too_fast("three") == 0.0
    assert buckets.too_fast("one") == 1.0, "two had not been here for longest"


@pytest.mark.parametrize(
    ("address", "source", "local"),
    [
        ("192.0.2.7", "192.0.2.7", False),
        ("127.0.0.9", "127.0.0.9", True),
        ("::1", "::1", True),
        ("::ffff:127.0.0.1", "127.0.0.1", True),
        ("::ffff:192.0.2.7", "192.0.2.7", False),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", False),
        ("fe80::1%eth0", "fe80::/64", False),
        ("", "", False),
    ],
)
def test_whom_an_address_stands_for(address: str, source: str, local: bool) -> None:
    assert source_of(address) == (source, local)
