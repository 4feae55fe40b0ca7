"""The Bomberman API under load: bots that poll once and act once per round, on persistent
connections.
"""

import asyncio
import json
import subprocess
import sys
import time
from functools import partial
from typing import Any, cast

import msgspec
import uvloop

from bench.clients import start
from bench.games import yardstick
from bench.machine import jitter_shown
from bench.server import Server, server

ROUND = 0.2
ARRIVALS, SETTLING = 0.02, 3.0
"""Seconds between the starts of two rooms, and until all rooms play."""
ACTIONS = ("MOVE_UP", "MOVE_DOWN", "MOVE_LEFT", "MOVE_RIGHT", "WAIT", "PLACE_BOMB")
DECODER = msgspec.json.Decoder()


class Tally:
    """Counts for the bots of this process."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.answers, self.since = 0, time.perf_counter()
        self.latencies: list[float] = []

    def as_json(self) -> str:
        latencies = sorted(self.latencies) or [0.0]
        p50, p99 = (latencies[int(len(latencies) * share)] for share in (0.5, 0.99))
        return json.dumps(
            {"rate": self.answers / (time.perf_counter() - self.since), "p50": p50, "p99": p99}
        )


class Bot(asyncio.Protocol):
    """Requests the state, sends an action, and waits for the next round."""

    def __init__(self, room: str, name: str, tally: Tally, until: float) -> None:
        self._path, self._name, self._tally, self._until = (
            f"/bomber/rooms/{room}/rest",
            name,
            tally,
            until,
        )
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
            self._tally.answers += 1
            self._tally.latencies.append(time.perf_counter() - self._sent)
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
        if time.perf_counter() < self._until:
            self._wants_state = True
            self._ask(
                b"GET %s/state/" + self._user.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            )

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


async def play(port: int, rooms: int, bots: int, seconds: float) -> Tally:
    loop, tally, until = asyncio.get_running_loop(), Tally(), time.perf_counter() + seconds
    for room in range(rooms):
        for number in range(bots):
            await loop.create_connection(
                partial(Bot, f"r{room}", f"bot-{room}-{number}", tally, until), "127.0.0.1", port
            )
        await asyncio.sleep(ARRIVALS)
    await asyncio.sleep(SETTLING)
    tally.begin()
    await asyncio.sleep(max(0.0, until - time.perf_counter()))
    return tally


def start_load(running: Server, rooms: int, bots: int, seconds: float) -> "subprocess.Popen[str]":
    return start("bench.bomber", running.url.rpartition(":")[2], rooms, bots, seconds)


def rounds(rooms: int, bots: int, seconds: float) -> None:
    plans = " ".join(
        f"r{number}:players={bots},registration=3600,rest=1" for number in range(rooms)
    )
    with server("--set", f"bomber_rooms={plans}") as running:
        arrivals = rooms * ARRIVALS * 1.5 + SETTLING + 1
        load = start_load(running, rooms, bots, arrivals + seconds)
        time.sleep(arrivals)
        before, waited, seen = running.cpu(), running.waited(), running.lateness()
        time.sleep(seconds)
        spent, waited = running.cpu() - before, running.waited() - waited
        late = {bound: count - seen[bound] for bound, count in running.lateness().items()}
        output, _ = load.communicate()
        shared = min(yardstick() for _ in range(3))
        done: dict[str, Any] = json.loads(output)
        total = late[float("inf")]
        p99 = min(bound for bound, count in late.items() if count >= 0.99 * total)
        print(
            f"Bomberman API, {rooms} rooms of {bots}: {total / seconds:,.0f} rounds a second, "
            f"p99 lateness at most {p99 * 1000:g} ms, "
            f"{spent / seconds * 100:.0f} % of a core; {done['rate']:,.0f} requests a second, "
            f"answered in {done['p50'] * 1000:.1f} ms (p99 {done['p99'] * 1000:.1f} ms); yardstick "
            f"{shared * 1000:.0f} ms; "
            f"the server waited for its core {waited / seconds:.0%} of the time, {jitter_shown()}"
        )


def main() -> None:
    if len(sys.argv) == 5:
        port, rooms, bots, seconds = sys.argv[1:]
        print(uvloop.run(play(int(port), int(rooms), int(bots), float(seconds))).as_json())
    else:
        rounds(200, 4, 15)


if __name__ == "__main__":
    main()
