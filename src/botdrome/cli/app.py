"""The command `botdrome`: the table of its commands, whose modules are imported when needed."""

import sys
from importlib import import_module
from typing import Annotated, Any, Union

import typer
from typer.core import TyperCommand, TyperGroup

Rows = dict[str, tuple[str, Union[str, "Rows"]]]
"""The commands of a group by name: a line about each, and its module or the rows of a group."""

COMMANDS: Rows = {
    "games": ("List the games, their options, and examples of views and moves.", "games"),
    "play": ("Play bots against each other on this machine.", "play"),
    "duel": ("Find out whether a new bot is better than an old one.", "duel"),
    "new": ("Create a bot: a project that plays at once, with its build and a test.", "new"),
    "contest": (
        "Run contests on this machine, and prove their results.",
        {
            "new": ("Write a document that runs at once.", "contest_documents"),
            "check": ("Read a document, and say what the contest will be.", "contest_documents"),
            "run": (
                "Play a contest on this machine, or continue it, also after a crash.",
                "contest",
            ),
            "resume": ("Continue a paused contest.", "contest"),
            "rerun": ("Play some matches again.", "contest"),
            "show": ("Show the state of a contest, its standings and its log.", "contest"),
            "pause": ("Pause a contest that runs in another process.", "contest"),
            "withdraw": ("Take a bot out of a contest.", "contest"),
            "export": ("Write an archive of a contest.", "contest_documents"),
            "verify": ("Simulate every match of an archive again.", "contest_documents"),
            "server": (
                "Run contests on a server, as its operator.",
                {
                    "create": ("Create a contest from its document, as a draft.", "contest_server"),
                    "show": ("Show the state of a contest and its standings.", "contest_server"),
                    "open": ("Let bots enter.", "contest_server"),
                    "start": ("Start a contest with the bots that have entered.", "contest_server"),
                    "pause": ("Start no more matches.", "contest_server"),
                    "resume": ("Go on with a paused contest.", "contest_server"),
                    "end": ("End a contest with the present standings.", "contest_server"),
                    "rerun": ("Let matches of a paused contest be played again.", "contest_server"),
                    "withdraw": ("Take a bot out of a contest.", "contest_server"),
                },
            ),
        },
    ),
    "nodes": ("List the nodes of a cluster, or drain one before you stop it.", "admin"),
    "rehearse": ("Run whole contests with synthetic bots, before the day.", "contest_documents"),
    "replay": ("Replay a match file in the terminal, or write it as an HTML page.", "replay"),
    "verify": ("Replay match files, and report the first line of each that differs.", "replay"),
    "serve": ("Run the server.", "serve"),
    "host": ("Host boat games.", "boats.host"),
    "stats": ("Show the statistics of boat games.", "boats.host"),
    "watch": ("Watch a match on a server.", "remote"),
    "why": ("Say what decided a match.", "remote"),
    "connect": ("Let a server call a bot behind a firewall.", "remote"),
    "export": ("Export all data of a server.", "admin"),
    "import": ("Import files of `export`, or of a Battlebot server.", "admin"),
    "backup": ("Copy the SQLite file of a server.", "admin"),
    "operator-token": ("Create a new operator token.", "admin"),
    "rerun": ("Play a recorded match to a fresh copy of a bot.", "rerun"),
    "fork": ("Continue a recorded match from a step with other players.", "fork"),
    "blunders": ("Find the last step at which each lost match could still be saved.", "blunders"),
    "check": ("Check a bot before a contest.", "check"),
    "doctor": ("Check a bot on the wire.", "doctor"),
    "boats": ("Play a boat game in the terminal.", "boats.command"),
    "join": ("Let a bot play on a server, match after match.", "join"),
    "challenge": ("Let a bot play against one opponent on a server.", "join"),
    "register": ("Register a bot on a server.", "join"),
    "bots": ("List your bots, or those of a server.", "join"),
    "mcp": ("Let a language model play on a server.", "mcp"),
    "demo": ("Show one match of each game, then a small tournament.", "demo"),
}

NO_WINDOWS = (
    "botdrome does not run on Windows itself. "
    "Run it in WSL, the Windows Subsystem for Linux: `wsl --install`."
)


class Unloaded(TyperCommand):
    """A command as the table has it. Its module has a Typer `app` with the real one."""

    def __init__(self, name: str, line: str, module: str) -> None:
        super().__init__(name, help=line)
        self._module = module

    def loaded(self) -> Any:
        app: typer.Typer = import_module(f"botdrome.cli.{self._module}").app
        return typer.main.get_group(app).commands[self.name or ""]


class LazyGroup(TyperGroup):
    """A group that shows its table, and loads a command only to run or to complete it."""

    def __init__(self, rows: Rows = COMMANDS, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (line, where) in rows.items():
            self.commands[name] = (
                Unloaded(name, line, where)
                if isinstance(where, str)
                else LazyGroup(where, name=name, help=line, no_args_is_help=True)
            )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.loaded() if isinstance(command, Unloaded) else command, rest


app = typer.Typer(
    cls=LazyGroup,
    name="botdrome",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(wanted: bool) -> None:
    if wanted:
        from botdrome import __version__

        sys.stdout.write(f"botdrome {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version, and exit."
        ),
    ] = False,
) -> None:
    """One arena for game-playing bots."""


def main() -> None:
    if sys.platform == "win32":
        sys.exit(NO_WINDOWS)
    app(prog_name="botdrome")
