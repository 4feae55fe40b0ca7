"""`botdrome class`: classes on a server, for their organisers and their participants."""

from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any
from zipfile import ZIP_DEFLATED, ZipFile

from typer import Argument, Option

from botdrome.cli.options import LOCAL, MOST_LISTED, Json, Server
from botdrome.cli.sources import OPERATOR, OperatorServer, server_at
from botdrome.cli.terminal import command, note, print_columns, print_json, say
from botdrome.client.kept_tokens import KeptOwner, UnusableTokens, changing_owners, owners_file
from botdrome.client.rest import ServerProblem, segment
from botdrome.client.terminal_text import shown
from botdrome.games.reading import plural

class_command = partial(command, ServerProblem, UnusableTokens)
Name = Annotated[str, Argument(metavar="CLASS", help="The name of the class.")]
Participant = Annotated[str, Argument(help="The name of a participant.")]
Contest = Annotated[str, Argument(help="The name of the contest.")]
Hours = Annotated[
    float | None, Option(help="Hours until the join code expires. \\[default: the server's, 24]")
]
CLASSES = "operator/classes"
JOIN = "join-class"
"""The page for participants."""


@class_command()
def create(
    name: Name, hours: Hours = None, server: OperatorServer = OPERATOR, json: Json = False
) -> None:
    """Create a class on a server, and print its join code."""
    _tell(server, server.ask(CLASSES, {"name": name, "hours": hours}), json)


@class_command(name="list")
def list_classes(server: OperatorServer = OPERATOR, json: Json = False) -> None:
    """List the classes of a server."""
    found = server.ask(f"{CLASSES}?limit={MOST_LISTED}")
    if json:
        return print_json(found)
    rows = [
        (one["code"], str(one["participants"]), _until(one), one["name"])
        for one in found["classes"]
    ]
    return print_columns([("code", "participants", "code valid until", "class"), *rows])


@class_command()
def show(name: Name, server: OperatorServer = OPERATOR, json: Json = False) -> None:
    """Show the join code of a class, and its participants with their bots."""
    _tell(server, server.ask(_path(name)), json)


@class_command()
def join(
    code: Annotated[str, Argument(help="The join code.")],
    name: Annotated[str, Option(prompt="Your name in the class", help="How the class shows you.")],
    server: Server = LOCAL,
) -> None:
    """Join a class: the bots that you register from now on are yours in the class.

    The owner token is kept for `botdrome join` and `botdrome bots register`.
    """
    rest = server_at(server)
    with changing_owners() as owners:
        joined = rest.get("participants", body={"code": code, "name": name})
        owners[rest.url] = KeptOwner(joined["class"], joined["name"], joined["token"])
    say(f"{joined['name']} is in the class {joined['class']}.")
    note(f"The owner token is kept in {owners_file()}.")


@class_command()
def reset(name: Name, hours: Hours = None, server: OperatorServer = OPERATOR) -> None:
    """Make a new join code; the old one ends at once. A closed class is open again."""
    _order(server, name, "reset", hours=hours)


@class_command()
def rename(
    name: Name,
    participant: Participant,
    new: Annotated[str, Argument(help="The new name.")],
    server: OperatorServer = OPERATOR,
) -> None:
    """Rename a participant, also as the owner of its bots."""
    _order(server, name, "rename", participant=participant, name=new)


@class_command()
def merge(
    name: Name,
    participant: Participant,
    into: Annotated[str, Argument(help="The participant that stays.")],
    server: OperatorServer = OPERATOR,
) -> None:
    """Make two participants one, such as a person that has joined twice.

    The second one gets the bots of the first, and both owner tokens are its own.
    """
    _order(server, name, "merge", participant=participant, into=into)


@class_command()
def remove(name: Name, participant: Participant, server: OperatorServer = OPERATOR) -> None:
    """Remove a participant. Its token and those of its bots end; the class shows its results as
    those of `deleted`.
    """
    _order(server, name, "remove", participant=participant)


@class_command()
def close(name: Name, server: OperatorServer = OPERATOR) -> None:
    """Let nobody join a class any more, and no participant register bots. Bots play on."""
    _order(server, name, "close")


@class_command()
def delete(name: Name, server: OperatorServer = OPERATOR) -> None:
    """Delete a class, and remove all its participants."""
    server.ask(_path(name), method="DELETE")
    note(f"The class {name} is deleted.")


@class_command()
def grades(
    contest: Contest,
    output: Annotated[
        Path | None, Option("-o", "--output", metavar="FILE", help="\\[default: the terminal]")
    ] = None,
    server: OperatorServer = OPERATOR,
) -> None:
    """Write the grades of a contest of a class as CSV, also those who have not uploaded."""
    table = server.download(f"operator/class-grades/{segment(contest)}")
    if output is None:
        say(table.decode().replace("\r\n", "\n").strip())
    else:
        output.write_bytes(table)


@class_command()
def uploads(
    contest: Contest,
    output: Annotated[
        Path | None, Option("-o", "--output", metavar="FILE", help="\\[default: CONTEST.zip]")
    ] = None,
    server: OperatorServer = OPERATOR,
) -> None:
    """Write the versions that play in a contest of a class as a zip archive: the deadline's, in a
    folder for each bot.
    """
    data = server.download(f"operator/class-uploads/{segment(contest)}")
    file = output or Path(f"{contest}.zip")
    with ZipFile(BytesIO(data)) as archives, ZipFile(file, "w", ZIP_DEFLATED) as target:
        for name in archives.namelist():
            with ZipFile(archives.open(name)) as archive:
                for path in archive.namelist():
                    target.writestr(f"{name.removesuffix('.zip')}/{path}", archive.read(path))
        note(f"{file} has {plural(len(archives.namelist()), 'version')}.")


def _path(name: str) -> str:
    return f"{CLASSES}/{segment(name)}"


def _order(server: OperatorServer, of: str, do: str, **values: Any) -> None:
    """Change a class, and show it."""
    _tell(server, server.ask(_path(of), {"do": do} | values))


def _until(found: dict[str, Any]) -> str:
    return "closed" if found["closed"] else str(found["expires"])[:16].replace("T", " ") + " UTC"


def _tell(server: OperatorServer, found: dict[str, Any], json: bool = False) -> None:
    if json:
        return print_json(found)
    url, members = server.url, found["participants"]
    say(f"{shown(found['name'])}: {plural(len(members), 'participant')}")
    state = "closed" if found["closed"] else f"valid until {_until(found)}"
    say(f"join code: {found['code']}, {state}")
    say(f"to join: {url}/{JOIN} or botdrome class join {found['code']} --server {url}")
    for one in members:
        bots = [bot + " (uploaded)" * (bot in one["uploaded"]) for bot in one["bots"]]
        say(shown(f"  {one['name']}: {', '.join(bots) or 'no bots yet'}"))
    return None
