"""What a drained node has goes to other nodes, or stays until it stops."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from botdrome.app import RunningServer
from botdrome.catalogue import CATALOGUE
from botdrome.contest.lobby import Wish
from botdrome.server.lobby.desk import RETRY, Desk
from botdrome.server.network.connection import TRY_LATER
from botdrome.server.nodes import shared_tables
from botdrome.server.nodes.links import encode
from botdrome.server.nodes.moving import NODE_STOPS, Handover
from botdrome.server.nodes.rooms import Cluster
from botdrome.server.nodes.shared_desk import SharedDesk
from tests.patience import until
from tests.server.calling.hosts import answer
from tests.server.clients import NOTICES, bot, client, leap, registered, unhurried
from tests.server.lobby.url_hosts import brain, play, url_bot, with_address
from tests.server.nodes.draining import GAME, SPACES, Chatter, chatting, drain, home, move_match, of
from tests.server.nodes.serving import home_of, node, nodes, spread_out
from tests.server.rooms.duel.clients import FIND, free

pytestmark = pytest.mark.anyio


async def test_matches_of_house_bots_and_called_bots_go_on(two: list[RunningServer]) -> None:
    async with url_bot() as called:
        await with_address(two[0], "called", called)
        for opponent in ("house:random", "called"):
            login = await registered(two[0], f"against {opponent[0]}") | {"opponent": opponent}
            async with bot(two[0], login) as one:
                state = (await one.receive())["state"]
                while state["result"] is None:
                    if login["name"] in state["waitingFor"]:
                        await move_match(two)
                        free_spaces = [
                            [r, c] for r in range(3) for c in range(3) if not state["board"][r][c]
                        ]
                        mark = next(
                            mark for mark, name in state["marks"].items() if name == login["name"]
                        )
                        await one.send({"mark": mark, "space": free_spaces[0]})
                    state = (await one.receive())["state"]
                assert state["result"]["reason"] == "complete"


async def test_a_called_bot_that_was_away_is_called_again(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    row, asked, up = CATALOGUE[GAME], asyncio.Event(), asyncio.Event()
    monkeypatch.setattr("botdrome.server.lobby.url_bots.PAUSES", (0.01,))
    monkeypatch.setitem(
        CATALOGUE, GAME, replace(row, terms=replace(row.terms, gone="wait", absence=3_600_000))
    )

    def fail(_: asyncio.StreamWriter, message: Any) -> bytes | None:
        if up.is_set() or ("challenge" in message and not asked.is_set()):
            return None
        asked.set()
        return answer(b"oops")

    async with url_bot() as called:
        called.instead = fail
        await with_address(two[0], "called", called)
        login = await registered(two[0], "ada") | {"opponent": "called"}
        async with bot(two[0], login) as one:
            first = await one.receive()
            if "ada" in first["state"]["waitingFor"]:
                await one.send(brain(GAME)("ada", first))
            await asked.wait()
            tables = home(two).desk.tables
            table = tables[tables.live()[0].id]
            assert table is not None
            await until(lambda: table.match.away)
            await move_match(two)
            up.set()
            assert (await play(one, "ada", brain(GAME)))["state"]["result"]["reason"] == "complete"


@pytest.mark.parametrize("three", ["handed over"], indirect=True)
@pytest.mark.parametrize("listed", [True, False])
async def test_spectators_go_on_watching(
    three: list[RunningServer], monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    """They begin anew with the present position, even if its new node does not list the match."""
    monkeypatch.setattr(shared_tables, "INTERVAL", 0.05)
    monkeypatch.setattr(shared_tables, "SEARCH", 3600.0)
    async with chatting(three) as chatter, AsyncExitStack() as stack:
        for one in three:
            await until(one.arena.tables.count)
        watching = [
            await stack.enter_async_context(client(one, f"/watch/{chatter.id}")) for one in three
        ]
        for each in watching:
            assert (await each.receive())["snapshot"]
        if not listed:
            monkeypatch.setattr(shared_tables, "MOST_LISTED", 0)
        await move_match(three)
        for each in watching:
            assert (await each.receive())["snapshot"]
        await chatter.finish()
        for each in watching:
            messages, _, _ = await each.until_closed()
            assert sum("moves" in message["event"] for message in messages) == len(SPACES), messages


async def test_spectators_of_a_match_that_no_node_lists_are_let_go(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chatting(two) as chatter:
        here = home(two)
        (there,) = [one for one in two if one is not here]
        await until(there.arena.tables.count)
        async with client(there, f"/watch/{chatter.id}") as spectator:
            assert (await spectator.receive())["snapshot"]
            monkeypatch.setattr(shared_tables, "SEARCH", 0.0)
            of(there)._tables._hear(of(here).members.here.id, None)
            assert (await spectator.until_closed())[0] == []


class Told:
    """A spectator."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []

    def show(self, message: bytes) -> None:
        self.messages.append(message)

    def end(self) -> None:
        self.messages.append(b"the end")


async def test_a_search_ends_when_the_match_is_found(two: list[RunningServer]) -> None:
    """The next search for the same match has its whole time, and a node may be late."""
    here, there = [of(one)._tables for one in two]
    for tables in (here, there):
        tables.beat.stop()
    node, spectator = of(two[1]).members.here.id, Told()
    here._hear(node, shared_tables.TablesBeat([], {"chess": 1}))
    assert here.watch("match", spectator, node)

    def hear(message: shared_tables.WatchMessage) -> None:
        here._receive(node, encode(message))

    for shown in (b"first", b"second"):
        hear(shared_tables.Show("match", 1, shown, True))
        hear(shared_tables.WatchedMatchEnded("match", moved=True))
        leap(0.6 * shared_tables.SEARCH)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        here._found("match", here._watched["match"], node)
        hear(shared_tables.WatchedMatchEnded("match"))  # it has not resumed the match yet
        here._found("match", here._watched["match"], node)
    hear(shared_tables.Show("match", 1, b"third", True))
    hear(shared_tables.WatchedMatchEnded("match"))
    assert spectator.messages == [b"first", b"second", b"third", b"the end"]


async def test_waiting_clients_stay_connected_when_their_node_stops(
    two: list[RunningServer],
) -> None:
    ada, bob = [await registered(two[0], name) for name in ("ada", "bob")]
    async with bot(two[0], ada) as one:
        await until(lambda: any(node.desk.waiting_clients for node in two))
        await drain(two[0])
        async with httpx.AsyncClient(base_url=two[0].url) as http:
            assert (await http.get("/readyz")).text == "drained\n"
            async with bot(two[0], bob) as other:
                for each in (one, other):
                    assert (await each.receive())["state"]["result"] is None
                assert home(two) is two[1]
                await drain(two[0], False)
                assert (await http.get("/readyz")).status_code == 200


async def test_a_client_of_the_original_waits_while_the_home_of_its_wish_is_full(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = set[Desk]()
    monkeypatch.setattr(
        Desk, "refusal", property(lambda desk: "no new match begins" if desk in full else "")
    )
    cluster = two[0].node.cluster
    assert cluster is not None
    front, house = two[::-1] if cluster.home(cluster.key_of(Wish(GAME))) == cluster.here else two
    full.add(house.desk)
    ada, bob = [await registered(front, name) for name in ("ada", "bob")]
    async with bot(front, ada) as one:
        async with bot(front, bob | NOTICES) as other:
            assert (await other.until_closed())[:2] == (
                [{"error": "no new match begins"}],
                TRY_LATER,
            )
        await until(lambda: house.desk.postponed._silent)
        full.clear()
        leap(RETRY)
        async with bot(front, bob) as other:
            for each in (one, other):
                assert (await each.receive())["state"]["result"] is None


async def test_a_client_of_the_original_that_cannot_move_waits_in_silence(
    postgres_url: str, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handover, "open", lambda _: "")
    monkeypatch.setattr(SharedDesk, "_offer", lambda *_: False)  # the home of its wish is here
    async with (
        stopping(postgres_url, nats_url) as (_, eel, stack),
        bot(eel, await registered(eel, "ada")) as one,
    ):
        await until(lambda: eel.desk.waiting_clients)
        await stack.aclose()
        assert await one.until_closed() == ([], 1000, "")


@asynccontextmanager
async def stopping(
    db: str, nats: str, **settings: Any
) -> AsyncIterator[tuple[RunningServer, RunningServer, AsyncExitStack]]:
    """A node that stays, one that stops when the stack is closed, and the stack."""
    with unhurried(GAME):
        async with nodes(db, nats, 1) as (bee,), AsyncExitStack() as stack:
            eel = await stack.enter_async_context(node(db, nats, "eel", **settings))
            await of(bee).members._beat()
            yield bee, eel, stack


async def test_a_node_that_stops_disconnects_no_player(postgres_url: str, nats_url: str) -> None:
    async with stopping(postgres_url, nats_url) as (bee, eel, stack):
        ada, bob = [await registered(eel, name) for name in ("ada", "bob")]
        async with bot(eel, ada) as one, bot(eel, bob) as two:
            for each in (one, two):
                await each.receive()
            await stack.aclose()
            await Chatter([bee], {"ada": one, "bob": two}).finish()


@asynccontextmanager
async def piping(
    db: str, nats: str, patch: pytest.MonkeyPatch, **settings: Any
) -> AsyncIterator[tuple[RunningServer, RunningServer, AsyncExitStack, dict[str, Any], Chatter]]:
    """A match at a node that stays. Ada's socket is at one that stops when the stack is closed."""
    patch.setattr(Handover, "open", lambda _: "")
    patch.setattr(Cluster, "home", lambda cluster, _: next(iter(sorted(cluster.members.nodes))))
    async with stopping(db, nats, **settings) as (ant, eel, stack):
        ada, bob = [await registered(eel, name) for name in ("ada", "bob")]
        async with bot(eel, ada) as one, bot(ant, bob) as two:
            for each in (one, two):
                await each.receive()
            yield ant, eel, stack, ada, Chatter([ant], {"ada": one, "bob": two})


async def test_a_match_waits_for_a_player_whose_node_stops(
    postgres_url: str, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its socket could not move. It connects again, as after a death, and nobody loses time."""
    async with piping(postgres_url, nats_url, monkeypatch) as parts:
        ant, _, stack, ada, chatter = parts
        await stack.aclose()
        _, code, reason = await chatter.players["ada"].until_closed()
        assert (code, reason) == (TRY_LATER, NODE_STOPS)
        async with bot(ant, ada | {"match": chatter.id}) as again:
            assert (await again.receive())["state"]["result"] is None
            await Chatter([ant], chatter.players | {"ada": again}).finish()


async def test_a_node_that_stops_pipes_clients_until_its_time_is_over(
    postgres_url: str, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with piping(postgres_url, nats_url, monkeypatch, drain=3600.0) as parts:
        _, eel, stack, _, chatter = parts
        stopping = asyncio.ensure_future(stack.aclose())
        await until(lambda: eel.desk.closing)
        await chatter.finish()
        await stopping


async def test_duel_clients_leave_a_drained_node(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 2, duel_port=-1) as two:
        await spread_out(two)
        rooms = home_of(two, "gomoku")
        async with free(rooms, "ada") as ada:
            await ada.send(FIND)
            await until(lambda: rooms.desk.waiting_clients)
            await drain(rooms)
            assert await ada.receive() is None
