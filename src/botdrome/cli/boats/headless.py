"""`botdrome boats play --headless`: a bot plays without a screen; and the text of messages
and results.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from errno import ECONNREFUSED

from botdrome.cli.terminal import CommandFailed
from botdrome.client.boats_client import JOINED, BoatsClient, Reconnection
from botdrome.client.boats_game import LogMessage, Phase, TrackedGame
from botdrome.client.terminal_text import shown


def message_line(said: LogMessage) -> str:
    to = f"[{said.to}]" if said.to else ""
    return shown(f"{said.sender}:{to} {said.text}")


def result_lines(boats: TrackedGame) -> Iterator[str]:
    """Yield the table of results; equal scores share a place."""
    width = max([4, *(len(shown(place.name)) for place in boats.results)])
    yield f"     {'name':{width}}  score  skips  turns  status"
    scores = [place.score for place in boats.results]
    for place in boats.results:
        rank = scores.index(place.score) + 1
        counts = f"{place.score:5}  {place.skips:5}  {place.turns:5}"
        yield f"{rank:3}  {shown(place.name):{width}}  {counts}  {shown(place.status)}".rstrip()


def reason(problem: OSError) -> str:
    """Say why connecting failed."""
    if problem.errno is None:
        return "no answer"
    words = os.strerror(problem.errno) if problem.errno > 0 else str(problem.strerror)
    return f"{words}: is the server running?" if problem.errno == ECONNREFUSED else words


def seat_is_gone(boats: TrackedGame) -> bool:
    """The player rejoined, so without a fleet, and the server took it for a new player."""
    return boats.returning and boats.last_words == "invalid board"


def farewell(boats: TrackedGame) -> str:
    """Say why there is no result."""
    if seat_is_gone(boats):
        return "the game that you were in is over"
    return shown(boats.last_words) or "the connection to the server is lost"


class HeadlessGame:
    """The bot plays, and each event is written as a line."""

    def __init__(
        self,
        client: BoatsClient,
        write: Callable[[str], None],
        reconnection: Reconnection | None = None,
    ) -> None:
        self._client, self._write = client, write
        self._way_back = reconnection or Reconnection(client)
        self._change = asyncio.Event()

    async def run(self) -> bool:
        """Play, and return whether the game ended regularly.

        CommandFailed: the player cannot play here.
        """
        client = self._client
        client.tell, client.lost = self._tell, self._change.set
        try:
            await client.connect()
            await self._follow(client.boats)
        except OSError as problem:
            raise CommandFailed(
                f"{client.options.host}:{client.options.port}: {reason(problem)}"
            ) from None
        finally:
            client.leave()
        for line in result_lines(client.boats):
            self._write(line)
        return client.boats.finished

    def _tell(self, said: list[LogMessage]) -> None:
        for one in said:
            self._write(message_line(one))
        self._change.set()

    async def _follow(self, boats: TrackedGame) -> None:
        while not boats.complete:
            await self._change.wait()
            self._change.clear()
            if boats.phase in JOINED and self._client.connected:
                self._way_back.reset()
            elif boats.phase is not Phase.OVER:
                await self._join(boats)
            elif not self._client.connected:
                return

    async def _join(self, boats: TrackedGame) -> None:
        """The player is not in the game: raise CommandFailed if it cannot be, or reconnect."""
        client = self._client
        if client.problem:
            raise CommandFailed(client.problem)
        if boats.refusal and not boats.returning:
            raise CommandFailed(shown(f"{client.name}: {boats.refusal}"))
        if boats.phase is Phase.CONNECTING and boats.last_words:
            raise CommandFailed(farewell(boats))
        if boats.refusal:
            client.close()
        if client.connected:
            return
        if (
            boats.last_words
            or not (client.has_joined or boats.returning)
            or not await self._way_back.retry()
        ):
            raise CommandFailed(farewell(boats))
