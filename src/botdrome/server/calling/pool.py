"""Pool: opens lines, and keeps them for the next call."""

import asyncio
import ssl
from functools import cached_property

from botdrome.server.calling.answer import CallFailed
from botdrome.server.calling.line import Line
from botdrome.server.calling.place import Place
from botdrome.server.settings import BadSetting, Settings

KEPT_FOR = 10.0
"""Seconds that a line is kept without a call, twice as long at the most."""


class Pool:
    def __init__(self, settings: Settings) -> None:
        """BadSetting where the certificates to trust cannot be read."""
        self._settings = settings
        self._lines: dict[Line, Place] = {}
        self._round = 0
        self._sweep: asyncio.TimerHandle | None = None
        self._closed = False
        try:
            _ = settings.bots_ca and self._trust
        except OSError as error:
            raise BadSetting(f"bots_ca: {error}") from None

    async def open(self, place: Place) -> Line:
        """A new line to just this address; OSError where there is none to be had."""
        loop = asyncio.get_running_loop()
        line = Line(self._settings.longest_message, self._forget)
        trust = self._trust if place.name else None
        transport, _ = await loop.create_connection(
            lambda: line, place.address, place.port, ssl=trust, server_hostname=place.name or None
        )
        self._lines[line] = place
        if transport.get_extra_info("peername")[0].partition("%")[0] != place.address:
            line.hang_up()
            raise CallFailed("the connection went astray")
        return line

    def put_back(self, line: Line, place: Place) -> None:
        """After a call: kept for the next if it can be, else closed."""
        if not line.usable or self._closed or not place.keeps:
            return line.hang_up()
        line.round = self._round
        place.idle.append(line)
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(KEPT_FOR, self._sweep_out)
        return None

    def close(self) -> None:
        self._closed = True
        if self._sweep is not None:
            self._sweep.cancel()
        for line in tuple(self._lines):
            line.hang_up()

    def _forget(self, line: Line) -> None:
        place = self._lines.pop(line, None)
        if place is not None and line in place.idle:
            place.idle.remove(line)

    def _sweep_out(self) -> None:
        """Lines that were not used since the last time are closed."""
        for line, place in tuple(self._lines.items()):
            if line.round < self._round and line in place.idle:
                place.idle.remove(line)
                line.hang_up()
        self._round += 1
        self._sweep = asyncio.get_running_loop().call_later(KEPT_FOR, self._sweep_out) if self._lines else None

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self._settings.bots_ca:
            context.load_verify_locations(self._settings.bots_ca)
        return context
