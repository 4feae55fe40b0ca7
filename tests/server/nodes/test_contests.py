"""Contests of different games run at different nodes, with bots that are connected to any."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.contest.document import document_from
from botdrome.server.nodes.cluster import rooms_of
from botdrome.server.nodes.joining import JoinedNode
from botdrome.store.entries import Wanted
from tests.patience import until
from tests.server.clients import bot, registered, unhurried
from tests.server.contests.entrants import entered, open_contest, play_all
from tests.server.nodes.serving import home_of, nodes, spread_out
from tests.server.nodes.test_shared_state import die
from tests.server.rooms.duel.clients import FIND, free

pytestmark = pytest.mark.anyio

FIVE = {"name": "five", "game": "gomoku", "games": 2}


async def open_five(home: RunningServer, *names: str) -> list[dict[str, Any]]:
    """Start a contest of gomoku with these bots, and return their logins."""
    await home.contests.create(document_from(FIVE), "operator")
    await home.contests.act("five", "open", "operator")
    logins = []
    for name in names:
        logins.append(await registered(home, name, "gomoku") | {"contest": "five"})
        entry = await home.arena.store.bot(name)
        assert entry is not None
        await home.contests.enter("five", entry, name)
    await home.contests.act("five", "start", "operator")
    return logins


async def test_contests_of_two_games_run_at_two_nodes(postgres_url: str, nats_url: str) -> None:
    async with nodes(postgres_url, nats_url, 3, duel_port=-1) as three:
        await spread_out(three)
        noughts, gomoku = home_of(three, "noughts-and-crosses"), home_of(three, "gomoku")
        (other,) = [one for one in three if one not in (noughts, gomoku)]
        await open_contest(noughts)
        logins = await entered(noughts, "ada", "bob")
        await noughts.contests.act("cup", "start", "operator")
        cid, dan = await open_five(gomoku, "cid", "dan")
        with unhurried("gomoku"):
            async with at_five(other, cid, dan):
                assert [table.contest for table in gomoku.desk.tables.live()] == ["five"]
                assert (await play_all(other, logins)).entry.state == "over"
            await die(gomoku)
            left = [noughts, other]
            await until(lambda: any(one.contests.running("five") for one in left))
            async with at_five(other, cid, dan):
                assert [table.contest for table in home_of(left, "gomoku").desk.tables.live()] == [
                    "five"
                ]


@asynccontextmanager
async def at_five(
    node: RunningServer, cid: dict[str, Any], dan: dict[str, Any]
) -> AsyncIterator[None]:
    """Two bots on different protocols that the contest has seated."""
    async with bot(node, cid) as native, free(node, "dan", password=dan["password"]) as duellist:
        await duellist.send(FIND)
        assert await duellist.receive() == {"event": "starting_game", "against": "cid"}
        assert sorted((await native.receive())["state"]["bots"]) == ["cid", "dan"]
        yield


async def test_a_drained_home_has_aborted_its_contest_matches_before_another_node_plays_them(
    postgres_url: str, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with nodes(postgres_url, nats_url, 2, duel_port=-1) as two:
        await spread_out(two)
        home, statuses = home_of(two, "gomoku"), list[str]()
        (other,) = [one for one in two if one is not home]
        assert isinstance(home.node, JoinedNode)
        rows, store = home.node.members._rows, home.arena.store
        give_rooms = rows.give

        async def give_and_note(of: str, node: str, to: str) -> None:
            if of == rooms_of("gomoku"):
                found = await store.matches(Wanted(contest="five"))
                statuses.extend([entry.status for entry in found])
            await give_rooms(of, node, to)

        monkeypatch.setattr(rows, "give", give_and_note)
        cid, dan = await open_five(home, "cid", "dan")
        with unhurried("gomoku"):
            async with at_five(other, cid, dan):
                assert await home.node.members.drain(home.node.members.here.name)
                await until(lambda: other.contests.running("five"))
    assert statuses == ["aborted"]
