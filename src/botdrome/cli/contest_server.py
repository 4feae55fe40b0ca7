"""Contests on a server, run by its operator: `botdrome contest create`, `open`, `start`, `end`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from botdrome.cli.contest_documents import document_in, reporting_contests
from botdrome.cli.options import LOCAL, OperatorToken, Server
from botdrome.cli.sources import server_at
from botdrome.cli.terminal import CommandError, Terminal, print_json, say, unbroken
from botdrome.client.rest import CONFLICT, ServerProblem, segment
from botdrome.games.reading import plural

COLUMNS = {
    "place": "", "score": "score", "wins": "won", "draws": "drawn", "losses": "lost",
    "noShows": "absent", "crashes": "crashed", "rating": "rating", "bot": "bot", "note": "note",
}  # fmt: skip

app = typer.Typer()
Name = Annotated[str, typer.Argument(help="The name of the contest.")]


@app.command()
@reporting_contests
def create(
    file: Annotated[Path, typer.Argument(help="A document.")],
    server: Server = LOCAL,
    token: OperatorToken = "",
    open_: Annotated[bool, typer.Option("--open", help="Let bots enter at once.")] = False,
) -> int:
    """Create a contest on a server from its document, as a draft; or change one that has not
    started.
    """
    contest = ContestThere(server, token, document_in(file).name)
    contest.create({"toml": file.read_text()})
    return contest.act("open") if open_ else contest.tell()


@app.command("open")
@reporting_contests
def open_contest(name: Name, server: Server = LOCAL, token: OperatorToken = "") -> int:
    """Let bots enter a contest on a server."""
    return ContestThere(server, token, name).act("open")


@app.command()
@reporting_contests
def start(name: Name, server: Server = LOCAL, token: OperatorToken = "") -> int:
    """Start a contest on a server with the bots that have entered."""
    return ContestThere(server, token, name).act("start")


@app.command()
@reporting_contests
def end(name: Name, server: Server = LOCAL, token: OperatorToken = "") -> int:
    """End a contest on a server with the present standings."""
    return ContestThere(server, token, name).act("end")


def needed_token(token: str) -> str:
    if not token:
        raise CommandError("the operator's token is needed: --token, or BOTDROME_OPERATOR_TOKEN")
    return token


class ContestThere:
    """A contest on a server. Each change tells the state of the contest, and returns 0."""

    def __init__(self, server: str, token: str, name: str) -> None:
        self._rest, self._token = server_at(server), token
        self._path = segment(name)

    def _post(self, path: str, body: dict[str, Any]) -> int:
        self._rest.get(f"operator/{path}/{self._path}", needed_token(self._token), body)
        return self.tell()

    def create(self, body: dict[str, str]) -> None:
        try:
            self._rest.get("operator/contests", needed_token(self._token), body)
        except ServerProblem as problem:
            if problem.status != CONFLICT:
                raise
            self._rest.get(f"operator/contests/{self._path}", self._token, body, "PUT")

    def act(self, action: str) -> int:
        return self._post("contest-actions", {"action": action})

    def withdraw(self, bot: str, why: str) -> int:
        return self._post("contest-withdrawals", {"bot": bot, "reason": why})

    def repeat(self, bots: list[str], failed: bool) -> int:
        return self._post("contest-reruns", {"bots": bots, "failed": failed})

    def tell(self) -> int:
        self._tell(self._contest())
        return 0

    def show(self, as_json: bool) -> int:
        contest = self._contest()
        if as_json:
            print_json(contest)
        else:
            self._tell(contest)
            Terminal().print(unbroken(_standings(contest)), soft_wrap=True)
        return 0

    def _contest(self) -> dict[str, Any]:
        found: dict[str, Any] = self._rest.get(f"contest-documents/{self._path}")
        return found

    def _tell(self, contest: dict[str, Any]) -> None:
        matches = f"{contest['played']} of about {plural(contest['expected'], 'match', 'es')}"
        counts = f"{plural(len(contest['entrants']), 'entrant')}, {matches}"
        say(f"{contest['name']}: {contest['game']}, {contest['state']}, {counts}")
        if contest["why"]:
            say(f"it waits for you: {contest['why']}")
        if contest["awaited"]:
            say(f"it waits for: {', '.join(contest['awaited'])}")
        say(f"page: {self._rest.url}/contests/{segment(contest['game'])}/{self._path}")


def _standings(contest: dict[str, Any]) -> Table:
    """The names of bots come after the numbers, so that they fit beside them."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for key, heading in COLUMNS.items():
        table.add_column(
            heading, justify="left" if key in ("bot", "note") else "right", no_wrap=True
        )
    for line in contest["standings"]:
        table.add_row(*(_cell(line, key) for key in COLUMNS))
    return table


def _cell(line: dict[str, Any], column: str) -> str:
    value = line[column]
    if column == "rating" and value is not None:
        return f"{value:.0f}" + ("" if line["margin"] is None else f" ± {line['margin']:.0f}")
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
