"""Bots with a URL: registered by a challenge, called when a player wants to meet them, entered in
contests.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from botdrome.app import RunningServer
from botdrome.catalogue import CATALOGUE
from botdrome.match.terms import Pace
from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.tables.flight_records import written
from botdrome.store.entries import MatchEntry, NameTaken, Wanted
from tests.patience import until
from tests.server.calling.hosts import answer
from tests.server.clients import PATIENCE, bot, leap, play_noughts, registered, server
from tests.server.lobby.url_hosts import brain, play, url_bot, with_address

pytestmark = pytest.mark.anyio
OPTIONS: dict[str, dict[str, Any]] = {
    "gomoku": {"size": 7},
    "bumblebots": {"ticks": 4},
    "bomberman": {"rounds": 5},
    "battlecube": {"ticks": 10},
    "battleship": {"rounds": 8},
}
"""So that a match is short."""


async def over(house: RunningServer, **wanted: Any) -> list[MatchEntry]:
    return await house.arena.store.matches(Wanted(status="ended", **wanted))


async def flight(house: RunningServer, match: MatchEntry, name: str) -> list[Any]:
    found = await house.arena.store.flight(match.id, match.players.index(name))
    assert found is not None
    return [json.loads(line) for line in written(found).splitlines()]


@pytest.mark.parametrize("game", CATALOGUE)
async def test_every_game_can_be_played_by_http(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    row = CATALOGUE[game]
    if not row.terms.pace.beat:
        monkeypatch.setitem(
            CATALOGUE, game, replace(row, terms=replace(row.terms, pace=Pace(60_000)))
        )
    async with server(tmp_path) as house, url_bot(game) as called:
        await with_address(house, "called", called, game)
        login = await registered(house, "ada", game) | {
            "opponent": "called",
            "options": OPTIONS.get(game, {}),
        }
        async with bot(house, login) as one:
            last = await play(one, "ada", brain(game))
        assert await asyncio.wait_for(called.ended.get(), PATIENCE) is not None, (
            "it is told how it ended"
        )
        (match,) = await over(house)
        assert match.result is not None
        assert not {"disconnect", "timeout", "illegal moves"} & set(match.result.causes), (
            match.result,
            last,
        )
        lines = await flight(house, match, "called")
        assert any(line.get("verdict") == "accepted" for line in lines)
        assert {line.get("verdict", "accepted") for line in lines if line.get("dir") == "in"} == {
            "accepted"
        }
        assert len(called.messages) == sum(line.get("dir") == "in" for line in lines)


async def test_the_message_is_the_one_of_the_websocket(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as called:
        await with_address(house, "Émile / 1", called)
        async with bot(house, await registered(house, "ada") | {"opponent": "Émile / 1"}) as one:
            await play_noughts(one, "ada")
        first = called.messages[0]
        assert first["state"]["bots"] == ["ada", "Émile / 1"] and first["turn"]["name"] == "ada"
        asked = called.host.asked[-1]
        (match,) = await over(house)
        assert asked.headers["x-botdrome-match"] == match.id
        assert asked.headers["x-botdrome-bot"] == "%C3%89mile%20%2F%201"


async def test_two_may_challenge_it_at_once(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as called:
        await with_address(house, "called", called)
        ada, bob = [
            await registered(house, name) | {"opponent": "called"} for name in ("ada", "bob")
        ]
        async with bot(house, ada) as one, bot(house, bob) as two:
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
        assert {match.players for match in await over(house)} == {
            ("ada", "called"),
            ("bob", "called"),
        }


# Registration.


async def test_an_address_is_tried_before_it_is_taken(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as called:
        await with_address(house, "called", called)
        (asked,) = called.host.asked
        question = json.loads(asked.body)
        assert question.keys() == {"challenge", "name", "gameType"}
        assert (question["name"], question["gameType"]) == ("called", "NOUGHTS_AND_CROSSES")
        found = await house.arena.store.bot("called")
        assert found is not None and found.url == called.url
        with pytest.raises(NameTaken):
            await with_address(house, "called", called)
        assert len(called.host.asked) == 1, "nobody is called for a name that is taken"


@pytest.mark.parametrize(
    "said",
    [b"", b"[]", b'{"challenge": "guessed"}', b'{"challenge": null}', b"not JSON", b"[" * 10_000],
    ids=["empty", "a list", "guessed", "null", "not JSON", "deep"],
)
async def test_a_bot_that_does_not_repeat_the_challenge_is_not_registered(
    tmp_path: Path, said: bytes
) -> None:
    async with server(tmp_path) as house, url_bot() as called:
        called.instead = lambda _, __: answer(said)
        with pytest.raises(CallFailed, match="does not repeat the challenge"):
            await with_address(house, "called", called)
        assert await house.arena.store.bot("called") is None


@pytest.mark.parametrize(
    "url",
    ["http://10.0.0.1/", "http://169.254.169.254/", "ftp://127.0.0.1/", "bot", "connect:nobody"],
)
async def test_where_the_server_may_not_call_no_bot_is_registered(tmp_path: Path, url: str) -> None:
    async with server(tmp_path) as house:
        with pytest.raises(CallFailed):
            await house.arena.register("gomoku", "called", "", url)
        assert await house.arena.store.bot("called") is None


async def test_the_server_is_no_bot(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        with pytest.raises(CallFailed, match="does not call itself"):
            await house.arena.register("gomoku", "called", "", house.url)


async def test_an_address_can_be_changed_and_given_up(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as old, url_bot() as new:
        await with_address(house, "called", old)
        entry = await house.arena.store.bot("called")
        assert entry is not None
        await house.arena.move(entry, new.url)
        login = await registered(house, "ada") | {"opponent": "called"}
        async with bot(house, login) as one:
            await play_noughts(one, "ada")
        assert new.messages and not old.messages
        await house.arena.move(entry, None)
        async with bot(house, login) as one:
            await until(lambda: house.desk.seekers(9))
            leap(300)
            assert await one.receive() == {"error": "no opponent came within 300 seconds"}


async def test_a_bot_whose_password_was_revoked_is_called_no_more(tmp_path: Path) -> None:
    async with server(tmp_path, limits_waiting=0.1) as house, url_bot() as called:
        await with_address(house, "called", called)
        entry = await house.arena.store.bot("called")
        assert entry is not None
        await house.arena.revoke(entry)
        async with bot(house, await registered(house, "ada") | {"opponent": "called"}) as one:
            assert await one.receive() == {"error": "no opponent came within 0.1 seconds"}


# Faults.


async def test_a_bot_that_does_not_run_is_not_beaten(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        async with url_bot() as called:
            await with_address(house, "called", called)
        async with bot(house, await registered(house, "ada") | {"opponent": "called"}) as one:
            assert await one.until_closed() == ([{"error": "called does not answer"}], 1000, "")
        assert not await house.arena.store.matches(Wanted())


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (answer(b"oops"), "unreadable: "),
        (answer(b'{"error": "oops"}', "500 Oops"), "the answer has the status 500"),
        (b"HELO\r\n\r\n", "the call failed: the answer is not HTTP"),
        (answer(b"x" * 70_000), "the call failed: the answer is larger than 65536 bytes"),
    ],
)
async def test_a_bad_answer_counts_like_a_lost_connection(
    tmp_path: Path, said: bytes, verdict: str
) -> None:
    async with server(tmp_path) as house, url_bot() as called:
        await with_address(house, "called", called)
        called.instead = lambda _, message: None if "challenge" in message else said
        async with bot(house, await registered(house, "ada") | {"opponent": "called"}) as one:
            last = await play_noughts(one, "ada")
            assert last["state"]["result"] == {"reason": "disconnect", "victor": "ada"}
        (match,) = await over(house)
        assert (
            match.result is not None
            and match.result.causes[match.players.index("called")] == "disconnect"
        )
        lines = await flight(house, match, "called")
        assert lines[-3]["verdict"].startswith(verdict)
        assert lines[-2]["verdict"] == "gone"


async def test_an_illegal_move_is_refused_with_words_and_asked_for_again(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        url_bot(move=lambda _, __: {"mark": "O", "space": [9, 9]}) as called,
    ):
        await with_address(house, "called", called)
        async with bot(house, await registered(house, "ada") | {"opponent": "called"}) as one:
            last = await play_noughts(one, "ada")
            assert last["state"]["result"] == {"reason": "Didn't write unit tests", "victor": "ada"}
        assert [message["state"]["invalidTurns"]["called"] for message in called.messages] == [
            0,
            1,
            2,
        ]


async def test_where_illegal_moves_are_free_it_is_not_asked_for_ever(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        url_bot("battleship", lambda _, __: {"board": "none"}) as called,
    ):
        await with_address(house, "called", called, "battleship")
        async with bot(
            house, await registered(house, "ada", "battleship") | {"opponent": "called"}
        ) as one:
            await one.receive()
            (table,) = house.desk.tables._tables.values()
            flight_record = table._flights[table.entry.players.index("called")]
            await until(
                lambda: b"asked 20 times in one step, and not again" in flight_record.packed("")
            )
            table.abort("that is enough")
            await one.until_closed()
        assert len(called.messages) == 19
        (match,) = await house.arena.store.matches(Wanted())
        assert "asked 20 times in one step, and not again" in [
            line.get("verdict") for line in await flight(house, match, "called")
        ]


async def test_a_bot_that_hangs_is_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = CATALOGUE["noughts-and-crosses"]
    monkeypatch.setitem(
        CATALOGUE, row.name, replace(row, terms=replace(row.terms, pace=Pace(100, first=60_000)))
    )
    async with server(tmp_path) as house, url_bot() as called:
        await with_address(house, "called", called)
        called.instead = lambda _, message: (
            None if "challenge" in message else b"HTTP/1.1 200 OK\r\n"
        )
        async with bot(house, await registered(house, "ada") | {"opponent": "called"}) as one:
            last = await play_noughts(one, "ada")
            assert last["state"]["result"] == {"reason": "timeout", "victor": "ada"}


async def test_in_a_game_on_a_beat_a_missing_answer_is_a_missed_beat(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot("bumblebots") as called:
        await with_address(house, "called", called, "bumblebots")
        called.instead = lambda _, message: (
            answer(b"oops") if message.get("turnNumber") in (1, 2) else None
        )
        login = await registered(house, "ada", "bumblebots") | {
            "opponent": "called",
            "options": {"ticks": 5},
        }
        async with bot(house, login) as one:
            await play(one, "ada", brain("bumblebots"))
        (match,) = await over(house)
        assert match.result is not None and match.result.causes == ("complete", "complete")
        verdicts = [
            line["verdict"]
            for line in await flight(house, match, "called")
            if line.get("dir") == "in"
        ]
        assert [verdict.partition(":")[0] for verdict in verdicts] == [
            "accepted",
            "unreadable",
            "unreadable",
            "accepted",
            "accepted",
        ]


async def test_where_a_seat_may_be_taken_again_it_is_as_soon_as_the_bot_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.server.lobby.url_bots.PAUSES", (0.01,))
    async with server(tmp_path) as house, url_bot("battleship") as called:
        await with_address(house, "called", called, "battleship")
        bad = iter([answer(b"oops")])
        called.instead = lambda _, message: (
            None if "challenge" in message or "state" not in message else next(bad, None)
        )
        login = await registered(house, "ada", "battleship") | {
            "opponent": "called",
            "options": {"rounds": 3},
        }
        async with bot(house, login) as one:
            await play(one, "ada", brain("battleship"))
        (match,) = await over(house)
        assert match.result is not None and match.result.causes == ("complete", "complete")
        verdicts = [
            line["verdict"]
            for line in await flight(house, match, "called")
            if line.get("dir") == "in"
        ]
        assert (
            verdicts[0].startswith("unreadable")
            and verdicts[1] == "gone"
            and verdicts[-1] == "accepted"
        )
