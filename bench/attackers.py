"""The attacks of hostile clients from one address. See `bench.attacks`."""

import asyncio
import json
import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.clients import Tally
from bench.cube import Organiser, game, listen
from botdrome.bots.house import house_bots
from botdrome.games.chance import Chance

ADDRESS = "127.0.0.2"
DONE: Counter[str] = Counter()
"""Counts of outcomes."""


class Heard(WSListener):
    """Counts close reasons."""

    gone = False

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            DONE[f"closed: {frame.get_close_code()}"] += 1
            transport.send_close(frame.get_close_code())
            transport.disconnect()
        else:
            DONE[f"told {frame.get_payload_as_ascii_text()[:40]}"] += 1

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.gone = True


class Gamer(Heard):
    """Plays one match of its game, as fast as it can."""

    def __init__(self, game: str, name: str) -> None:
        self._bot, self._name, self._chance = house_bots(game)["random"], name, Chance(7)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type != WSMsgType.TEXT:
            return super().on_ws_frame(transport, frame)
        state = json.loads(frame.get_payload_as_bytes()).get("state")
        if (
            state is not None
            and not state["result"]
            and self._name in state.get("waitingFor", [self._name])
        ):
            transport.send(WSMsgType.TEXT, json.dumps(self._bot(state, self._chance)).encode())
            DONE["moves"] += 1
        return None


class Target:
    def __init__(self, url: str) -> None:
        self.url, self.socket_url = url, url.replace("http", "ws", 1)
        self.host, self.port = urlsplit(url).hostname or "", urlsplit(url).port or 0

    async def ask(
        self, method: str, path: str, body: Any = None, token: str = ""
    ) -> tuple[int, Any]:
        """Send one request on a new connection."""
        reader, writer = await asyncio.open_connection(
            self.host, self.port, local_addr=(ADDRESS, 0)
        )
        try:
            writer.write(request(method, path, body, token))
            answer = await reader.read()
        finally:
            writer.close()
        head, _, rest = answer.partition(b"\r\n\r\n")
        status = int(head.split(b" ")[1]) if head else 0
        DONE[f"status {status}"] += 1
        return status, rest

    async def register(self, name: str, game: str) -> str:
        status, rest = await self.ask(
            "POST", "/api/v1/bots", {"game": game, "name": name, "owner": "x"}
        )
        return str(json.loads(rest).get("password", "")) if status < 300 else ""

    async def socket(self, heard: Heard | None = None) -> tuple[WSTransport, Heard]:
        heard = heard or Heard()
        transport, _ = await ws_connect(
            lambda: heard, self.socket_url + "/", local_addr=(ADDRESS, 0)
        )
        return transport, heard


def request(
    method: str, path: str, body: Any = None, token: str = "", more: str = "connection: close\r\n"
) -> bytes:
    data = b"" if body is None else json.dumps(body).encode()
    bearer = f"authorization: Bearer {token}\r\n" if token else ""
    kind = "content-type: application/json\r\n" if data else ""
    head = (
        f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        f"{more}{bearer}{kind}content-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


async def repeat(times: int, work: Callable[[], Awaitable[object]], pause: float = 0.0) -> None:
    """Repeat a task several times in parallel until cancelled, and count failures."""

    async def go_on() -> None:
        while True:
            try:
                await work()
            except (OSError, EOFError, RuntimeError, ValueError) as problem:
                DONE[type(problem).__name__] += 1
                await asyncio.sleep(0.05)
            await asyncio.sleep(pause)

    await asyncio.gather(*[go_on() for _ in range(times)])


def login(game: str, name: str, token: str, **more: Any) -> bytes:
    return json.dumps({"gameType": game, "name": name, "password": token} | more).encode()


async def big_messages(target: Target) -> None:
    """Run 20 bots that wait for an opponent and send 64 KB messages meanwhile."""
    message = b'{"x":[' + b"1," * 32700 + b"1]}"
    numbers = count()

    async def flood() -> None:
        name = f"big {next(numbers)}"
        token = await target.register(name, "gomoku")
        line, heard = await target.socket()
        line.send(WSMsgType.TEXT, login("GOMOKU", name, token, opponent="nobody"))
        while not heard.gone:
            line.send(WSMsgType.TEXT, message)
            DONE["messages"] += 1
            await asyncio.sleep(0.006)

    await repeat(20, flood)


async def empty_lists(target: Target) -> None:
    """Run 20 connections that send 64 KB of empty lists as their login, again and again."""
    message = b"[" + b"[]," * 21_800 + b"[]]"

    async def flood() -> None:
        line, heard = await target.socket()
        line.send(WSMsgType.TEXT, message)
        DONE["messages"] += 1
        while not heard.gone:
            await asyncio.sleep(0.002)

    await repeat(20, flood)


async def cube_games(target: Target) -> None:
    """Run 120 Battlecube games at speed 0 for two anonymous organisers, with bots that answer at
    once.
    """
    port = await listen(Tally())
    setup = game([port, port], 50_000)
    for _ in range(2):
        organiser = Organiser([setup] * 60)
        path = "/socket.io/?EIO=4&transport=websocket"
        await ws_connect(
            lambda organiser=organiser: organiser, target.socket_url + path, local_addr=(ADDRESS, 0)
        )
        DONE["organisers"] += 1
    await asyncio.Event().wait()


async def house_games(target: Target) -> None:
    """Play 100 games of boats against house bots, and answer each move at once."""
    numbers = count()

    async def play() -> None:
        name = f"gamer {next(numbers)}"
        token = await target.register(name, "battleship")
        while True:
            line, heard = await target.socket(Gamer("battleship", name))
            line.send(WSMsgType.TEXT, login("BATTLESHIP", name, token, opponent="house:hunter"))
            while not heard.gone:
                await asyncio.sleep(0.05)
            DONE["games"] += 1

    await repeat(100, play)


async def registrations(target: Target) -> None:
    numbers = count()
    await repeat(20, lambda: target.register(f"flood {next(numbers)}", "gomoku"))


async def drawn_arenas(target: Target) -> None:
    """Send 50 logins per second with a wrong password, for an arena that is expensive
    to generate.
    """

    async def log_in() -> None:
        line, heard = await target.socket()
        options = {"arena": "drawn", "side": 16, "walls": 40}
        line.send(WSMsgType.TEXT, login("BUMBLEBOTS", "nobody", "wrong", options=options))
        while not heard.gone:
            await asyncio.sleep(0.02)

    await repeat(10, log_in, 0.2)


async def graphql(target: Target) -> None:
    """Send three expensive GraphQL queries per second."""
    fields = " ".join(f"a{number}: liveTables {{ id }}" for number in range(490))
    await repeat(3, lambda: target.ask("POST", "/graphql", {"query": f"{{ {fields} }}"}), 1.0)


async def large_reads(target: Target) -> None:
    """Query 1,000 games with all their moves."""
    wanted = "... on NoughtsAndCrossesGame { id board bots { owner } turns { __typename } }"
    query = f"{{ games(gameType: NOUGHTS_AND_CROSSES, filters: {{limit: 1000}}) {{ {wanted} }} }}"

    async def read() -> None:
        _, answer = await target.ask("POST", "/graphql", {"query": query})
        DONE["games"] += answer.count(b'"id"')

    await repeat(2, read)


async def deaf_spectators(target: Target) -> None:
    """Connect 200 spectators of one match that read nothing."""
    tables: list[Any] = []
    while not tables:
        tables = json.loads((await target.ask("GET", "/api/v1/live"))[1])["tables"]
        await asyncio.sleep(0.3)
    match = max(tables, key=lambda table: table["game"] == "bumblebots")["id"]
    for _ in range(200):
        _, writer = await asyncio.open_connection(
            target.host, target.port, local_addr=(ADDRESS, 0), limit=1
        )
        writer.write(request("GET", f"/watch/{match}/events", more="accept: text/event-stream\r\n"))
        DONE["spectators"] += 1
    await asyncio.Event().wait()


async def unread_answers(target: Target) -> None:
    """Open 200 connections that keep requesting a large page and read nothing."""

    async def ask() -> None:
        _, writer = await asyncio.open_connection(
            target.host, target.port, local_addr=(ADDRESS, 0), limit=1
        )
        writer.write(request("GET", "/api/v1/openapi.json", more="") * 20)
        DONE["asked"] += 1
        await asyncio.sleep(1.0)
        writer.close()

    await repeat(200, ask)


async def guesses(target: Target) -> None:
    body = {"url": None}
    await repeat(20, lambda: target.ask("PUT", "/api/v1/bots/load%200", body, "wrong"))


async def contest_names(target: Target) -> None:
    """Create 3,000 contests with names of 60 KB."""
    token, numbers = await target.register("namer", "gomoku"), count()

    async def name_one() -> None:
        contest = f"{next(numbers):05}" * 12_000
        line, _ = await target.socket()
        line.send(WSMsgType.TEXT, login("GOMOKU", "namer", token, contest=contest))
        await asyncio.sleep(0.05)
        line.disconnect()

    await repeat(20, name_one)


ATTACKS: dict[str, Callable[[Target], Awaitable[None]]] = {
    attack.__name__: attack
    for attack in (
        big_messages,
        empty_lists,
        cube_games,
        house_games,
        registrations,
        drawn_arenas,
        graphql,
        large_reads,
        deaf_spectators,
        unread_answers,
        guesses,
        contest_names,
    )
}


async def attack(name: str, url: str, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await ATTACKS[name](Target(url))
    except TimeoutError:
        pass
    print(dict(DONE.most_common(4)))


def main(name: str, url: str, seconds: str) -> None:
    logging.disable(logging.WARNING)
    uvloop.run(attack(name, url, float(seconds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
