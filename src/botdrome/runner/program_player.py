"""ProgramPlayer: a bot that is a program, in a match on a server.

Messages pass unchanged in both directions.
"""

import asyncio
from selectors import EVENT_READ
from typing import IO

import msgspec

from botdrome.client.program import FAREWELL
from botdrome.client.server_link import ServerLink, ServerMessage
from botdrome.games.reading import UNREADABLE
from botdrome.runner.seats import ProgramSeat
from botdrome.wire.battlebot.messages import reason_of
from botdrome.wire.conversation import EXTRAS, NOTICES


class ProgramPlayer:
    features: tuple[str, ...] = (NOTICES, EXTRAS)

    def __init__(self, seat: ProgramSeat) -> None:
        self._seat = seat
        self._over = False
        self._lines: list[bytes] = []
        """Lines of the program that came before the match began."""
        self.match = self.fault = ""
        self.players: tuple[str, ...] = ()

    @property
    def log(self) -> str:
        return self._seat.log

    @property
    def ending(self) -> None:
        """Battlebot's messages do not tell it in full."""

    async def play(self, link: ServerLink) -> None:
        pipes = WatchedPipes(link)
        try:
            while not self._over:
                if not self.fault:
                    self._seat.program.watched_by(pipes)
                messages = await link.take()
                pipes.clear()
                for message in messages:
                    self._hear(message)
                if not self.fault and not self._over:
                    await self._speak(link)
        finally:
            pipes.clear()

    async def close(self) -> None:
        await asyncio.to_thread(self._seat.close)

    def _hear(self, message: ServerMessage) -> None:
        data = message.data
        if "match" in data:
            self.match, self.players = data["match"], tuple(data["players"])
            return
        self._over = bool(data.get("state", data).get("result"))
        if not self.fault:
            self._seat.program.send([message.raw.encode()])

    async def _speak(self, link: ServerLink) -> None:
        """Pass the program's lines on to the server, as soon as the match has begun.

        A program that fails resigns.
        """
        program = self._seat.program
        program.flush()
        program.hear_errors()
        self._lines += program.receive()
        if not self.match:
            return None
        if program.flooding:
            return await self._fail(link, f"flood: {program.flooding}")
        lines, self._lines = self._lines, []
        for line in lines:
            await self._pass_on(link, line)
        if program.ended:
            await asyncio.to_thread(program.wait_for_end, FAREWELL)
            program.hear_errors()
            await self._fail(link, f"crash: {program.last_words()}")
        return None

    async def _pass_on(self, link: ServerLink, line: bytes) -> None:
        """Pass a line on, unless it is a login; a server would cut off a client that
        sends no JSON.
        """
        first, self._seat.heard = not self._seat.heard, True
        try:
            raw = msgspec.json.decode(line)
        except UNREADABLE as error:
            return await self._fail(
                link, f"unreadable: {error}: {line[:80].decode(errors='replace')}"
            )
        if not self.fault and not (first and isinstance(raw, dict) and "gameType" in raw):
            await link.send(line.decode())
        return None

    async def _fail(self, link: ServerLink, words: str) -> None:
        if not self.fault:
            self.fault = words
            await self.close()
            await link.send({"resign": reason_of(words)})


class WatchedPipes:
    """The pipes of a program, registered at the event loop as at a selector.

    Each event wakes the link.
    """

    def __init__(self, link: ServerLink) -> None:
        self._link, self._loop = link, asyncio.get_running_loop()
        self._watched: list[tuple[IO[bytes], int]] = []

    def register(self, pipe: IO[bytes], event: int) -> None:
        watch = self._loop.add_reader if event == EVENT_READ else self._loop.add_writer
        watch(pipe, self._link.wake)
        self._watched.append((pipe, event))

    def clear(self) -> None:
        for pipe, event in self._watched:
            (self._loop.remove_reader if event == EVENT_READ else self._loop.remove_writer)(pipe)
        self._watched.clear()
