"""Load: many bots in one process, each reconnecting after every match, with a client that costs little itself."""

import asyncio
import os
import sys
import time

import msgspec
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

ENCODER, DECODER = msgspec.json.Encoder(), msgspec.json.Decoder()


class Tally:
    """What the bots of this process have done."""

    def __init__(self) -> None:
        self.moves = 0
        self.matches = 0
        self.latencies: list[float] = []


class NoughtsBot(WSListener):
    """Takes the first free space."""

    def __init__(self, name: str, login: bytes, tally: Tally) -> None:
        self._name, self._login, self._tally = name, login, tally
        self._sent = 0.0

    def on_ws_connected(self, transport: WSTransport) -> None:
        transport.send(WSMsgType.TEXT, self._login)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code())
            transport.disconnect()
            return
        state = DECODER.decode(frame.get_payload_as_memoryview()).get("state")
        if state is None:
            return
        if self._sent:
            self._tally.latencies.append(time.perf_counter() - self._sent)
            self._sent = 0.0
        if state["result"] is None and state["waitingFor"][0] == self._name:
            self._answer(transport, state)

    def _answer(self, transport: WSTransport, state: dict) -> None:  # type: ignore[type-arg]
        mark = "X" if state["bots"][0] == self._name else "O"
        for row, cells in enumerate(state["board"]):
            if "" in cells:
                self._tally.moves += 1
                self._sent = time.perf_counter()
                transport.send(WSMsgType.TEXT, ENCODER.encode({"mark": mark, "space": [row, cells.index("")]}))
                return


async def play_on(url: str, name: str, login: bytes, tally: Tally, until: float) -> None:
    while time.perf_counter() < until:
        transport, _ = await ws_connect(lambda: NoughtsBot(name, login, tally), url)
        await transport.wait_disconnected()
        tally.matches += 1


async def load(url: str, password: str, bots: int, seconds: float) -> Tally:
    """`bots` connections of two names, so that they find each other at once."""
    tally, until = Tally(), time.perf_counter() + seconds
    work = []
    for number in range(bots):
        name = f"load {number % 2}"
        login = ENCODER.encode({"gameType": "NOUGHTS_AND_CROSSES", "name": name, "password": password})
        work.append(play_on(url, name, login, tally, until))
    await asyncio.wait([asyncio.ensure_future(each) for each in work], timeout=seconds + 2)
    return tally


def main(url: str, password: str, bots: str, seconds: str) -> None:
    os.sched_setaffinity(0, {1})
    tally = uvloop.run(load(url, password, int(bots), float(seconds)))
    latencies = sorted(tally.latencies) or [0.0]
    p99 = latencies[int(len(latencies) * 0.99)]
    print(ENCODER.encode({"moves": tally.moves, "matches": tally.matches / 2, "p99": p99}).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
