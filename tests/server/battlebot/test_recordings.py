"""Conversations recorded from the original, had again with our server."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from websockets.asyncio.client import connect

from botdrome.catalogue import CATALOGUE, CatalogueEntry
from tests.server.clients import PATIENCE, Client, registered, server

pytestmark = pytest.mark.anyio

RECORDINGS = Path(__file__).parent / "recordings"
TIMES = {"time": 0}


def recorded(scenario: str) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (RECORDINGS / f"battlebot-{scenario}.jsonl").read_text().splitlines()
    ]


def hurried(game: str) -> CatalogueEntry:
    """The terms of the game, but for the time, which is a second."""
    row = CATALOGUE[game]
    return CatalogueEntry(row.game, replace(row.terms, pace=replace(row.terms.pace, limit=1000)))


def timeless(message: dict[str, Any]) -> dict[str, Any]:
    return message | {"turn": message["turn"] | TIMES} if "turn" in message else message


@pytest.mark.parametrize(
    "scenario", ["nac-win", "nac-invalid", "nac-disconnect", "nac-timeout", "contest-pair"]
)
async def test_a_recorded_conversation(
    tmp_path: Path, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorded messages are sent in order; the answers are the same except for passwords and
    times.
    """
    if scenario == "nac-timeout":
        monkeypatch.setitem(CATALOGUE, "noughts-and-crosses", hurried("noughts-and-crosses"))
    lines = recorded(scenario)
    async with server(tmp_path) as house:
        names = dict.fromkeys(line["bot"] for line in lines if "bot" in line)
        passwords = {name: (await registered(house, name))["password"] for name in names}
        clients: dict[str, Client] = {}
        for number, line in enumerate(lines):
            name, where = line.get("bot", ""), f"{scenario}, line {number + 1}"
            match line["dir"]:
                case "open":
                    clients[name] = Client(
                        await connect(house.url.replace("http", "ws", 1), open_timeout=PATIENCE)
                    )
                case "send":
                    message = line["msg"]
                    secret = {"password": passwords[name]} if "password" in message else {}
                    await clients[name].send(message | secret)
                case "recv":
                    told = json.dumps(timeless(await clients[name].receive()))
                    assert told == json.dumps(timeless(line["msg"])), (
                        f"{where}: the same keys, in the same order"
                    )
                case "close":
                    assert await clients[name].until_closed() == (
                        [],
                        line["code"],
                        line["reason"],
                    ), where
                case _ if line.get("note") == "client closed":
                    await clients[name].socket.close()
        for client in clients.values():
            await client.socket.close()
