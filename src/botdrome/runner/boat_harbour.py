"""Harbour: a boat trial for bots that come over TCP with the lines of Xterm Boat Sinker, one connection for each board."""

import asyncio
from collections.abc import Generator

from botdrome.runner.boat_lines import LineGame, offer
from botdrome.runner.boat_trial import Hunt, Trial, Watch
from botdrome.wire.boats.lines import FULL
from botdrome.wire.framing.streams import Lines

PATIENCE = 60.0
"""Seconds that a bot has for a line."""
LINGER = 2.0
"""Seconds that a bot has to hang up when its game is over."""
BACKLOG = 1 << 20
"""Bytes that a bot may leave unread."""
TICK = 0.5
"""Seconds after which the harbour says that there is nothing new."""


class Harbour:
    """Gives every bot that comes the next board, and tells how each was done."""

    def __init__(self, trial: Trial, watch: Watch | None = None) -> None:
        self._trial, self._watch = trial, watch
        self._waiting = list(reversed(range(trial.positions)))
        self._done: asyncio.Queue[Hunt] = asyncio.Queue()
        self._moorings: set[Mooring] = set()
        self.name = ""
        """What the bot that came last calls itself."""

    async def open(self, host: str, port: int) -> tuple[asyncio.Server, int]:
        """The server, and the port that it got."""
        server = await asyncio.get_running_loop().create_server(lambda: Mooring(self), host, port)
        return server, server.sockets[0].getsockname()[1]

    def next_game(self) -> LineGame | None:
        return LineGame(self._trial, self._waiting.pop(), self._watch) if self._waiting else None

    def full_offer(self) -> bytes:
        """Servers show their game first also to those for whom there is no seat."""
        return offer(self._trial, started=False, joined=2)

    def moored(self, mooring: "Mooring") -> None:
        self._moorings.add(mooring)

    def left(self, mooring: "Mooring") -> None:
        self._moorings.discard(mooring)

    def ended(self, game: LineGame) -> None:
        """A board that nobody has shot at yet is for the next who comes."""
        if game.begun:
            self.name = game.name
            self._done.put_nowait(game.hunt())
        else:
            self._waiting.append(game.number)

    async def next_hunt(self) -> Hunt | None:
        """None: nothing has ended for a while."""
        try:
            return await asyncio.wait_for(self._done.get(), TICK)
        except TimeoutError:
            return None

    async def close(self, server: asyncio.Server) -> None:
        """Those who have all that they were told may hang up themselves."""
        server.close()
        until = asyncio.get_running_loop().time() + LINGER
        while self._moorings and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.01)
        for mooring in list(self._moorings):
            mooring.abort()


class Mooring(asyncio.Protocol):
    """A connection, with the game on it."""

    def __init__(self, harbour: Harbour) -> None:
        self._harbour, self._lines = harbour, Lines()
        self._game: LineGame | None = None
        self._transport: asyncio.Transport
        self._limit: asyncio.TimerHandle | None = None
        self._told = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._game = transport, self._harbour.next_game()
        self._harbour.moored(self)
        if self._game is None:
            transport.write(self._lines.pack([self._harbour.full_offer(), FULL]))
            transport.close()
            return
        self._say([self._game.offer()])

    def data_received(self, data: bytes) -> None:
        game = self._game
        if game is None or game.over:
            return
        if game.begun:
            game.seconds += asyncio.get_running_loop().time() - self._told
        for line in self._lines.feed(data):
            if not game.over:
                self._say(game.hear(line))
        if game.over and not self._transport.is_closing():
            self._end(game)

    def _say(self, lines: list[bytes]) -> None:
        loop = asyncio.get_running_loop()
        self._transport.write(self._lines.pack(lines) if lines else b"")
        self._told = loop.time()
        self._wait(PATIENCE)
        if self._transport.get_write_buffer_size() > BACKLOG:
            self.abort("it does not read what it is told")

    def _wait(self, seconds: float) -> None:
        if self._limit:
            self._limit.cancel()
        self._limit = asyncio.get_running_loop().call_later(seconds, self.abort)

    def _end(self, game: LineGame) -> None:
        """No more is said; the bot is to hang up, so that it can read the last in peace."""
        self._harbour.ended(game)
        self._transport.write_eof()
        self._wait(LINGER)

    def abort(self, why: str = "") -> None:
        if self._game and not self._game.over:
            self._game.give_up(why or f"no line of it within {PATIENCE:g} s")
            self._harbour.ended(self._game)
        self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._limit:
            self._limit.cancel()
        self._harbour.left(self)
        if self._game and not self._game.over:
            self._game.give_up("it hung up")
            self._harbour.ended(self._game)


def harbour_hunts(
    harbour: Harbour, runner: asyncio.Runner, server: asyncio.Server, positions: int
) -> Generator[Hunt | None, None, None]:
    """The hunts as they end; None when nothing has ended for a while."""
    ended = 0
    try:
        while ended < positions:
            hunt = runner.run(harbour.next_hunt())
            ended += hunt is not None
            yield hunt
    finally:
        runner.run(harbour.close(server))
