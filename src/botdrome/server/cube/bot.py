"""A Battlecube bot that has a URL: it is told the state, is called with it when its turn comes, and its answer is its move."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Protocol

from botdrome.match.course import News
from botdrome.match.events import Cause, Player
from botdrome.server.calling.answer import BotAnswer, CallFailed, TooLate
from botdrome.server.network.peer import PEER
from botdrome.server.network.traffic import Traffic
from botdrome.server.tables.table import Table
from botdrome.wire.cube.calls import Unreadable, answer_in
from botdrome.wire.standing import Standing
from botdrome.wire.writers import MakeWriter, MatchWriters


class Calling(Protocol):
    async def post(self, url: str, body: bytes, limit_seconds: float, *, tail: bytes) -> BotAnswer:
        """The answer, whatever its status, or CallFailed. `tail` is the rest of the body."""


class CubeBot:
    """The listener at a seat. It asks once for each step, and only when the step is open and its organiser has its turn."""

    later = 0.0005
    """Seconds of work for one call: sending it and reading the answer."""

    def __init__(
        self,
        table: Table,
        player: Player,
        url: str,
        calling: Calling,
        limit: float,
        explain: Callable[[Player, str], None],
        make_writer: MakeWriter,
    ) -> None:
        """`limit`: seconds for a whole call. `explain` is told why there is no answer, in words that not everybody may see."""
        self._table, self._player, self._url = table, player, url
        self._calling, self._limit, self._explain = calling, limit, explain
        self._make_writer = make_writer
        self.traffic = Traffic()
        self._loop = asyncio.get_running_loop()
        self._client = PEER.get()
        """For whom the bot is called: the organiser."""
        self._waits = False
        """For the organiser's turn."""
        self._question: tuple[bytes, bytes] | None = None
        """A body in two parts, of which the second may be everybody's."""
        self._call: asyncio.Task[None] | None = None

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        self._writer = writers.join(player, self._make_writer)

    def notify(self, news: News, standing: Standing) -> list[bytes]:
        return self._writer.messages(self._player, news, standing)

    def tell(self, messages: list[bytes]) -> None:
        self._question = messages[0], b"".join(messages[1:])

    def look(self) -> None:
        if self._question is not None and self._player in self._table.match.awaited:
            if not self._waits and not (self._client is not None and self._client.let_wait(self)):
                self.serve_held()
            else:
                self._waits = True

    def serve_held(self) -> bool:
        """Its turn has come: call the bot."""
        question, self._question, self._waits = self._question, None, False
        if question is not None and self._player in self._table.match.awaited:
            self._call = self._loop.create_task(self._ask(*question))
        return False

    def dismiss(self, failed: bool) -> None:
        if self._call is not None:
            self._call.cancel()

    async def _ask(self, question: bytes, tail: bytes) -> None:
        body = b""
        self.traffic.went(1)
        try:
            body = (await self._calling.post(self._url, question, self._limit, tail=tail)).body
            self.traffic.came()
            answer = answer_in(body)
        except TooLate as failure:
            self._fail("timeout", str(failure), str(failure), body)
        except CallFailed as failure:
            self._fail("disconnect", "there is no answer", str(failure), body)
        except Unreadable as failure:
            self._fail("unreadable", str(failure), str(failure), body)
        else:
            began = monotonic()
            self._table.submit(self._player, answer, body)
            if self._client is not None:
                self._client.charge(monotonic() - began)

    def _fail(self, cause: Cause, public: str, words: str, body: bytes) -> None:
        """Addresses are for the organiser and the flight record, not for everybody who watches."""
        self._explain(self._player, words)
        self._table.note(self._player, body, words)
        self._table.expel(self._player, cause, public)
