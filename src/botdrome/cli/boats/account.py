"""An account of a boat game in plain lines: for messages, for the result, and for a game without a screen."""

import asyncio
import os
from collections.abc import Callable, Iterator

from botdrome.cli.problems import Refusal
from botdrome.client.boats import Boats, Phase, Said
from botdrome.client.boats_voyage import ABOARD, Voyage, WayBack
from botdrome.client.terminal_text import shown


def message_line(said: Said) -> str:
    to = f"[{said.to}]" if said.to else ""
    return shown(f"{said.sender}:{to} {said.text}")


def result_lines(boats: Boats) -> Iterator[str]:
    """The table at the end; equal scores share a place."""
    width = max([4, *(len(shown(place.name)) for place in boats.results)])
    yield f"     {'name':{width}}  score  skips  turns  status"
    scores = [place.score for place in boats.results]
    for place in boats.results:
        rank = scores.index(place.score) + 1
        counts = f"{place.score:5}  {place.skips:5}  {place.turns:5}"
        yield f"{rank:3}  {shown(place.name):{width}}  {counts}  {shown(place.status)}".rstrip()


def reason(problem: OSError) -> str:
    """Why a connection did not come about."""
    if problem.errno is None:
        return "no answer"
    return os.strerror(problem.errno) if problem.errno > 0 else str(problem.strerror)


def seat_is_gone(boats: Boats) -> bool:
    """Who came back, and so without a fleet, was taken for somebody new."""
    return boats.returning and boats.last_words == "invalid board"


def farewell(boats: Boats) -> str:
    """Why there is no result."""
    if seat_is_gone(boats):
        return "the game that you were in is not there any more"
    return shown(boats.last_words) or "the connection to the server is lost"


class Account:
    """A game without a screen: the bot plays, and what happens is written line by line."""

    def __init__(self, voyage: Voyage, write: Callable[[str], None], way_back: WayBack | None = None) -> None:
        self._voyage, self._write = voyage, write
        self._way_back = way_back or WayBack(voyage)
        self._change = asyncio.Event()

    async def run(self) -> bool:
        """Whether the game came to its regular end. Refusal: the player cannot play here."""
        voyage = self._voyage
        voyage.tell, voyage.lost = self._tell, self._change.set
        try:
            await voyage.connect()
            await self._sail(voyage.boats)
        except OSError as problem:
            raise Refusal(f"{voyage.charter.host}:{voyage.charter.port}: {reason(problem)}") from None
        finally:
            voyage.leave()
        for line in result_lines(voyage.boats):
            self._write(line)
        return voyage.boats.finished

    def _tell(self, said: list[Said]) -> None:
        for one in said:
            self._write(message_line(one))
        self._change.set()

    async def _sail(self, boats: Boats) -> None:
        while not boats.complete:
            await self._change.wait()
            self._change.clear()
            if boats.phase in ABOARD and self._voyage.connected:
                self._way_back.renew()
            elif boats.phase is not Phase.OVER:
                await self._steer(boats)
            elif not self._voyage.connected:
                return

    async def _steer(self, boats: Boats) -> None:
        """Not aboard: on the way there, turned away, or lost."""
        voyage = self._voyage
        if voyage.problem:
            raise Refusal(voyage.problem)
        if boats.refusal and not boats.returning:
            raise Refusal(shown(f"{voyage.name}: {boats.refusal}"))
        if boats.phase is Phase.KNOCKING and boats.last_words:
            raise Refusal(farewell(boats))
        if boats.refusal:
            voyage.close()
        if voyage.connected:
            return
        if boats.last_words or not (voyage.has_joined or boats.returning) or not await self._way_back.take():
            raise Refusal(farewell(boats))
