"""Bots of the Bomberman API: each polls once and acts once per round, on a persistent connection.

`python -m bench.bomber PORT ROOMS PHASE...`
"""

import asyncio
import sys
import time
from functools import partial
from typing import cast

import msgspec
import uvloop

from bench.clients import Tally

ROUND = 0.2
BOTS = 4
"""The bots of a room."""
ARRIVALS = 0.01
"""Seconds between the starts of two rooms."""
ACTIONS = ("MOVE_UP", "MOVE_DOWN", "MOVE_LEFT", "MOVE_RIGHT", "WAIT", "PLACE_BOMB")
DECODER = msgspec.json.Decoder()


def rooms_setting(rooms: int) -> str:
    plan = f"players={BOTS},registration=3600,rest=1"
    return " ".join(f"r{number}:{plan}" for number in range(rooms))


class Bot(asyncio.Protocol):
    """Requests the state, sends an action, and waits for the next round."""

    def __init__(self, room: str, name: str, tally: Tally) -> None:
        self._path, self._name, self._tally = f"/bomber/rooms/{room}/rest", name, tally
        self._loop = asyncio.get_running_loop()
        self._user, self._turn = "", hash(name)
        self._buffer = b""
        self._sent = self._due = 0.0
        self._wants_state = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._register()

    def _register(self) -> None:
        self._user = ""
        self._ask(b"POST %s/register/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n")

    def _ask(self, request: bytes) -> None:
        self._sent = time.perf_counter()
        self._transport.write(
            request.replace(b"%s", self._path.encode(), 1).replace(b"%s", self._name.encode(), 1)
        )

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, line, rest = self._buffer.partition(b"\r\n\r\n")
        if line and len(rest) >= int(head.rpartition(b"Content-Length: ")[2]):
            self._buffer = b""
            self._tally.done += 1
            self._tally.answers.append(time.perf_counter() - self._sent)
            self._answered(int(head[9:12]), rest)

    def _answered(self, status: int, body: bytes) -> None:
        if not self._user:
            told = DECODER.decode(body)
            self._user = told.get("user_id", "")
            wait = 0.0 if self._user else min(1.0, told.get("time_left", 1000) / 1000)
            self._due = self._loop.time() + wait
            self._loop.call_at(self._due, self._state if self._user else self._register)
        elif self._wants_state:
            self._act()
        elif status == 404:
            self._register()
        else:
            self._loop.call_at(self._due, self._state)

    def _state(self) -> None:
        """Keep the bot's own rhythm, so that late answers do not synchronise the bots."""
        self._due = max(self._due + ROUND, self._loop.time())
        self._wants_state = True
        self._ask(b"GET %s/state/" + self._user.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

    def _act(self) -> None:
        self._wants_state = False
        self._turn += 1
        body = b'{"user_id": "%s", "action": "%s"}' % (
            self._user.encode(),
            ACTIONS[self._turn % 5].encode(),
        )
        self._ask(
            b"POST %%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body) + body
        )


async def play(port: int, rooms: int, phases: tuple[float, ...]) -> None:
    loop, tally = asyncio.get_running_loop(), Tally()
    for room in range(rooms):
        for number in range(BOTS):
            make = partial(Bot, f"r{room}", f"bot-{room}-{number}", tally)
            await loop.create_connection(make, "127.0.0.1", port)
        await asyncio.sleep(ARRIVALS)
    for seconds in phases:
        await asyncio.sleep(seconds)
        tally.report()


def main(port: str, rooms: str, *phases: str) -> None:
    uvloop.run(play(int(port), int(rooms), tuple(map(float, phases))))


if __name__ == "__main__":
    main(*sys.argv[1:])
