"""The signature of `botdrome duel`, apart from its code, so that `--help` is fast."""

from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from botdrome.cli.isolation import InProcess, IsolationFlags, Memory, Sandbox

Players = Annotated[
    int | None, typer.Option(min=2, help="Seats at a table. \\[default: the fewest of the game]")
]
Sprt = Annotated[
    str,
    typer.Option(
        metavar="ELO0,ELO1", help="Not better means at most ELO0; better means at least ELO1."
    ),
]
Alpha = Annotated[
    float,
    typer.Option(min=0.001, max=0.4, help="The risk to accept a bot that is only ELO0 better."),
]
Beta = Annotated[
    float, typer.Option(min=0.001, max=0.4, help="The risk to reject a bot that is ELO1 better.")
]
Copies = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Copies of NEW at a table; the seats rotate. \\[default: in half of the seats, then "
        "in the others]",
    ),
]
Openings = Annotated[
    str,
    typer.Option(
        metavar="FILE|random|none",
        help="Openings, each played once per seating: a file as in Gomocup, or random ones. "
        "\\[default: random in games without chance]",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, metavar="MS", help="The time limit of a move. \\[default: the game's]"),
]
Summary = Annotated[
    Path | None,
    typer.Option(
        envvar="GITHUB_STEP_SUMMARY", help="Append a summary in Markdown to this file, for CI."
    ),
]


UNUSABLE = 3
"""The exit status if a bot or the command cannot be used; 1 and 2 are answers."""


class DuelCommand(TyperCommand):
    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        try:
            return super().parse_args(ctx, args)
        except Exception as problem:
            if getattr(problem, "exit_code", 0):  # `--help` has 0, and a wrong command 2
                problem.exit_code = UNUSABLE  # type: ignore[attr-defined]
            raise


def duel(
    new: Annotated[
        str,
        typer.Argument(
            help="The new bot: house:NAME, FILE.py[:NAME], or a program, as in `botdrome play`."
        ),
    ],
    old: Annotated[str, typer.Argument(help="The old bot.")],
    game: Annotated[str, typer.Option(help="The name of a game; `botdrome games` lists them.")],
    players: Players = None,
    sprt: Sprt = "0,20",
    alpha: Alpha = 0.05,
    beta: Beta = 0.05,
    max_blocks: Annotated[
        int, typer.Option(min=16, help="Blocks after which the test ends undecided.")
    ] = 5000,
    copies: Copies = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Processes that play.")] = 1,
    seed: Annotated[
        int, typer.Option(help="The seed of the first block; each block has its own.")
    ] = 1,
    openings: Openings = "",
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="NAME=VALUE, an option of the game.")
    ] = None,
    limit: Limit = None,
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    summary: Summary = None,
) -> None:
    """Find out whether NEW is better than OLD: play until a sequential test decides.

    A block is one seed with balanced seats. The result is the same with any number of processes.
    Ends with status 0 if NEW is better, 1 if it is not, 2 if that is undecided after --max-blocks,
    3 if a bot cannot start or the command is not valid, and 130 after Ctrl-C.
    """
    from botdrome.cli.duel import DuelOptions, run

    given = DuelOptions(
        game=game, players=players, sprt=sprt, alpha=alpha, beta=beta, max_blocks=max_blocks,
        copies=copies, jobs=jobs, seed=seed, openings=openings, options=option or [], limit=limit,
        isolation=IsolationFlags(in_process, sandbox, memory), as_json=json, summary=summary,
    )  # fmt: skip
    raise typer.Exit(run(new, old, given))
