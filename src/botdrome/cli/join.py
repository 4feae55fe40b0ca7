"""Bots on a server: `botdrome join` and `botdrome bots`."""

import asyncio
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout, suppress
from itertools import count
from pathlib import Path
from typing import Annotated, Any

from msgspec.structs import replace
from rich.text import Text
from typer import Argument, Option

from botdrome.catalogue import CATALOGUE, restored
from botdrome.cli.options import (
    BOT_HELP,
    LOCAL,
    MOST_LISTED,
    Game,
    GameOptions,
    Memory,
    Sandbox,
    Server,
    Token,
    game_and_bot,
    game_names,
    isolation_of,
)
from botdrome.cli.play import table_size
from botdrome.cli.sources import server_at
from botdrome.cli.terminal import (
    INTERRUPTED,
    CommandError,
    Terminal,
    command,
    game_called,
    note,
    on_signal,
    print_columns,
    read_options,
    say,
)
from botdrome.client.join import Ending, Join, JoinWish, RemotePlayer, Unwelcome
from botdrome.client.kept_tokens import (
    KeptBot,
    Servers,
    UnusableTokens,
    changing_tokens,
    kept_bots,
    kept_owners,
    owners_file,
    tokens_file,
)
from botdrome.client.program import CannotStart
from botdrome.client.rest import CONFLICT, FORBIDDEN, RestServer, ServerProblem, segment
from botdrome.client.terminal_text import shown
from botdrome.games.options import with_options
from botdrome.games.reading import plural
from botdrome.match.headline import headlines_of
from botdrome.match.record import BadRecord
from botdrome.offline.bot import parts_of
from botdrome.offline.entrants import bot_version
from botdrome.offline.isolation import Isolation, files_of_entrant
from botdrome.offline.project import PROGRAM, project_name, project_options
from botdrome.offline.remote_player import remote_player
from botdrome.offline.seats import check_bot, is_python

ALIKE = "looks like it: "
"""The server's words before the name that a new one looks like."""
LONGEST_BASE = 58
"""Letters of a taken name that begin the suggested one."""
LONGEST_NAME = 64
USUAL_FILES = ("bot", "main")
"""Names of files that many projects have, without the ending."""
BUILD_FOLDERS = ("dist", "out", "build", "bin", "src", "target", "release", "debug")


@command(CannotStart, ServerProblem, Unwelcome, UnusableTokens)
def join(
    words: Annotated[
        list[str],
        Argument(
            metavar="[GAME] BOT",
            help=f"The game, unless the bot is registered for one, and the bot: {BOT_HELP}.",
            show_default=False,
            autocompletion=game_names,
        ),
    ],
    server: Server = LOCAL,
    name: Annotated[
        str,
        Option(help="The bot's name on the server. \\[default: its file, or the folder of bot.py]"),
    ] = "",
    against: Annotated[
        str | None, Option(help="Play only against this bot: a name, or house:NAME.")
    ] = None,
    ladder: Annotated[bool, Option("--ladder", help="Play on the ladder of the server.")] = False,
    contest: Annotated[str | None, Option(help="Play in this contest, until it is over.")] = None,
    contest_password: Annotated[
        str, Option(help="The password of the contest, if it has one.")
    ] = "",
    token: Token = "",
    version: Annotated[
        str | None, Option(help="The bot's version. \\[default: the checksum of its file]")
    ] = None,
    games: Annotated[int | None, Option(min=1, help="Stop after this many matches.")] = None,
    players: Annotated[int | None, Option(min=1, help="Seats at the table. \\[default: 2]")] = None,
    option: GameOptions = None,
    sandbox: Sandbox = False,
    memory: Memory = None,
) -> int:
    """Let a bot play on a server, match after match.

    A new bot is registered first, and its token is kept.

    Ends when the contest is over, after --games matches, or on Ctrl-C. Reconnects after a lost
    connection.

    Ends with status 0, 1 if the bot cannot start or the server refuses it, 2 for a wrong command,
    or 130 after Ctrl-C.
    """
    given, bot = game_and_bot(words)
    rest, name = server_at(server), name or bot_name(bot)
    options = read_options(option) or ({} if contest else project_options(bot))
    isolation = isolation_of(sandbox=sandbox, memory=memory)
    if sandbox:
        _check_tokens_are_hidden(bot)
    game = given or _registered_game(rest, name, bot, isolation)
    row = game_called(game)
    if players is not None:
        table_size(row, players, players)
    with_options(row.game, options)
    known = bot_version(bot) if version is None else version
    wish = JoinWish(
        game, name, token, contest, against, players, options, version=known, ladder=ladder
    )
    check_bot(bot, game, isolation)
    if not token:
        wish = _with_token(wish, rest)
    if contest_password:
        _enter_contest(wish, contest_password, rest)
    _check_opponent(wish, rest)
    results = Results(rest, name)
    player = lambda: remote_player(bot, row, name, options, isolation)  # noqa: E731
    try:
        with redirect_stdout(sys.stderr):  # what a bot prints is no result
            stopped = asyncio.run(
                _until_stopped(Join(rest.url, wish, player, results, games), results)
            )
    finally:
        results.show_summary()
    return INTERRUPTED if stopped else 0


@command(ServerProblem, UnusableTokens)
def register(
    game: Game,
    name: Annotated[str, Argument(help="The name of the new bot.")],
    server: Server = LOCAL,
    owner: Annotated[
        str, Option(help="Your name, shown beside the bot. \\[default: as in your class]")
    ] = "",
    language: Annotated[str, Option(help="The language it is written in, for its page.")] = "",
) -> None:
    """Register a bot on a server, print its token, and keep the token for `botdrome join` and
    `botdrome why`.
    """
    game_called(game)
    rest = server_at(server)
    try:
        with changing_tokens() as servers:
            token = registered(rest, game, name, owner, language)
            servers.setdefault(rest.url, {})[name] = KeptBot(game, token)
    except ServerProblem as problem:
        raise ServerProblem(name_problem(rest, name, problem, f"bots register {game}")) from None
    say(token)
    note(f"{name} is registered for {game}. Its token is kept in {tokens_file()}.")


@command(ServerProblem, UnusableTokens, name="list")
def list_bots(
    game: Annotated[
        str | None, Argument(help="Only the bots of this game.", autocompletion=game_names)
    ] = None,
    server: Annotated[
        str | None, Option(help="List the bots of this server, with their ratings.")
    ] = None,
) -> None:
    """List your bots, whose tokens are kept on this machine; with --server the bots of
    that server.
    """
    games = list(CATALOGUE) if game is None else [game_called(game).name]
    kept, rest = kept_bots(), server_at(server) if server else None
    rows = list(
        _server_rows(rest, kept.get(rest.url, {}), games) if rest else _own_rows(kept, games)
    )
    if len(rows) > 1:
        print_columns(rows)
    else:
        note("There are no such bots. `botdrome bots register GAME NAME` registers one.")


def _check_tokens_are_hidden(bot: str) -> None:
    """Raise CommandError if a sandboxed bot could read the kept tokens."""
    if not bot.startswith("house:") and files_of_entrant(bot).show(tokens_file()):
        raise CommandError(
            f"the bot could read {tokens_file()} in its sandbox; set XDG_CONFIG_HOME to a folder "
            "that it does not see"
        )


def _registered_game(rest: RestServer, name: str, bot: str, isolation: Isolation) -> str:
    """Return the game that a bot is registered for."""
    kept = kept_bots().get(rest.url, {}).get(name)
    if kept is None:
        if is_python(bot):
            check_bot(bot, "", isolation)  # a wrong file is told first
        raise CommandError(
            f"{name} is not registered here yet: name its game, as in `botdrome join GAME {bot}`; "
            "`botdrome games` lists them"
        )
    return kept.game


def token_for(server: RestServer, game: str, name: str) -> tuple[str, bool]:
    """Return the kept token of a bot, or register the bot; and whether it is new."""
    with changing_tokens() as servers:
        bots = servers.setdefault(server.url, {})
        kept = bots.get(name)
        if kept is not None and server.has_bot(name):
            if kept.game != game:
                raise CommandError(
                    f"{name} is registered for {kept.game}; choose another name for {game} with "
                    "--name"
                )
            return kept.token, False
        bots[name] = KeptBot(game, registered(server, game, name, ""))
        return bots[name].token, True


def registered(server: RestServer, game: str, name: str, owner: str, language: str = "") -> str:
    """Register a bot and return its token: without an owner, for the user's participant of a class
    on this server, if there is one.
    """
    kept = None if owner else kept_owners().get(server.url)
    try:
        return server.register(game, name, owner, kept.token if kept else "", language)
    except ServerProblem as problem:
        if kept is None or problem.status != FORBIDDEN:
            raise
        raise ServerProblem(
            f"{problem}. The token of {kept.name} in the class {kept.class_name} is kept in "
            f"{owners_file()}; remove it there to register bots without the class",
            FORBIDDEN,
        ) from None


def is_taken(server: RestServer, name: str, problem: ServerProblem) -> bool:
    """Whether a registration was refused for its name, and not because a class is closed."""
    return problem.status == CONFLICT and (ALIKE in str(problem) or server.has_bot(name))


def name_problem(server: RestServer, name: str, problem: ServerProblem, option: str) -> str:
    """Return the words of a problem; if the name is taken, with one that is free, as the value of
    this option.
    """
    if not is_taken(server, name, problem):
        return str(problem)
    alike = str(problem).partition(ALIKE)[2]
    others = (f"{(alike or name)[:LONGEST_BASE]}-{number}" for number in count(2))
    free = next(other for other in others if not server.has_bot(other))
    taken = f"the name {name} is taken on {server.url}" + (
        f": it looks like {alike}" if alike else ""
    )
    return f"{taken}; choose another one, for example: {option} {shlex.quote(free)}"


def _with_token(wish: JoinWish, rest: RestServer) -> JoinWish:
    try:
        token, new = token_for(rest, wish.game, wish.name)
    except ServerProblem as problem:
        raise ServerProblem(name_problem(rest, wish.name, problem, "--name")) from None
    if new:
        note(f"{wish.name} is registered on {rest.url} for {wish.game}")
    return replace(wish, token=token)


def _enter_contest(wish: JoinWish, password: str, rest: RestServer) -> None:
    if wish.contest is None:
        raise CommandError("--contest-password needs --contest, the contest that has it")
    rest.get(
        f"contests/{segment(wish.game)}/{segment(wish.contest)}",
        wish.token,
        {"bot": wish.name, "password": password},
    )


def _check_opponent(wish: JoinWish, rest: RestServer) -> None:
    """Say that a challenge may wait for long."""
    if wish.opponent and not wish.opponent.startswith("house:"):
        known = rest.has_bot(wish.opponent)
        unknown = "" if known else f"no bot is registered as {wish.opponent} on {rest.url}; "
        note(f"{unknown}the challenge waits until {wish.opponent} is there; Ctrl-C ends the wait")


def bot_name(entrant: str) -> str:
    """Return a name for a bot that its user has not named: that of its file, or of its project if
    the file has a usual name.
    """
    if name := project_name(entrant):
        return name
    kind, _, rest = entrant.partition(":")
    if kind == "house":
        return f"my {rest}"
    if PROGRAM.match(entrant):
        files = [word for word in shlex.split(rest) if not word.startswith("-")]
        return _file_name(files[-1])[:LONGEST_NAME] if files else entrant
    prefix, place, function = parts_of(entrant)
    return (prefix + ":".join(filter(None, (_file_name(place), function))))[:LONGEST_NAME]


def _file_name(file: str) -> str:
    """Return the name of a file, or of the folder of its project."""
    path = Path(file)
    if path.stem.lower() not in USUAL_FILES:
        return path.name
    folders = [
        folder.name
        for folder in path.absolute().parents
        if folder.name.lower() not in BUILD_FOLDERS
    ]
    return folders[0] or path.name


def _own_rows(kept: Servers, games: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield "server", "game", "bot"
    for url, bots in sorted(kept.items()):
        yield from (
            (url, bot.game, name) for name, bot in sorted(bots.items()) if bot.game in games
        )


def _server_rows(
    rest: RestServer, own: dict[str, Any], games: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """The bots of each game, best first; a star marks the user's own."""
    yield "game", "rating", "95 %", "games", "", "bot"
    for game in games:
        for line in rest.get(f"games/{segment(game)}/leaderboard?limit={MOST_LISTED}")["bots"]:
            low, high = line["low"], line["high"]
            interval = "" if low is None or high is None else f"{low:.0f}-{high:.0f}"
            rating = "" if line["rating"] is None else f"{line['rating']:.0f}"
            rating = "provisional" if rating and line["provisional"] else rating
            apart = f" (group {line['group'] + 1}, not comparable)" if line["group"] else ""
            own_mark = "*" if line["name"] in own else ""
            yield game, rating, interval, str(line["games"]), own_mark, line["name"] + apart


COLOURS = {"won": "green", "drawn": "yellow", "lost": "red", "unfinished": "magenta"}
GONE = "the connection was lost, and there was no return"


class Results:
    """Shows the user what happens: results on standard output, all else on standard error."""

    def __init__(self, rest: RestServer, name: str) -> None:
        self._rest, self._name = rest, name
        self._counts: Counter[str] = Counter()
        self._failed = 0
        self._output = Terminal(file=sys.stdout)

    def say(self, words: str) -> None:
        note(shown(words), "dim")

    async def show_match(self, player: RemotePlayer) -> None:
        if player.log:
            note(player.log.rstrip("\n"), "dim")
        ending = (
            player.ending
            or await asyncio.to_thread(self._looked_up, player.match)
            or Ending((), GONE)
        )
        outcome = self._outcome(ending, player.players)
        self._counts[outcome] += 1
        opponents = ", ".join(name for name in player.players if name != self._name)
        line = Text(f"{player.match}  {shown(opponents)}  ").append(
            shown(ending.headline), COLOURS.get(outcome, "")
        )
        self._output.print(line, soft_wrap=True)
        if player.fault:
            self._failed += 1
            note(f"  {self._name} failed: {shown(player.fault)}", "red")

    def _outcome(self, ending: Ending, players: tuple[str, ...]) -> str:
        if not ending.places or ending.headline.startswith("aborted"):
            return "unfinished"
        if ending.places[players.index(self._name)] > 1:
            return "lost"
        return "won" if ending.places.count(1) == 1 else "drawn"

    def show_summary(self) -> None:
        counts, failed, total = self._counts, self._failed, self._counts.total()
        parts = [f"{counts[outcome]} {outcome}" for outcome in COLOURS if counts[outcome]]
        matches = plural(total, "match", "es")
        failures = f"; the bot failed in {failed}" if failed else ""
        self._output.print(
            Text(f"{self._name}: {', '.join([matches, *parts])}{failures}", "bold"), soft_wrap=True
        )

    def _looked_up(self, match: str) -> Ending | None:
        """Return the ending from the match file; None if the match is not over."""
        try:
            record, game = restored(self._rest.match_file(match))
        except (ServerProblem, BadRecord):
            return None
        you = record.setup.names.index(self._name)
        return (
            Ending(record.result.places, headlines_of(record, game)[you]) if record.result else None
        )


async def _until_stopped(join: Join, results: Results) -> bool:
    """Run until the end, and return whether the user stopped it.

    The first Ctrl-C lets a match end, a second one does not.
    """
    task = asyncio.ensure_future(join.run())
    stopped = False

    def stop(at_once: bool) -> None:
        nonlocal stopped
        if at_once or stopped or not join.playing:
            task.cancel()
        else:
            join.stop_after_match()
            results.say("stopping after this match; press Ctrl-C again to leave it now")
        stopped = True

    on_signal(signal.SIGINT, stop, False)
    on_signal(signal.SIGTERM, stop, True)
    with suppress(asyncio.CancelledError):
        await task
    return stopped
