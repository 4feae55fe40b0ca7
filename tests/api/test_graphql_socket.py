"""GraphQL over WebSockets: subscriptions, in both protocols."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import websockets
from websockets.asyncio.client import ClientConnection, connect

from botdrome.api.app import Api
from botdrome.server.arena import Arena
from botdrome.store.store import Store
from tests.api.serving import serving
from tests.api.tables import HandTables, entry_of, mark, played_noughts
from tests.patience import PATIENCE, until

pytestmark = pytest.mark.anyio

NEW, OLD = "graphql-transport-ws", "graphql-ws"
START = {NEW: "subscribe", OLD: "start"}
DATA = {NEW: "next", OLD: "data"}
STOP = {NEW: "complete", OLD: "stop"}
BOTH = pytest.mark.parametrize("protocol", [NEW, OLD])
MATCH = "subscription($id: ID!) { match(id: $id) }"
LIVE = "subscription { liveTables { id steps } }"


@pytest.fixture
async def server(app: Api, arena: Arena, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """A busy machine may take longer for a greeting or a query than a client may."""
    monkeypatch.setattr("botdrome.api.graphql.endpoint.INIT_TIMEOUT", PATIENCE)
    monkeypatch.setattr(arena.workers, "_longest", PATIENCE)
    async with serving(app) as server:
        yield server


class Client:
    def __init__(self, socket: ClientConnection, protocol: str) -> None:
        self.socket, self.protocol = socket, protocol

    async def say(self, **message: Any) -> None:
        await self.socket.send(json.dumps(message))

    async def hear(self) -> Any:
        return json.loads(await self.socket.recv())

    async def greet(self) -> None:
        await self.say(type="connection_init")
        assert await self.hear() == {"type": "connection_ack"}

    async def start(self, query: str, name: str = "1", **variables: Any) -> None:
        await self.say(
            type=START[self.protocol], id=name, payload={"query": query, "variables": variables}
        )

    async def data(self, name: str = "1") -> Any:
        message = await self.hear()
        assert (message["type"], message["id"]) == (DATA[self.protocol], name)
        return message["payload"]["data"]

    async def closed(self) -> tuple[int, str]:
        with pytest.raises(websockets.ConnectionClosed) as raised:
            while True:
                await self.socket.recv()
        close = raised.value.rcvd
        assert close is not None
        return close.code, close.reason


@pytest.fixture
async def clients(server: str) -> AsyncIterator[dict[str, Client]]:
    """One that has been greeted, for each protocol."""
    async with dial(server, NEW) as new, dial(server, OLD) as old:
        clients = {NEW: Client(new, NEW), OLD: Client(old, OLD)}
        for client in clients.values():
            assert client.socket.subprotocol == client.protocol
            await client.greet()
        yield clients


def dial(server: str, *protocols: Any, path: str = "/graphql", **rest: Any) -> connect:
    return connect(
        f"ws://{server}{path}",
        subprotocols=protocols or None,
        compression=None,
        proxy=None,
        open_timeout=PATIENCE,
        ping_timeout=PATIENCE,
        **rest,
    )


@BOTH
async def test_a_match_move_by_move(
    clients: dict[str, Client], tables: HandTables, protocol: str
) -> None:
    client, table = clients[protocol], tables.open(entry_of("m", "Ann", "Bob"))
    table.submit(0, mark(0, 1, 1))
    await client.start(MATCH, id="m")
    snapshot = (await client.data())["match"]
    assert (snapshot["snapshot"], snapshot["players"], snapshot["view"]["board"][1]) == (
        True,
        ["Ann", "Bob"],
        ["", "X", ""],
    )
    table.submit(1, mark(1, 0, 0))
    played = (await client.data())["match"]
    assert (played["event"]["event"], played["t"], played["view"]["board"][0]) == (
        "played",
        200,
        ["O", "", ""],
    )
    tables.close("m")
    assert await client.hear() == {"type": "complete", "id": "1"}


@BOTH
async def test_a_match_that_is_over_is_played_again(
    clients: dict[str, Client], store: Store, protocol: str
) -> None:
    spaces = [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)]
    await played_noughts(store, entry_of("m", "Ann", "Bob"), spaces)
    client = clients[protocol]
    await client.start(MATCH, id="m")
    events = [(await client.data())["match"] for _ in range(9)]
    assert events[0]["snapshot"]
    assert [event["event"]["event"] for event in events[1:]] == [
        "began",
        *["played"] * 5,
        "board ended",
        "ended",
    ]
    assert await client.hear() == {"type": "complete", "id": "1"}


@BOTH
async def test_the_list_of_tables_whenever_it_changes(
    clients: dict[str, Client], tables: HandTables, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.api.live_tables.PAUSE", 0)
    client = clients[protocol]
    await client.start(LIVE)
    assert await client.data() == {"liveTables": []}
    tables.open(entry_of("a", "Ann", "Bob"))
    assert await client.data() == {"liveTables": [{"id": "a", "steps": 0}]}
    tables.close("a")
    assert await client.data() == {"liveTables": []}
    await client.say(type=STOP[protocol], id="1")
    if protocol == OLD:
        assert await client.hear() == {"type": "complete", "id": "1"}
    await client.start("{ __typename }", "2")
    assert await client.data("2") == {"__typename": "Query"}
    await until(lambda: not tables.tellers)


@BOTH
async def test_queries_and_changes_are_answered_too(
    clients: dict[str, Client], protocol: str
) -> None:
    client = clients[protocol]
    await client.start(
        'mutation { registerBot(gameType: GOMOKU, name: "n", owner: "") { bot { name } } }'
    )
    assert await client.data() == {"registerBot": {"bot": {"name": "n"}}}
    assert (await client.hear())["type"] == "complete"


@BOTH
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("subscription {", "Syntax Error: Expected Name, found <EOF>."),
        ("subscription { nothing }", "Cannot query field 'nothing' on type 'Subscription'."),
        ('subscription { match(id: "unknown") }', "there is no match 'unknown'"),
        (
            MATCH,
            "Variable '$id' has invalid value: Expected a value of non-null type 'ID!' to be "
            "provided.",
        ),
        ("", "Must provide query string."),
    ],
)
async def test_what_cannot_be_is_said_in_words(
    clients: dict[str, Client], protocol: str, query: str, words: str
) -> None:
    client = clients[protocol]
    await client.start(query)
    message = await client.hear()
    (error,) = message["payload"] if protocol == NEW else [message["payload"]]
    assert (message["type"], message["id"], error["message"]) == ("error", "1", words)
    await client.start("{ __typename }", "2")
    assert await client.data("2") == {"__typename": "Query"}


@BOTH
async def test_who_leaves_is_forgotten(
    clients: dict[str, Client], tables: HandTables, protocol: str
) -> None:
    table, client = tables.open(entry_of("m", "Ann", "Bob")), clients[protocol]
    await client.start(MATCH, id="m")
    await client.data()
    assert len(table.audience) == 1
    await client.socket.close()
    await until(lambda: not table.audience)


async def test_a_slow_subscriber_is_told_so(clients: dict[str, Client], tables: HandTables) -> None:
    table, client = tables.open(entry_of("m", "Ann", "Bob")), clients[NEW]
    await client.start(MATCH, id="m")
    await client.data()
    for spectator in tuple(table.audience.spectators):
        for _ in range(300):
            spectator.show(b"{}")
    message = await client.hear()
    assert message["type"] == "error"
    assert message["payload"][0]["message"].startswith("too slow")
    await until(lambda: not table.audience)


@BOTH
@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", 4400),
        ("null", 4400),
        ("5", 4400),
        ("[]", 4400),
        ("", 4400),
        ('{"type": "nonsense"}', 4400),
        ('{"type": "ping", "id": [' + "1," * 6000 + "1]}", 4400),
        ('{"type": 5}', 4400),
        ('{"type": "START", "payload": {"query": "{ __typename }"}}', 4400),
        ('{"type": "START", "id": 5, "payload": {"query": "{ __typename }"}}', 4400),
        ('{"type": "START", "id": "1", "payload": "{ __typename }"}', 4400),
        ('{"type": "connection_init"}', 4429),
        ('{"type": "' + "x" * 200_000 + '"}', 1009),
    ],
)
async def test_messages_that_cannot_be_close_the_connection(
    clients: dict[str, Client], protocol: str, message: str, code: int
) -> None:
    client = clients[protocol]
    await client.socket.send(message.replace("START", START[protocol]))
    assert (await client.closed())[0] == code


@BOTH
async def test_a_name_is_used_once_at_a_time(clients: dict[str, Client], protocol: str) -> None:
    client = clients[protocol]
    await client.start(LIVE)
    await client.start(LIVE)
    assert await client.closed() == (4409, "Subscriber for 1 already exists")


@BOTH
async def test_there_is_an_end_to_operations(
    clients: dict[str, Client], tables: HandTables, protocol: str
) -> None:
    client = clients[protocol]
    for number in range(21):
        await client.start(LIVE, str(number))
    assert await client.closed() == (4429, "Too many operations: 20 at once are allowed")
    await until(lambda: not tables.tellers)


@BOTH
async def test_nothing_starts_before_the_greeting(server: str, protocol: str) -> None:
    async with dial(server, protocol) as socket:
        client = Client(socket, protocol)
        await client.start("{ __typename }")
        assert await client.closed() == (4401, "Unauthorized")


async def test_a_greeting_that_does_not_come(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botdrome.api.graphql.endpoint.INIT_TIMEOUT", 0.01)
    async with dial(server, NEW) as socket:
        assert await Client(socket, NEW).closed() == (4408, "Connection initialisation timeout")


async def test_small_talk(clients: dict[str, Client]) -> None:
    await clients[NEW].say(type="ping", payload={"any": "thing"})
    await clients[NEW].say(type="pong")
    assert await clients[NEW].hear() == {"type": "pong"}
    await clients[OLD].say(type=STOP[OLD], id="unknown")
    await clients[OLD].say(type="connection_terminate")
    assert await clients[OLD].closed() == (1000, "")


async def test_without_a_protocol_there_is_no_conversation(server: str) -> None:
    async with dial(server, "graphql-other", path="/graphql/any") as socket:
        assert socket.subprotocol is None
        assert await Client(socket, NEW).closed() == (4406, "Subprotocol not acceptable")


async def test_the_first_protocol_that_is_known_is_spoken(server: str) -> None:
    async with dial(server, "graphql-other", OLD, NEW) as socket:
        assert socket.subprotocol == OLD


async def test_a_token_may_come_with_the_connection(server: str) -> None:
    async with dial(server, NEW) as socket:
        client = Client(socket, NEW)
        await client.greet()
        await client.start(
            'mutation { registerBot(gameType: GOMOKU, name: "n", owner: "") { password } }'
        )
        token = (await client.data())["registerBot"]["password"]
    async with dial(server, NEW, additional_headers={"Authorization": f"Bearer {token}"}) as socket:
        client = Client(socket, NEW)
        await client.greet()
        await client.start('mutation { revokeToken(name: "n") { name } }')
        assert await client.data() == {"revokeToken": {"name": "n"}}
