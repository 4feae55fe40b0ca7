"""The operator starts Battlecube games, changes them as they run, and has many played in a row."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PAUSE
from tests.server.clients import PATIENCE, registered, server
from tests.server.operator.clients import TOKEN, Office, office
from tests.server.rooms.cube.clients import NOOP, game, saying, starts
from tests.server.rooms.cube.clients import bot as cube_bot

pytestmark = pytest.mark.anyio

HOUSE = [{"name": "A", "url": "house:random"}, {"name": "B", "url": "house:random"}]
QUICK = {"maxNumOfTicks": 3, "edgeLength": 4, "numOfTasksPerTick": 1, "speed": 0}
ENDLESS = QUICK | {"maxNumOfTicks": 1_000_000, "edgeLength": 64, "speed": 5}
APART = ENDLESS | {"playerStartPositions": starts(A=(0, 0, 0), B=(63, 63, 63))}


async def until(one: Office, run: str, *states: str) -> Any:
    """The run, when it is in one of these states."""
    async with asyncio.timeout(PATIENCE):
        while (shown := await one.get(f"/cube/{run}"))["state"] not in states:
            await asyncio.sleep(PAUSE)
    return shown


async def test_games_are_played_in_a_row_and_their_scores_kept(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        begun = await one.have("POST", "/cube", {"setup": QUICK, "players": HOUSE, "games": 7})
        done = await until(one, begun["id"], "done", "failed")
        assert (done["state"], done["match"], len(done["results"])) == ("done", None, 7)
        assert all(result["scores"].keys() == {"A", "B"} for result in done["results"])
        assert len({result["match"] for result in done["results"]}) == 7
        for result in done["results"]:
            entry = await house.arena.store.match(result["match"])
            assert entry is not None and entry.status == "ended"
        assert (await one.get("/cube"))["runs"] == [done]
        assert await one.clients() == [], "its organiser has left"
        assert await one.audited() == [("start Battlecube", begun["id"], "7 games: A, B")]


async def test_a_game_is_paused_changed_resumed_and_stopped_as_it_runs(tmp_path: Path) -> None:
    async with (
        server(tmp_path, operator_token=TOKEN) as house,
        office(house) as one,
        cube_bot(saying(NOOP)) as called,
    ):
        players = [{"name": "A", "url": called.url}, {"name": "B", "url": called.url}]
        run = await one.have("POST", "/cube", {"setup": ENDLESS, "players": players, "games": 3})
        path = f"/cube/{run['id']}"
        assert (await one.have("PUT", path, {"paused": True}))["state"] == "paused"
        changed = await one.have(
            "PUT", path, {"setup": ENDLESS | {"edgeLength": 70, "speed": 1}, "paused": False}
        )
        assert (changed["state"], changed["setup"]["edgeLength"]) == ("running", 70)
        table = house.desk.tables[run["match"]]
        assert table is not None and table.match.position.view(None)["edge"] in (64, 70)
        status, words = await one.refused("PUT", path, {"setup": ENDLESS | {"edgeLength": 1}})
        assert (status, words) == (409, "Too many players for the selected game area size")
        status, words = await one.refused("PUT", path, {"setup": {"edgeLength": "?"}})
        assert (status, words) == (409, '"maxNumOfTicks" is required')
        assert (await one.have("DELETE", path))["state"] == "stopped"
        stopped = await until(one, run["id"], "stopped")
        while not stopped["results"]:
            stopped = await one.get(path)
        assert [result["result"] for result in stopped["results"]] == ["STOPPED"]
        assert await one.refused("PUT", path, {"paused": True}) == (409, "the run is stopped")
        actions = [action for action, _, _ in await one.audited()]
        assert actions == [
            f"{verb} Battlecube" for verb in ("start", "pause", "change", "resume", "stop")
        ]


async def test_a_run_ends_with_a_game_that_the_operator_ends(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        run = await one.have("POST", "/cube", {"setup": APART, "players": HOUSE, "games": 5})
        await one.have("POST", f"/matches/{run['match']}/end", {})
        assert len((await until(one, run["id"], "stopped"))["results"]) == 1


async def test_a_run_is_stopped_when_its_organiser_is_removed(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        run = await one.have("POST", "/cube", {"setup": APART, "players": HOUSE})
        (client,) = [
            client for client in await one.clients() if client["protocol"] == "battlecube organiser"
        ]
        await one.have("DELETE", "/clients", {"number": client["number"]})
        await until(one, run["id"], "stopped")


async def test_tokens_of_players_are_not_shown(tmp_path: Path) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        login = await registered(house, "ada", "battlecube")
        players = [*HOUSE, {"name": "ada", "url": "house:random", "token": login["password"]}]
        run = await one.have("POST", "/cube", {"setup": QUICK, "players": players})
        assert run["players"] == [*HOUSE, {"name": "ada", "url": "house:random"}]
        await until(one, run["id"], "done")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"players": []}, "a game needs players"),
        ({"games": 0}, "games is a number from 1 to 1000, not 0"),
        ({"games": 1001}, "games is a number from 1 to 1000, not 1001"),
        ({"setup": {}}, '"maxNumOfTicks" is required'),
        ({"players": [{"name": "A", "url": "house:nobody"}]}, "There is no bot house:nobody"),
        ({"players": [{"name": "A", "url": "bot:B"}]}, "bot:B plays under its own name, B"),
        ({"players": [{"name": "B", "url": "bot:B"}]}, "The bot B does not wait here for a game"),
        ({"players": [*HOUSE, HOUSE[0]]}, "All player names must be unique"),
    ],
)
async def test_a_run_that_cannot_start_is_explained(
    tmp_path: Path, change: Any, words: str
) -> None:
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        wanted = game(*[(player["name"], player["url"]) for player in HOUSE]) | change
        assert await one.refused("POST", "/cube", wanted) == (400, words)
        assert (await one.get("/cube"))["runs"] == []
        assert await one.clients() == []
        assert await one.refused("GET", "/cube/none") == (404, "there is no run 'none'")


async def test_bots_at_a_banned_address_are_not_called(tmp_path: Path) -> None:
    async with (
        server(tmp_path, operator_token=TOKEN) as house,
        office(house) as one,
        cube_bot(saying(NOOP)) as called,
        cube_bot(saying(NOOP)) as other,
    ):
        await one.have("POST", "/bans", {"kind": "address", "subject": "127.0.0.2"})
        url = called.url.replace("127.0.0.1", "127.0.0.2")
        players = [{"name": "A", "url": url}, {"name": "B", "url": other.url}]
        run = await one.have("POST", "/cube", {"setup": QUICK, "players": players})
        done = await until(one, run["id"], "done")
        assert done["results"][0]["winner"] == "B"
        assert called.asked == []
        assert done["troubles"] == {"A": "127.0.0.2 is banned from this server"}


async def test_only_the_last_runs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botdrome.server.operator.cube_runs.KEPT", 1)
    async with server(tmp_path, operator_token=TOKEN) as house, office(house) as one:
        for _ in range(3):
            run = await one.have("POST", "/cube", {"setup": QUICK, "players": HOUSE})
            await until(one, run["id"], "done")
        assert len((await one.get("/cube"))["runs"]) == 2
