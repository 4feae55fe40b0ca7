"""Clients of all five protocols, each at another node than its opponent.

They are those of a single server's tests.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.nodes import moving, shared_tables
from botdrome.server.nodes.cluster import NodeId, rooms_of
from botdrome.server.nodes.joining import JoinedNode
from botdrome.server.nodes.moving import Handover, Mover
from botdrome.server.nodes.pipes import Pipe
from tests.patience import until
from tests.server.clients import PATIENCE, bot, client, play_noughts, registered, unhurried
from tests.server.nodes.draining import of
from tests.server.nodes.serving import home_of, nodes, spread_out
from tests.server.nodes.test_shared_state import die
from tests.server.rooms.boats.clients import FLEET, sailor
from tests.server.rooms.bomber.clients import STEPS, api
from tests.server.rooms.cube.clients import NOOP, organiser, saying
from tests.server.rooms.cube.clients import bot as cube_bot
from tests.server.rooms.duel.clients import FIND, FREE, connected, free, seated

pytestmark = pytest.mark.anyio

PAIRS = ((0, 1), (1, 2), (2, 0))
"""Nodes of two players."""


@pytest.fixture(params=["handed over", "piped"])
async def three(
    request: pytest.FixtureRequest,
    postgres_url: str,
    nats_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[list[RunningServer]]:
    """Three nodes, on one machine or, as far as they know, on three."""
    if request.param == "piped":
        monkeypatch.setattr(Handover, "open", lambda _: "")
    settings: dict[str, Any] = {"duel_port": -1, "boats_port": -1, "bomber_rooms": STEPS}
    async with nodes(postgres_url, nats_url, 3, **settings) as opened:
        await spread_out(opened)
        yield opened


async def test_noughts_and_crosses(three: list[RunningServer]) -> None:
    names = ("ada", "bob", "cid")
    logins = [await registered(three[0], name) for name in names]
    for first, second in PAIRS:
        async with (
            bot(three[first], logins[first]) as ada,
            bot(three[second], logins[second]) as bob,
        ):
            ends = await asyncio.gather(
                play_noughts(ada, names[first]), play_noughts(bob, names[second])
            )
            assert ends[0]["state"]["result"] == ends[1]["state"]["result"]


async def test_a_connection_that_stays_open_moves_again(three: list[RunningServer]) -> None:
    again = {"features": ["again"]}
    ada, bob, cid = [await registered(three[0], name) | again for name in ("ada", "bob", "cid")]
    async with bot(three[0], ada) as one:
        for at, login, name in ((1, bob, "bob"), (2, cid, "cid"), (0, bob, "bob")):
            async with bot(three[at], login) as two:
                assert (await one.receive())["players"] == (await two.receive())["players"]
                await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, name))
            await one.send({"again": True})


async def test_duel_arena(three: list[RunningServer]) -> None:
    for here, there in PAIRS:
        with unhurried("gomoku"):
            async with free(three[here], "ada") as ada, free(three[there], "bob") as bob:
                await ada.send(FIND)
                await bob.send(FIND)
                first, second, question = await seated(ada, bob)
                await first.answer(question, 7, 7)
                reply = await second.expect("get_move")
                assert [move[:2] for move in reply["board"]["_moves"]] == [[7, 7]]


async def test_boats(three: list[RunningServer]) -> None:
    for here, there in PAIRS:
        one, two = f"ada {here}", f"bob {there}"
        async with sailor(three[here], one) as ada, sailor(three[there], two) as bob:
            turns = [(await each.until("N|"))[-1].removeprefix("N|") for each in (ada, bob)]
            assert turns[0] == turns[1]
            shooter, target = (ada, two) if turns[0] == one else (bob, one)
            x, y = FLEET[0]
            shooter.send(f"S|{target}|{x}|{y}")
            for each in (ada, bob):
                await each.until("H|")


async def test_bomberman(three: list[RunningServer]) -> None:
    async with api(three[0]) as spectator, api(three[1]) as one, api(three[2]) as two:
        ada, bob = await one.register("ada"), await two.register("bob")
        while (await spectator.state(after=0))["phase"] != "PLAYING":
            pass
        before = (await two.state())["state_number"]
        waiting = asyncio.ensure_future(two.state(after=before))
        assert (await one.act(ada, "NOOP"))["response"] == "ACCEPTED"
        assert (await two.act(bob, "NOOP"))["response"] == "ACCEPTED"
        assert (await waiting)["state_number"] > before


async def test_battlecube(three: list[RunningServer]) -> None:
    for node in three:
        async with (
            cube_bot(saying(NOOP)) as ann,
            cube_bot(saying(NOOP)) as ben,
            organiser(node) as one,
        ):
            await one.new_game(("A", ann.url), ("B", ben.url))
            events = [event for event, _ in await one.until("GAME_ENDED")]
            assert "TICK" in events or events[-1] == "GAME_ENDED"
        assert ann.asked and ben.asked


async def test_a_gomoku_bot_meets_a_client_of_duel_arena_at_another_node(
    three: list[RunningServer],
) -> None:
    login = await registered(three[0], "bob", "gomoku")
    for here, there in PAIRS:
        with unhurried("gomoku"):
            async with free(three[here], "ada") as ada, bot(three[there], login) as bob:
                await ada.send(FIND)
                assert await ada.receive() == {"event": "starting_game", "against": "bob"}
                assert sorted((await bob.receive())["state"]["bots"]) == ["ada", "bob"]


async def ask(
    line: tuple[asyncio.StreamReader, asyncio.StreamWriter], *targets: str
) -> list[tuple[int, bytes]]:
    """Send requests at once on one connection; their statuses and bodies."""
    reader, writer = line
    writer.write(
        b"".join(
            [f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() for target in targets]
        )
    )
    answers = []
    for _ in targets:
        head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r")[0])
        answers.append(
            (int(head.split()[1]), await asyncio.wait_for(reader.readexactly(length), PATIENCE))
        )
    return answers


async def test_one_connection_asks_for_things_at_different_nodes(
    three: list[RunningServer],
) -> None:
    assert len({home_of(three, game).port for game in ("gomoku", "battlecube", "bomberman")}) > 1
    duels, bombers, cubes, page = (
        "/api/v1/duel/players",
        "/bomber/rooms",
        "/socket.io/?EIO=9",
        "/api/v1/games",
    )
    together = (page, bombers, cubes, duels, duels, page, bombers)
    async with free(three[0], "ada"), api(three[1]) as bomber:
        await bomber.register("bob")
        await until(lambda: home_of(three, "gomoku").arena.duel.line("ada"))
        for node in three:
            line = await asyncio.open_connection("127.0.0.1", node.port)
            for targets in ((page,), (duels,), (bombers,), (duels,), together, (page,)):
                for target, (status, body) in zip(targets, await ask(line, *targets), strict=True):
                    assert status == (400 if target == cubes else 200), (target, body)
                    assert target != duels or b'"ada"' in body
                    assert target != bombers or b'"bob"' in body
            line[1].close()
    await until(lambda: not any(of(one).mover.piped for one in three))


async def test_a_client_that_was_sent_to_a_wrong_node_goes_on_to_the_home(
    three: list[RunningServer],
) -> None:
    home = home_of(three, "gomoku")
    front, wrong = [one for one in three if one is not home]
    assert isinstance(front.node, JoinedNode) and isinstance(wrong.node, JoinedNode)
    front.node.members._homes[rooms_of("gomoku")] = wrong.node.members.here.id
    assert front.node.members.room_home(rooms_of("gomoku")) == wrong.node.members.here.id
    async with free(front, "ada"):
        assert [one.name for one in home.desk.registry.clients.all] == ["ada"]


async def test_clients_wait_until_others_know_that_a_home_has_died(
    three: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client of duel arena, which only its port tells apart, and a native bot that has
    logged in.
    """
    login = await registered(three[0], "bob", "gomoku")
    home = home_of(three, "gomoku")
    fronts = [one for one in three if one is not home]
    failed = set[Mover]()
    dial = Mover.dial

    async def watched(mover: Mover, to: NodeId) -> Pipe:
        try:
            return await dial(mover, to)
        except OSError:
            failed.add(mover)
            raise

    monkeypatch.setattr(Mover, "dial", watched)
    of(home).mover.close()
    with monkeypatch.context() as impatient:
        impatient.setattr(moving, "LONGEST_SEARCH", -1.0)
        async with connected(fronts[0]) as cid:
            assert not await cid.until_closed()
    failed.clear()
    with unhurried("gomoku"):
        async with connected(fronts[0]) as ada, bot(fronts[1], login) as bob:
            await ada.send({"username": "ada"})
            await until(lambda: failed == {of(one).mover for one in fronts})
            await die(home)
            await ada.send(FIND)
            assert [await ada.receive() for _ in range(3)] == [
                {"status": "ok"}, FREE, {"event": "starting_game", "against": "bob"},
            ]  # fmt: skip
            assert sorted((await bob.receive())["state"]["bots"]) == ["ada", "bob"]


async def test_people_watch_from_any_node(three: list[RunningServer]) -> None:
    ada, bob = [await registered(three[0], name) for name in ("ada", "bob")]
    with unhurried("noughts-and-crosses"):
        async with bot(three[0], ada) as one, bot(three[0], bob):
            await one.receive()
            (match,) = [table.id for node in three for table in node.desk.tables.live()]
            for node in three:
                await until(node.arena.tables.count)
                async with (
                    client(node, f"/watch/{match}") as first,
                    client(node, f"/watch/{match}") as second,
                ):
                    assert (await first.receive())["snapshot"] and (await second.receive())[
                        "snapshot"
                    ]


async def test_people_watch_a_match_that_another_node_has_just_begun(
    three: list[RunningServer],
) -> None:
    ada, bob = [await registered(three[0], name) for name in ("ada", "bob")]
    with unhurried("noughts-and-crosses"):
        async with bot(three[0], ada) as one, bot(three[0], bob):
            await one.receive()
            (match,) = [table.id for node in three for table in node.desk.tables.live()]
            await three[0].arena.store.journal.settled()
            async with client(three[1], f"/watch/{match}") as spectator:
                assert (await spectator.receive())["snapshot"]


async def test_people_watch_matches_that_are_not_listed(
    three: list[RunningServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_tables, "MOST_LISTED", 1)
    logins = [await registered(three[0], name) for name in ("ada", "bob", "cid", "dan")]
    with unhurried("noughts-and-crosses"):
        async with AsyncExitStack() as stack:
            for login in logins:
                await stack.enter_async_context(bot(three[0], login))
            while (
                len(matches := [table.id for node in three for table in node.desk.tables.live()])
                < 2
            ):
                await asyncio.sleep(0.01)
            await three[0].arena.store.journal.settled()
            for match in matches:
                async with client(three[1], f"/watch/{match}") as spectator:
                    assert (await spectator.receive())["snapshot"]
