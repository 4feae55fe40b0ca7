"""Watching a match: the spectators' messages, over a WebSocket and as server-sent events."""

import asyncio
import json
import socket as sockets
from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest
import websockets
from websockets.asyncio.client import ClientConnection, connect

from botdrome.api.app import Api
from botdrome.api.requests import Problem
from botdrome.api.spectators import Viewing
from botdrome.catalogue import CATALOGUE
from botdrome.server.arena import Arena
from botdrome.server.failures import STORE_AWAY
from botdrome.store.entries import Finish, StoreUnavailable
from botdrome.store.store import Store
from tests.api.serving import serving
from tests.api.tables import NOON, HandTables, entry_of, mark, played_by_the_house, played_noughts
from tests.patience import until

pytestmark = pytest.mark.anyio

LEFT_COLUMN = [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)]
SNAPSHOT = {
    "match": "m",
    "game": "noughts-and-crosses",
    "players": ["Ann", "Bob"],
    "contest": None,
    "started": NOON,
    "snapshot": True,
    "bots": ["Ann", "Bob"],
}


@pytest.fixture
async def server(app: Api) -> AsyncIterator[str]:
    async with serving(app) as server:
        yield server


def watch(server: str, match: str) -> connect:
    return connect(f"ws://{server}/watch/{match}", compression=None, proxy=None)


async def hear(socket: ClientConnection) -> Any:
    message = await socket.recv()
    assert isinstance(message, str)
    return json.loads(message)


async def closed(socket: ClientConnection) -> tuple[int, str]:
    with pytest.raises(websockets.ConnectionClosed) as raised:
        await socket.recv()
    assert raised.value.rcvd is not None
    return raised.value.rcvd.code, raised.value.rcvd.reason


def plain(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


# Over a WebSocket.


async def test_a_spectator_who_comes_late_sees_the_position_and_all_that_follows(
    server: str, tables: HandTables
) -> None:
    table = tables.open(entry_of("m", "Ann", "Bob"))
    table.submit(0, mark(0, 0, 0))
    async with watch(server, "m") as socket:
        snapshot = await hear(socket)
        assert snapshot | SNAPSHOT == snapshot
        assert (snapshot["t"], snapshot["view"]["board"][0]) == (100, ["X", "", ""])
        table.submit(1, mark(1, 1, 1))
        played = await hear(socket)
        assert (played["match"], played["t"]) == ("m", 200)
        assert played["event"] == {"event": "played", "step": 1, "moves": {"1": mark(1, 1, 1)}}
        assert played["view"]["board"][1] == ["", "O", ""]
        table.submit(0, mark(0, 1, 1))
        table.submit(0, mark(0, 2, 2))
        assert (await hear(socket))["event"]["step"] == 2, (
            "a refused move is nobody else's business"
        )
        tables.close("m")
        assert await closed(socket) == (1000, "")


async def test_all_spectators_get_the_same_bytes(server: str, tables: HandTables) -> None:
    table = tables.open(entry_of("m", "Ann", "Bob"))
    async with watch(server, "m") as one, watch(server, "m") as two:
        await one.recv()
        await two.recv()
        assert tables.live()[0].spectators == 2
        table.submit(0, mark(0, 0, 0))
        assert await one.recv() == await two.recv()


async def test_what_a_spectator_says_is_not_heard(server: str, tables: HandTables) -> None:
    table = tables.open(entry_of("m", "Ann", "Bob"))
    async with watch(server, "m") as socket:
        await socket.recv()
        await socket.send("hello")
        await socket.send(b"hello")
        table.submit(0, mark(0, 0, 0))
        assert (await hear(socket))["event"]["event"] == "played"


async def test_who_leaves_is_forgotten(server: str, tables: HandTables) -> None:
    table = tables.open(entry_of("m", "Ann", "Bob"))
    async with watch(server, "m") as socket:
        await socket.recv()
    await until(lambda: not table.audience)


@pytest.mark.parametrize("game", CATALOGUE)
async def test_a_match_that_is_over_is_shown_whole(server: str, store: Store, game: str) -> None:
    await played_by_the_house(store, entry_of("m", "Ann", "Bob", game=game, seed=5))
    async with watch(server, "m") as socket:
        messages = [json.loads(message) async for message in socket]
        assert await closed(socket) == (1000, "")
    kept = await store.match("m")
    assert kept is not None
    assert messages[0]["snapshot"]
    assert messages[1]["event"] == {"event": "began", "board": 0, "order": [0, 1]}
    assert messages[1]["view"] == messages[0]["view"]
    assert messages[-1]["event"] == {"event": "ended", "result": plain(kept.result)}
    assert messages[-1]["view"] == plain(kept.view)
    assert [message["t"] for message in messages] == sorted(message["t"] for message in messages)


async def test_a_replay_is_what_a_spectator_was_shown(
    server: str, store: Store, tables: HandTables
) -> None:
    table = tables.open(entry_of("m", "Ann", "Bob"))
    async with watch(server, "m") as socket:
        for player, (_, *space) in enumerate(LEFT_COLUMN):
            table.submit(player % 2, mark(player % 2, *space))
        tables.close("m")
        live = [message async for message in socket]
    await played_noughts(store, table.entry, LEFT_COLUMN)
    async with watch(server, "m") as socket:
        replayed = [message async for message in socket]
    assert [replayed[0], *replayed[2:]] == live, (
        "it came before the first move, but after the beginning"
    )


@pytest.mark.parametrize("match", ["unknown", "un%20known", "%00"])
async def test_a_match_that_is_not_there(server: str, match: str) -> None:
    async with watch(server, match) as socket:
        assert "there is no match" in (await hear(socket))["error"]
        assert await closed(socket) == (4404, "nothing to see")


async def test_a_match_of_which_nothing_was_recorded(server: str, store: Store) -> None:
    store.begin(entry_of("m", "Ann", "Bob"))
    await store.abort_running("crash", NOON)
    async with watch(server, "m") as socket:
        words = "match m cannot be shown: it was aborted, and nothing was recorded"
        assert await hear(socket) == {"error": words}
        assert await closed(socket) == (4404, "nothing to see")


async def test_a_record_that_cannot_be_played(server: str, store: Store) -> None:
    store.begin(entry_of("m", "Ann", "Bob"))
    await store.finish(Finish("m", "aborted", NOON, None, {}, b"{}\n"))
    async with watch(server, "m") as socket:
        assert (await hear(socket))["error"].startswith(
            "match m is broken: its record cannot be played again: line 1"
        )
        assert await closed(socket) == (4404, "nothing to see")
    async with httpx.AsyncClient(base_url=f"http://{server}", trust_env=False) as http:
        response = await http.get("/watch/m/events")
        assert response.status_code == 500
        assert response.json()["error"].startswith(
            "match m is broken: its record cannot be played again: line 1"
        )


@pytest.mark.parametrize(
    ("problem", "told"), [(StoreUnavailable("away"), [STORE_AWAY]), (RuntimeError("a bug"), [])]
)
async def test_a_store_that_cannot_be_read(
    server: str, store: Store, monkeypatch: pytest.MonkeyPatch, problem: Exception, told: list[str]
) -> None:
    async def fail(_: str) -> None:
        raise problem

    store.begin(entry_of("m", "Ann", "Bob"))
    monkeypatch.setattr(store, "match", fail)
    async with watch(server, "m") as socket:
        assert [(await hear(socket))["error"] for _ in told] == told
        assert await closed(socket) == ((4404, "nothing to see") if told else (1011, ""))


async def test_a_slow_spectator_is_cut_off_and_nobody_else(server: str, tables: HandTables) -> None:
    table = tables.open(entry_of("m", "Ann", "Bob"))
    async with watch(server, "m") as quick:
        await quick.recv()
        with sockets.socket() as slow:
            slow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", int(server.partition(":")[2])))
            slow.sendall(
                b"GET /watch/m HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\n"
                b"connection: upgrade\r\n"
                b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"
            )
            await until(lambda: len(table.audience) == 2)
            shown = 0
            while len(table.audience) == 2:
                for spectator in tuple(table.audience.spectators):
                    spectator.show(b'"' + b"x" * 100_000 + b'"')
                shown += 1
                assert len(await quick.recv()) == 100_002
                assert shown < 1000
        table.submit(0, mark(0, 0, 0))
        assert (await hear(quick))["event"]["event"] == "played"


# As server-sent events.


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, Any]]:
    kind = "message"
    async for line in response.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)


async def test_the_same_as_server_sent_events(server: str, tables: HandTables) -> None:
    table = tables.open(entry_of("m", "Ann", "Bob"))
    async with (
        httpx.AsyncClient(base_url=f"http://{server}", trust_env=False) as http,
        http.stream("GET", "/watch/m/events") as response,
    ):
        assert response.headers["content-type"] == "text/event-stream"
        stream = events(response)
        kind, snapshot = await anext(stream)
        assert (kind, snapshot | SNAPSHOT) == ("message", snapshot)
        table.submit(0, mark(0, 0, 0))
        assert (await anext(stream))[1]["event"]["event"] == "played"
        tables.close("m")
        assert await anext(stream) == ("end", {"end": "the match is over"})


async def test_events_of_a_match_that_is_over(http: httpx.AsyncClient, store: Store) -> None:
    await played_noughts(store, entry_of("m", "Ann", "Bob"), LEFT_COLUMN)
    response = await http.get("/watch/m/events")
    found = [event async for event in events(response)]
    assert len(found) == 10
    assert found[-1] == ("end", {"end": "the match is over"})
    assert (await http.head("/watch/m/events")).headers["content-type"] == "text/event-stream"


async def test_events_of_a_match_that_is_not_there(http: httpx.AsyncClient) -> None:
    response = await http.get("/watch/unknown/events")
    assert (response.status_code, response.json()) == (
        404,
        {"error": "there is no match 'unknown'"},
    )
    assert (await http.post("/watch/m/events")).status_code == 405


async def test_who_leaves_the_events_is_forgotten(server: str, tables: HandTables) -> None:
    table = tables.open(entry_of("m", "Ann", "Bob"))
    async with (
        httpx.AsyncClient(base_url=f"http://{server}", trust_env=False) as http,
        http.stream("GET", "/watch/m/events"),
    ):
        assert len(table.audience) == 1
    await until(lambda: not table.audience)


async def test_a_quiet_stream_shows_that_it_is_there(
    server: str, tables: HandTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.api.spectators.HEARTBEAT", 0.01)
    tables.open(entry_of("m", "Ann", "Bob"))
    async with (
        httpx.AsyncClient(base_url=f"http://{server}", trust_env=False) as http,
        http.stream("GET", "/watch/m/events") as response,
    ):
        lines = response.aiter_lines()
        while await anext(lines) != ": still here":
            pass


async def all_messages(viewing: Viewing) -> list[bytes]:
    return [message async for message in viewing.messages()]


async def test_a_match_that_is_just_being_stored_is_waited_for(
    arena: Arena, store: Store, tables: HandTables
) -> None:
    entry = entry_of("m", "Ann", "Bob")
    store.begin(entry)
    watching = asyncio.create_task(all_messages(Viewing(arena, "m")))
    await until(lambda: bool(tables.tellers))
    await played_noughts(store, entry, LEFT_COLUMN)
    tables.open(entry_of("another", "Cid", "Dan"))
    assert len(await watching) == 9
    assert tables.tellers == []


async def test_a_match_that_does_not_go_on(
    arena: Arena, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.api.spectators.CHANGEOVER", 0.01)
    store.begin(entry_of("m", "Ann", "Bob"))
    with pytest.raises(Problem, match="it does not go on"):
        await all_messages(Viewing(arena, "m"))
