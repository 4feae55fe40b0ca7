"""`botdrome class`: classes on a server, for their organisers and their participants."""

from functools import partial
from typing import Annotated, Any

from typer import Argument, Option

from botdrome.cli.options import LOCAL, MOST_LISTED, Json, OperatorToken, Server
from botdrome.cli.sources import needed_token, server_at
from botdrome.cli.terminal import command, note, print_columns, print_json, say
from botdrome.client.kept_tokens import KeptOwner, UnusableTokens, changing_owners, owners_file
from botdrome.client.rest import ServerProblem, segment
from botdrome.client.terminal_text import shown
from botdrome.games.reading import plural

class_command = partial(command, ServerProblem, UnusableTokens)
Name = Annotated[str, Argument(metavar="CLASS", help="The name of the class.")]
Participant = Annotated[str, Argument(help="The name of a participant.")]
Hours = Annotated[
    float | None, Option(help="Hours until the join code expires. \\[default: the server's, 24]")
]
JOIN = "join-class"
"""The page for participants."""


@class_command()
def create(
    name: Name,
    hours: Hours = None,
    server: Server = LOCAL,
    token: OperatorToken = "",
    json: Json = False,
) -> None:
    """Create a class on a server, and print its join code."""
    _tell(server, _asked(server, token, "", {"name": name, "hours": hours}), json)


@class_command(name="list")
def list_classes(server: Server = LOCAL, token: OperatorToken = "", json: Json = False) -> None:
    """List the classes of a server."""
    path = f"operator/classes?limit={MOST_LISTED}"
    found = server_at(server).get(path, needed_token(token))
    if json:
        return print_json(found)
    rows = [
        (one["code"], str(one["participants"]), _until(one), one["name"])
        for one in found["classes"]
    ]
    return print_columns([("code", "participants", "code valid until", "class"), *rows])


@class_command()
def show(name: Name, server: Server = LOCAL, token: OperatorToken = "", json: Json = False) -> None:
    """Show the join code of a class, and its participants with their bots."""
    _tell(server, _asked(server, token, name, None), json)


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
def reset(
    name: Name, hours: Hours = None, server: Server = LOCAL, token: OperatorToken = ""
) -> None:
    """Make a new join code; the old one ends at once. A closed class is open again."""
    _tell(server, _asked(server, token, name, {"do": "reset", "hours": hours}))


@class_command()
def rename(
    name: Name,
    participant: Participant,
    new: Annotated[str, Argument(help="The new name.")],
    server: Server = LOCAL,
    token: OperatorToken = "",
) -> None:
    """Rename a participant, also as the owner of its bots."""
    order = {"do": "rename", "participant": participant, "name": new}
    _tell(server, _asked(server, token, name, order))


@class_command()
def merge(
    name: Name,
    participant: Participant,
    into: Annotated[str, Argument(help="The participant that stays.")],
    server: Server = LOCAL,
    token: OperatorToken = "",
) -> None:
    """Make two participants one, such as a person that has joined twice.

    The second one gets the bots of the first, and both owner tokens are its own.
    """
    order = {"do": "merge", "participant": participant, "into": into}
    _tell(server, _asked(server, token, name, order))


@class_command()
def remove(
    name: Name, participant: Participant, server: Server = LOCAL, token: OperatorToken = ""
) -> None:
    """Remove a participant. Its token and those of its bots end; the class shows its results as
    those of `deleted`.
    """
    _tell(server, _asked(server, token, name, {"do": "remove", "participant": participant}))


@class_command()
def close(name: Name, server: Server = LOCAL, token: OperatorToken = "") -> None:
    """Let nobody join a class any more, and no participant register bots. Bots play on."""
    _tell(server, _asked(server, token, name, {"do": "close"}))


@class_command()
def delete(name: Name, server: Server = LOCAL, token: OperatorToken = "") -> None:
    """Delete a class, and remove all its participants."""
    _asked(server, token, name, None, "DELETE")
    note(f"The class {name} is deleted.")


def _asked(server: str, token: str, name: str, body: Any, method: str | None = None) -> Any:
    """Ask about a class; empty: a new one."""
    path = "operator/classes" + (f"/{segment(name)}" if name else "")
    return server_at(server).get(path, needed_token(token), body, method)


def _until(found: dict[str, Any]) -> str:
    return "closed" if found["closed"] else str(found["expires"])[:16].replace("T", " ") + " UTC"


def _tell(server: str, found: dict[str, Any], json: bool = False) -> None:
    if json:
        return print_json(found)
    url, members = server_at(server).url, found["participants"]
    say(f"{shown(found['name'])}: {plural(len(members), 'participant')}")
    state = "closed" if found["closed"] else f"valid until {_until(found)}"
    say(f"join code: {found['code']}, {state}")
    say(f"to join: {url}/{JOIN} or botdrome class join {found['code']} --server {url}")
    for one in members:
        say(shown(f"  {one['name']}: {', '.join(one['bots']) or 'no bots yet'}"))
    return None
