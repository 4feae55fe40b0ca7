"""Many bots over WebSockets in one process, with a cheap client.

`python -m bench.bots KIND URL TOKEN TOKEN BOTS PAUSE PHASE...`
"""

import asyncio
import sys
import time
from typing import Any

import msgspec
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.clients import Tally, first_in_line

ENCODER, DECODER = msgspec.json.Encoder(), msgspec.json.Decoder()
ORDERS = ENCODER.encode({"orders": {}})
AGAIN = ENCODER.encode({"again": True})
AT_ONCE = 100
"""Logins that may wait for their answers, if nothing but logins is measured."""


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
        if state["result"]:
            self.over(transport)
        elif state["waitingFor"][0] == self._name:
            self._answer(transport, state)

    def over(self, transport: WSTransport) -> None:
        self._tally.matches += 0.5

    def _answer(self, transport: WSTransport, state: dict[str, Any]) -> None:
        mark = "X" if state["bots"][0] == self._name else "O"
        row = next(number for number, cells in enumerate(state["board"]) if "" in cells)
        move = ENCODER.encode({"mark": mark, "space": [row, state["board"][row].index("")]})
        if self.PAUSE:
            asyncio.get_running_loop().call_later(self.PAUSE, self._say, transport, move)
        else:
            self._say(transport, move)

    def _say(self, transport: WSTransport, move: bytes) -> None:
        self._tally.done += 1
        self._sent = time.perf_counter()
        transport.send(WSMsgType.TEXT, move)


class AgainBot(NoughtsBot):
    """Plays match after match on one connection."""

    FEATURES = ("again",)

    def over(self, transport: WSTransport) -> None:
        super().over(transport)
        transport.send(WSMsgType.TEXT, AGAIN)


class Listening(Bot):
    """Logs in and only receives."""

    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        self._tally.done += 1


class Greeted(Bot):
    """Waits, and counts only its greeting. The next ones come when most are greeted."""

    AWAITED = b'"OK"'
    _told = False

    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        if not self._told and self.AWAITED in frame.get_payload_as_bytes():
            self._told = True
            self._tally.done += 1


class Seated(Greeted):
    """Counts only the first state of its match, and never moves."""

    AWAITED = b'"state"'


class BumbleBot(Bot):
    """Sends orders after every update without reading it."""

    ARRIVALS = 0.1

    def told(self, transport: WSTransport, frame: WSFrame) -> None:
        self._tally.done += 1
        transport.send(WSMsgType.TEXT, ORDERS)


KINDS: dict[str, tuple[type[Bot], str, tuple[str, str]]] = {
    "noughts": (NoughtsBot, "NOUGHTS_AND_CROSSES", ("load 0", "load 1")),
    "again": (AgainBot, "NOUGHTS_AND_CROSSES", ("load 0", "load 1")),
    "probe": (NoughtsBot, "NOUGHTS_AND_CROSSES", ("load 0", "load 1")),
    "seated": (Seated, "NOUGHTS_AND_CROSSES", ("load 0", "load 1")),
    "waiting": (Greeted, "NOUGHTS_AND_CROSSES", ("load 0", "load 0")),
    "watching": (Listening, "", ("", "")),
    "bumblebots": (BumbleBot, "BUMBLEBOTS", ("bee 0", "bee 1")),
}
"""Their bots, games and names. Bots of two names are paired at once."""


async def play_on(url: str, bot: type[Bot], name: str, login: bytes, tally: Tally) -> None:
    while True:
        transport, _ = await ws_connect(lambda: bot(name, login, tally), url)
        await transport.wait_disconnected()


async def play(
    url: str, kind: str, passwords: list[str], bots: int, phases: tuple[float, ...]
) -> None:
    """Open connections, each of which reconnects after its match.

    With two URLs, separated by a comma, each player of a pair connects to another one.
    Bots that only wait report before they connect, and as soon as all of them are told.
    """
    bot, game, names = KINDS[kind]
    tally, work, urls = Tally(), [], url.split(",")
    if issubclass(bot, Greeted):
        tally.report()
    for number in range(bots):
        name = names[number % 2]
        password = passwords[names.index(name)]
        features = {"features": bot.FEATURES} if bot.FEATURES else {}
        login = ENCODER.encode({"gameType": game, "name": name, "password": password} | features)
        work.append(
            asyncio.ensure_future(play_on(urls[number % len(urls)], bot, name, login, tally))
        )
        if number % 20 == 19:
            await asyncio.sleep(bot.ARRIVALS)
        while issubclass(bot, Greeted) and tally.done <= number - AT_ONCE:
            await asyncio.sleep(0.001)
    while issubclass(bot, Greeted) and tally.done < bots:
        await asyncio.sleep(0.001)
    for seconds in phases:
        await asyncio.sleep(seconds)
        tally.report()


def main(kind: str, url: str, one: str, two: str, bots: str, pause: str, *phases: str) -> None:
    if kind == "probe":
        first_in_line()
    NoughtsBot.PAUSE = float(pause)
    socket_url = url.replace("http", "ws")
    uvloop.run(play(socket_url, kind, [one, two], int(bots), tuple(map(float, phases))))


if __name__ == "__main__":
    main(*sys.argv[1:])
