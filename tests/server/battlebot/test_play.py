"""Bots over WebSockets, from the login to the close."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from botdrome.server.tables.flight_records import written
from botdrome.store.entries import Wanted
from tests.match.telling import mark
from tests.patience import until
from tests.server.clients import NOTICES, bot, client, pair, play_noughts, registered, server
from tests.server.holding import hold_back

pytestmark = pytest.mark.anyio

RECORDINGS = Path(__file__).parent / "recordings"


def recorded(scenario: str) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (RECORDINGS / f"battlebot-{scenario}.jsonl").read_text().splitlines()
    ]


async def test_a_whole_match_is_played_stored_and_closed(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob = await registered(house, "ada"), await registered(house, "bob")
        async with bot(house, ada) as one, bot(house, bob) as two:
            last, other = await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
            assert last == other
            assert last["state"]["result"] == {"reason": "complete", "victor": "ada"}
            assert last["turn"]["valid"] is True
            (match,) = await house.arena.store.matches(Wanted())
            assert match.players == ("ada", "bob")
            assert match.status == "ended"
            assert match.result is not None
            assert match.result.winner == 0
            flight = written(await house.arena.store.flight(match.id, 1) or b"").splitlines()
            assert json.loads(json.loads(flight[-2])["message"]) == last, (
                "the last that was told is in the flight record"
            )
            assert json.loads(flight[-1]) == {"cause": "complete"}
            assert await one.until_closed() == ([], 1000, "")
            assert await two.until_closed() == ([], 1000, "")


async def test_the_recorded_logins_that_failed_fail(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "Alpha-98ad")
        for line in recorded("auth-fail"):
            if line["dir"] != "send":
                continue
            message = line["msg"]
            if isinstance(message, dict) and len(message.get("password", "")) == 64:
                message = message | {"password": login["password"]}
            async with client(house) as one:
                await one.send(message)
                assert await one.until_closed() == ([{"authentication": "failed"}], 1000, "")


async def test_the_recorded_logins_that_succeeded_succeed_but_two(tmp_path: Path) -> None:
    """An injected password and a contest that is no text are refused: there the
    original was wrong.
    """
    async with server(tmp_path) as house:
        login = await registered(house, "Alpha-3d84")
        lines = recorded("auth-paths-and-extras")
        for line, answer in pairwise(lines):
            if line["dir"] != "send":
                continue
            message = line["msg"]
            if isinstance(message["password"], str):
                message = message | {"password": login["password"]}
            path = line["bot"].removeprefix("path ") if line["bot"].startswith("path /") else "/"
            async with client(house, path) as one:
                await one.send(message)
                if line["bot"] in ("contest number", "password is a mongo operator"):
                    assert await one.until_closed() == ([{"authentication": "failed"}], 1000, "")
                else:
                    assert await one.receive() == answer["msg"]


async def test_binary_frames_are_as_good_as_text(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada")
        async with client(house) as one:
            await one.socket.send(json.dumps(login).encode())
            assert (await one.receive())["authentication"] == "OK"


async def test_silence_fails_after_the_limit(tmp_path: Path) -> None:
    async with server(tmp_path, limits_login=0.01) as house, client(house) as one:
        assert await one.until_closed() == ([{"authentication": "failed"}], 1000, "")


async def test_who_finds_no_opponent_is_told_so(tmp_path: Path) -> None:
    async with server(tmp_path, limits_waiting=0.01) as house:
        async with bot(house, await registered(house, "ada") | NOTICES) as one:
            assert await one.until_closed() == (
                [{"error": "no opponent came within 0.01 seconds"}],
                1000,
                "",
            )
        async with bot(house, await registered(house, "bob") | NOTICES) as two:
            assert (await two.until_closed())[1] == 1000, "ada is gone and waits no longer"


async def test_what_is_sent_while_waiting_is_ignored(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob = await registered(house, "ada"), await registered(house, "bob")
        async with bot(house, ada) as one:
            await one.send({"mark": "X", "space": [0, 0]})
            async with bot(house, bob) as two:
                first = await two.receive()
                assert first["state"]["board"] == [["", "", ""]] * 3
                assert first["state"]["invalidTurns"] == {"ada": 0, "bob": 0}


async def test_a_bot_with_several_connections_plays_on_each(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob = await registered(house, "ada"), await registered(house, "bob")
        async with (
            bot(house, ada) as one,
            bot(house, ada) as two,
            bot(house, bob) as three,
            bot(house, bob) as four,
        ):
            names = ("ada", "ada", "bob", "bob")
            results = await asyncio.gather(*map(play_noughts, (one, two, three, four), names))
            assert [result["state"]["result"]["reason"] for result in results] == ["complete"] * 4


async def test_an_illegal_turn_is_told_to_its_sender_alone(tmp_path: Path) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        await ada.send({"mark": "O", "space": [0, 0]})
        refused = await ada.receive()
        assert refused["turn"]["valid"] is False
        assert refused["state"]["invalidTurns"] == {"ada": 1, "bob": 0}
        await ada.send(mark(0, 0, 0))
        assert (await bob.receive())["turn"]["valid"] is True


async def test_three_illegal_turns_lose(tmp_path: Path) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        for _ in range(3):
            await bob.send("rubbish")
        messages, code, _ = await bob.until_closed()
        assert [message.get("turn", {}).get("valid") for message in messages] == [
            False,
            False,
            None,
        ]
        assert messages[-1]["state"]["result"] == {
            "reason": "Didn't write unit tests",
            "victor": "ada",
        }
        assert code == 1000
        assert (await ada.until_closed())[0] == [messages[-1]]


async def test_who_disconnects_loses_at_once(tmp_path: Path) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        await ada.socket.close()
        messages, code, _ = await bob.until_closed()
        assert [message["state"]["result"] for message in messages] == [
            {"reason": "disconnect", "victor": "bob"}
        ]
        assert code == 1000


async def test_who_disconnects_before_the_start_loses_at_the_start(tmp_path: Path) -> None:
    async with server(tmp_path, match_start_delay=0.2) as house:
        ada, bob = await registered(house, "ada"), await registered(house, "bob")
        async with bot(house, ada) as one, bot(house, bob) as two:
            await one.socket.close()
            messages, _, _ = await two.until_closed()
            assert messages[-1]["state"]["result"] == {"reason": "disconnect", "victor": "bob"}


async def test_a_game_of_another_kind_in_the_same_manner(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob = (
            await registered(house, "ada", "gomoku"),
            await registered(house, "bob", "gomoku"),
        )
        options = {"options": {"size": 5, "win_length": 3}}
        async with bot(house, ada | options) as one, bot(house, bob | options) as two:
            first = await one.receive()
            assert first["state"]["size"] == 5
            assert first["state"]["waitingFor"] == ["ada"]
            assert 4000 < first["state"]["timeLeft"] <= 5000
            await two.receive()
            await one.send({"x": 9, "y": 9})
            messages = [await one.receive(), await one.receive()]
            assert messages[0]["why"] == "x is from 0 to 4, not 9"
            assert messages[1]["state"]["boardsPlayed"] == [{"ada": 2, "bob": 1}]


async def test_the_house_plays_by_name_and_steps_in_when_asked(tmp_path: Path) -> None:
    async with server(tmp_path, house_fill=True, house_wait=0.01) as house:
        login = await registered(house, "ada")
        for extra, name in (
            ({"opponent": "house:perfect"}, "house:perfect"),
            ({}, "house:blocker"),
        ):
            async with bot(house, login | extra) as one:
                last = await play_noughts(one, "ada")
                assert last["state"]["bots"] == ["ada", name]
                assert last["state"]["result"]["victor"] != "ada" or name != "house:perfect"
        async with bot(house, login | {"opponent": "house:nobody"}) as one:
            messages, code, _ = await one.until_closed()
            assert messages == [{"error": "there is no bot house:nobody for noughts-and-crosses"}]
            assert code == 1000


async def test_a_named_opponent_is_waited_for(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob, cleo = [await registered(house, name) for name in ("ada", "bob", "cleo")]
        async with (
            bot(house, ada | {"opponent": "cleo"}) as one,
            bot(house, bob),
            bot(house, cleo) as three,
        ):
            assert (await one.receive())["state"]["bots"] == ["ada", "cleo"]
            assert (await three.receive())["state"]["bots"] == ["ada", "cleo"]


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        ({"opponent": "ada"}, "nobody plays against itself"),
        ({"opponent": "house:random", "contest": "cup"}, "the house plays in no contest"),
        ({"opponent": "bea"}, "bea plays gomoku"),
    ],
)
async def test_who_names_an_opponent_that_can_never_come_is_told_so(
    tmp_path: Path, extra: dict[str, Any], why: str
) -> None:
    async with server(tmp_path) as house:
        ada, bea = await registered(house, "ada"), await registered(house, "bea", "gomoku")
        async with bot(house, bea), bot(house, ada | extra) as one:
            assert await one.until_closed() == ([{"error": why}], 1000, "")
            assert await house.arena.store.matches(Wanted()) == []


async def test_a_contest_at_tables_of_three_is_told_to_be_complete(tmp_path: Path) -> None:
    async with server(tmp_path, contest_games=1, contest_wait=0.01) as house:
        extra = {"contest": "cup", "players": 3} | NOTICES
        logins = [
            await registered(house, name, "battleship") | extra for name in ("ada", "bob", "cleo")
        ]
        firsts = []
        for _ in range(3):
            async with bot(house, logins[0]) as one, bot(house, logins[1]), bot(house, logins[2]):
                firsts.append((await one.receive())["state"]["bots"][0])
            await until(lambda: not house.desk.tables.live())
        assert sorted(firsts) == ["ada", "bob", "cleo"]
        async with bot(house, logins[0]) as one:
            assert await one.until_closed() == ([{"contest": "cup", "complete": True}], 1000, "")


async def test_who_was_gone_may_come_back_where_the_format_allows_it(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob = [await registered(house, name, "battleship") for name in ("ada", "bob")]
        async with bot(house, bob) as two:
            async with bot(house, ada) as one:
                await one.receive()
                await two.receive()
            (live,) = house.desk.tables.live()
            async with bot(house, ada | {"match": live.id}) as again:
                state = (await again.receive())["state"]
                assert state["match"] == live.id
                assert state["phase"] == "placement"
                assert state["you"] == 1
                async with bot(house, bob | {"match": live.id}) as twice:
                    words = f"there is no coming back to match {live.id}"
                    assert (await twice.until_closed())[0] == [{"error": words}], (
                        "bob is there already"
                    )
                assert house.desk.tables.live() != []
        async with bot(house, ada | {"match": "0000"}) as lost:
            assert (await lost.until_closed())[0] == [
                {"error": "you have no seat in a running match 0000"}
            ]


async def test_who_comes_back_while_the_result_is_being_stored_is_told_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path) as house:
        ada, bob = [await registered(house, name) for name in ("ada", "bob")]
        async with bot(house, bob) as two:
            async with bot(house, ada) as one:
                await one.receive()
                (live,) = house.desk.tables.live()
                held = hold_back(house.arena.store, monkeypatch)
            await held.next()
            async with bot(house, ada | {"match": live.id}) as again:
                await held.write()
                messages, code, _ = await again.until_closed()
            assert (messages, code) == ((await two.until_closed())[0][-1:], 1000)
            assert messages[0]["state"]["result"]["victor"] == "bob"


async def test_a_contest_of_ten_games_then_it_is_complete(tmp_path: Path) -> None:
    async with server(tmp_path, contest_wait=0.01) as house:
        logins = {
            name: await registered(house, name) | {"contest": "cup"} | NOTICES
            for name in ("ada", "bob")
        }
        firsts = []
        for _ in range(10):
            async with bot(house, logins["bob"]) as two, bot(house, logins["ada"]) as one:
                last, _ = await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
                firsts.append(last["state"]["bots"][0])
        assert firsts == ["bob"] * 5 + ["ada"] * 5
        for name, login in logins.items():
            async with bot(house, login) as done:
                assert await done.until_closed() == (
                    [{"contest": "cup", "complete": True}],
                    1000,
                    "",
                ), name


async def test_a_contest_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with server(tmp_path, contest_games=1) as house:
        logins = {
            name: await registered(house, name) | {"contest": "cup"} | NOTICES
            for name in ("ada", "bob")
        }
        async with bot(house, logins["ada"]) as one, bot(house, logins["bob"]) as two:
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
    async with server(tmp_path, contest_games=1, contest_wait=0.01) as house:
        async with bot(house, logins["ada"]) as one, bot(house, logins["bob"]) as two:
            assert (await one.receive())["state"]["bots"] == ["bob", "ada"], (
                "the way that was not played yet"
            )
            await two.socket.close()
            await one.until_closed()
        async with bot(house, logins["ada"]) as one:
            assert (await one.until_closed())[0] == [{"contest": "cup", "complete": True}]


async def test_bumblebots_runs_by_itself_and_goes_on_without_one(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob = [
            await registered(house, name, "bumblebots") | {"options": {"ticks": 3}}
            for name in ("ada", "bob")
        ]
        async with bot(house, ada) as one, bot(house, bob) as two:
            await one.receive()
            await one.socket.close()
            messages, code, _ = await two.until_closed()
            assert [message["turnNumber"] for message in messages] == [0, 1, 2, 3]
            assert messages[-1]["result"] == {"victor": None, "reason": "BUMBLEBOTS_FULL_TIME"}
            assert code == 1000
