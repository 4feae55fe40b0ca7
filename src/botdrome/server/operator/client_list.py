"""The list of connected clients, as the operator sees it.

Each node of a cluster lists its own; the operator sees all.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter, methodcaller
from typing import Any, TypeVar

from msgspec import Struct

from botdrome.server.lobby.clients import ConnectedClient
from botdrome.store.store import Epoch

MOST = 10_000
"""Clients that one node lists at a time."""


class ClientLine(Struct, frozen=True):
    node: str
    """Empty: the server is no node."""
    number: int
    """Of its connection. Each node has its own numbers."""
    protocol: str
    name: str
    game: str
    address: str
    since: Epoch
    received: int
    sent: int
    answer: float | None
    """Milliseconds to an answer, on average."""
    match: str | None


class FindClients(Struct, frozen=True):
    """A question: the first clients in this order."""

    search: str
    """In small letters."""
    column: str
    falling: bool
    most: int


class FoundClients(Struct, frozen=True):
    clients: list[ClientLine]
    total: int
    silent: list[str] = []
    """Nodes that did not answer."""


class RemoveClients(Struct, frozen=True):
    """A question: remove the client of that number, or all of that name.

    The answer has their names.
    """

    name: str | None
    number: int | None
    words: str


OWN_COLUMNS = {
    "received": "traffic.received",
    "sent": "traffic.sent",
    "answerMs": "traffic.answer_time",
}
"""Columns of a ConnectedClient that have other names than those of a line."""
COLUMNS = (
    "node",
    "number",
    "protocol",
    "name",
    "game",
    "address",
    "since",
    "received",
    "sent",
    "answerMs",
    "match",
)
"""By which the list can be sorted."""
Listed = TypeVar("Listed")


def find_clients(
    clients: Iterable[ConnectedClient], node: str, wanted: FindClients
) -> FoundClients:
    """Return the clients of one node.

    There may be thousands, so only those that are wanted become lines.
    """
    words, column = wanted.search, wanted.column
    found = [
        one
        for one in clients
        if words in f"{one.name}\n{one.address}\n{one.protocol}\n{one.game}\n{node}".lower()
    ]
    value: Callable[[ConnectedClient], Any]
    if column == "node":
        value = attrgetter("number")
    else:
        value = (
            methodcaller("match")
            if column == "match"
            else attrgetter(OWN_COLUMNS.get(column, column))
        )
    ordered = _ordered(found, value, wanted.falling)
    return FoundClients([_line(one, node) for one in ordered[: min(wanted.most, MOST)]], len(found))


def merged(found: list[FoundClients], silent: list[str], wanted: FindClients) -> FoundClients:
    """Put the lists of several nodes together."""
    value: Callable[[ClientLine], Any] = attrgetter(
        "answer" if wanted.column == "answerMs" else wanted.column
    )
    lines = _ordered([line for one in found for line in one.clients], value, wanted.falling)
    return FoundClients(lines[: wanted.most], sum(one.total for one in found), silent)


def _ordered(clients: list[Listed], value: Callable[[Listed], Any], falling: bool) -> list[Listed]:
    """Those without a value come last."""
    known = sorted([one for one in clients if value(one) is not None], key=value, reverse=falling)
    return known + [one for one in clients if value(one) is None]


def _line(one: ConnectedClient, node: str) -> ClientLine:
    traffic = one.traffic
    answer = None if traffic.answer_time is None else round(traffic.answer_time * 1000, 1)
    return ClientLine(
        node, one.number, one.protocol, one.name, one.game, one.address, one.since,
        traffic.received, traffic.sent, answer, one.match(),
    )  # fmt: skip
