"""Carriers: lines that bots behind a firewall keep to this server, and over which calls are carried in to them."""

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Protocol
from urllib.parse import quote, unquote

from botdrome.server.calling.answer import Answer, CallFailed, too_late
from botdrome.server.network.connection import GOING
from botdrome.server.settings import Settings

SCHEME = "connect:"
TAKEN_OVER = 4001
Call = int


class Carrier(Protocol):
    """One such line. Nothing here waits or raises."""

    def carry(self, call: Call, body: bytes, limit_seconds: float, headers: Mapping[str, str]) -> None:
        """Send a call on; what comes back is handed to `Carriers.answered`."""

    def part(self, words: str, code: int) -> None:
        """The line is not wanted any more."""


def carried(name: str) -> str:
    """The address of a bot that is connected so."""
    return SCHEME + quote(name, safe="")


class Carriers:
    def __init__(self, settings: Settings) -> None:
        self._most = settings.calls_per_port
        self._by_name: dict[str, Carrier] = {}
        self._open: dict[Call, tuple[Carrier, asyncio.Future[Answer]]] = {}
        self._busy: dict[Carrier, set[Call]] = {}
        self._calls = count(1)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def join(self, name: str, carrier: Carrier) -> None:
        """The last to come carries; the one before is told."""
        before = self._by_name.get(name)
        self._by_name[name], self._busy[carrier] = carrier, set()
        if before is not None:
            before.part("another connection carries the calls now", TAKEN_OVER)
            self.leave(name, before)

    def leave(self, name: str, carrier: Carrier) -> None:
        if self._by_name.get(name) is carrier:
            del self._by_name[name]
        for call in self._busy.pop(carrier, set()):
            self._end(call, CallFailed(f"the connection of {name} broke off"))

    async def post(self, url: str, body: bytes, limit_seconds: float, headers: Mapping[str, str]) -> Answer:
        name = unquote(url.removeprefix(SCHEME))
        carrier = self._by_name.get(name)
        if carrier is None:
            raise CallFailed(f"{name[:100]} is not connected")
        busy, call = self._busy[carrier], next(self._calls)
        if len(busy) >= self._most:
            raise CallFailed(f"too many calls wait for {name}")
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Answer] = loop.create_future()
        self._open[call] = carrier, waiter
        busy.add(call)
        timer = loop.call_later(limit_seconds, self._end, call, too_late(limit_seconds))
        carrier.carry(call, body, limit_seconds, headers)
        try:
            return await waiter
        finally:
            timer.cancel()
            busy.discard(call)
            self._open.pop(call, None)

    def answered(self, carrier: Carrier, call: Call, outcome: Answer | CallFailed) -> bool:
        """False: nobody waits for that on this line."""
        if self._open.get(call, (None,))[0] is not carrier:
            return False
        self._end(call, outcome)
        return True

    def close(self) -> None:
        for name, carrier in tuple(self._by_name.items()):
            carrier.part("the server is stopping", GOING)
            self.leave(name, carrier)

    def _end(self, call: Call, outcome: Answer | CallFailed) -> None:
        _, waiter = self._open.pop(call, (None, None))
        if waiter is None or waiter.done():
            return
        if isinstance(outcome, Answer):
            waiter.set_result(outcome)
        else:
            waiter.set_exception(outcome)
