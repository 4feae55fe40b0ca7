"""A client that sends more than its share waits for its turn; other clients do not wait."""

import asyncio
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from botdrome.server.network import peer as module
from botdrome.server.network.peer import (
    BURST,
    PIECE,
    REMEMBERED,
    SHARED,
    Peer,
    Proxies,
    Sharer,
    Shares,
    was_held,
)
from botdrome.server.settings import Settings
from tests.patience import until

pytestmark = pytest.mark.anyio


class Clock:
    """The wall clock, and the CPU clock of the loop's thread."""

    def __init__(self) -> None:
        self.now = 100.0
        self.others = 0.0
        """Seconds in which other programs had the core."""
        self.cpu_reads = 0

    def __call__(self) -> float:
        return self.now

    def cpu(self) -> float:
        self.cpu_reads += 1
        return self.now - self.others


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "monotonic", found)
    monkeypatch.setattr(module, "thread_time", found.cpu)
    monkeypatch.setattr("botdrome.server.network.peer.monotonic", found)
    return found


class Work:
    """Held input of this number of pieces, each of which takes some time."""

    def __init__(
        self, name: str, pieces: int, cost: float, clock: Clock, done: list[str], later: float = 0.0
    ) -> None:
        self.later = later
        self._name, self._pieces, self._cost, self._clock, self._done = (
            name,
            pieces,
            cost,
            clock,
            done,
        )

    def serve_held(self) -> bool:
        self._clock.now += self._cost
        self._done.append(self._name)
        self._pieces -= 1
        return self._pieces > 0


def used_up(shares: Shares, source: str, account: str = "") -> Sharer:
    sharer = shares.sharer(source, account)
    sharer.budget.left, sharer.budget.until = -1.0, -inf
    return sharer


async def test_who_keeps_within_its_budget_never_waits_and_who_does_not_waits(clock: Clock) -> None:
    shares = Shares()
    one, other = shares.sharer("1.2.3.4"), shares.sharer("5.6.7.8")
    assert not shares.must_wait(one, clock.now)
    assert not shares.must_wait(other, clock.now)
    one.budget.left -= 2 * BURST
    assert shares.must_wait(one, clock.now)
    assert not shares.must_wait(other, clock.now)
    clock.now += 4 * BURST / SHARED
    assert not shares.must_wait(one, clock.now), "the budget has filled again"


async def test_the_only_active_address_gets_a_burst_in_every_turn_of_the_loop(clock: Clock) -> None:
    shares = Shares()
    one = shares.sharer("1.2.3.4")
    for _ in range(3):
        one.budget.left = -0.0001
        assert not shares.must_wait(one, clock.now)
        one.budget.left = -0.0001
        assert shares.must_wait(one, clock.now), "it had its time in this turn"
        await asyncio.sleep(0)
    one.budget.left = -BURST
    assert shares.must_wait(one, clock.now), "debt is repaid"
    one.budget.left = -0.0001
    assert not shares.must_wait(shares.sharer("5.6.7.8"), clock.now)
    assert shares.must_wait(one, clock.now), "it shares with another one"


class Busy(asyncio.Protocol):
    """Spends time on each input, in which other programs may have the core for a while."""

    def __init__(self, clock: Clock, seconds: float, others: float = 0.0) -> None:
        self._clock, self._seconds, self._others = clock, seconds, others

    def data_received(self, data: bytes) -> None:
        self._clock.now += self._seconds + self._others
        self._clock.others += self._others


async def test_other_programs_on_the_machine_cost_a_client_nothing(clock: Clock) -> None:
    shares = Shares()
    peer, sharer = connected(shares)[0], shares.sharer("1.2.3.4")
    peer.set_protocol(Busy(clock, seconds=0.0005, others=0.3))
    peer.data_received(b"a move")
    assert sharer.budget.left == pytest.approx(BURST - 0.0005)
    done: list[str] = []
    work = Work("held", 1, 0.0005, clock, done)
    sharer.budget.left = -0.01
    clock.others += 0.3  # while the work is done
    clock.now += 0.3
    shares.hold(sharer, work)
    await until(lambda: done == ["held"])
    assert sharer.budget.left == pytest.approx(-0.01)


async def test_the_cpu_clock_is_read_once_in_a_millisecond_at_most(clock: Clock) -> None:
    shares = Shares()
    peer = connected(shares)[0]
    peer.set_protocol(Busy(clock, seconds=0.00001))
    for _ in range(300):
        peer.data_received(b"a move")
    assert 1 <= clock.cpu_reads <= 4, "in three milliseconds"


async def test_debt_is_repaid_in_full(clock: Clock) -> None:
    """Only slices are cheap, since they are the time that others leave."""
    shares = Shares()
    peer, sharer = connected(shares)[0], shares.sharer("1.2.3.4")
    peer.set_protocol(Busy(clock, seconds=2.0))
    clock.now += 60.0  # it was quiet before, which saves nothing
    peer.data_received(b"a large message")
    for _ in range(19):
        clock.now += 0.1
        assert shares.must_wait(sharer, clock.now), (
            "two seconds of work take four at half of the time"
        )
    clock.now += 0.1
    assert not shares.must_wait(sharer, clock.now)


@pytest.mark.parametrize("addresses", [1, 2])
async def test_a_slice_costs_little_and_what_exceeds_it_costs_all(
    clock: Clock, addresses: int
) -> None:
    shares, done = Shares(), list[str]()
    for number in range(addresses):
        shares.must_wait(shares.sharer(f"1.2.3.{number}"), clock.now)
    sharer = shares.sharer("1.2.3.0")
    sharer.budget.left, size = -module.DEBT, BURST if addresses == 1 else module.SLICE
    shares.hold(sharer, Work("small", 30, 1.0001 * size, clock, done))
    await until(lambda: len(done) == 30)
    assert sharer.budget.left == pytest.approx(-module.DEBT, rel=0.001)
    shares.hold(sharer, Work("large", 1, 1.0, clock, done))
    await until(lambda: len(done) == 31)
    assert sharer.budget.left == pytest.approx(-module.DEBT - 1.0 + size, rel=0.001)


async def test_slices_lead_an_address_into_debt_beside_others_only(clock: Clock) -> None:
    shares, done = Shares(), list[str]()
    one, other = shares.sharer("1.2.3.4"), shares.sharer("5.6.7.8")
    shares.must_wait(one, clock.now)
    one.budget.left = -0.0001
    shares.hold(one, Work("alone", 1, BURST / 2, clock, done))
    await until(lambda: done == ["alone"])
    assert one.budget.left == -0.0001
    shares.must_wait(other, clock.now)
    shares.hold(one, Work("beside", 1, module.SLICE / 2, clock, done))
    await until(lambda: len(done) == 2)
    assert one.budget.left == pytest.approx(-0.0001 - module.SLICE / 2)


async def test_addresses_take_turns_and_so_do_the_accounts_of_one(clock: Clock) -> None:
    shares, done = Shares(), list[str]()
    for number in range(3):
        shares.hold(
            used_up(shares, "1.2.3.4", f"account {number}"), Work(f"a{number}", 2, 1.0, clock, done)
        )
    shares.hold(used_up(shares, "5.6.7.8"), Work("b", 3, 1.0, clock, done))
    await until(lambda: len(done) == 9)
    assert done == ["a0", "b", "a1", "b", "a2", "b", "a0", "a1", "a2"]


async def test_what_is_held_is_served_in_slices_and_everything_else_in_between(
    clock: Clock,
) -> None:
    shares, done = Shares(), list[str]()
    shares.hold(used_up(shares, "1.2.3.4"), Work("held", 10, 0.51 * BURST, clock, done))
    for _ in range(3):
        asyncio.get_running_loop().call_soon(lambda: None)
    for _ in range(5):
        await asyncio.sleep(0)
        done.append("others")
    assert done == ["held", "held", "others"] * 5


async def test_work_that_comes_later_counts_when_it_is_begun(clock: Clock) -> None:
    shares, done = Shares(), list[str]()
    for _ in range(5):
        shares.hold(
            used_up(shares, "1.2.3.4"), Work("call", 1, 0.0, clock, done, later=BURST * 0.6)
        )
    for _ in range(3):
        await asyncio.sleep(0)
        done.append("others")
    assert done == ["call", "call", "others", "call", "call", "others", "call", "others"]


async def test_work_that_is_queued_while_a_client_is_served_gets_a_turn_of_its_own(
    clock: Clock,
) -> None:
    shares, done = Shares(), list[str]()
    one, other = used_up(shares, "1.2.3.4"), used_up(shares, "5.6.7.8")

    class Calling(Work):
        def serve_held(self) -> bool:
            shares.hold(one, Work("call", 1, 0.01, clock, done))
            return super().serve_held()

    shares.hold(one, Calling("input", 1, 0.01, clock, done))
    shares.hold(other, Work("other", 1, 0.01, clock, done))
    await until(lambda: len(done) == 3)
    shares.hold(other, Work("later", 1, 0.01, clock, done))
    await until(lambda: len(done) == 4)
    assert done == ["input", "other", "call", "later"]


async def test_work_that_fails_keeps_no_other_from_its_turn(clock: Clock) -> None:
    shares, done = Shares(), list[str]()
    one, other = used_up(shares, "1.2.3.4"), used_up(shares, "5.6.7.8")

    class Failing(Work):
        def serve_held(self) -> bool:
            super().serve_held()
            raise RuntimeError("a call with a fault")

    with capture_logs() as logs:
        shares.hold(one, Failing("fails", 2, 0.01, clock, done))
        shares.hold(other, Work("other", 1, 0.01, clock, done))
        await until(lambda: len(done) == 2)
    assert (done, len(logs)) == (["fails", "other"], 1)


async def test_no_more_addresses_are_remembered_than_there_is_room_for() -> None:
    shares = Shares()
    for number in range(REMEMBERED + 10):
        shares.sharer(f"address {number}")
    assert len(shares._budgets) == REMEMBERED


class Transport:
    """The calls to the transport."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("1.2.3.4", 5) if name == "peername" else default

    def is_closing(self) -> bool:
        return "abort" in self.calls or "close" in self.calls

    def __getattr__(self, name: str) -> Callable[[], None]:
        return lambda: self.calls.append(name)


class Heard(asyncio.Protocol):
    def __init__(self) -> None:
        self.heard = b""
        self.ends = 0

    def data_received(self, data: bytes) -> None:
        assert len(data) <= PIECE
        if data.startswith(b"bad"):
            raise ValueError(data)
        self.heard += data

    def eof_received(self) -> None:
        self.ends += 1


def connected(shares: Shares) -> tuple[Peer, Heard, Transport]:
    protocol, transport = Heard(), Transport()
    peer = Peer(lambda: protocol, shares, Proxies(Settings()))
    peer.connection_made(cast(asyncio.Transport, transport))
    return peer, protocol, transport


async def test_held_input_arrives_whole_and_in_order_and_the_end_after_it(clock: Clock) -> None:
    shares = Shares()
    peer, protocol, transport = connected(shares)
    sent = [bytes([number]) * 30_000 for number in range(10)]
    peer.data_received(sent[0])
    used_up(shares, "1.2.3.4")
    for data in sent[1:]:
        peer.data_received(data)
    assert peer.eof_received(), "what is held is still to be answered"
    assert protocol.heard == sent[0]
    assert transport.calls == ["pause_reading"]
    await until(lambda: protocol.ends > 0)
    assert protocol.heard == b"".join(sent)
    assert transport.calls == ["pause_reading", "resume_reading", "close"]


async def test_a_client_that_uses_up_its_budget_within_a_millisecond_is_held(
    clock: Clock,
) -> None:
    shares = Shares()
    peer, sharer = connected(shares)[0], shares.sharer("1.2.3.4")
    peer.set_protocol(Busy(clock, seconds=0.0003))
    for one in (sharer, shares.sharer("5.6.7.8")):
        shares.must_wait(one, clock.now)
    sharer.budget.left = 0.0004
    for _ in range(3):
        peer.data_received(b"a move")
    assert peer.held == b"a move", "the first two have used up the budget"


async def test_input_waits_behind_other_held_input_of_its_address(clock: Clock) -> None:
    shares, done = Shares(), list[str]()
    peer, heard, _ = connected(shares)
    peer.data_received(b"at once")
    shares.hold(shares.sharer("1.2.3.4", "ada"), Work("work", 1, 0.0, clock, done))
    peer.data_received(b", later")
    assert heard.heard == b"at once"
    await until(lambda: heard.heard == b"at once, later")
    assert done == ["work"]


async def test_held_input_may_use_up_the_budget_of_an_address_that_was_served_at_once(
    clock: Clock,
) -> None:
    shares, done = Shares(), list[str]()
    peer, heard, _ = connected(shares)
    account, other = used_up(shares, "1.2.3.4", "ada"), shares.sharer("5.6.7.8")
    for one in (account, other):
        shares.must_wait(one, clock.now)
    shares.hold(account, Work("work", 1, 0.0, clock, done, later=0.01))
    clock.now += 10.0
    shares.must_wait(other, clock.now)
    peer.data_received(b"at once")
    await until(lambda: done)
    peer.data_received(b", later")
    assert heard.heard == b"at once"
    await until(lambda: heard.heard == b"at once, later")


async def test_it_is_known_which_input_was_held(clock: Clock) -> None:
    shares, held = Shares(), list[tuple[bytes, bool]]()

    class Noting(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            held.append((data, was_held()))

    peer, _, _ = connected(shares)
    peer.set_protocol(Noting())
    peer.data_received(b"one")
    used_up(shares, "1.2.3.4")
    peer.data_received(b"two")
    await until(lambda: len(held) == 2)
    shares.sharer("1.2.3.4").budget.left = BURST
    peer.data_received(b"three")
    assert held == [(b"one", False), (b"two", True), (b"three", False)]


async def test_a_protocol_that_wants_no_input_is_given_none_until_it_does(clock: Clock) -> None:
    shares = Shares()
    peer, protocol, _ = connected(shares)
    peer.pause_reading()
    used_up(shares, "1.2.3.4")
    peer.data_received(b"later")
    for _ in range(5):
        await asyncio.sleep(0)
    assert protocol.heard == b""
    peer.resume_reading()
    await until(lambda: protocol.heard == b"later")


async def test_a_protocol_may_stop_and_go_on_while_its_input_waits(clock: Clock) -> None:
    shares = Shares()
    peer, protocol, _ = connected(shares)
    used_up(shares, "1.2.3.4")
    peer.data_received(b"later")
    peer.pause_reading()
    peer.eof_received()
    for _ in range(5):
        await asyncio.sleep(0)
    assert (protocol.heard, protocol.ends) == (b"", 0)
    peer.resume_reading()
    peer.pause_reading()
    peer.resume_reading()
    await until(lambda: protocol.ends > 0)
    for _ in range(5):
        await asyncio.sleep(0)
    assert (protocol.heard, protocol.ends) == (b"later", 1)


async def test_a_connection_that_fails_spoils_no_other(clock: Clock) -> None:
    shares = Shares()
    bad, _, transport = connected(shares)
    good, protocol, _ = connected(shares)
    used_up(shares, "1.2.3.4")
    bad.data_received(b"bad")
    good.data_received(b"good")
    await until(lambda: protocol.heard == b"good")
    assert transport.calls == ["abort"]


async def test_an_account_has_turns_of_its_own_and_the_budget_of_its_address(
    clock: Clock, tmp_path: Path
) -> None:
    shares = Shares()
    peer, _, _ = connected(shares)
    peer.bill("ada")
    assert peer._sharer is shares.sharer("1.2.3.4", "ada") is not shares.sharer("1.2.3.4")
    assert peer._sharer.budget is shares.sharer("1.2.3.4").budget


async def test_work_for_a_client_waits_where_its_budget_is_used_up(clock: Clock) -> None:
    shares, done = Shares(), list[str]()
    peer, _, _ = connected(shares)
    work = Work("call", 1, 0.0, clock, done, later=2 * BURST)
    assert not peer.let_wait(work), "it goes ahead, and is charged"
    assert peer.let_wait(work)
    await until(lambda: done == ["call"])
