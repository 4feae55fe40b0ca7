"""`botdrome mcp`: an MCP server whose tools let a language model play on a server."""

import asyncio
import inspect
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field, ValidationError

from botdrome.bots.house import house_bots
from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.cli.games import examples
from botdrome.cli.join import GONE, is_taken, token_for
from botdrome.cli.terminal import CommandError, game_called
from botdrome.client.join import Join, JoinWish, RemotePlayer, Unwelcome
from botdrome.client.kept_tokens import UnusableTokens
from botdrome.client.rest import RestServer, ServerProblem
from botdrome.games.game import BadOption
from botdrome.games.options import options_of, with_options
from botdrome.games.reading import shown
from botdrome.offline.remote_player import CannotAct, ToolPlayer
from botdrome.version import __version__

RULES = {
    game: " ".join(rules.split())
    for game, rules in {
        "noughts-and-crosses": """
            Three of your marks in a row, a column or a diagonal win. Seat 0 has X and
            starts. A move names your mark and a free space [row, column], both from 0 to 2.
        """,
        "bumblebots": """
            Both players order their drones over a board of hexes, at the same time, tick by
            tick. A drone on a flower (2) claims it: one point, and the drone is used up.
            Walls (1) stop drones; a zone (5: seat 0, 6: seat 1) stops those of the other
            player. Directions, as [row, column] steps: UL [-1, -1], UR [-1, 0], R [0, 1],
            DR [1, 1], DL [1, 0], L [0, -1]. A move gives each drone one direction; a drone
            without an order stays. Legal moves list single orders: combine them in one
            move. The most flowers win.
        """,
        "gomoku": """
            Five or more of your stones (option win_length) side by side win: across, down
            or on a diagonal. Seat 0 has X and starts. A move is a free cell: x is the
            column, y the row, both from 0. A match has two boards, and the other player
            starts on the second.
        """,
        "battleship": """
            Phase placement: place every boat once, as a straight run of its letter, on one
            text with all squares row by row (`.` is water); legal moves are only a few
            examples. Phase shooting: one shot at a square of another seat, x is the column,
            y the row, both from 0. On the boards X is a hit, 0 a miss. Every hit is a
            point; the most hits win.
        """,
        "battlecube": """
            Survive in a cube of cells x, y, z. All players answer at once with a list of
            exactly `tasks` tasks: MOVE with a direction (+X, -X, +Y, -Y, +Z, -Z), BOMB with
            the x, y, z of a cell, or NOOP. You lose if you leave the cube, stand on a bomb
            or share a cell. Bombs stay for ever. The last survivor wins.
        """,
        "bomberman": """
            All players act at once, round by round: MOVE_UP, MOVE_DOWN, MOVE_LEFT,
            MOVE_RIGHT, PLACE_BOMB or WAIT. Places are [row, column], row 0 at the top; `#`
            is a wall, `+` a crate, `.` free. A bomb burns its tile and some tiles in each
            of the four directions when its fuse ends; walls and crates stop the flames.
            Users on burning tiles die, also by their own bombs. The last survivor wins.
        """,
    }.items()
}


def summary(row: CatalogueEntry) -> dict[str, Any]:
    players = row.game.players
    house = [f"house:{bot}" for bot in house_bots(row.name)]
    return {
        "game": row.name,
        "players": [players[0], players[-1]],
        "rules": RULES.get(row.name, ""),
        "house_bots": house,
    }


def description(row: CatalogueEntry) -> dict[str, Any]:
    options = [
        {"name": option.name, "default": option.default, "meaning": option.description}
        for option in options_of(row.game).values()
    ]
    found = [{"when": label, "view": view, "move": move} for label, view, move in examples(row)]
    return summary(row) | {"options": options, "examples": found}


# ModelTable: the match of a language model, which goes on between the calls of its tools.


class ModelTable:
    def __init__(self, server: str, wish: JoinWish) -> None:
        self._wish, self.player = wish, ToolPlayer(wish.name)
        self._notes: list[str] = []
        self._problem = ""
        self._task = asyncio.create_task(
            self._play(Join(server, wish, lambda: self.player, self, games=1))
        )
        self._task.add_done_callback(lambda _: self.player.notify())

    async def _play(self, join: Join) -> None:
        try:
            await join.run()
        except Unwelcome as problem:
            self._problem = str(problem)

    # The display of Join.

    def say(self, words: str) -> None:
        self._notes.append(words)

    async def show_match(self, player: RemotePlayer) -> None:
        if player.ending is None:
            self._problem = GONE

    # What the tools need.

    @property
    def game(self) -> str:
        return self._wish.game

    @property
    def begun(self) -> bool:
        return bool(self.player.match)

    @property
    def over(self) -> bool:
        return self.player.result is not None or self._task.done()

    async def wait(self, seconds: float, begin: bool = False) -> None:
        """Wait until it is the model's turn or all is over; `begin`: until the match begins."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.player.until(
                    lambda: self.over or (self.begun if begin else self.player.to_act)
                )

    def check_playing(self) -> None:
        """Raise ToolError unless a match goes on."""
        if self.over:
            raise ToolError(f"the match is over: {self._outcome}; join starts another one")
        if not self.begun:
            raise ToolError("the match has not begun; observe waits for it")

    async def leave(self) -> None:
        """Resign, or stop waiting."""
        if self.begun and not self.over:
            with suppress(CannotAct):
                await self.player.resign()
        await self.close()
        self._problem = self._problem or (
            "you left the match" if self.begun else "you stopped waiting"
        )

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    # What the model sees.

    @property
    def _outcome(self) -> str:
        return self.player.ending.headline if self.player.ending else self._problem

    @property
    def _status(self) -> str:
        if self.over:
            return "over"
        if not self.begun:
            return "waiting for the match to begin"
        if self.player.out:
            return "you are out; the others play on"
        return "your turn" if self.player.to_act else "not your turn"

    def look(self) -> dict[str, Any]:
        """Return the state of the match, with all that has happened since the last look."""
        notes, self._notes = self._notes, []
        seen: dict[str, Any] = {
            "status": self._status,
            "game": self._wish.game,
            "your_name": self._wish.name,
            "notes": notes,
        }
        if self.begun:
            seen |= self._match()
        if self.over:
            seen["headline"] = self._outcome
        return seen

    def _match(self) -> dict[str, Any]:
        player = self.player
        events, dropped = player.take_events()
        seen = {
            "match": player.match,
            "players": player.players,
            "you": player.you,
            "view": player.view,
            "events": events,
        }
        if dropped:
            seen["dropped_events"] = dropped
        if not self.over:
            seen |= {"to_move": player.to_move, "seconds_left": player.seconds_left}
        if player.result is not None:
            result = player.result
            seen["result"] = {
                "places": result.places,
                "scores": result.scores,
                "causes": result.causes,
            }
        return seen


WAIT = 20.0
MOST_WAIT = 55
"""Seconds. Clients often end a call after 60 s."""
INSTRUCTIONS = (
    "Play games against bots on a Botdrome server. Call games for the rules, join to start a "
    "match, then repeat: observe until it is your turn, act with a move like those of legal_moves. "
    "The match is over when the status is `over`."
)
UNLISTED = (
    "the server does not list the legal moves here: the game cannot list them, or there are more "
    "than 1,000"
)

GameName = Annotated[str, Field(description="The name of the game, as the tool games lists it.")]
Opponent = Annotated[
    str, Field(description="The name of a bot on the server or house:NAME. Empty: any player.")
]
Pace = Annotated[
    Literal["stepped", "slow", "usual"],
    Field(
        description="stepped: up to 300 s for each move. slow: ticks of 2 s. usual: as for bots, "
        "often too fast for a model."
    ),
]
Options = Annotated[
    dict[str, Any] | None, Field(description="Options of the game that differ from the default.")
]
Wait = Annotated[float, Field(ge=0, le=MOST_WAIT, description="The most seconds to wait.")]
Move = Annotated[
    Any, Field(description="The move in JSON, in the form of the examples and of legal_moves.")
]
Answer = dict[str, Any]


class ToolServer(MCPServer):
    """The SDK's server, with one line about wrong arguments in place of pydantic's many."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as problem:
            if not isinstance(problem.__cause__, ValidationError):
                raise
            raise ToolError(
                "; ".join(_words(error) for error in problem.__cause__.errors())
            ) from None


def _words(error: Any) -> str:
    """Describe a wrong argument: `wait: Input should be a valid number, not 'long'`."""
    place = ".".join(map(str, error["loc"]))
    return (
        f"{place} is missing"
        if error["type"] == "missing"
        else f"{place}: {error['msg']}, not {shown(error['input'])}"
    )


class ModelTools:
    """The tools. Their docstrings are for the model."""

    def __init__(self, rest: RestServer, name: str) -> None:
        self._rest, self._name = rest, name
        self._table: ModelTable | None = None
        self._joining = asyncio.Lock()

    async def games(
        self, game: Annotated[str, Field(description="Only this game, in full.")] = ""
    ) -> Answer:
        """List the games with their rules and house bots.

        With a game: also its options, and examples of views and moves.
        """
        if not game:
            return {"games": [summary(row) for row in CATALOGUE.values()]}
        try:
            return description(game_called(game))
        except CommandError as problem:
            raise ToolError(str(problem)) from None

    async def join(
        self,
        game: GameName,
        opponent: Opponent = "",
        pace: Pace = "stepped",
        options: Options = None,
        wait: Wait = WAIT,
    ) -> Answer:
        """Start a match.

        You play one match at a time. Waits until the match begins, and returns what observe
        returns.
        """
        async with self._joining:
            if self._table is not None and not self._table.over:
                raise ToolError(
                    "you have a match already: end it with act, or give it up with leave"
                )
            try:
                wish = await asyncio.to_thread(self._wish, game, opponent, pace, options or {})
            except (BadOption, CommandError, UnusableTokens) as problem:
                raise ToolError(str(problem)) from None
            if self._table is not None:
                await self._table.close()
            table = self._table = ModelTable(self._rest.url, wish)
        await table.wait(wait, begin=True)
        seen = table.look()
        if table.over and not table.begun:
            raise ToolError(seen["headline"])
        return seen

    def _wish(self, game: str, opponent: str, pace: str, options: dict[str, Any]) -> JoinWish:
        with_options(game_called(game).game, options)
        name = f"{self._name}-{game}"
        try:
            token, _ = token_for(self._rest, game, name)
        except ServerProblem as problem:
            hint = (
                f" ({name}); start `botdrome mcp` with another --name"
                if is_taken(self._rest, name, problem)
                else ""
            )
            raise CommandError(f"{problem}{hint}") from None
        return JoinWish(game, name, token, opponent=opponent or None, options=options, pace=pace)

    async def observe(self, wait: Wait = WAIT) -> Answer:
        """Look at your match: your view, whose turn it is, the time left, the events since the last
        look, and the result.

        Waits first until it is your turn or the match is over. `players` lists the names by player
        number, as in events; `view.you` and `view.toMove` are seats.
        """
        table = self._current()
        await table.wait(wait)
        return table.look()

    async def legal_moves(self) -> Answer:
        """List your legal moves, if the server lists them; otherwise an example of a move."""
        table = self._playing()
        if not table.player.to_act:
            raise ToolError("it is not your turn; observe waits for it")
        moves = table.player.legal
        if moves is not None:
            return {"moves": moves}
        return {
            "moves": None,
            "why": UNLISTED,
            "example": examples(game_called(table.game))[-1][2],
        }

    async def act(self, move: Move) -> Answer:
        """Make a move. Returns whether the server accepts it; if not, why. Then call observe."""
        try:
            refusal = await self._playing().player.submit(move)
        except CannotAct as problem:
            raise ToolError(str(problem)) from None
        return {"accepted": False, "why": refusal} if refusal else {"accepted": True}

    async def leave(self) -> Answer:
        """Give up your match, or stop waiting for one. Returns what observe returns."""
        table = self._current()
        await table.leave()
        return table.look()

    def _current(self) -> ModelTable:
        if self._table is None:
            raise ToolError("you have no match; join starts one")
        return self._table

    def _playing(self) -> ModelTable:
        table = self._current()
        table.check_playing()
        return table

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if self._table is not None:
                await self._table.close()


def tool_server(server: RestServer, name: str) -> ToolServer:
    tools = ModelTools(server, name)
    own = ToolServer(
        "botdrome",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        lifespan=tools.lifespan,
    )
    for tool in (tools.games, tools.join, tools.observe, tools.legal_moves, tools.act, tools.leave):
        own.add_tool(tool, description=inspect.getdoc(tool))
    return own


def run_mcp(server: RestServer, name: str) -> None:
    # the SDK reads in a thread, for which Python would wait
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(tool_server(server, name).run_stdio_async())
