"""Arguments and options that several commands share, and the words that a shell completes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Struct
from typer import Argument, Option

from botdrome.catalogue import CATALOGUE
from botdrome.cli.terminal import CommandError, OptionsOf, expand_options, game_called

if TYPE_CHECKING:
    from botdrome.offline.isolation import Isolation

MOST_LISTED = 1000
"""Entries that are asked of a server."""
LOCAL = "http://127.0.0.1:3000"
BOT_HELP = (
    "house:NAME, FILE.py[:NAME], FOLDER, MODULE:NAME, or a program: 'view:...', 'cmd:...', "
    "'pbrain:...'"
)


def game_names(incomplete: str) -> list[str]:
    return [name for name in CATALOGUE if name.startswith(incomplete)]


Game = Annotated[
    str,
    Argument(help="The name of a game; `botdrome games` lists them.", autocompletion=game_names),
]
Server = Annotated[str, Option(envvar="BOTDROME_SERVER", help="The URL of the server.")]
MatchServer = Annotated[
    str,
    Option(
        envvar="BOTDROME_SERVER",
        help="The URL of a server; then MATCH may be the id of a match.",
    ),
]
Token = Annotated[
    str,
    Option(
        envvar="BOTDROME_TOKEN", help="The bot's token. \\[default: the kept one, or a new bot]"
    ),
]
OperatorToken = Annotated[
    str,
    Option(
        envvar="BOTDROME_OPERATOR_TOKEN",
        help="The operator's token; `botdrome admin operator-token` makes a new one.",
    ),
]
Database = Annotated[
    str, Option("--db", metavar="URL", envvar="BOTDROME_DB", help="As for `botdrome serve`.")
]
Json = Annotated[bool, Option("--json", help="Print JSON.")]
Jobs = Annotated[int, Option("-j", "--jobs", min=1, help="Processes that play.")]
GameOptions = Annotated[
    list[str] | None, Option("-o", "--option", help="NAME=VALUE, an option of the game.")
]
Limit = Annotated[
    int | None,
    Option(min=1, metavar="MS", help="The time limit of a move. \\[default: the game's]"),
]
PlayerOption = Annotated[
    str,
    Option("--player", "--seat", metavar="NUMBER|NAME", help="The player, from 0, or its name."),
]


Sandbox = Annotated[
    bool,
    Option(
        "--sandbox",
        help="Run bots with bubblewrap: no network, no files but their own, limited resources.",
    ),
]
Memory = Annotated[
    int | None,
    Option(min=16, metavar="MB", help="Memory of a bot. \\[default: no limit; in a sandbox 1024]"),
]


def isolation_of(
    in_process: Annotated[
        bool,
        Option(
            "--in-process", help="Run Python bots inside the runner: faster, without protection."
        ),
    ] = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
) -> "Isolation":
    """Raise CommandError if the options contradict each other."""
    from msgspec.structs import replace

    from botdrome.client.sandbox import SANDBOXED, UNLIMITED
    from botdrome.offline.isolation import Isolation

    if in_process and (sandbox or memory):
        raise CommandError(
            "--in-process cannot be combined with --sandbox and --memory, which need processes"
        )
    limits = SANDBOXED if sandbox else UNLIMITED
    return Isolation(in_process, sandbox, replace(limits, memory=memory) if memory else limits)


ISOLATION: Any = OptionsOf(isolation_of)


class PlayOptions(Struct, frozen=True):
    """Where matches are played, and how bots are kept apart."""

    jobs: int
    dask: str
    isolation: "Isolation"


@expand_options
def play_options(
    jobs: Jobs = 1,
    dask: Annotated[
        str,
        Option(
            metavar="ADDRESS",
            help="Play on a Dask cluster instead: its scheduler, such as tcp://10.0.0.5:8786.",
        ),
    ] = "",
    isolation: Any = ISOLATION,
) -> PlayOptions:
    """Raise CommandError if the options contradict each other."""
    if dask and jobs > 1:
        raise CommandError("--dask cannot be combined with -j: the workers play")
    return PlayOptions(jobs, dask, isolation)


PLAYING: Any = OptionsOf(play_options)


def game_and_bot(words: Sequence[str]) -> tuple[str, str]:
    """Split the words of `[GAME] BOT`; a game that was not given is that of the bot's project, or
    empty.
    """
    if len(words) > 2:
        raise CommandError(f"name a game and one bot, not {' '.join(words)}")
    *game, bot = words
    if not game and bot in CATALOGUE:
        raise CommandError(f"the bot is missing after {bot}: {BOT_HELP}")
    from botdrome.offline.project import project_at

    if game:
        return game_called(game[0]).name, bot
    project = project_at(bot)
    return project.game if project else "", bot
