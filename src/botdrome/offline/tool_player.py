"""ToolPlayer: a player in a match on a server that looks and moves when it likes, such as a
language model with tools.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from botdrome.client.protocol_clients import ConnectionLost, ServerLink
from botdrome.match.events import Began, Event, Late, Refused
from botdrome.offline.remote_player import FramePlayer

MOST_EVENTS = 200
"""Events that are kept between two looks; older ones are dropped."""


class NotNow(Exception):
    """The player cannot do this at present; the text says why."""


class ToolPlayer(FramePlayer):
    """Keeps the last frame of the match and the events since the last look."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._link: ServerLink | None = None
        self._changed = asyncio.Event()
        self._seats: tuple[str, ...] = ()
        """The names by seat."""
        self._frame: dict[str, Any] = {}
        self._deadline: float | None = None
        self._pings = self._pong = 0
        self._refusal = ""
        self._events: deque[dict[str, Any]] = deque(maxlen=MOST_EVENTS)
        self._event_count = 0

    async def play(self, link: ServerLink) -> None:
        self._link = link
        try:
            while self.result is None:
                for message in await link.take():
                    self._see(message.data)
                self.notify()
        finally:
            self._link = None
            self.notify()

    async def close(self) -> None:
        pass

    # Waiting.

    def notify(self) -> None:
        """Let `until` look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, done: Callable[[], bool]) -> None:
        while not done():
            await self._changed.wait()

    # What the player sees.

    @property
    def to_act(self) -> bool:
        """Whether the server waits for this player's move."""
        if "timeLeft" not in self._frame or self.out or not self._awaited:
            return False  # the last frame of a step has the time
        view = self._frame["view"]
        return view["you"] in view["toMove"]

    @property
    def to_move(self) -> list[str]:
        return [self._seats[seat] for seat in self._frame["view"]["toMove"]]

    @property
    def view(self) -> dict[str, Any]:
        return dict(self._frame["view"])

    @property
    def legal(self) -> list[Any] | None:
        """The legal moves; None: the server does not list them."""
        return self._frame.get("legal")

    @property
    def seconds_left(self) -> float | None:
        """None: there is no limit."""
        return (
            None
            if self._deadline is None
            else round(max(0.0, self._deadline - asyncio.get_running_loop().time()), 1)
        )

    def take_events(self) -> tuple[list[dict[str, Any]], int]:
        """Return the events since the last call, and the number of older ones that were dropped."""
        events, dropped = list(self._events), self._event_count - len(self._events)
        self._events.clear()
        self._event_count = 0
        return events, dropped

    # What the player does.

    async def submit(self, move: Any) -> str:
        """Send a move, and return why the server refuses it; empty: it is accepted.

        Raise NotNow if it cannot be sent.
        """
        if not self.to_act:
            raise NotNow(
                "you are out"
                if self.out
                else f"it is not your turn; the match waits for {', '.join(self.to_move)}"
            )
        self._awaited, self._refusal = False, ""
        self._pings += 1
        ping = self._pings
        link = await self._send({"move": move}, {"ping": ping})
        await self.until(lambda: self._pong == ping or self._link is not link)
        if self._pong != ping and not self._refusal and self.result is None:
            raise NotNow("the connection was lost before the server answered")
        return self._refusal

    async def resign(self) -> None:
        """Leave the match, and wait for its end or the end of the connection."""
        link = await self._send({"resign": True})
        await self.until(lambda: self.out or self.result is not None or self._link is not link)

    async def _send(self, *messages: Any) -> ServerLink:
        link = self._link
        if link is None:
            raise NotNow("there is no connection to the server at present")
        try:
            for message in messages:
                await link.send(message)
        except ConnectionLost as lost:
            raise NotNow(str(lost)) from None
        return link

    # Frames.

    def _see(self, frame: dict[str, Any]) -> None:
        super()._see(frame)
        if "pong" in frame:
            self._pong = frame["pong"]
        elif "snapshot" in frame:
            self._frame, self._seats = frame, tuple(frame["bots"])
        elif "event" in frame:
            self._frame = frame
            self._events.append(frame["event"])
            self._event_count += 1
            if "timeLeft" in frame:
                left = frame["timeLeft"]
                now = asyncio.get_running_loop().time()
                self._deadline = None if left is None else now + left / 1000

    def _note(self, event: Event) -> None:
        super()._note(event)
        match event:
            case Began():
                self._seats = tuple(self.players[player] for player in event.order)
            case Refused():
                self._refusal = event.why
            case Late():
                self._refusal = f"the move came {event.by} ms too late"
