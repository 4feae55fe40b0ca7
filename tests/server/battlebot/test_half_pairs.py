"""A bot that names half of a pair of surrogates: its turn is judged like any other, and all that is
kept of it can be read.
"""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from tests.api.asking import ask
from tests.match.telling import mark
from tests.server.clients import Client, bot, client, pair, play_noughts, registered, server

pytestmark = pytest.mark.anyio

HALVES = [
    '"\\ud800"',
    '{"mark": "\\udc00", "space": [1, 1]}',
    '{"mark": "X", "space": "\\ud83d"}',
    '{"\\ud800": 1}',
]
GAME = """
query($id: ID!) {
  game(gameType: NOUGHTS_AND_CROSSES, id: $id) { ... on NoughtsAndCrossesGame { result { reason } record turns { mark } } }
}
"""


async def finished(ada: Client, bob: Client) -> None:
    """Both play until it is over; Ada moves first."""
    await ada.send(mark(0, 1, 1))
    await asyncio.gather(play_noughts(ada, "ada"), play_noughts(bob, "bob"))


@pytest.mark.parametrize("turn", HALVES)
async def test_a_turn_with_half_a_pair_is_refused_like_any_other(tmp_path: Path, turn: str) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        await ada.socket.send(turn)
        answer = await ada.receive()
        assert (answer["turn"]["valid"], answer["state"]["invalidTurns"]) == (
            False,
            {"ada": 1, "bob": 0},
        )
        await ada.send(mark(0, 1, 1))
        assert (await bob.receive())["state"]["board"][1][1] == "X"


async def test_a_good_turn_may_have_half_a_pair_beside_it(tmp_path: Path) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        await ada.socket.send('{"mark": "X", "space": [1, 1], "comment": "\\ud800!"}')
        for each in (ada, bob):
            assert (await each.receive())["turn"]["comment"] == "\ufffd!"


async def test_what_is_kept_of_half_a_pair_can_be_read(tmp_path: Path) -> None:
    async with server(tmp_path) as house, httpx.AsyncClient(base_url=house.url) as http:
        login, other = await registered(house, "ada"), await registered(house, "bob")
        async with bot(house, login) as ada, bot(house, other) as bob:
            for each in (ada, bob):
                await each.receive()
            (match_id,) = [table.id for table in house.arena.tables.live()]
            for _ in range(2):
                await ada.socket.send('{"mark": "\\ud800", "space": [1, 1], "\\udfff": "\\ud800"}')
                assert (await ada.receive())["turn"]["valid"] is False
            await finished(ada, bob)
        key = {"Authorization": f"Bearer {login['password']}"}
        log = (await http.get(f"/api/v1/matches/{match_id}/seats/0/log", headers=key)).text
        heard = [json.loads(line) for line in log.splitlines()]
        assert [line["message"] for line in heard if "\\ud800" in line.get("message", "")] == [
            '{"mark": "\\ud800", "space": [1, 1], "\\udfff": "\\ud800"}'
        ] * 2
        record = (await http.get(f"/api/v1/matches/{match_id}/record")).text
        assert record.count("\ufffd") == 6
        told = (await ask(http, GAME, id=match_id))["game"]
        assert (
            told["record"] == record and told["turns"] and told["result"] == {"reason": "complete"}
        )
        watched = (await http.get(f"/watch/{match_id}/events")).text
        assert "the match is over" in watched


@pytest.mark.parametrize("key", ["name", "password", "gameType"])
async def test_a_login_with_half_a_pair_fails_like_any_other(tmp_path: Path, key: str) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada") | {key: "HALF"}
        for words in (json.dumps(login).replace("HALF", "\\ud800"), '"\\ud800"'):
            async with client(house) as one:
                await one.socket.send(words)
                assert await one.until_closed() == ([{"authentication": "failed"}], 1000, "")


@pytest.mark.parametrize(
    ("text", "ending"), [(True, (1007, "a text message is UTF-8")), (False, (1002, "ERROR"))]
)
async def test_what_is_no_utf_8_is_no_message(
    tmp_path: Path, text: bool, ending: tuple[int, str]
) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        await ada.socket.send(b'{"mark": "\xed\xa0\x80", "space": [1, 1]}', text=text)
        assert await ada.until_closed() == ([], *ending)
        messages, _, _ = await bob.until_closed()
        assert messages[-1]["state"]["result"] == {"reason": "disconnect", "victor": "bob"}
