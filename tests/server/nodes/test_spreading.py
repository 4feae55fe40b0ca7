"""Clients are paired at their own node first; those that are left over meet at the home."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from botdrome.app import RunningServer
from botdrome.contest.lobby import Seeker, Wish
from botdrome.contest.local_first import MOST_TOLD
from botdrome.server.nodes import shared_desk
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.shared_desk import Placement, SharedDesk, is_new
from botdrome.server.session import Session
from tests.patience import until
from tests.server.clients import bot, play_noughts, registered, unhurried
from tests.server.nodes.draining import GAME, home, of
from tests.server.nodes.serving import nodes

pytestmark = pytest.mark.anyio

WISH = Wish(GAME)


def desk_of(one: RunningServer) -> SharedDesk:
    assert isinstance(one.desk.others, SharedDesk)
    return one.desk.others


def others_play(one: RunningServer) -> None:
    """Another player with the wish is at this node for the next hour."""
    key, later = of(one).cluster.key_of(WISH), one.desk._loop.time() + 3600
    desk_of(one)._first.arrive(key, Seeker(0, "another", WISH), later)


def home_first(house: list[RunningServer]) -> list[RunningServer]:
    return sorted(house, key=lambda one: not desk_of(one).is_home(WISH))


async def test_clients_of_one_node_play_at_all(two: list[RunningServer]) -> None:
    there, _ = home_first(two)
    async with AsyncExitStack() as stack:
        logins = [await registered(there, f"bot {number}") for number in range(10)]
        bots = [await stack.enter_async_context(bot(there, login)) for login in logins]
        for one in bots:
            assert (await one.receive())["state"]["result"] is None
        assert all(one.desk.tables.count() >= 2 for one in two)
        assert not any(one.desk.matchmaker._arrived for one in two)


async def test_two_clients_of_a_node_meet_there(postgres_url: str, nats_url: str) -> None:
    """Although it is not the home of their wish, and no connection moves."""
    with unhurried(GAME):
        async with nodes(postgres_url, nats_url, 2, cluster_pairing=60) as two:
            _, front = home_first(two)
            others_play(front)
            ada, bob = [await registered(front, name) for name in ("ada", "bob")]
            async with bot(front, ada) as one, bot(front, bob) as other:
                for each in (one, other):
                    assert (await each.receive())["state"]["result"] is None
                assert home(two) is front


async def test_a_client_that_finds_nobody_goes_to_the_home(three: list[RunningServer]) -> None:
    there, *fronts = home_first(three)
    ada, bob = [await registered(there, name) for name in ("ada", "bob")]
    for front in fronts:
        others_play(front)
    async with bot(fronts[0], ada) as one:
        await until(lambda: [waits.name for waits in there.desk.seekers(9)] == ["ada"])
        async with bot(fronts[1], bob) as other:
            for each in (one, other):
                assert (await each.receive())["state"]["result"] is None


async def test_a_client_that_cannot_get_there_tries_again(
    three: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    there, front, _ = home_first(three)
    go, tries = SharedDesk._go, list[str]()

    def try_to_go(self: SharedDesk, client: Session, seeker: Seeker, to: str) -> bool:
        tries.append(seeker.name)
        return len(tries) > 2 and go(self, client, seeker, to)

    monkeypatch.setattr(SharedDesk, "_go", try_to_go)
    monkeypatch.setattr(shared_desk, "RETRY", 0.01)
    async with bot(front, await registered(there, "ada")):
        await until(lambda: [waits.name for waits in there.desk.seekers(9)] == ["ada"])
    assert tries == ["ada", "ada", "ada"]


async def test_a_client_leaves_while_it_waits_at_the_home(three: list[RunningServer]) -> None:
    """The other one waits on, and nobody wins by that."""
    there, front, _ = home_first(three)
    ada, bob, cid = [await registered(there, name) for name in ("ada", "bob", "cid")]
    async with bot(front, ada):
        await until(lambda: there.desk.seekers(9))
    await until(lambda: not any(one.desk.waiting_clients for one in three))
    async with bot(front, bob) as one, bot(front, cid) as other:
        for each in (one, other):
            assert (await each.receive())["state"]["result"] is None


async def test_a_newcomer_goes_to_one_that_waits_elsewhere(
    postgres_url: str, nats_url: str
) -> None:
    """It would stay at its own node, where others play, if no beat told of the one that waits."""
    with unhurried(GAME):
        async with nodes(postgres_url, nats_url, 2, cluster_pairing=0.05) as two:
            there, front = home_first(two)
            ada, bob = [await registered(front, name) for name in ("ada", "bob")]
            others_play(front)
            desk_of(front)._first.wait = 60.0
            async with bot(there, ada) as one:
                await until(lambda: desk_of(front)._first._waiting)
                async with bot(front, bob) as other:
                    for each in (one, other):
                        assert (await each.receive())["state"]["result"] is None


async def test_a_player_that_keeps_its_connection_is_not_new(two: list[RunningServer]) -> None:
    there, front = home_first(two)
    logins = [await registered(there, name) | {"opponent": "cid"} for name in ("ada", "bob")]
    logins[1]["features"] = ["again"]
    async with bot(there, logins[0]), bot(front, logins[1]):
        await until(lambda: len(there.desk.waiting_clients) == 2)
        waiting = [client for client in there.desk.waiting_clients if isinstance(client, Session)]
        assert {client.name: is_new(client) for client in waiting} == {"ada": True, "bob": False}


async def test_odd_wishes_do_not_hide_a_player_that_waits(two: list[RunningServer]) -> None:
    desk, told = desk_of(two[0]), set[str]()
    for number in range(MOST_TOLD):
        odd = Wish(GAME, options=str(number))
        two[0].desk._lobby.seek(Seeker(number, f"odd {number}", odd))
    two[0].desk._lobby.seek(Seeker(MOST_TOLD, "ada", WISH))
    for _ in range(2):
        told |= {seeker.name for _, seeker in desk._waiting()}
        desk._first.beat([], desk._loop.time())
    assert "ada" in told and len(told) == MOST_TOLD + 1


async def test_only_a_client_of_another_node_counts_as_sent_here(
    two: list[RunningServer],
) -> None:
    """The node may send the other one elsewhere, also if it has to seek again."""
    there, front = home_first(two)
    for number, node in enumerate((there, front)):
        async with bot(node, await registered(there, f"bot {number}")):
            await until(lambda: there.desk.waiting_clients)
            (client,) = there.desk.waiting_clients
            assert client.seeker is not None and client.seeker.moved == (node is front)
            desk_of(there)._seek_again(client, client.seeker)
            assert client.seeker is not None and client.seeker.moved == (node is front)
        await until(lambda: not there.desk.waiting_clients)


async def test_two_of_which_one_cannot_get_there_play_here(
    two: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    there, front = home_first(two)
    sent: list[str] = []

    def can_go(self: SharedDesk, session: Session, to: str) -> bool:
        return session.name == "ada"

    def move(self: Mover, session: Session, *_: object) -> None:
        sent.append(session.name)

    monkeypatch.setattr(Placement, "choose", lambda *_: of(front).cluster.here)
    monkeypatch.setattr(SharedDesk, "_can_go", can_go)
    monkeypatch.setattr(Mover, "move", move)
    ada, bob = [await registered(there, name) for name in ("ada", "bob")]
    async with bot(there, ada) as one, bot(there, bob) as other:
        for each in (one, other):
            assert (await each.receive())["state"]["result"] is None
    assert sent == []


async def test_two_that_meet_again_and_again_go_to_the_home(
    postgres_url: str, nats_url: str
) -> None:
    again = {"features": ["again"]}
    async with nodes(postgres_url, nats_url, 2, cluster_pairing=60, cluster_repeats=1) as two:
        there, front = home_first(two)
        others_play(front)
        desk_of(there)._first.wait = 0.01
        ada, bob = [await registered(front, name) | again for name in ("ada", "bob")]
        async with bot(front, ada) as one, bot(front, bob) as other:
            for number in range(2):
                assert (await one.receive())["players"] == (await other.receive())["players"]
                assert bool(there.desk.tables.count()) == (number == 1)
                await asyncio.gather(play_noughts(one, "ada"), play_noughts(other, "bob"))
                for each in (one, other):
                    await each.send({"again": True})
