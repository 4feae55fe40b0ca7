"""A bot in two contests of one game, on protocols that name no contest: it plays where its
opponents are.
"""

from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.contest.document import document_from
from botdrome.match.terms import Pace
from botdrome.server.rooms.boat_settings import BoatRoomSettings
from tests.patience import until
from tests.server.clients import bot, server
from tests.server.contests.entrants import CUP, entered, open_contest
from tests.server.rooms.boats.clients import boat_server, sailor
from tests.server.rooms.bomber.clients import api
from tests.server.rooms.duel.clients import FIND, arena, free

pytestmark = pytest.mark.anyio


async def both_contests(
    house: RunningServer, game: str, limit: int = 60_000, **rules: Any
) -> tuple[str, dict[str, Any]]:
    """The password of ada, and the login of bob, who is away.

    The cup runs; ada may play the house in the mug once that runs, with `limit` ms for a move.
    """
    house.desk.workers.start()
    await open_contest(house, game=game, games=1, **rules)
    ada, bob = await entered(house, "ada", "bob", game=game)
    mug = CUP | {
        "name": "mug",
        "game": game,
        "games": 1,
        "entrants": [{"bot": "house:random"}],
        "clock": {"limit": limit},
    }
    await house.contests.create(document_from(mug | rules), "operator")
    await house.contests.act("mug", "open", "operator")
    entry = await house.arena.store.bot("ada")
    assert entry is not None
    await house.contests.enter("mug", entry, "ada")
    await house.contests.act("cup", "start", "operator")
    await until(lambda: house.contests.awaited("cup"))
    return ada["password"], bob


def played_now(house: RunningServer) -> list[str | None]:
    return [match.contest for match in house.desk.tables.live()]


async def test_a_duellist_plays_in_the_contest_whose_players_are_here(tmp_path: Path) -> None:
    async with arena(tmp_path) as house:
        password, bob = await both_contests(house, "gomoku")
        async with free(house, "ada", password=password) as one:
            await one.send(FIND)
            await until(lambda: house.contests.awaited("cup") == ["bob"])
            await house.contests.act("mug", "start", "operator")
            assert (await one.expect("starting_game"))["against"] == "house:random"
            assert played_now(house) == ["mug"] and house.contests.awaited("cup") == ["bob"], (
                "for the cup it is busy, not away"
            )
            async with bot(house, bob):
                await until(lambda: not house.contests.awaited("cup"))
                assert played_now(house) == ["mug"]
        await until(
            lambda: (
                house.contests.running("mug") is None
                and house.contests.awaited("cup") == ["ada", "bob"]
            )
        )


async def test_a_player_on_lines_waits_in_both(tmp_path: Path) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(max=2)) as house:
        password, _ = await both_contests(house, "battleship")
        async with sailor(house, "ada", password) as one:
            await house.contests.act("mug", "start", "operator")
            assert "ada" in (await one.until("S|"))[-1].split("|")
            assert played_now(house) == ["mug"] and house.contests.awaited("cup") == ["bob"]


async def test_a_user_of_bomberman_waits_in_both_and_the_document_sets_the_time_of_a_round(
    tmp_path: Path,
) -> None:
    room = "default:players=2,early=1,round=60000,registration=3600,rest=0,rounds=3"
    async with server(tmp_path, bomber_port=0, bomber_rooms=room) as house, api(house) as web:
        password, _ = await both_contests(
            house, "bomberman", limit=1234, players=2, options={"rounds": 3}
        )
        await house.contests.act("mug", "start", "operator")
        assert "user_id" in await web.post({"user_name": "ada", "password": password})
        await until(lambda: played_now(house) == ["mug"])
        (live,) = house.desk.tables.live()
        table = house.desk.tables[live.id]
        assert table is not None and table.match.terms.pace == Pace(1234)
        assert house.contests.awaited("cup") == ["bob"]


async def test_a_player_is_let_go_when_both_contests_are_over(tmp_path: Path) -> None:
    async with boat_server(tmp_path, BoatRoomSettings(max=2)) as house:
        password, _ = await both_contests(house, "battleship")
        await house.contests.act("mug", "start", "operator")
        await house.contests.act("mug", "pause", "operator")
        async with sailor(house, "ada", password) as one:
            await house.contests.act("mug", "end", "operator")
            await house.contests.act("cup", "pause", "operator")
            assert house.contests.awaited("cup") == ["bob"], "it waits in the other one"
            await house.contests.act("cup", "end", "operator")
            await one.rest()
