"""Webhooks on a server: `botdrome webhooks`."""

from typing import Annotated, Any
from urllib.parse import quote

from typer import Argument, Option

from botdrome.cli.options import LOCAL, MOST_LISTED, Json, Server
from botdrome.cli.sources import needed_token, server_at
from botdrome.cli.terminal import CommandFailed, command, note, print_columns, print_json, say
from botdrome.client.kept_tokens import UnusableTokens, kept_bots
from botdrome.client.rest import RestServer, ServerProblem

Subject = Annotated[str, Argument(help="bots/NAME, contests/NAME, or all: each match and contest.")]
AnyToken = Annotated[
    str,
    Option(
        envvar=["BOTDROME_TOKEN", "BOTDROME_OPERATOR_TOKEN"],
        help="The bot's token, or the operator's. \\[default: for a bot, the kept one]",
    ),
]


@command(ServerProblem, UnusableTokens, name="set")
def set_webhook(
    subject: Subject,
    url: Annotated[
        str | None, Argument(help="Where to tell. \\[default: the present URL, with a new secret]")
    ] = None,
    server: Server = LOCAL,
    token: AnyToken = "",
) -> None:
    """Set a webhook, and print the secret of its signatures, which is shown only once."""
    say(_asked(server_at(server), subject, token, "PUT", {"url": url})["secret"])
    note(f"{subject} has a webhook. `botdrome webhooks test {subject}` calls it.")


@command(ServerProblem, UnusableTokens)
def show(
    subject: Subject = "", server: Server = LOCAL, token: AnyToken = "", json: Json = False
) -> None:
    """Show a webhook with its last deliveries. Without a subject, the operator sees all."""
    found = _asked(server_at(server), subject, token)
    if json:
        print_json(found)
        return
    for hook in found["webhooks"] if not subject else [found]:
        say(f"{hook['subject']}: {hook['url']}")
        rows = (tuple(str(one[key]) for key in COLUMNS) for one in hook["deliveries"])
        print_columns([COLUMNS, *rows])


@command(ServerProblem, UnusableTokens)
def test(subject: Subject, server: Server = LOCAL, token: AnyToken = "") -> None:
    """Call a webhook now, with the event `test`. Ends with status 1 if that fails."""
    if error := _asked(server_at(server), subject, token, "POST")["error"]:
        raise CommandFailed(f"{subject}: {error}")
    say(f"{subject}: the receiver has answered.")


@command(ServerProblem, UnusableTokens)
def remove(subject: Subject, server: Server = LOCAL, token: AnyToken = "") -> None:
    """Remove a webhook, and what waits for it."""
    _asked(server_at(server), subject, token, "DELETE")
    say(f"{subject} has no webhook any more.")


COLUMNS = ("tried", "event", "state", "tries", "error")


def _asked(
    rest: RestServer, subject: str, token: str, method: str = "GET", body: Any = None
) -> Any:
    kind, _, name = subject.partition("/")
    if not token and kind == "bots" and (kept := kept_bots().get(rest.url, {}).get(name)):
        token = kept.token
    path = f"/{quote(subject)}" if subject else f"?limit={MOST_LISTED}"
    return rest.get(f"webhooks{path}", needed_token(token), body, method)
