"""`botdrome nodes`: the nodes of a cluster, over REST."""

import sys
from datetime import timedelta
from typing import Any

import msgspec

from botdrome.cli.contest.on_server import needed_token, reached
from botdrome.cli.contest.places import attempt
from botdrome.cli.server_bots import MOST_LISTED, print_columns
from botdrome.cli.terminal import Terminal
from botdrome.client.rest import RestServer, segment

HOW = "`botdrome serve --db postgresql://... --nats nats://...` joins a cluster."
HEAD = ("node", "address", "version", "tables", "connections", "waiting", "CPU", "age", "games", "")


def list_nodes(server: str, as_json: bool) -> int:
    def work(rest: RestServer) -> int:
        found = rest.get(f"nodes?limit={MOST_LISTED}")
        if as_json:
            sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        elif found["nodes"]:
            print_columns([HEAD, *map(_row, found["nodes"])])
        else:
            Terminal(stderr=True).print(f"{rest.url} is a single server: {HOW}", soft_wrap=True)
        return 0

    return reached(server, work)


def _row(node: dict[str, Any]) -> tuple[str, ...]:
    numbers = [str(node[key]) for key in ("tables", "connections", "waiting")]
    state = "starting" if not node["url"] else "draining" if node["draining"] else ""
    games = ", ".join(node["games"]) or "-"
    return (
        node["name"],
        node["url"],
        node["version"],
        *numbers,
        f"{node['cpu']:.0%}",
        _age(node["seconds"]),
        games,
        state,
    )


def _age(seconds: int) -> str:
    return str(timedelta(seconds=seconds))


def change_node(server: str, token: str, name: str, draining: bool) -> int:
    def work(rest: RestServer) -> int:
        rest.get(
            f"operator/nodes/{segment(name)}", needed_token(token), {"draining": draining}, "PUT"
        )
        words = (
            "takes no new matches, and moves its own to other nodes"
            if draining
            else "takes matches again"
        )
        Terminal(stderr=True).print(f"{name} {words}.", soft_wrap=True)
        return 0

    return attempt(name, lambda: reached(server, work))
