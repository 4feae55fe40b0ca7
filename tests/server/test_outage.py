"""While the store is down, matches go on and clients of all protocols get no results.

Afterwards they get them.
"""

import asyncio
from pathlib import Path

import pytest

from botdrome.app import RunningServer
from tests.match.telling import mark
from tests.patience import until
from tests.server.clients import NOTICES, bot, client, pair, play_noughts, registered, server
from tests.server.outages import Outage
from tests.server.rooms.boats import clients as boats
from tests.server.rooms.bomber import clients as bombers
from tests.server.rooms.cube import clients as cubes
from tests.server.rooms.cube.test_games import Patient
from tests.server.rooms.duel import clients as duellists

pytestmark = pytest.mark.anyio


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    return Outage(monkeypatch)


async def test_battlebot_s_last_state_waits_and_so_does_the_end_for_spectators(
    tmp_path: Path, outage: Outage
) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        match_id = house.desk.tables.live()[0].id
        async with client(house, f"/watch/{match_id}") as spectator:
            assert (await spectator.receive())["snapshot"] and await house.arena.store.match(
                match_id
            )
            outage.begin()
            await ada.send(mark(0, 1, 1))
            for each in (ada, bob):
                assert (await each.receive())["state"]["result"] is None, "the match goes on"
            await spectator.receive()
            await bob.socket.close()
            coming = await outage.silent(ada.receive(), spectator.receive())
            stored = await house.arena.store.match(match_id)
            assert stored is not None and stored.status == "running"
            outage.end()
            told, shown = await asyncio.gather(*coming)
            assert told["state"]["result"] is not None
            assert shown["match"] == match_id
            assert (await ada.until_closed())[1] == 1000
        stored = await house.arena.store.match(match_id)
        assert stored is not None and stored.status == "ended"


async def test_a_contest_is_complete_when_its_matches_are_stored(
    tmp_path: Path, outage: Outage
) -> None:
    async with server(tmp_path, contest_games=1, contest_wait=0.0) as house:
        logins = [
            await registered(house, name) | {"contest": "cup"} | NOTICES for name in ("ada", "bob")
        ]
        async with bot(house, logins[0]) as one, bot(house, logins[1]) as two:
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
        async with (
            bot(house, logins[0]) as one,
            bot(house, logins[1]) as two,
            bot(house, logins[0]) as waiting,
        ):
            outage.begin()
            games = [
                asyncio.ensure_future(play_noughts(one, "ada")),
                asyncio.ensure_future(play_noughts(two, "bob")),
            ]
            await until(lambda: house.arena.store.journal.unwritten)
            [complete, *_] = await outage.silent(waiting.receive(), *games)
            outage.end()
            await asyncio.gather(*games)
            assert await complete == {"contest": "cup", "complete": True}
        lines = await house.arena.store.contest_lines("noughts-and-crosses", "cup")
        assert [line.wins + line.draws + line.losses for line in lines] == [2, 2]


def duel_boards(house: RunningServer) -> int:
    """Shown by the Elo table, for both players."""
    return sum(line.total_games for _, line in house.arena.duel.lines(0, 10))


async def test_duel_boards_and_ratings_wait(tmp_path: Path, outage: Outage) -> None:
    async with duellists.arena(tmp_path) as house, duellists.pair(house) as (one, two, question):
        outage.begin()
        playing = asyncio.ensure_future(duellists.play_rows(one, two, question))
        await until(lambda: house.arena.store.journal.unwritten)
        await outage.silent(playing)
        assert duel_boards(house) == 0
        outage.end()
        await playing
        await house.arena.duel.folded()
        assert duel_boards(house) == 2
        second = await two.expect("get_move")
        outage.begin()
        await two.answer(second, 99, 99)
        ends = await outage.silent(one.receive(), two.receive())
        outage.end()
        assert {message["event"] for message in await asyncio.gather(*ends)} == {
            "win",
            "invalid_move",
        }
        await house.arena.duel.folded()
        assert duel_boards(house) == 4


async def test_results_and_statistics_of_boats_wait(tmp_path: Path, outage: Outage) -> None:
    async with (
        boats.boat_server(tmp_path) as house,
        boats.sailors(house, "ann", "bob") as (ann, bob),
    ):
        outage.begin()
        boats.the_room(house).games[0].table.conclude()
        ann.send("P|still here")
        await ann.expect("P|still here")
        ends = await outage.silent(ann.receive(), bob.receive())
        assert not boats.boat_rooms(house).statistics.players
        outage.end()
        assert [line[:2] for line in await asyncio.gather(*ends)] == ["F|", "F|"]
        await boats.boat_rooms(house).statistics.folded()
        assert boats.boat_rooms(house).statistics.players["ann"]["gamesPlayed"] == 1
        assert [line[:2] for line in await ann.rest()] == ["R|", "R|"]


async def test_a_bomberman_game_stays_in_play(tmp_path: Path, outage: Outage) -> None:
    async with bombers.room(tmp_path, bombers.STEPS + ",rounds=1") as (_, one):
        users = await one.begin("Ada", "Bob")
        outage.begin()
        for user in users:
            assert (await one.act(user, "WAIT"))["response"] == "ACCEPTED"
        [coming] = await outage.silent(one.state(after=1))
        assert (await one.state())["phase"] == "PLAYING"
        outage.end()
        told = await coming
        assert told["phase"] == "FINISHED" and "aborted" not in told


async def test_battlecube_s_end_waits(tmp_path: Path, outage: Outage) -> None:
    ann = Patient()
    async with server(tmp_path) as house, cubes.bot(ann) as first, cubes.organiser(house) as one:
        await one.new_game(("A", first.url), maxNumOfTicks=1)
        outage.begin()
        await ann.answer()
        [coming] = await outage.silent(one.until("GAME_ENDED"))
        outage.end()
        assert (await coming)[-1][0] == "GAME_ENDED"
