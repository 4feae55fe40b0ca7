"""The command `botdrome`: the table of its commands, whose modules are imported when needed."""

import sys
from importlib import import_module
from itertools import takewhile
from typing import Annotated, Any, Union

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

Rows = dict[str, tuple[str, Union[str, "Rows"]]]
"""The commands of a group by name: a line about each, and its module or the rows of a group."""

COMMANDS: dict[str, Rows] = {
    "Try": {
        "demo": ("Show one match of each game, then a small tournament.", "games"),
        "games": ("List the games, their options, views and moves.", "games"),
        "play": ("Play bots against each other on this machine.", "play"),
        "replay": ("Show a match file, or write it as an HTML page.", "replay"),
    },
    "Write a bot": {
        "new": ("Create a project that plays at once.", "new"),
        "check": ("Find illegal moves, crashes and slowness; or check its wire.", "check"),
        "duel": ("Find out whether a new bot is better than an old one.", "play"),
        "why": ("Say what decided a match.", "remote"),
        "blunders": ("Find the last step at which a lost match could be saved.", "lost_matches"),
        "rerun": ("Play a recorded match to a bot, and compare its moves.", "lost_matches"),
        "fork": ("Continue a recorded match from a step.", "fork"),
    },
    "Play on a server": {
        "join": ("Let a bot play, match after match.", "join"),
        "push": ("Upload a bot to a server that hosts it.", "hosting"),
        "bots": (
            "List and register bots.",
            {
                "list": ("List your bots, or those of a server.", "join"),
                "register": ("Register a bot, and print its token.", "join"),
                "versions": ("List the uploaded versions of a bot.", "hosting"),
                "use": ("Let another uploaded version play.", "hosting"),
                "pause": ("Let a hosted bot play no more.", "hosting"),
                "resume": ("Let a paused bot play again.", "hosting"),
                "delete": ("Delete an uploaded version.", "hosting"),
                "logs": ("Print the logs of a hosted bot.", "hosting"),
            },
        ),
        "connect": ("Let a server call a bot behind a firewall.", "remote"),
        "watch": ("Watch a match in the terminal.", "remote"),
        "mcp": ("Let a language model play.", "remote"),
        "boats": (
            "Boat games: play in the terminal, host, test a bot.",
            {
                "play": ("Play a boat game in the terminal.", "boats.command"),
                "host": ("Host boat games from a console.", "boats.host"),
                "stats": ("Show the statistics of boat games.", "boats.host"),
                "test": ("Let a bot sink random boards, and count its shots.", "boats.trial"),
            },
        ),
    },
    "Run contests": {
        "contest": (
            "Run contests on this machine or on a server.",
            {
                "new": ("Write a document that runs at once.", "contest_documents"),
                "check": ("Read a document, and say what it will be.", "contest_documents"),
                "rehearse": ("Run it with synthetic bots before the day.", "contest_documents"),
                "run": ("Play a contest on this machine, or continue it.", "contest"),
                "create": ("Create a contest on a server.", "contest"),
                "open": ("Let bots enter a contest on a server.", "contest"),
                "start": ("Start a contest on a server.", "contest"),
                "end": ("End a contest on a server.", "contest"),
                "show": ("Show its state, standings, rounds and log.", "contest"),
                "pause": ("Start no more matches.", "contest"),
                "resume": ("Continue a paused contest.", "contest"),
                "repeat": ("Play some matches again.", "contest"),
                "withdraw": ("Take a bot out.", "contest"),
                "archive": ("Write an archive that others can verify.", "contest"),
            },
        ),
        "class": (
            "Classes of a course: participants that own bots.",
            {
                "create": ("Create a class, and print its join code.", "classes"),
                "list": ("List the classes of a server.", "classes"),
                "show": ("Show its join code, participants and bots.", "classes"),
                "join": ("Join a class by its code.", "classes"),
                "reset": ("Make a new join code.", "classes"),
                "rename": ("Rename a participant.", "classes"),
                "merge": ("Make two participants one.", "classes"),
                "remove": ("Remove a participant.", "classes"),
                "grades": ("Write the grades of an assignment as CSV.", "classes"),
                "uploads": ("Write the uploads of an assignment as a zip archive.", "classes"),
                "close": ("Let nobody join or register bots any more.", "classes"),
                "delete": ("Delete a class with its participants.", "classes"),
            },
        ),
        "webhooks": (
            "Tell a URL of the ends of matches, and of contests.",
            {
                "set": ("Set a webhook, and print its secret.", "webhooks"),
                "show": ("Show a webhook with its last deliveries, or all.", "webhooks"),
                "test": ("Call a webhook now.", "webhooks"),
                "remove": ("Remove a webhook.", "webhooks"),
            },
        ),
        "verify": ("Check match files and archives of contests.", "verify"),
    },
    "Operate": {
        "serve": ("Run the server.", "serve"),
        "runner": ("Check and play the uploaded bots of a server.", "hosting"),
        "admin": (
            "Export, import and back up data; tokens; nodes.",
            {
                "export": ("Export all data of a server, or its results.", "admin"),
                "import": ("Import an export, or a Battlebot database.", "admin"),
                "backup": ("Copy the SQLite file of a server.", "admin"),
                "operator-token": ("Create a new operator token.", "admin"),
                "nodes": ("List the nodes of a cluster.", "admin"),
                "drain": ("Have a node take no new matches before it stops.", "admin"),
                "undrain": ("Have a drained node take matches again.", "admin"),
                "runners": ("List the runners of hosted bots.", "hosting"),
                "add-runner": ("Add a runner, and print its token.", "hosting"),
                "remove-runner": ("Remove a runner.", "hosting"),
                "invite": ("Let a bot be uploaded.", "hosting"),
            },
        ),
    },
}
"""By the kind of reader, as the first screen of `--help` shows them."""

FORMER = {
    "challenge": "join [GAME] BOT --against NAME --games 1",
    "register": "bots register GAME NAME",
    "doctor": "check --wire [GAME] -- COMMAND",
    "rehearse": "contest rehearse",
    "host": "boats host",
    "stats": "boats stats",
    "export": "admin export",
    "import": "admin import",
    "backup": "admin backup",
    "operator-token": "admin operator-token",
    "nodes": "admin nodes, admin drain NODE or admin undrain NODE",
    "contest server": "contest create, open, start, end, or another verb with --server URL",
    "contest rerun": "contest repeat",
    "contest export": "contest archive",
    "contest verify": "verify FILE.zip",
    "contest withdraw --bot": "contest withdraw CONTEST BOT",
    "duel --game": "duel GAME NEW OLD",
    "check --game": "check GAME BOT",
    "join --game": "join GAME BOT",
    "join --opponent": "join [GAME] BOT --against NAME",
    "bots --server": "bots list --server URL",
    "bots --game": "bots list GAME",
    "connect --to": "connect NAME --server URL",
    **{
        f"boats {option}": "boats test BOT" if option == "--test" else "boats play"
        for option in ("--test", "--host", "--port", "--user", "--bot", "--headless", "--list-bots")
    },
}
"""Commands and options of former versions, and what takes their place."""

NO_WINDOWS = (
    "botdrome does not run on Windows itself. "
    "Run it in WSL, the Windows Subsystem for Linux: `wsl --install`."
)


class Unloaded(TyperCommand):
    """A command as the table has it. Its module makes the real one."""

    def __init__(self, name: str, line: str, module: str) -> None:
        super().__init__(name, help=line)
        self._module = module

    def loaded(self) -> Any:
        from botdrome.cli.terminal import APPS

        module = import_module(f"botdrome.cli.{self._module}").__name__
        return typer.main.get_group(APPS[module]).commands[self.name or ""]


class LazyGroup(TyperGroup):
    """A group that shows its table, and loads a command only to run or to complete it."""

    def __init__(self, panels: dict[str, Rows] = COMMANDS, **settings: Any) -> None:
        super().__init__(**settings)
        for panel, rows in panels.items():
            for name, (line, where) in rows.items():
                command = (
                    Unloaded(name, line, where)
                    if isinstance(where, str)
                    else LazyGroup({"": where}, name=name, help=line, no_args_is_help=True)
                )
                command.rich_help_panel = panel or None
                self.commands[name] = command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        path = ctx.command_path.split()[1:]
        self._refuse_former(ctx, [*path, args[0]])
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, Unloaded):
            for word in takewhile(lambda word: word != "--", rest):
                self._refuse_former(ctx, [*path, args[0], word.partition("=")[0]])
        return name, command.loaded() if isinstance(command, Unloaded) else command, rest

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0].startswith("--"):
            self._refuse_former(ctx, [*ctx.command_path.split()[1:], args[0].partition("=")[0]])
        return super().parse_args(ctx, args)

    def _refuse_former(self, ctx: Any, words: list[str]) -> None:
        """Name what takes the place of a command or an option of a former version."""
        former = " ".join(words)
        if former in FORMER and not ctx.resilient_parsing:
            ctx.fail(f"`botdrome {former}` is now `botdrome {FORMER[former]}`.")


app = typer.Typer(
    cls=LazyGroup,
    name="botdrome",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(wanted: bool) -> None:
    if wanted:
        from botdrome.version import __version__

        sys.stdout.write(f"botdrome {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        Option(
            "--version", callback=print_version, is_eager=True, help="Print the version, and exit."
        ),
    ] = False,
) -> None:
    """One arena for game-playing bots."""


def main() -> None:
    if sys.platform == "win32":
        sys.exit(NO_WINDOWS)
    app(prog_name="botdrome")
