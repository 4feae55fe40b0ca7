"""A Battlecube bot that is called by its URL: its answer is its move."""

import asyncio
from time import monotonic

from botdrome.match.events import Cause, Player
from botdrome.match.match import News
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.bot_connection import CallFailed, TooLate
from botdrome.server.network.connection import Traffic
from botdrome.server.network.peer import PEER
from botdrome.server.tables.table import Table
from botdrome.wire.cube.writer import CubeWriter, UnreadableAnswer, read_answer
from botdrome.wire.writers import MatchWriters, Standing


class CubeBot:
    """The player at a seat. It is called once for each step."""

    later = 0.0005
    """Seconds of work for one call: sending it and reading the answer."""

    def __init__(
        self,
        table: Table,
        player: Player,
        url: str,
        caller: BotCaller,
        limit: float,
        writer: CubeWriter,
    ) -> None:
        """`limit`: seconds for a whole call."""
        self._table, self._player, self._url = table, player, url
        self._caller, self._limit, self._writer = caller, limit, writer
        self.traffic = Traffic()
        self._loop = asyncio.get_running_loop()
        self._client = PEER.get()
        """The organiser, whose share of the server's time the calls use."""
        self._waited = self._network = 0.0
        """Seconds that the last call waited for the organiser's turn and for other calls, and was
        on the way.
        """
        self._waits = False
        """Whether the call waits for the organiser's turn."""
        self._held_since = 0.0
        self._body: list[bytes] | None = None
        """The body of the next call."""
        self._call: asyncio.Task[None] | None = None

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        self._messages = writers.join(player, self._writer.for_match)

    def notify(self, news: News, standing: Standing) -> list[bytes]:
        return self._messages.messages(self._player, news, standing)

    def tell(self, messages: list[bytes]) -> None:
        self._body = messages

    def call_if_awaited(self) -> None:
        if self._body is not None and self._player in self._table.match.awaited:
            if not self._waits and not (self._client is not None and self._client.let_wait(self)):
                self.serve_held()
            elif not self._waits:
                self._waits, self._held_since = True, self._loop.time()

    def serve_held(self) -> bool:
        """The organiser's turn has come: call the bot."""
        self._waited = self._loop.time() - self._held_since if self._waits else 0.0
        body, self._body, self._waits = self._body, None, False
        if body is not None and self._player in self._table.match.awaited:
            self._call = self._loop.create_task(self._ask(*body))
        return False

    def network_time(self) -> float:
        return self._network

    def delay(self) -> float:
        return self._waited

    def dismiss(self, failed: bool) -> None:
        if self._call is not None:
            self._call.cancel()

    async def _ask(self, question: bytes, tail: bytes = b"") -> None:
        body = b""
        self.traffic.went(1)
        try:
            said = await self._caller.post(self._url, question, self._limit, tail=tail)
            body, self._network = said.body, said.network
            self._waited += said.waited
            self.traffic.came()
            answer = read_answer(body)
        except TooLate as failure:
            self._fail("timeout", str(failure), str(failure), body)
        except CallFailed as failure:
            self._fail("disconnect", "there is no answer", str(failure), body)
        except UnreadableAnswer as failure:
            self._fail("unreadable", str(failure), str(failure), body)
        else:
            began = monotonic()
            self._table.submit(self._player, answer, body)
            if self._client is not None:
                self._client.charge(monotonic() - began)

    def _fail(self, cause: Cause, public: str, words: str, body: bytes) -> None:
        """The organiser and the bot's author see the address in `words`, spectators do not."""
        self._writer.reasons[self._player] = words
        self._table.note(self._player, body, words)
        self._table.expel(self._player, cause, public)
