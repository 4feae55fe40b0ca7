"""FunctionPlayer: a bot that is a function or a class, in a match on a server."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import msgspec

from botdrome.bots.house import HOUSE
from botdrome.catalogue import CatalogueEntry
from botdrome.client.server_link import ServerLink
from botdrome.games.options import options_in, with_options
from botdrome.match.events import AnyEvent, Began, Ended, Event, Out, Played, Refused, Returned
from botdrome.runner.bot_process import START, BotFault
from botdrome.runner.frame_player import FramePlayer
from botdrome.runner.seats import FunctionSeat, ProcessSeat
from botdrome.runner.table import BEYOND, SEED_SIZE, UNLIMITED
from botdrome.wire.battlebot.messages import reason_of
from botdrome.wire.conversation import VIEWS

T = TypeVar("T")


class FunctionPlayer(FramePlayer):
    """Frames bring its views.

    It sees each position once, and again after a refused move, as offline.
    """

    def __init__(
        self,
        seat: FunctionSeat | ProcessSeat,
        row: CatalogueEntry,
        name: str,
        options: dict[str, Any],
    ) -> None:
        super().__init__(name)
        self._seat, self._row, self._options = seat, row, options
        if not self._reads_legal_moves:
            self.features = (VIEWS,)
        self._thread = ThreadPoolExecutor(1)
        """The bot thinks in a thread, so that the connection stays alive."""
        self._begun = self._out = False
        self._awaited, self._answers = False, 0
        """Whether the server waits for the bot, and the number of its answers in this step."""
        self._frame: dict[str, Any] = {}
        """The frame to answer; empty: none."""

    async def play(self, link: ServerLink) -> None:
        while self.result is None:
            for message in await link.take():
                self._see(message.data)
            if self.players and not self._begun:
                self._begun = True
                await self._ask_bot(link, partial(self._seat.begin, self._about(), START))
            if self._frame and not self.fault:
                await self._answer(link)
        about = {
            "places": self.result.places,
            "scores": self.result.scores,
            "causes": self.result.causes,
            "you": self.you,
        }
        await self._ask_bot(None, partial(self._seat.end, about, BEYOND))

    async def close(self) -> None:
        await self._in_thread(self._seat.close)
        self.log = self._seat.log
        self._thread.shutdown(wait=False)

    # Frames.

    def _see(self, frame: dict[str, Any]) -> None:
        if "snapshot" in frame:
            self.match, self.players = frame["match"], tuple(frame["players"])
        elif "event" in frame:
            self._note(msgspec.convert(frame["event"], AnyEvent, str_keys=True))
            view = frame["view"]
            asked = "timeLeft" in frame and view["you"] in view["toMove"]
            self._frame = frame if asked and self._awaited and not self._out else {}

    def _note(self, event: Event) -> None:
        self._headlines.add(event)
        match event:
            case Began() | Played():
                self._awaited, self._answers = True, 0
                self._out = self._out and not isinstance(event, Began)
            case Returned() if event.player == self.you:
                self._awaited = True
            case Refused():
                self._awaited = self._answers < self._seat.tries
            case Out() if event.player == self.you:
                self._out = True
            case Ended():
                self.result = event.result

    # The bot.

    @property
    def _reads_legal_moves(self) -> bool:
        """True for the random bot that plays any game without bots of its own."""
        return self._seat.trusted and self._row.name not in HOUSE

    async def _answer(self, link: ServerLink) -> None:
        frame, self._frame, self._awaited = self._frame, {}, False
        self._answers += 1
        view, limit = frame["view"], self._row.terms.pace.limit
        if self._reads_legal_moves:
            view |= {"legal": frame.get("legal", [])}
        seconds = UNLIMITED if limit is None else limit / 1000
        answer = await self._ask_bot(link, partial(self._seat.ask, view, seconds + BEYOND))
        if answer is not None:
            await link.send({"move": answer[0]})

    def _about(self) -> dict[str, Any]:
        game = with_options(self._row.game, self._options)
        about = {
            "game": game.name,
            "options": options_in(game),
            "players": self.players,
            "you": self.you,
        }
        return about | {"seed": self._seat.seed % SEED_SIZE, "limit": self._row.terms.pace.limit}

    async def _ask_bot(self, link: ServerLink | None, call: Callable[[], T]) -> T | None:
        """Return what the bot answers.

        If it fails, it resigns; None for the link: the match is over.
        """
        try:
            return await self._in_thread(call)
        except BotFault as fault:
            self.fault = self.fault or (
                str(fault) if link else f"after the match, in `end`: {fault}"
            )
        if link is not None:
            await link.send({"resign": reason_of(self.fault)})
        return None

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)
