"""`botdrome contest server`: contests on a server, run by its operator."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from botdrome.cli.contest import Json, attempt, document_in
from botdrome.cli.join import LOCAL, Server
from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain
from botdrome.client.rest import CONFLICT, RestServer, ServerProblem, segment
from botdrome.games.reading import plural

app = typer.Typer()

Token = Annotated[
    str,
    typer.Option(
        envvar="BOTDROME_OPERATOR_TOKEN",
        help="The operator's token; `botdrome operator-token` makes a new one.",
    ),
]
Name = Annotated[str, typer.Argument(help="The name of the contest.")]


@app.command()
def create(
    file: Annotated[Path, typer.Argument(help="A document.")],
    server: Server = LOCAL,
    token: Token = "",
    open_: Annotated[bool, typer.Option("--open", help="Let bots enter at once.")] = False,
) -> None:
    """Create a contest from its document, as a draft; or change one that has not started."""
    raise typer.Exit(create_contest(server, token, file, open_))


@app.command()
def show(name: Name, server: Server = LOCAL, json: Json = False) -> None:
    """Show the state of a contest, its standings, and the bots that it waits for."""
    raise typer.Exit(show_contest(server, name, json))


@app.command("open")
def open_contest(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Let bots enter."""
    _act(server, token, name, "open")


@app.command()
def start(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Start a contest with the bots that have entered."""
    _act(server, token, name, "start")


@app.command()
def pause(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Start no more matches. Running matches are played to their end."""
    _act(server, token, name, "pause")


@app.command()
def resume(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Go on with a paused contest."""
    _act(server, token, name, "resume")


@app.command()
def end(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """End a contest with the present standings."""
    _act(server, token, name, "end")


@app.command()
def rerun(
    name: Name,
    bot: Annotated[
        list[str] | None, typer.Option(metavar="BOT", help="Play all matches of this bot again.")
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="failed", help="`failed`: play matches with crashes and no-shows again."
        ),
    ] = "",
    server: Server = LOCAL,
    token: Token = "",
) -> None:
    """Let matches of a paused contest be played again, once you resume it.

    Their old results stay in the log.
    """
    raise typer.Exit(rerun_contest(server, token, name, bot or [], only))


@app.command()
def withdraw(
    name: Name,
    bot: Annotated[str, typer.Argument(help="The name of the bot.")],
    server: Server = LOCAL,
    token: Token = "",
    why: Annotated[str, typer.Option(help="The reason, for the log.")] = "",
) -> None:
    """Take a bot out of a contest. It forfeits its open matches."""
    raise typer.Exit(withdraw_bot(server, token, name, bot, why))


def _act(server: str, token: str, name: str, action: str) -> None:
    raise typer.Exit(act(server, token, name, action))


COLUMNS = (
    "place",
    "bot",
    "score",
    "wins",
    "draws",
    "losses",
    "noShows",
    "crashes",
    "rating",
    "note",
)


def create_contest(server: str, token: str, file: Path, to_open: bool) -> int:
    def work(rest: RestServer) -> int:
        document = document_in(file)
        body, path = {"toml": file.read_text()}, segment(document.name)
        try:
            rest.get("operator/contests", needed_token(token), body)
        except ServerProblem as problem:
            if problem.status != CONFLICT:
                raise
            rest.get(f"operator/contests/{path}", token, body, "PUT")
        if to_open:
            rest.get(f"operator/contest-actions/{path}", token, {"action": "open"})
        return _tell(rest, document.name)

    return attempt(str(file), lambda: reached(server, work))


def act(server: str, token: str, name: str, action: str) -> int:
    def work(rest: RestServer) -> int:
        rest.get(
            f"operator/contest-actions/{segment(name)}", needed_token(token), {"action": action}
        )
        return _tell(rest, name)

    return attempt(name, lambda: reached(server, work))


def withdraw_bot(server: str, token: str, name: str, bot: str, why: str) -> int:
    def work(rest: RestServer) -> int:
        rest.get(
            f"operator/contest-withdrawals/{segment(name)}",
            needed_token(token),
            {"bot": bot, "reason": why},
        )
        return _tell(rest, name)

    return attempt(name, lambda: reached(server, work))


def rerun_contest(server: str, token: str, name: str, bots: list[str], only: str) -> int:
    def work(rest: RestServer) -> int:
        if only not in ("", "failed") or not (bots or only):
            raise CommandError("say which matches: --bot BOT, or --only failed")
        body = {"bots": bots, "failed": bool(only)}
        rest.get(f"operator/contest-reruns/{segment(name)}", needed_token(token), body)
        return _tell(rest, name)

    return attempt(name, lambda: reached(server, work))


def show_contest(server: str, name: str, as_json: bool) -> int:
    def work(rest: RestServer) -> int:
        contest = _contest(rest, name)
        if as_json:
            sys.stdout.write(msgspec.json.encode(contest).decode() + "\n")
            return 0
        _headline(rest, contest)
        Terminal().print(_standings(contest))
        return 0

    return attempt(name, lambda: reached(server, work))


def reached(server: str, work: Callable[[RestServer], int]) -> int:
    """Do the work with a server; tell the server's refusals in its words."""
    try:
        return work(RestServer(server))
    except ValueError as problem:
        complain(problem)
        return REFUSED
    except ServerProblem as problem:
        complain(problem)
        return 1


def needed_token(token: str) -> str:
    if not token:
        raise CommandError("the operator's token is needed: --token, or BOTDROME_OPERATOR_TOKEN")
    return token


def _contest(rest: RestServer, name: str) -> dict[str, Any]:
    found: dict[str, Any] = rest.get(f"contest-documents/{segment(name)}")
    return found


def _tell(rest: RestServer, name: str) -> int:
    _headline(rest, _contest(rest, name))
    return 0


def _headline(rest: RestServer, contest: dict[str, Any]) -> None:
    terminal = Terminal()
    matches = f"{contest['played']} of about {plural(contest['expected'], 'match', 'es')}"
    counts = f"{plural(len(contest['entrants']), 'entrant')}, {matches}"
    terminal.print(
        f"{contest['name']}: {contest['game']}, {contest['state']}, {counts}", soft_wrap=True
    )
    if contest["why"]:
        terminal.print(f"it waits for you: {contest['why']}", soft_wrap=True)
    if contest["awaited"]:
        terminal.print(f"it waits for: {', '.join(contest['awaited'])}", soft_wrap=True)
    page = f"{rest.url}/contests/{segment(contest['game'])}/{segment(contest['name'])}"
    terminal.print(f"page: {page}", soft_wrap=True)


def _standings(contest: dict[str, Any]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in COLUMNS:
        heading = {"noShows": "no-shows"}.get(column, column)
        table.add_column(
            heading, justify="left" if column in ("bot", "note") else "right", no_wrap=True
        )
    for line in contest["standings"]:
        table.add_row(*(_cell(line, column) for column in COLUMNS))
    return table


def _cell(line: dict[str, Any], column: str) -> str:
    value = line[column]
    if column == "rating" and value is not None:
        return f"{value:.0f}" + ("" if line["margin"] is None else f" ± {line['margin']:.0f}")
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
