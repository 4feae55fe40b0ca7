"""Proxy: stands between a bot and the server, and delivers all messages for the bot with the
ailment of the trial.
"""

import asyncio
from contextlib import suppress
from typing import Any

from botdrome.doctor.ailments import ProtocolName
from botdrome.doctor.delivery import Delivery, Streams, TrialTraffic

RETRY = 0.02
"""Seconds between two attempts to reach a bot that starts."""


class Proxy:
    """Accepts bots and connects to the server; with Battlecube it accepts the server's calls and
    connects to the bot.
    """

    def __init__(
        self, protocol: ProtocolName, host: str, port: int, slowness: float, by_hand: bool
    ) -> None:
        """`host` and `port`: the address to connect to.

        `slowness`: seconds between two pieces of slow HTTP.

        `by_hand`: the bot outlives a trial, so between two trials its new connections wait for the
        next one.
        """
        self._protocol, self._host, self._port, self._slowness = protocol, host, port, slowness
        self._calls, self._by_hand = protocol == "battlecube", by_hand
        self._traffic = TrialTraffic()
        self._resumed = asyncio.Event()
        """Not set between two trials."""
        self._closed = False
        self._reached: Streams | None = None
        """The first connection to a bot that is called. The first call uses it."""
        self._tasks = set[asyncio.Task[Any]]()

    async def listen(self, port: int) -> int:
        """Listen on a port, or on any free one if it is 0, and return its number."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        return int(self._server.sockets[0].getsockname()[1])

    def begin(self, traffic: TrialTraffic) -> None:
        self._traffic = traffic
        self._resumed.set()

    async def rest(self) -> None:
        """Close all connections, until the next trial begins."""
        self._resumed.clear()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._reached is not None:
            self._reached[1].close()
            self._reached = None

    async def close(self) -> None:
        self._closed = True
        self._server.close()
        await self.rest()

    async def until_reached(self) -> None:
        """Wait until the bot listens."""
        while self._reached is None:
            with suppress(OSError):
                self._reached = await asyncio.open_connection(self._host, self._port)
                return
            await asyncio.sleep(RETRY)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry a connection in a task that is known from its first moment, so that no connection
        outlives the proxy.
        """
        if self._closed or not (self._by_hand or self._resumed.is_set()):
            return writer.transport.abort()
        task = asyncio.create_task(self._carry((reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task.add_done_callback(lambda _: writer.close())

    async def _carry(self, caller: Streams) -> None:
        await self._resumed.wait()
        called, self._reached = self._reached, None
        try:
            called = called or await asyncio.open_connection(self._host, self._port)
            bot, server = (called, caller) if self._calls else (caller, called)
            await self._connect(bot, server)
        except OSError:
            caller[1].transport.abort()

    async def _connect(self, bot: Streams, server: Streams) -> None:
        """Carry everything in both directions until both sides have closed the connection."""
        traffic = self._traffic
        traffic.connect()
        to_bot = asyncio.create_task(self._to_bot(server, bot))
        both = to_bot, asyncio.create_task(self._to_server(bot, server))
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            traffic.disconnect(by_bot=not to_bot.done())
            await asyncio.wait(both)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            bot[1].close()
            server[1].close()

    async def _to_server(self, bot: Streams, server: Streams) -> None:
        with suppress(OSError):
            while data := await bot[0].read(1 << 16):
                self._traffic.hear(data)
                server[1].write(data)
                await server[1].drain()
        _end(server[1])

    async def _to_bot(self, server: Streams, bot: Streams) -> None:
        delivery = Delivery(self._protocol, self._traffic, bot[1], self._slowness)
        goes_on = True
        with suppress(OSError):
            while goes_on and (data := await server[0].read(1 << 16)):
                goes_on = await delivery.take(data)
            if goes_on:
                await delivery.end()
        _end(bot[1])


def _end(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, RuntimeError):
        writer.write_eof()
