"""Conversations recorded from duel arena, had again with our server.

Where they differ, the specification says so.
"""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from tests.patience import PATIENCE
from tests.server.rooms.duel.clients import FIND, FREE, Duellist, arena, connected, seated

pytestmark = pytest.mark.anyio

RECORDINGS = Path(__file__).parent / "recordings"
Line = dict[str, Any]
OURS = re.compile(rb', "timeout": 5.0, "color": "[XO]"}$')


def recorded(scenario: str) -> list[Line]:
    return [
        json.loads(line)
        for line in (RECORDINGS / f"duel_arena-{scenario}.jsonl").read_text().splitlines()
    ]


class Replay:
    """Two players of a recording, each with the messages that it must get."""

    def __init__(self, lines: list[Line]) -> None:
        self.moves = [
            line
            for line in lines
            if line["dir"] in ("c2s", "close") and line["t"] > self._began(lines)
        ]
        self.heard: dict[str, list[Line]] = {}
        for line in lines:
            if line["dir"] == "s2c" and line.get("json", {}).get("event") not in (
                None,
                "player_is_free",
                "starting_game",
            ):
                self.heard.setdefault(line["conn"], []).append(line)
        for name in self.heard:
            self.heard[name] = self._in_order(self.heard[name])
        self.starter = next(
            line["conn"] for line in lines if line.get("json", {}).get("event") == "get_move"
        )
        self.first_board = next(iter(self.heard.values()))[0]["json"]["board"]["_id"]
        self.ids: dict[str, str] = {}

    def _began(self, lines: list[Line]) -> float:
        return float(
            next(line["t"] for line in lines if line.get("json", {}).get("event") == "get_move")
        )

    def _in_order(self, lines: list[Line]) -> list[Line]:
        """The original may ask for the next board before it tells the result of the last."""
        boards = sorted({line["json"]["board"]["_id"] for line in lines})
        return [line for board in boards for line in lines if line["json"]["board"]["_id"] == board]

    async def hear(self, name: str, client: Duellist) -> Line:
        line = self.heard[name].pop(0)
        await client.receive()
        text = OURS.sub(b"}", client.raw).decode()
        expected = line["text"]
        if line["json"]["event"] == "get_move":
            self.ids[line["json"]["id"]] = json.loads(text)["id"]
            expected = expected.replace(line["json"]["id"], json.loads(text)["id"])
        old = line["json"]["board"]["_id"]
        assert text == expected.replace(f'"_id": {old},', f'"_id": {old - self.first_board + 1},')
        return line

    async def until_asked(self, name: str, client: Duellist, question: str) -> None:
        while question not in self.ids:
            await self.hear(name, client)

    async def say(self, name: str, client: Duellist, line: Line) -> None:
        """An answer is given as soon as its question has come."""
        message = json.loads(line["text"])
        if (
            isinstance(message, dict)
            and message.get("event") == "make_move"
            and message.get("id", "")[:1].isdigit()
        ):
            await self.until_asked(name, client, message["id"])
            line = line | {"text": line["text"].replace(message["id"], self.ids[message["id"]])}
        await client.send_frame(line["text"].encode())


async def enter(
    house: RunningServer, replay: Replay, one: Duellist, two: Duellist
) -> dict[str, Duellist]:
    """Both clients at a table; the beginner plays the part of the recorded beginner."""
    for client, name in zip((one, two), replay.heard, strict=True):
        client.name = name
        await client.send({"username": name})
        await client.send(FIND)
        assert [await client.receive() for _ in range(2)] == [{"status": "ok"}, FREE]
    first, second, question = await seated(one, two)
    (other,) = replay.heard.keys() - {replay.starter}
    line = replay.heard[replay.starter].pop(0)
    assert OURS.sub(b"}", first.raw).decode() == line["text"].replace(
        line["json"]["id"], question["id"]
    ).replace(f'"_id": {replay.first_board},', '"_id": 1,')
    replay.ids[line["json"]["id"]] = question["id"]
    return {replay.starter: first, other: second}


@pytest.mark.parametrize("scenario", ["match", "invalid_move", "lenient_moves"])
async def test_a_recorded_match(tmp_path: Path, scenario: str) -> None:
    """The recorded messages are sent; the answers are the same text except for ids, the order of
    results and two new keys.
    """
    replay = Replay(recorded(scenario))
    async with arena(tmp_path) as house, connected(house) as one, connected(house) as two:
        clients = await enter(house, replay, one, two)
        for line in replay.moves:
            if line["dir"] == "c2s":
                await replay.say(line["conn"], clients[line["conn"]], line)
        for name, client in clients.items():
            while replay.heard[name]:
                await replay.hear(name, client)
            assert await client.receive() == FREE


async def test_the_recorded_disconnection(tmp_path: Path) -> None:
    """The player that stays wins both boards as soon as the other leaves; the original let it play
    on.
    """
    replay = Replay(recorded("disconnect_other_turn"))
    async with arena(tmp_path) as house, connected(house) as one, connected(house) as two:
        clients = await enter(house, replay, one, two)
        for line in replay.moves:
            if line["dir"] == "close":
                break
            await replay.say(line["conn"], clients[line["conn"]], line)
        await clients["gina2"].close()
        hugo = clients["hugo2"]
        await replay.hear("hugo2", hugo)
        wins = [await hugo.expect("win") for _ in range(2)]
        assert [win["board"]["_id"] for win in wins] == [1, 2]
        assert [win["board"]["_moves"] for win in wins] == [[[0, 0], [0, 7], [1, 0]], []]
        assert await hugo.receive() == FREE


REFUSED = (
    "empty name", "very long name (2000 chars)", "number as name", "null as name", "list as name",
    "no username", "broken JSON", "array", "empty frame", "wrong UTF-8", "no username (again)",
    "event before login",
)  # fmt: skip
CUT_OFF = (
    "after login: empty frame (server stops reading, keeps socket "
    "open)", "after login: null frame", "after login: broken JSON",
    "after login: wrong UTF-8",
)  # fmt: skip
"""Where the specification recommends a status and a close: the original fell silent, or took any
name.
"""


def logins() -> dict[str, list[Line]]:
    cases: dict[str, list[Line]] = {}
    for line in recorded("login"):
        if str(line.get("note", "")).startswith("CASE "):
            title = line["note"].removeprefix("CASE ")
        if line["dir"] in ("c2s", "s2c") and not title.startswith("same name again"):
            cases.setdefault(title, []).append(line)
    return cases


def test_every_difference_is_in_the_recording() -> None:
    assert {*REFUSED, *CUT_OFF} < logins().keys()


async def test_the_recorded_logins(tmp_path: Path) -> None:
    async with arena(tmp_path) as house:
        for title, lines in logins().items():
            async with connected(house) as one:
                await log_in_again(one, title, lines)


async def log_in_again(one: Duellist, title: str, lines: list[Line]) -> None:
    expected = [] if title in REFUSED else [line["json"] for line in lines if line["dir"] == "s2c"]
    heard: list[Any] = []
    for line in lines:
        if line["dir"] == "c2s":
            body = bytes.fromhex(line["hex"]) if "hex" in line else line["text"].encode()
            await one.bytes(bytes.fromhex(line["header"]) + body)
        elif title not in REFUSED:
            heard.append(await one.receive())
    assert heard == expected, title
    if title not in REFUSED and title not in CUT_OFF:
        one.writer.write_eof()
        assert await one.until_closed() == [], title
    else:
        ((status, words),) = [message.values() for message in await one.until_closed()]
        assert status == "error" and words, title


async def test_the_recorded_second_login(tmp_path: Path) -> None:
    """The newest wins, and the old connection is closed without a message."""
    async with arena(tmp_path) as house, connected(house) as old, connected(house) as new:
        for each in (old, new):
            await each.send({"username": "ivan"})
            assert [await each.receive() for _ in range(2)] == [{"status": "ok"}, FREE]
        assert await old.until_closed() == []
        new.writer.write_eof()
        assert await asyncio.wait_for(new.until_closed(), PATIENCE) == []
