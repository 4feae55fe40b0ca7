"""Probe: a few players at a separate address that measure the latency of answers and the lateness
of ticks.

`python -m bench.probe URL SECONDS TOKEN TOKEN TOKEN TOKEN`, the tokens of two noughts and two
Bumblebots players.
"""

import asyncio
import sys
import time

import uvloop
from picows import WSFrame, WSTransport, ws_connect

from bench.bots import DECODER, ENCODER, ORDERS, Bot, NoughtsBot
from bench.clients import Tally, first_in_line, percentiles

ADDRESS = "127.0.0.3"
PAIRS, PAUSE = 4, 0.02
BEAT = 0.25
"""Seconds between two ticks of Bumblebots."""


class Player(NoughtsBot):
    PAUSE = PAUSE
    lost = 0
    """Games lost on time, as reported to either player."""

    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        state = DECODER.decode(frame.get_payload_as_memoryview()).get("state") or {}
        result = state.get("result")
        if isinstance(result, dict) and result.get("reason") == "timeout":
            Player.lost += 1
        super().told(transport, frame)


TICKS: list[float] = []
"""The arrival times of ticks."""


class Bee(Bot):
    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        TICKS.append(time.perf_counter())
        transport.send(frame.msg_type, ORDERS)


def lateness(came: list[float]) -> list[float]:
    """Return the lateness of each tick, relative to the earliest one."""
    offsets = [at - number * BEAT for number, at in enumerate(came)]
    return [offset - min(offsets) for offset in offsets]


async def connect(
    url: str, kind: type[Bot], game: str, name: str, token: str, tally: Tally
) -> WSTransport:
    login = ENCODER.encode({"gameType": game, "name": name, "password": token})
    transport, _ = await ws_connect(lambda: kind(name, login, tally), url, local_addr=(ADDRESS, 0))
    return transport


async def play_on(url: str, name: str, token: str, tally: Tally) -> None:
    while True:
        await (
            await connect(url, Player, "NOUGHTS_AND_CROSSES", name, token, tally)
        ).wait_disconnected()


async def measure(url: str, seconds: float, tokens: list[str]) -> dict[str, object]:
    tally = Tally()
    bees = [await connect(url, Bee, "BUMBLEBOTS", f"bee {n}", tokens[2 + n], tally) for n in (0, 1)]
    work = [
        asyncio.create_task(play_on(url, f"load {n % 2}", tokens[n % 2], tally))
        for n in range(2 * PAIRS)
    ]
    await asyncio.sleep(seconds)
    for task in work:
        task.cancel()
    ticks = lateness(TICKS[4::2])  # both bees get each tick
    for bee in bees:
        bee.disconnect()
    return {
        "answers": percentiles(tally.answers), "longest": max(tally.answers, default=0) * 1000,
        "moves": tally.done, "ends": percentiles(tally.ends), "ticks": percentiles(ticks),
        "latest": max(ticks, default=0) * 1000, "lost": Player.lost,
    }  # fmt: skip


def main(url: str, seconds: str, *tokens: str) -> None:
    first_in_line()
    found = uvloop.run(measure(url.replace("http", "ws", 1), float(seconds), list(tokens)))
    print(ENCODER.encode(found).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
