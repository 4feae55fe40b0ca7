"""`botdrome mcp`: an MCP server whose tools let a language model play on a server."""

import asyncio
import inspect
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field, ValidationError

from botdrome import __version__
from botdrome.catalogue import CATALOGUE
from botdrome.cli.games import examples
from botdrome.cli.mcp_games import description, summary
from botdrome.cli.mcp_table import ModelTable
from botdrome.cli.server_bots import token_for
from botdrome.cli.terminal import REFUSED, CommandError, complain, format_called
from botdrome.client.join import JoinWish
from botdrome.client.kept_tokens import UnusableTokens
from botdrome.client.rest import CONFLICT, RestServer, ServerProblem
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.games.reading import shown
from botdrome.runner.tool_player import NotNow

WAIT = 20.0
MOST_WAIT = 55
"""Seconds. Clients often end a call after 60 s."""
INSTRUCTIONS = (
    "Play games against bots on a Botdrome server. Call games for the rules, join to start a "
    "match, then repeat: observe until"
    " it is your turn, act with a move like those of legal_moves. The match is over when the "
    "status is `over`."
)
UNLISTED = (
    "the server does not list the legal moves here: the game cannot list them, or there "
    "are "
    "more than 1,000"
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
            return description(format_called(game))
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
        with_options(format_called(game).game, options)
        name = f"{self._name}-{game}"
        try:
            token, _ = token_for(self._rest, game, name)
        except ServerProblem as problem:
            hint = (
                f" ({name}); start `botdrome mcp` with another --name"
                if problem.status == CONFLICT
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
            "example": examples(format_called(table.game))[-1][2],
        }

    async def act(self, move: Move) -> Answer:
        """Make a move. Returns whether the server accepts it; if not, why. Then call observe."""
        try:
            refusal = await self._playing().player.submit(move)
        except NotNow as problem:
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
        try:
            table.check_playing()
        except NotNow as problem:
            raise ToolError(str(problem)) from None
        return table

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if self._table is not None:
                await self._table.close()


def run_mcp(server: str, name: str) -> int:
    try:
        tools = ModelTools(RestServer(server), name)
    except ValueError as problem:
        complain(problem)
        return REFUSED
    host = ToolServer(
        "botdrome",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        lifespan=tools.lifespan,
    )
    for tool in (tools.games, tools.join, tools.observe, tools.legal_moves, tools.act, tools.leave):
        host.add_tool(tool, description=inspect.getdoc(tool))
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # the SDK reads in a thread, for which Python would wait
    asyncio.run(host.run_stdio_async())
    return 0
