"""CPU time of a call to a bot, compared with a bare socket in Python."""

import asyncio
import gc
import subprocess
import sys
import time
from statistics import median
from typing import cast

from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.settings import Settings

CALLS = 20_000
AT_ONCE = (1, 16, 64)
RUNS = 3
BODY = b"x" * 400
ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ndate: Sun, 15 Nov 2026 15:00:00 GMT\r\n"
    b"connection: keep-alive\r\n"
    b'content-length: 34\r\n\r\n[{"task":"MOVE","direction":"+X"}]'
)
REQUEST = b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 400\r\n\r\n" + BODY


class Bot(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.transport.write(ANSWER)


class Bare(Bot):
    """Sends requests in a loop, and ignores the answers."""

    def __init__(self, calls: int) -> None:
        self.left, self.done = calls, asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.transport.write(REQUEST)

    def data_received(self, data: bytes) -> None:
        self.left -= 1
        if self.left > 0:
            self.transport.write(REQUEST)
        elif not self.done.done():
            self.done.set_result(None)
            self.transport.close()


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Bot, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


async def bare(port: int, at_once: int) -> None:
    loop = asyncio.get_running_loop()
    bots = [
        (await loop.create_connection(lambda: Bare(CALLS // at_once), "127.0.0.1", port))[1]
        for _ in range(at_once)
    ]
    await asyncio.gather(*(bot.done for bot in bots))


async def ours(callers: BotCaller, port: int, at_once: int) -> None:
    async def call(times: int) -> None:
        for _ in range(times):
            await callers.post(url, BODY, 5.0)

    url = f"http://127.0.0.1:{port}/"
    await asyncio.gather(*(call(CALLS // at_once) for _ in range(at_once)))


async def measure(port: int) -> None:
    callers = BotCaller(Settings())
    for at_once in AT_ONCE:
        costs: dict[str, list[float]] = {"bare": [], "ours": []}
        for _ in range(RUNS):
            for name in costs:
                gc.collect()
                began = time.process_time()
                await (bare(port, at_once) if name == "bare" else ours(callers, port, at_once))
                costs[name].append((time.process_time() - began) / CALLS * 1e6)
        print(
            f"{at_once:3} at once:",
            *(f"{name} {median(cost):5.1f} us ({shown(cost)})" for name, cost in costs.items()),
        )
    callers.close()


def shown(costs: list[float]) -> str:
    return " ".join(f"{cost:.1f}" for cost in costs)


def main() -> None:
    import uvloop

    if "serve" in sys.argv:
        uvloop.run(serve())
        return
    with subprocess.Popen(
        [sys.executable, "-m", "bench.calls", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as bot:
        assert bot.stdout is not None and bot.stdin is not None
        uvloop.run(measure(int(bot.stdout.readline())))
        bot.stdin.close()


if __name__ == "__main__":
    main()
