"""The options of `botdrome doctor`. Nothing heavy is imported before they are read."""

from typing import Annotated

import typer

from botdrome.cli.completion import game_names


def doctor(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND]",
            help="Starts the bot, with {url}, {host}, {port}, {name} and {password}.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="battlebot, duel, boats, bomber or battlecube.")
    ] = "battlebot",
    game: Annotated[
        str,
        typer.Option(
            help="The game, for battlebot. The other protocols have one game each.",
            autocompletion=game_names,
        ),
    ] = "",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port for the bot; 0: any free port.")
    ] = 0,
    url: Annotated[str, typer.Option(help="The URL of a running bot, for battlecube.")] = "",
    trial: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this trial; may be given several times.", show_default="all"
        ),
    ] = None,
    patience: Annotated[
        float, typer.Option(min=1, help="Seconds without an answer before the bot has failed.")
    ] = 15.0,
    silence: Annotated[float, typer.Option(min=0, help="Seconds of the long wait.")] = 6.0,
    slowness: Annotated[
        float, typer.Option(min=0, max=4, help="Seconds that a message of slow HTTP takes.")
    ] = 0.7,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a bot on the wire: short matches with traffic that is legal but unusual.

    Messages come in pieces, byte by byte or joined, with unknown keys, another order of keys, long
    names and emoji; there are long waits, a lost connection, repeated questions and slow HTTP. Ends
    with status 0 if the bot copes with all of it, 1 if not, and 2 if the command is not valid.
    """
    from botdrome.cli.doctor import DoctorOptions, run_doctor

    options = DoctorOptions(
        command or [], protocol, game, trial or [], port, url, patience, silence, slowness
    )
    raise typer.Exit(run_doctor(options, json))
