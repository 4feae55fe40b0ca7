"""Gomoku over duel arena: whole matches over real sockets."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.clients import PATIENCE
from tests.server.rooms.duel.clients import FIND, FREE, arena, free, pair, play_rows, seated

pytestmark = pytest.mark.anyio


async def test_a_match_is_two_boards_with_the_starter_swapped(tmp_path: Path) -> None:
    async with arena(tmp_path) as house, pair(house) as (one, two, first):
        assert first["board"] == {"_id": 1, "_size": 15, "_win_length": 5, "_moves": []}
        assert (first["timeout"], first["color"]) == (5.0, "X")
        won, lost = await play_rows(one, two, first)
        assert won["board"] == lost["board"]
        assert won["board"]["_moves"] == [[step // 2, step % 2] for step in range(9)]
        second = await two.expect("get_move")
        assert second["board"] == {"_id": 2, "_size": 15, "_win_length": 5, "_moves": []}
        await play_rows(two, one, second)
        for each in (one, two):
            assert await each.receive() == FREE
        await one.send(FIND)
        await two.send(FIND)
        _, _, third = await seated(one, two)
        assert third["board"]["_id"] == 3


async def test_ids_of_questions_look_like_those_of_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.server.rooms.duel.time", lambda: 1539438438.7700001)
    monkeypatch.setattr("botdrome.server.rooms.duel.randrange", lambda below: below - 1)
    async with arena(tmp_path) as house, pair(house) as (one, two, first):
        assert first["id"] == "1539438438.77-100000"
        await one.answer(first, 7, 7)
        assert (await two.expect("get_move"))["id"] == "1539438438.77-0"


def frames_in(data: bytes) -> list[Any]:
    """All frames of a piece of the stream, which must end with one."""
    found = []
    while data:
        end = 4 + int.from_bytes(data[:4], "big")
        assert len(data) >= end, "a frame was written in parts"
        found.append(json.loads(data[4:end]))
        data = data[end:]
    return found


async def test_all_that_one_step_says_is_written_at_once(tmp_path: Path) -> None:
    """Header and body, and the result together with the next question: they are there with the
    first look.
    """
    async with arena(tmp_path) as house, free(house, "ada") as ada:
        loop, sock = (
            asyncio.get_running_loop(),
            socket.create_connection(("127.0.0.1", house.ports["duel"])),
        )
        sock.setblocking(False)

        async def look() -> list[Any]:
            return frames_in(await asyncio.wait_for(loop.sock_recv(sock, 65536), PATIENCE))

        async def send(message: Any) -> None:
            body = json.dumps(message).encode()
            await loop.sock_sendall(sock, len(body).to_bytes(4, "big") + body)

        with sock:
            await send({"username": "raw"})
            assert await look() == [{"status": "ok"}, FREE]
            await send(FIND)
            await ada.send(FIND)
            assert (await ada.expect("starting_game"))["against"] == "raw"
            heard = [message["event"] for message in await look()]
            if heard == ["starting_game"]:
                await ada.answer(await ada.expect("get_move"), 99, 0)
                assert [message["event"] for message in await look()] == ["win", "get_move"]
            else:
                assert heard == ["starting_game", "get_move"]


async def test_what_was_dropped_is_in_the_flight_record(tmp_path: Path) -> None:
    async with arena(tmp_path) as house:
        tokens = {
            name: (await house.arena.register("gomoku", name, "me"))[1] for name in ("ada", "bob")
        }
        async with (
            free(house, "ada", password=tokens["ada"]) as ada,
            free(house, "bob", password=tokens["bob"]) as bob,
        ):
            await ada.send(FIND)
            await bob.send(FIND)
            one, two, question = await seated(ada, bob)
            await one.answer(question | {"id": "other"}, 1, 1)
            await one.answer(question, None, 1)
            await one.send({"event": "chat"})
            await one.answer(question, 0, 0)
            await two.expect("get_move")
            (table,) = house.arena.tables.live()
            await two.close()
            assert [(await one.receive())["event"] for _ in range(3)] == [
                "win",
                "win",
                "player_is_free",
            ]
        async with httpx.AsyncClient(
            base_url=house.url, headers={"authorization": f"Bearer {tokens[one.name]}"}
        ) as http:
            flight = (
                await http.get(
                    f"/api/v1/matches/{table.id}/seats/{table.players.index(one.name)}/log"
                )
            ).text
        verdicts = [
            line["verdict"]
            for line in map(json.loads, flight.splitlines())
            if line.get("dir") == "in"
        ]
        assert verdicts == [
            "ignored: its id is not that of the open question",
            "ignored: x is a whole number, not None",
            "ignored: neither make_move nor find_opponent",
            "accepted",
        ]
