"""The options of `botdrome join`, `register`, `bots` and `challenge`.

Nothing heavy is imported before they are read.
"""

from typing import Annotated

import typer

from botdrome.cli.completion import game_names

Server = Annotated[str, typer.Option(envvar="BOTDROME_SERVER", help="The URL of the server.")]
Bot = Annotated[
    str,
    typer.Argument(
        help="FILE.py[:NAME], MODULE:NAME, 'view:PROGRAM', 'cmd:PROGRAM' or house:NAME, as for "
        "`botdrome play`."
    ),
]
Game = Annotated[
    str,
    typer.Option(
        help="The game. \\[default: the game that the bot is registered for]",
        autocompletion=game_names,
    ),
]
Name = Annotated[
    str,
    typer.Option(
        help="The bot's name on the server. \\[default: its file, or the folder of bot.py]"
    ),
]
Token = Annotated[
    str,
    typer.Option(
        envvar="BOTDROME_TOKEN", help="The bot's token. \\[default: the kept one, or a new bot]"
    ),
]
Version = Annotated[
    str | None, typer.Option(help="The bot's version. \\[default: the checksum of its file]")
]
Games = Annotated[int | None, typer.Option(min=1, help="Stop after this many matches.")]
Players = Annotated[int | None, typer.Option(min=1, help="Seats at the table. \\[default: 2]")]
Option = Annotated[
    list[str] | None, typer.Option("-o", "--option", help="NAME=VALUE, an option of the game.")
]
LOCAL = "http://127.0.0.1:3000"


def join(
    bot: Bot,
    server: Server = LOCAL,
    game: Game = "",
    name: Name = "",
    contest: Annotated[
        str | None, typer.Option(help="Play in this contest, until it is over.")
    ] = None,
    contest_password: Annotated[
        str, typer.Option(help="The password of the contest, if it has one.")
    ] = "",
    opponent: Annotated[
        str | None, typer.Option(help="Play only against this bot: a name, or house:NAME.")
    ] = None,
    token: Token = "",
    version: Version = None,
    games: Games = None,
    players: Players = None,
    option: Option = None,
) -> None:
    """Let a bot play on a server, match after match.

    A new bot is registered first, and its token is kept.

    Ends when the contest is over, after --games matches, or on Ctrl-C. Reconnects after a lost
    connection.

    Ends with status 0, 1 if the bot cannot start or the server refuses it, 2 for a wrong command,
    or 130 after Ctrl-C.
    """
    from botdrome.cli.join import JoinCommand, run_join

    wanted = (contest, opponent, games, players, option or [], contest_password, version)
    command = JoinCommand(bot, server, game, name, token, *wanted)
    raise typer.Exit(run_join(command))


def challenge(
    opponent: Annotated[
        str, typer.Argument(help="The name of a bot on the server, or house:NAME.")
    ],
    bot: Bot,
    server: Server = LOCAL,
    game: Game = "",
    name: Name = "",
    token: Token = "",
    version: Version = None,
    games: Annotated[int, typer.Option(min=1, help="The number of matches.")] = 1,
    option: Option = None,
) -> None:
    """Let a bot play against one opponent on a server. It waits until the opponent is there.

    The same as `botdrome join` with --opponent, with the same exit status.
    """
    from botdrome.cli.join import JoinCommand, run_join

    raise typer.Exit(
        run_join(
            JoinCommand(
                bot,
                server,
                game,
                name,
                token,
                None,
                opponent,
                games,
                None,
                option or [],
                "",
                version,
            )
        )
    )


def register(
    name: Annotated[str, typer.Argument(help="The name of the new bot.")],
    game: Annotated[
        str,
        typer.Option(
            help="The game that it plays; `botdrome games` lists them.", autocompletion=game_names
        ),
    ],
    server: Server = LOCAL,
    owner: Annotated[str, typer.Option(help="Your name, shown beside the bot.")] = "",
) -> None:
    """Register a bot on a server, print its token, and keep the token for `botdrome join` and
    `botdrome why`.
    """
    from botdrome.cli.server_bots import run_register

    raise typer.Exit(run_register(name, game, server, owner))


def bots(
    server: Annotated[
        str | None, typer.Option(help="List the bots of this server, with their ratings.")
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="Only the bots of this game.", autocompletion=game_names)
    ] = None,
) -> None:
    """List your bots, whose tokens are kept on this machine; with --server the bots of
    that server.
    """
    from botdrome.cli.server_bots import list_bots

    raise typer.Exit(list_bots(server, game))
