"""Matches that are left on a drained node are released, and go on at another one."""

import asyncio
import gc
import weakref
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from itertools import count
from typing import Any

import pytest
from msgspec.json import encode
from websockets.exceptions import ConnectionClosed

from botdrome.app import RunningServer
from botdrome.catalogue import restored
from botdrome.match.record import verify
from botdrome.server.network import peer
from botdrome.server.network.connection import TRY_LATER
from botdrome.server.nodes import takeover
from botdrome.server.nodes.asking import NoAnswer, NodeAsking
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.moving import HeldInput, Mover
from botdrome.server.nodes.takeover import MATCH_LOST, TakeMatches, Takeover
from botdrome.server.session import Session
from botdrome.server.tables.flight_records import written
from botdrome.server.tables.kept_table import MOVED, KeptTable
from botdrome.store.entries import MatchEntry, StoreUnavailable, Wanted
from botdrome.store.nodes import InputRows
from botdrome.store.store import Store
from tests.patience import until
from tests.server.clients import NOTICES, Client, bot, pair, registered, unhurried
from tests.server.nodes.draining import (
    GAME,
    SPACES,
    Chatter,
    chatting,
    drain,
    home,
    move_match,
    of,
)
from tests.server.nodes.serving import nodes

pytestmark = pytest.mark.anyio
CHANGING = {"time", "t", "started", "match", "timeLeft"}


def plain(message: Any) -> Any:
    """A message without times and ids, which differ from match to match."""
    if isinstance(message, dict):
        return {key: plain(value) for key, value in message.items() if key not in CHANGING}
    return [plain(one) for one in message] if isinstance(message, list) else message


async def collect(one: Client, told: list[Any]) -> None:
    with suppress(ConnectionClosed):
        while True:
            told.append(await one.receive())


def is_last(message: Any) -> bool:
    return bool(
        message.get("state", {}).get("result") or message.get("event", {}).get("event") == "ended"
    )


def seated(house: list[RunningServer]) -> dict[int, Any]:
    (live,) = home(house).desk.tables.live()
    table = home(house).desk.tables[live.id]
    assert isinstance(table, KeptTable)
    return table.seated


async def played(
    house: list[RunningServer], logins: list[dict[str, Any]], moves: int, after_move: bool
) -> tuple[list[list[Any]], MatchEntry]:
    """Play a match that moves so many times, and return what each player was told.

    Moves are sent before it moves, or then.
    """
    told: list[list[Any]] = [[], []]
    frames = "frames" in logins[0].get("features", ())
    async with AsyncExitStack() as stack:
        bots = [await stack.enter_async_context(bot(house[0], logins[0]))]
        await until(
            lambda: any(one.desk.seekers(1) for one in house)
        )  # so that it is the first player
        bots.append(await stack.enter_async_context(bot(house[1], logins[1])))
        readers = [
            asyncio.ensure_future(collect(one, messages))
            for one, messages in zip(bots, told, strict=True)
        ]
        await until(lambda: all(len(messages) > frames for messages in told))
        order = next(
            one.desk.tables[live.id].entry.players  # type: ignore[union-attr]
            for one in house
            for live in one.desk.tables.live()
        )
        players = [bots[[login["name"] for login in logins].index(name)] for name in order]
        for number, space in enumerate(SPACES):
            heard = [len(messages) for messages in told]
            if number < moves and after_move:
                await move_match(house)
            turn = {"mark": "XO"[number % 2], "space": space}
            sending = players[number % 2].send({"move": turn} if frames else turn)
            if number < moves and not after_move:
                await asyncio.gather(move_match(house), sending)
                await until(lambda: len(seated(house)) == 2)  # both have arrived there
            else:
                await sending
            await until(
                lambda: all(
                    len(messages) > before for messages, before in zip(told, heard, strict=True)
                )
            )
        await until(lambda: all(map(is_last, [messages[-1] for messages in told])))
        await asyncio.gather(
            *[one.socket.close() for one in bots] if "features" in logins[0] else []
        )
        await asyncio.gather(*readers)
    (entry,) = await house[0].arena.store.matches(Wanted(status="ended", limit=1))
    return [[plain(message) for message in messages] for messages in told], entry


@pytest.mark.parametrize("features", [[], ["again"], ["frames", "again"]], ids=str)
async def test_players_notice_nothing_on_one_machine(
    two: list[RunningServer], features: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer, "BURST", 1e6)  # the next test has a move that is held
    extra = {"features": features} if features else {}
    logins = [await registered(two[0], name) | extra for name in ("ada", "bob")]
    expected, _ = await played(two, logins, 0, False)
    assert expected[0] and len(expected[0]) == len(expected[1])
    for after_move in (True, False):
        found, entry = await played(two, logins, 4, after_move)
        assert found == expected
        assert (
            entry.result is not None
            and entry.result.causes == ("complete", "complete")
            and len(entry.former) == 4
        )
        record, flight = (
            await two[0].arena.store.record(entry.id),
            await two[0].arena.store.flight(entry.id, 0),
        )
        assert record is not None and flight is not None
        verify(*restored(record))
        assert MOVED in written(flight).decode()


@pytest.mark.parametrize("before", [0, 4])
async def test_a_move_that_was_held_on_the_way_is_told_to_both(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """Even if it ends the match."""
    hold = Mover.hold
    turns = [{"mark": "XO"[number % 2], "space": space} for number, space in enumerate(SPACES)]

    def hold_move(mover: Mover, session: Session, to: NodeId) -> HeldInput | None:
        held = hold(mover, session, to)
        assert held is not None
        if session.name == first:
            held.received(encode(turns[before]))
        return held

    async with chatting(two) as chatter:
        entry = await two[0].arena.store.match(chatter.id)
        assert entry is not None
        first, _ = entry.players
        for number in range(before):
            await chatter.players[entry.players[number % 2]].send(turns[number])
            for one in chatter.players.values():
                await one.receive()
        monkeypatch.setattr(Mover, "hold", hold_move)
        await drain(home(two))
        for one in chatter.players.values():
            state = (await one.receive())["state"]
            row, column = SPACES[before]
            assert state["board"][row][column] == "X"
            assert (state["result"] is not None) == (before == 4)


async def test_players_notice_nothing_if_the_match_is_found_as_an_orphan(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its new node is asked to take it."""
    release, take_over, kept = InputRows.release, Takeover.take_over, Takeover._kept
    begun, asked, calls = asyncio.Event(), asyncio.Event(), count()

    async def release_to_a_sweep(rows: InputRows, ids: list[str]) -> None:
        await release(rows, ids)
        (after,) = [one for one in two if one is not before]
        of(after).members.retry(ids)
        await begun.wait()

    async def taken(one: Takeover, entries: Sequence[MatchEntry]) -> None:
        first = not next(calls)
        await take_over(one, entries)
        if not first:
            asked.set()

    async def wait(one: Takeover, *about: Any) -> Any:
        begun.set()
        await asked.wait()
        return await kept(one, *about)

    async with chatting(two) as chatter:
        before = home(two)
        monkeypatch.setattr(InputRows, "release", release_to_a_sweep)
        for one in map(of, two):
            assert one._takeover is not None
            monkeypatch.setattr(one.members, "take_over", partial(taken, one._takeover))
        monkeypatch.setattr(Takeover, "take_over", taken)
        monkeypatch.setattr(Takeover, "_kept", wait)
        await drain(before)
        await moved_from(before, two)
        await chatter.finish()


async def test_players_of_another_machine_come_back_as_after_a_death(
    two_machines: list[RunningServer],
) -> None:
    async with chatting(two_machines, **NOTICES) as chatter:
        before = home(two_machines)
        await drain(before)
        for name, one in chatter.players.items():
            messages, code, _ = await one.until_closed()
            assert (messages, code) == ([{"error": MATCH_LOST}], TRY_LATER), name
        after = next(one for one in two_machines if one is not before)
        await until(after.desk.tables.count)
        logins = [login | {"match": chatter.id} for login in chatter.logins]
        async with bot(after, logins[0]) as ada, bot(before, logins[1]) as bob:
            for one in (ada, bob):
                assert (await one.receive())["state"]["result"] is None
            await Chatter([after], {"ada": ada, "bob": bob}).finish()


async def test_running_matches_get_time_to_end(postgres_url: str, nats_url: str) -> None:
    with unhurried(GAME):
        async with nodes(postgres_url, nats_url, 2, drain=3600.0) as two, chatting(two) as chatter:
            before = home(two)
            await drain(before)
            await chatter.finish()
            entry = await two[0].arena.store.match(chatter.id)
            assert entry is not None and not entry.former


async def test_the_match_stands_while_its_inputs_cannot_be_stored(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        failed.set()
        raise StoreUnavailable("it is away")

    failed = asyncio.Event()
    async with chatting(two) as chatter:
        before = home(two)
        with monkeypatch.context() as patch:
            patch.setattr(InputRows, "write", fail)
            await drain(before)
            await failed.wait()
        await moved_from(before, two)
        await chatter.finish()


async def moved_from(before: RunningServer, house: list[RunningServer]) -> None:
    await until(lambda: any(one.desk.tables.count() for one in house if one is not before))


@pytest.mark.parametrize("happens", [False, True])
async def test_nobody_knows_whether_the_match_was_released(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch, happens: bool
) -> None:
    release, tries = InputRows.release, 0

    async def fail(rows: InputRows, ids: list[str]) -> None:
        nonlocal tries
        tries += 1
        if happens or tries > 1:
            await release(rows, ids)
        if tries == 1:
            raise StoreUnavailable("it went away")

    monkeypatch.setattr(InputRows, "release", fail)
    async with chatting(two) as chatter:
        before = home(two)
        await drain(before)
        await moved_from(before, two)
        assert tries == 2
        await chatter.finish()


async def test_nobody_knows_whether_the_match_was_adopted(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    adopt, tries, late = Store.adopt, list[Sequence[str]](), asyncio.Event()

    async def fail(store: Store, ids: Sequence[str]) -> list[MatchEntry]:
        tries.append(ids)
        if len(tries) == 1:
            await adopt(store, ids)
            raise StoreUnavailable("it went away")
        await late.wait()
        return await adopt(store, ids)

    monkeypatch.setattr(Store, "adopt", fail)
    async with chatting(two) as chatter:
        before = home(two)
        await drain(before)
        await until(lambda: not before.desk.registry.clients.all)
        late.set()
        for one in chatter.players.values():
            assert (await one.receive())["state"]["result"] is None
        assert home(two) is not before and tries[:2] == [[chatter.id], [chatter.id]]
        await chatter.finish()


async def test_a_drained_node_forgets_the_match(two: list[RunningServer]) -> None:
    async with chatting(two) as chatter:
        before = home(two)
        table = weakref.ref(before.desk.tables[chatter.id])
        await drain(before)
        await moved_from(before, two)
        await until(lambda: not before.desk.registry.clients.all)
        gc.collect()
        assert table() is None
        await chatter.finish()


async def test_a_node_that_does_not_answer_is_not_asked_again(
    two_machines: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[TakeMatches]()

    async def ask(_: NodeAsking, __: str, question: TakeMatches, *___: object) -> None:
        asked.append(question)
        raise NoAnswer("it is slow")

    monkeypatch.setattr(takeover, "AT_ONCE", 1)
    monkeypatch.setattr(NodeAsking, "ask", ask)
    front, other = two_machines
    async with pair(front), pair(front, names=("cid", "dan")):
        assert front.desk.tables.count() == 2
        await drain(front)
        await until(lambda: other.desk.tables.count() == 2)
        assert len(asked) == 1


@pytest.mark.parametrize("answers", [False, True])
async def test_players_follow_a_match_that_its_new_node_resumes_late(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    """They are told how it stands, as after the death of a node."""
    take, late = Takeover._take, asyncio.Event()

    async def wait(one: Takeover, match_ids: list[str]) -> list[str]:
        if answers:
            return []  # then the match is found as those of dead nodes are
        await late.wait()
        return await take(one, match_ids)

    monkeypatch.setattr(takeover, "ANSWER", 0.05)
    monkeypatch.setattr(Takeover, "_take", wait)
    async with chatting(two) as chatter:
        before = home(two)
        await drain(before)
        await until(lambda: not before.desk.registry.clients.all)
        late.set()
        for one in chatter.players.values():
            assert (await one.receive())["state"]["result"] is None
        assert home(two) is not before
        await chatter.finish()
