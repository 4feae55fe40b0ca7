"""Many bots in one process, with a cheap client."""

import asyncio
import signal
import sys
import time
from typing import Any

import msgspec
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.figures import percentiles
from bench.server import first_in_line

ENCODER, DECODER = msgspec.json.Encoder(), msgspec.json.Decoder()
ORDERS = ENCODER.encode({"orders": {}})
AGAIN = ENCODER.encode({"again": True})


class Tally:
    """Counts for the bots of this process."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.moves = 0
        self.matches = 0
        self.answers: list[float] = []
        """Seconds from a move to its answer, while the match goes on."""
        self.ends: list[float] = []
        """Seconds from the last move to the result, which is sent after it is on disk."""

    def as_json(self) -> str:
        told = {"moves": self.moves, "matches": self.matches / 2}
        return ENCODER.encode(
            told | {"answers": percentiles(self.answers), "ends": percentiles(self.ends)}
        ).decode()

    def report(self) -> None:
        """Print what was counted, and begin again."""
        print(self.as_json(), flush=True)
        self.begin()


class Bot(WSListener):
    """Logs in, and moves when asked."""

    ARRIVALS = 0.01
    """Seconds between two groups of twenty logins."""
    FEATURES: tuple[str, ...] = ()

    def __init__(self, name: str, login: bytes, tally: Tally) -> None:
        self._name, self._login, self._tally = name, login, tally
        self._sent = 0.0

    def on_ws_connected(self, transport: WSTransport) -> None:
        transport.send(WSMsgType.TEXT, self._login)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code())
            transport.disconnect()
        else:
            self.told(transport, frame)

    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        raise NotImplementedError


class NoughtsBot(Bot):
    """Takes the first free space, after an optional pause."""

    PAUSE = 0.0

    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        state = DECODER.decode(frame.get_payload_as_memoryview()).get("state")
        if state is None:
            return
        if self._sent:
            (self._tally.ends if state["result"] else self._tally.answers).append(
                time.perf_counter() - self._sent
            )
            self._sent = 0.0
        if state["result"] is None and state["waitingFor"][0] == self._name:
            self._answer(transport, state)

    def _answer(self, transport: WSTransport, state: dict[str, Any]) -> None:
        mark = "X" if state["bots"][0] == self._name else "O"
        row = next(number for number, cells in enumerate(state["board"]) if "" in cells)
        move = ENCODER.encode({"mark": mark, "space": [row, state["board"][row].index("")]})
        if self.PAUSE:
            asyncio.get_running_loop().call_later(self.PAUSE, self._say, transport, move)
        else:
            self._say(transport, move)

    def _say(self, transport: WSTransport, move: bytes) -> None:
        self._tally.moves += 1
        self._sent = time.perf_counter()
        transport.send(WSMsgType.TEXT, move)


class AgainBot(NoughtsBot):
    """Plays match after match on one connection."""

    FEATURES = ("again",)

    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        super().told(transport, frame)
        state = DECODER.decode(frame.get_payload_as_memoryview()).get("state")
        if state is not None and state["result"]:
            self._tally.matches += 1
            transport.send(WSMsgType.TEXT, AGAIN)


class Listening(Bot):
    """Logs in and only receives."""

    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        self._tally.moves += 1


class BumbleBot(Bot):
    """Sends orders after every update without reading it."""

    ARRIVALS = 0.1

    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        self._tally.moves += 1
        transport.send(WSMsgType.TEXT, ORDERS)


async def play_on(
    url: str, kind: type[Bot], name: str, login: bytes, tally: Tally, until: float
) -> None:
    while time.perf_counter() < until:
        transport, _ = await ws_connect(lambda: kind(name, login, tally), url)
        await transport.wait_disconnected()
        tally.matches += 1


async def play(
    url: str,
    kind: type[Bot],
    game: str,
    names: list[str],
    passwords: list[str],
    bots: int,
    seconds: float,
    reports: bool,
) -> Tally:
    """Open connections under two names, so that they are paired at once.

    Each reconnects after its match.

    With `reports`, print a first report when all have begun to connect, and the next one at each
    SIGUSR1.
    """
    tally, until = Tally(), time.perf_counter() + seconds
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, tally.report)
    work = []
    for number in range(bots):
        name, password = names[number % 2], passwords[number % 2]
        features = {"features": kind.FEATURES} if kind.FEATURES else {}
        login = ENCODER.encode({"gameType": game, "name": name, "password": password} | features)
        work.append(asyncio.ensure_future(play_on(url, kind, name, login, tally, until)))
        if number % 20 == 19:
            await asyncio.sleep(kind.ARRIVALS)
    if reports:
        tally.report()
    await asyncio.wait(work, timeout=max(0.0, until - time.perf_counter()))
    return tally


def main(
    kind: str,
    url: str,
    one: str,
    two: str,
    bots: str,
    seconds: str,
    pause: str = "0",
    reports: str = "",
) -> None:
    bot, game, name = {
        "noughts": (NoughtsBot, "NOUGHTS_AND_CROSSES", "load"),
        "again": (AgainBot, "NOUGHTS_AND_CROSSES", "load"),
        "probe": (NoughtsBot, "NOUGHTS_AND_CROSSES", "load"),
        "waiting": (Listening, "NOUGHTS_AND_CROSSES", "load"),
        "watching": (Listening, "", ""),
        "bumblebots": (BumbleBot, "BUMBLEBOTS", "bee"),
    }[kind]
    if kind == "probe":
        first_in_line()
    NoughtsBot.PAUSE = float(pause)
    names = [f"{name} 0", f"{name} {0 if kind == 'waiting' else 1}"]
    socket_url = url.replace("http", "ws", 1)
    done = uvloop.run(
        play(socket_url, bot, game, names, [one, two], int(bots), float(seconds), bool(reports))
    )
    print(done.as_json())


if __name__ == "__main__":
    main(*sys.argv[1:])
