"""A bare echo server, picows on uvloop, as the baseline for the cost of Botdrome's server.

`python -m bench.echo serve` runs the echo server; `python -m bench.echo` measures it, as `bench.server` does.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import uvloop
from msgspec import Struct
from picows import WSFrame, WSListener, WSMsgType, WSTransport, WSUpgradeRequest, ws_connect, ws_create_server

TICKS = os.sysconf("SC_CLK_TCK")
MESSAGE = b'{"mark":"X","space":[0,0]}'
CLIENTS = 50


class Cost(Struct):
    """CPU microseconds of the echo server."""

    connection: float
    message: float


class Echo(WSListener):
    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code())
            transport.disconnect()
        else:
            transport.send(WSMsgType.TEXT, frame.get_payload_as_bytes())


class Caller(WSListener):
    def __init__(self, messages: int) -> None:
        self._left = messages

    def on_ws_connected(self, transport: WSTransport) -> None:
        transport.send(WSMsgType.TEXT, MESSAGE)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        self._left -= 1
        if frame.msg_type == WSMsgType.CLOSE:
            transport.disconnect()
        elif self._left:
            transport.send(WSMsgType.TEXT, MESSAGE)
        else:
            transport.send_close()


async def _call(port: int, messages: int, times: int) -> None:
    for _ in range(times):
        transport, _ = await ws_connect(lambda: Caller(messages), f"ws://127.0.0.1:{port}/")
        await transport.wait_disconnected()


async def _calls(port: int, messages: int, times: int) -> None:
    await asyncio.gather(*[_call(port, messages, times) for _ in range(CLIENTS)])


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure() -> Cost:
    """Run the echo server on the first core and its clients on the second."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {1})
    try:
        return _measured()
    finally:
        os.sched_setaffinity(0, cores)


def _measured() -> Cost:
    command = ["taskset", "-c", "0", sys.executable, "-m", "bench.echo", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as echo:
        assert echo.stdout is not None
        port = int(echo.stdout.readline())
        uvloop.run(_calls(port, 1, 4))
        before = _cpu(echo.pid)
        uvloop.run(_calls(port, 1, 30))
        between = _cpu(echo.pid)
        uvloop.run(_calls(port, 600, 1))
        after = _cpu(echo.pid)
        echo.kill()
    message = (after - between) / (600 * CLIENTS)
    return Cost(((between - before) / (30 * CLIENTS) - message) * 1e6, message * 1e6)


async def _serve() -> None:
    def listener(_: WSUpgradeRequest) -> WSListener:
        return Echo()

    server = await ws_create_server(listener, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main(words: list[str]) -> None:
    if words == ["serve"]:
        uvloop.run(_serve())
    else:
        cost = measure()
        print(f"a bare echo: {cost.connection:.0f} us a connection, {cost.message:.1f} us a message")


if __name__ == "__main__":
    main(sys.argv[1:])
