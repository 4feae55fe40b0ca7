"""Results that a player missed."""

from pathlib import Path

import pytest

from botdrome.store.entries import Wanted
from tests.patience import until
from tests.server.clients import bot, registered, server

pytestmark = pytest.mark.anyio
MOVES = [
    {"mark": "XO"[number % 2], "space": space}
    for number, space in enumerate([[0, 0], [1, 0], [0, 1], [1, 1], [0, 2]])
]


async def test_a_player_is_told_the_result_that_it_missed(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob, eve = [await registered(house, name) for name in ("ada", "bob", "eve")]
        async with bot(house, ada) as one, bot(house, bob) as two:
            players = {"ada": one, "bob": two}
            for move in MOVES:
                states = [(await client.receive())["state"] for client in (one, two)]
                await players[states[0]["waitingFor"][0]].send(move)
            end = [(await client.until_closed())[0] for client in (one, two)]
        (entry,) = await house.arena.store.matches(Wanted())
        for login, told in zip((ada, bob), end, strict=True):
            async with bot(house, login | {"match": entry.id}) as again:
                assert (await again.until_closed())[0] == told
        async with bot(house, eve | {"match": entry.id}) as other:
            assert (await other.until_closed())[0] == [
                {"error": f"you have no seat in a running match {entry.id}"}
            ]


async def test_a_match_without_a_record_is_over(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        ada, bob = [await registered(house, name) for name in ("ada", "bob")]
        async with bot(house, ada) as one, bot(house, bob):
            await one.receive()
            (live,) = house.desk.tables.live()
            await house.arena.store.abort_running("the server ended without notice", 1)
        await until(lambda: not house.desk.tables.live())
        async with bot(house, ada | {"match": live.id}) as again:
            words = f"match {live.id} is over: the server ended without notice"
            assert (await again.until_closed())[0] == [{"error": words}]
