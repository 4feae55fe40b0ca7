"""The public Python API: a client for servers."""

import asyncio
import secrets
from typing import Any

from botdrome.catalogue import CATALOGUE, restored
from botdrome.client.join import Join, JoinWish, RemotePlayer, Unwelcome
from botdrome.client.rest import RestServer, ServerProblem
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.library.matches import MatchResult
from botdrome.match.headline import headlines_of
from botdrome.match.record import BadRecord
from botdrome.runner.bot_version import bot_version
from botdrome.runner.function_player import FunctionPlayer
from botdrome.runner.remote_player import remote_player
from botdrome.runner.seats import FunctionSeat, check_bot
from botdrome.runner.table import SEED_SIZE


def connect(server: str) -> "ServerClient":
    """Return a client of a server, such as http://127.0.0.1:3000.

    Raise ServerProblem if this is not an address.
    """
    try:
        return ServerClient(RestServer(server))
    except ValueError as problem:
        raise ServerProblem(str(problem)) from None


class ServerClient:
    """A server.

    All methods raise ServerProblem if it refuses something or cannot be reached. Get one from
    `botdrome.connect`.
    """

    def __init__(self, rest: RestServer) -> None:
        self._rest = rest

    @property
    def url(self) -> str:
        return self._rest.url

    def register(self, game: str, name: str, owner: str = "") -> str:
        """Register a bot, and return its token. The server shows it only once."""
        return self._rest.register(game, name, owner)

    def play(
        self, bot: Any, game: str, name: str, token: str, *, games: int = 1,
        opponent: str | None = None, contest: str | None = None, players: int | None = None,
        version: str | None = None, **options: Any,
    ) -> list[MatchResult]:  # fmt: skip
        """Let a bot play matches, as `botdrome join` does, and return those that the server has
        stored.

        `bot` is one of `botdrome.play`, and the options are those of the game. In a contest it
        plays until the contest is over. `version` is that of the bot; by default the checksum of
        its file, if it is given as text.
        """
        if game not in CATALOGUE:
            raise BadOption(f"there is no game {game!r}; there are {', '.join(CATALOGUE)}")
        with_options(CATALOGUE[game].game, options)
        if isinstance(bot, str):
            check_bot(bot, game)
        if version is None:
            version = bot_version(bot) if isinstance(bot, str) else ""
        wish = JoinWish(game, name, token, contest, opponent, players, options, version=version)
        played = PlayedMatches()
        join = Join(
            self.url,
            wish,
            lambda: _player(bot, game, name, options),
            played,
            None if contest else games,
        )
        try:
            asyncio.run(join.run())
        except Unwelcome as problem:
            raise ServerProblem(str(problem)) from None
        return [self.match(match) for match in played.matches]

    def match(self, match: str) -> MatchResult:
        """Return the result of a match that is over, by its id."""
        data = self._rest.match_file(match)
        try:
            record, game = restored(data)
            reasons = headlines_of(record, game)
        except BadRecord as problem:
            raise ServerProblem(f"match {match}: {problem}") from None
        setup, result = record.setup, record.result
        if result is None:
            raise ServerProblem(f"match {match} is not over")
        seed = int(setup.seed, 16) if isinstance(setup.seed, str) else setup.seed
        return MatchResult(
            setup.game,
            seed,
            setup.names,
            result.places,
            result.scores,
            result.causes,
            reasons,
            data,
        )


class PlayedMatches:
    """Keeps the ids of the matches that a bot has played."""

    def __init__(self) -> None:
        self.matches: list[str] = []

    def say(self, words: str) -> None:
        """What happens between matches is not shown."""

    async def show_match(self, player: RemotePlayer) -> None:
        self.matches.append(player.match)


def _player(bot: Any, game: str, name: str, options: dict[str, Any]) -> RemotePlayer:
    if isinstance(bot, str):
        return remote_player(bot, CATALOGUE[game], name, options)
    seat = FunctionSeat(bot, trusted=False, seed=secrets.randbelow(SEED_SIZE))
    return FunctionPlayer(seat, CATALOGUE[game], name, options)
