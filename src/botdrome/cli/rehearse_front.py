"""The options of `botdrome rehearse`. Nothing heavy is imported before they are read."""

from pathlib import Path
from typing import Annotated

import typer


def rehearse(
    documents: Annotated[list[Path], typer.Argument(help="Contest documents in TOML.")],
    bots: Annotated[int, typer.Option(min=2, help="Synthetic bots in each contest.")] = 20,
    slow: Annotated[
        str,
        typer.Option(metavar="SHARE", help="The share of matches in which a bot is too slow once."),
    ] = "0%",
    crash: Annotated[
        str, typer.Option(metavar="SHARE", help="The share of matches in which a bot crashes.")
    ] = "0%",
    drop: Annotated[
        str,
        typer.Option(
            metavar="SHARE", help="The share of matches in which a bot loses its connection."
        ),
    ] = "0%",
    kill_server: Annotated[
        int, typer.Option(min=0, help="How often the server is killed and started again.")
    ] = 0,
    bot: Annotated[
        list[str] | None,
        typer.Option(
            help="A bot of yours, as for `botdrome join`, that plays in the first contest, too."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the faults.")] = 1,
    minutes: Annotated[float, typer.Option(min=0.1, help="Stop after this time.")] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Run whole contests with synthetic bots over the real protocols, on a server of their own,
    before the day.

    Reports the time, the server's CPU time and memory, and what failed. Nothing is left behind.

    Ends with status 0 if every contest came to its end, 1 if one did not, 2 for a bad document or
    option.
    """
    from botdrome.cli.rehearse import RehearseOptions, run

    given = RehearseOptions(
        bots, slow, crash, drop, kill_server, tuple(bot or ()), seed, minutes, json
    )
    raise typer.Exit(run(documents, given))
