"""TrialServer: a boat trial for bots that connect over TCP, once for each board."""

import asyncio
from collections.abc import Generator

from botdrome.offline.boat_line_game import LineGame, offer
from botdrome.offline.boat_trial import BoardRun, Trial, Watch
from botdrome.wire.boats.lines import FULL
from botdrome.wire.framing.streams import Lines

PATIENCE = 60.0
"""Seconds that a bot has for a line."""
LINGER = 2.0
"""Seconds that a bot has to close its connection after its game."""
BACKLOG = 1 << 20
"""Bytes that a bot may leave unread."""
TICK = 0.5
"""Seconds after which `next_run` returns without a run."""


class TrialServer:
    """Gives each connecting bot the next board, and collects the runs."""

    def __init__(self, trial: Trial, watch: Watch | None = None) -> None:
        self._trial, self._watch = trial, watch
        self._waiting = list(reversed(range(trial.positions)))
        self._done: asyncio.Queue[BoardRun] = asyncio.Queue()
        self._connections: set[TrialConnection] = set()
        self.name = ""
        """Name of the bot that connected last."""

    async def open(self, host: str, port: int) -> tuple[asyncio.Server, int]:
        """Listen, and return the server and its port."""
        server = await asyncio.get_running_loop().create_server(
            lambda: TrialConnection(self), host, port
        )
        return server, server.sockets[0].getsockname()[1]

    def next_game(self) -> LineGame | None:
        return LineGame(self._trial, self._waiting.pop(), self._watch) if self._waiting else None

    def full_offer(self) -> bytes:
        """The offer for bots for which no board is left."""
        return offer(self._trial, started=False, joined=2)

    def opened(self, connection: "TrialConnection") -> None:
        self._connections.add(connection)

    def left(self, connection: "TrialConnection") -> None:
        self._connections.discard(connection)

    def ended(self, game: LineGame) -> None:
        """Take the run, or give a board that was not begun to the next bot."""
        if game.begun:
            self.name = game.name
            self._done.put_nowait(game.run())
        else:
            self._waiting.append(game.number)

    async def next_run(self) -> BoardRun | None:
        """None: no game has ended for half a second."""
        try:
            return await asyncio.wait_for(self._done.get(), TICK)
        except TimeoutError:
            return None

    async def close(self, listener: asyncio.Server) -> None:
        """Stop listening, and give bots 2 s to close their connections."""
        listener.close()
        until = asyncio.get_running_loop().time() + LINGER
        while self._connections and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.01)
        for connection in list(self._connections):
            connection.abort()


class TrialConnection(asyncio.Protocol):
    """A bot's connection and its game."""

    def __init__(self, server: TrialServer) -> None:
        self._server, self._lines = server, Lines()
        self._game: LineGame | None = None
        self._transport: asyncio.Transport
        self._limit: asyncio.TimerHandle | None = None
        self._told = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._game = transport, self._server.next_game()
        self._server.opened(self)
        if self._game is None:
            transport.write(self._lines.pack([self._server.full_offer(), FULL]))
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
            self.abort("it reads too slowly")

    def _wait(self, seconds: float) -> None:
        if self._limit:
            self._limit.cancel()
        self._limit = asyncio.get_running_loop().call_later(seconds, self.abort)

    def _end(self, game: LineGame) -> None:
        """Send no more. The bot closes, after it has read the last lines."""
        self._server.ended(game)
        self._transport.write_eof()
        self._wait(LINGER)

    def abort(self, why: str = "") -> None:
        if self._game and not self._game.over:
            self._game.give_up(why or f"no line of it within {PATIENCE:g} s")
            self._server.ended(self._game)
        self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._limit:
            self._limit.cancel()
        self._server.left(self)
        if self._game and not self._game.over:
            self._game.give_up("it closed the connection")
            self._server.ended(self._game)


def tcp_runs(
    server: TrialServer, runner: asyncio.Runner, listener: asyncio.Server, positions: int
) -> Generator[BoardRun | None, None, None]:
    """Yield the runs as they end, and None when none has ended for half a second."""
    ended = 0
    try:
        while ended < positions:
            run = runner.run(server.next_run())
            ended += run is not None
            yield run
    finally:
        runner.run(server.close(listener))
