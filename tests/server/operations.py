"""Operations on a server, from outside: each is a function that a thread of its own calls, as a
client would be a process.
"""

import json
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

PATIENCE = 120
LARGEST = 65_536
COPIES = "{" + " liveTables{id}" * 490 + "}"
ALL = (
    "... on Match { id gameType bots { name owner dateRegistered } result { victor { name } reason "
    "} startTime endTime status "
    "seats { place score cause } state options contest { name } }"
)
TURNS = (
    "{ games(gameType: GOMOKU, filters: {limit: 100}) { ... on AnyGame { turns { step moves { "
    "move } } } } }"
)
CONTESTS = (
    "{ contests(gameType: GOMOKU) { name rankings { bot { name } score } games { ... on "
    "Match { id } } } }"
)
NESTED = "[" * 900 + "]" * 900


class Target:
    """The address of a server, and the logins."""

    def __init__(
        self, port: int, ports: dict[str, int], logins: dict[str, dict[str, Any]], host_token: str
    ) -> None:
        self.port, self.ports, self.logins, self.host_token = port, ports, logins, host_token
        self.url = f"http://127.0.0.1:{port}"

    def http(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=PATIENCE, trust_env=False)

    def socket(self, path: str = "/", **more: Any) -> Any:
        return connect(
            f"ws://127.0.0.1:{self.port}{path}",
            open_timeout=PATIENCE,
            max_size=None,
            proxy=None,
            **more,
        )


Operation = Callable[[Target], None]


def get(path: str) -> Operation:
    def operation(target: Target) -> None:
        with target.http() as http:
            assert http.get(path).status_code in (200, 404), path

    return operation


def ask(query: str, **variables: Any) -> Operation:
    def operation(target: Target) -> None:
        with target.http() as http:
            http.post("/graphql", json={"query": query, "variables": variables})

    return operation


def body(path: str, content: bytes) -> Operation:
    def operation(target: Target) -> None:
        with target.http() as http:
            http.post(path, content=content, headers={"content-type": "application/json"})

    return operation


def log_in(game: str, password: str | None = None, **more: Any) -> Operation:
    """And hear the first two answers."""

    def operation(target: Target) -> None:
        with target.socket() as bot:
            login = target.logins[game] | more
            bot.send(json.dumps(login | ({} if password is None else {"password": password})))
            _hear(bot, 2)

    return operation


def say(*messages: str | bytes, game: str = "", path: str = "/", **more: Any) -> Operation:
    """Send these messages, after a login if a game is named, and read the answers."""

    def operation(target: Target) -> None:
        with target.socket(path, **more) as bot:
            if game:
                bot.send(json.dumps(target.logins[game] | {"opponent": "house:random"}))
                _hear(bot, 2)
            with suppress(ConnectionClosed):
                for message in messages:
                    bot.send(message)
            _hear(bot, 1)

    return operation


def watch(path: str, messages: int = 10_000) -> Operation:
    def operation(target: Target) -> None:
        with target.socket(path) as spectator:
            _hear(spectator, messages)

    return operation


def subscribe(query: str, messages: int) -> Operation:
    def operation(target: Target) -> None:
        with target.socket("/graphql", subprotocols=["graphql-transport-ws"]) as subscriber:
            subscriber.send('{"type": "connection_init"}')
            subscriber.send(
                json.dumps({"type": "subscribe", "id": "1", "payload": {"query": query}})
            )
            _hear(subscriber, messages)

    return operation


def raw(port: str, content: bytes) -> Operation:
    def operation(target: Target) -> None:
        with (
            socket.create_connection(("127.0.0.1", target.ports[port]), PATIENCE) as client,
            suppress(OSError),
        ):
            client.sendall(content)
            client.shutdown(socket.SHUT_WR)
            while client.recv(65_536):
                pass

    return operation


def organise(*messages: Any) -> Operation:
    """Over socket.io."""

    def operation(target: Target) -> None:
        with target.socket("/socket.io/?EIO=4&transport=websocket") as organiser:
            _hear(organiser, 1)
            organiser.send("40")
            _hear(organiser, 1)
            with suppress(ConnectionClosed):
                for message in messages:
                    organiser.send("42" + json.dumps(message))
            _hear(organiser, 2)

    return operation


def host(*orders: str) -> Operation:
    def operation(target: Target) -> None:
        headers = {"authorization": f"Bearer {target.host_token}"}
        with (
            suppress(Exception),
            target.socket("/boats/host", additional_headers=headers) as console,
        ):
            for order in orders:
                console.send(order)
            _hear(console, 2)

    return operation


def _hear(client: ClientConnection, messages: int) -> None:
    with suppress(ConnectionClosed, TimeoutError):
        for _ in range(messages):
            client.recv(timeout=1)


def flat(size: int) -> str:
    return json.dumps({"numbers": [1] * (size // 4)})


def keys(size: int) -> str:
    return json.dumps({f"k{number}": number for number in range(size // 14)})


DRAWN = {"arena": "drawn", "side": 16, "walls": 40, "drones": 8, "flowers": 20, "starts": "drawn"}
FLEET = " ".join(f"{letter}8" for letter in "ABCDEFGHIJKLMNOPQRSTUVW")
CUBE = {
    "edgeLength": 1000,
    "maxNumOfTicks": 50,
    "numOfTasksPerTick": 1000,
    "delayTimeBeforeStart": 0,
    "delayTimeBetweenTicks": 0,
}
RIVALS = [{"name": f"rival {number}", "url": "house:random"} for number in range(64)]
NEW_GAME = ["NEW_GAME", {"setup": CUBE, "players": RIVALS}]

OPERATIONS: dict[str, Operation] = {
    "login drawn arena, wrong password": log_in("bumblebots", "wrong", options=DRAWN),
    "login drawn arena": log_in("bumblebots", options=DRAWN, opponent="house:forager"),
    "login bomberman": log_in(
        "bomberman", options={"height": 25, "width": 25}, players=8, opponent="house:random"
    ),
    "login battleship": log_in(
        "battleship", options={"width": 26, "height": 26, "boats": FLEET}, opponent="house:random"
    ),
    "login battlecube": log_in("battlecube", options={"edge": 1000}, opponent="house:stalker"),
    "login gomoku": log_in("gomoku", options={"size": 25}, opponent="house:threat"),
    "login noughts": log_in("noughts-and-crosses", opponent="house:perfect"),
    "login with long list": say(flat(LARGEST - 200)),
    "login with many keys": say(keys(LARGEST - 200)),
    "message nested": say(NESTED, game="gomoku"),
    "message long list": say(flat(LARGEST - 200), game="bumblebots"),
    "message many keys": say(keys(LARGEST - 200), game="bumblebots"),
    "message long text": say(json.dumps({"board": "." * (LARGEST - 200)}), game="battleship"),
    "graphql hostile": ask(COPIES),
    "graphql games": ask(f"{{ games(gameType: GOMOKU) {{ {ALL} }} }}"),
    "graphql games with turns": ask(TURNS),
    "graphql bots": ask(
        "{ bots(gameType: GOMOKU) { name owner dateRegistered called } botsCount(gameType: GOMOKU) "
        "}"
    ),
    "graphql contests": ask(CONTESTS),
    "graphql contest": ask(
        '{ contest(gameType: GOMOKU, name: "cup 1") { gamesCount rankings { bot { name } } } }'
    ),
    "graphql game": ask('{ game(gameType: GOMOKU, id: "m1") { ... on Match { record state } } }'),
    "graphql live": ask(
        "{ liveTables { id gameType bots { name owner } contest { name } steps spectators "
        "startTime } }"
    ),
    "graphql register": ask(
        'mutation { registerBot(name: "new", owner: "me", gameType: GOMOKU) { password } }'
    ),
    "graphql large body": body(
        "/graphql", b'{"query": "{ __typename }", "variables": ' + flat(90_000).encode() + b"}"
    ),
    "graphql over a socket": subscribe(
        f"{{ games(gameType: GOMOKU, filters: {{limit: 300}}) {{ {ALL} }} }}", 3
    ),
    "subscription of a match": subscribe('subscription { match(id: "m1") }', 500),
    "subscription of tables": subscribe(
        "subscription { liveTables { id bots { name } contest { name } } }", 2
    ),
    "rest games": get("/api/v1/games"),
    "rest bots": get("/api/v1/bots?limit=1000"),
    "rest matches": get("/api/v1/matches?limit=1000"),
    "rest match": get("/api/v1/matches/m1"),
    "rest record": get("/api/v1/matches/m1/record"),
    "rest contests": get("/api/v1/contests/gomoku?limit=1000"),
    "rest contest": get("/api/v1/contests/gomoku/" + quote("cup 1")),
    "rest live": get("/api/v1/live"),
    "rest duel": get("/api/v1/duel/players?limit=1000"),
    "rest large body": body("/api/v1/bots", flat(100_000).encode()),
    "duel page": get("/duel/results_table"),
    "openapi": get("/api/v1/openapi.json"),
    "metrics": get("/metrics"),
    "front page": get("/"),
    "graphiql": get("/static/graphiql/graphiql.min.js"),
    "replay": watch("/watch/m1"),
    "watch a running match": watch("/watch/live", 1),
    "duel, largest message": raw("duel", (60_000).to_bytes(4, "big") + b"{" + b" " * 59_999),
    "duel, rubbish": raw("duel", bytes(range(256)) * 256),
    "boats, long lines": raw("xbs", (b"J|" + b"x" * 60_000 + b"\n") * 3),
    "boats, many lines": raw("xbs", b"J|\n" * 20_000),
    "bomberman, large body": body("/bomber/rest/default/register", flat(60_000).encode()),
    "bomberman, rules": get("/bomber/rest/default/rules"),
    "socket.io, 1 MB": organise(
        ["NEW_GAME", {"players": [{"name": "x" * 1_000_000, "url": "house:random"}]}]
    ),
    "socket.io, long text": organise(
        ["NEW_GAME", {"players": [{"name": "x" * 99_900, "url": "house:random"}]}]
    ),
    "socket.io, many numbers": organise(["NEW_GAME", {"players": [1] * 33_000}]),
    "socket.io, many keys": organise(["NEW_GAME", {f"k{number}": {} for number in range(7_000)}]),
    "socket.io, largest game": organise(NEW_GAME),
    "host": host("rooms", "stats", "x" * 5_000),
}
"""By the kind of operation."""
