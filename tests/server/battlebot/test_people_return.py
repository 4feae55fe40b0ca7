"""People whose connection is lost keep their seat for a while, and come back to it with their
secret.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.server.battlebot.people import events, move, person, play_out, seated
from tests.server.clients import Client, bot, client, leap, server
from tests.server.outages import Outage

pytestmark = pytest.mark.anyio

CORNER = {"mark": "X", "space": [0, 0]}
GAMES: dict[str, dict[str, Any]] = {
    "noughts-and-crosses": {},
    "gomoku": {"size": 5, "win_length": 3},
    "bumblebots": {"ticks": 3},
    "battlecube": {"ticks": 3},
}


@pytest.mark.parametrize("game", GAMES)
async def test_a_person_comes_back_and_plays_on(game: str, tmp_path: Path) -> None:
    about: dict[str, Any] = {"game": game, "options": GAMES[game]}
    async with server(tmp_path) as house:
        async with seated(house, opponent="house:random", **about) as (_, snapshot, began):
            pass
        async with bot(house, person(match=snapshot["match"], **about)) as eve:
            again, returned = await eve.receive(), await eve.receive()
            assert again["players"] == snapshot["players"] and again["view"] == began["view"]
            assert returned["event"] == {"event": "returned", "player": 0}
            frames = await play_out(eve, returned)
            assert frames[-1]["event"]["result"]["causes"] == ["complete", "complete"]


async def test_at_the_slow_pace_a_beat_goes_on_and_the_person_comes_back(tmp_path: Path) -> None:
    about: dict[str, Any] = {"game": "bomberman", "pace": "slow"}
    async with server(tmp_path) as house:
        async with seated(house, opponent="house:random", **about) as (_, snapshot, began):
            assert began["timeLeft"] <= 10_000
        async with bot(house, person(match=snapshot["match"], **about)) as eve:
            assert (await eve.receive())["snapshot"]
            assert "legal" in await eve.receive()


async def ann_and_bob(ann: Client, bob: Client) -> str:
    """The match, after both were told that it begins."""
    match = ""
    for one in (ann, bob):
        match = (await one.receive())["match"]
        await one.receive()
    return match


async def test_others_see_a_player_leave_and_return(tmp_path: Path) -> None:
    async with server(tmp_path) as house, bot(house, person("ann")) as ann:
        async with bot(house, person("bob")) as bob:
            match = await ann_and_bob(ann, bob)
        assert (await ann.receive())["event"] == {"event": "left", "player": 1}
        async with bot(house, person("bob", match=match)) as bob:
            assert (await ann.receive())["event"] == {"event": "returned", "player": 1}
            await bob.receive(), await bob.receive()
            await move(ann, CORNER)
            assert (await bob.receive())["view"]["board"][0][0] == "X"


async def test_a_second_window_takes_the_seat_over(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        seated(house) as (old, snapshot, _),
        bot(house, person(match=snapshot["match"])) as new,
    ):
        messages, code, _ = await old.until_closed()
        assert "another window" in messages[-1]["error"] and code == 1000
        await new.receive(), await new.receive()
        await move(new, CORNER)
        assert (await new.receive())["event"]["event"] == "played"


async def test_a_person_that_does_not_come_back_in_time_is_out(tmp_path: Path) -> None:
    async with server(tmp_path) as house, bot(house, person("ann")) as ann:
        async with bot(house, person("bob")) as bob:
            match = await ann_and_bob(ann, bob)
        assert (await ann.receive())["event"]["event"] == "left"
        await move(ann, CORNER)
        assert (await ann.receive())["timeLeft"] == 60_000
        leap(61)
        frames, _, _ = await ann.until_closed()
        assert (
            events(frames) == ["out", "board ended", "ended"]
            and frames[0]["event"]["cause"] == "timeout"
        )
        async with bot(house, person("bob", match=match)) as bob:
            missed, _, _ = await bob.until_closed()
            assert missed[0]["snapshot"] and events(missed[1:]) == ["out", "board ended", "ended"]


async def test_only_the_secret_opens_a_seat(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        seated(house) as (_, snapshot, _),
        bot(house, person(match=snapshot["match"], secret="somebody else's secret")) as thief,
    ):
        assert "you have no seat" in (await thief.receive())["error"]


async def test_a_result_is_told_when_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage = Outage(monkeypatch)
    async with server(tmp_path) as house, seated(house) as (eve, _, _):
        outage.begin()
        await eve.send({"resign": True})
        (result,) = await outage.silent(eve.receive())
        outage.end()
        assert (await result)["event"]["event"] == "out"


async def test_a_store_that_is_down_is_named_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage = Outage(monkeypatch)
    async with server(tmp_path) as house, client(house) as eve:
        outage.begin(reads=False)
        await eve.send(person())
        (answer,), code, _ = await eve.until_closed()
        assert (
            answer == {"error": "the store is not available at present; try again later"}
            and code == 1013
        )
        outage.end()


async def test_a_server_that_takes_no_new_matches_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage = Outage(monkeypatch)
    async with server(tmp_path, limits_unwritten=1) as house, seated(house) as (eve, _, _):
        outage.begin()
        await eve.send({"resign": True})
        (result,) = await outage.silent(eve.receive())
        async with bot(house, person("ann"), "/play") as ann:
            (answer,), code, _ = await ann.until_closed()
            assert "no new match begins; try again later" in answer["error"] and code == 1013
        outage.end()
        await result
