"""The server over REST: its addresses, the players that wait, and a search by name."""

from typing import Annotated

from msgspec import Meta, Struct

from botdrome import __version__
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import GameName, RestRequest
from botdrome.api.server_calls import ReadContext
from botdrome.catalogue import CATALOGUE
from botdrome.server.arena import Arena


class FoundContest(Struct):
    game: GameName
    name: str


class SearchResult(Struct):
    bots: list[str]
    players: Annotated[
        list[str], Meta(description="Names in matches that are not registered, such as guests'.")
    ]
    contests: list[FoundContest]
    matches: Annotated[list[str], Meta(description="Ids.")]


class Waiting(Struct):
    name: str
    game: GameName
    contest: str | None
    players: Annotated[int, Meta(description="Players at its table, including itself.")]
    opponent: Annotated[
        str | None, Meta(description="The only opponent that it accepts; null: any.")
    ]


class RestUnplayed(Struct):
    game: GameName
    contest: str
    players: list[str]
    left: Annotated[int, Meta(description="Matches that these players have left.")]


class NextMatches(Struct):
    waiting: Annotated[
        list[Waiting],
        Meta(
            description="Players without an opponent; at each node, the longest wait first; 100 at "
            "most."
        ),
    ]
    unplayed: Annotated[
        list[RestUnplayed],
        Meta(description="Matches left in contests in which a bot waits or plays; 100 at most."),
    ]


class ServerAddress(Struct):
    version: str
    url: Annotated[
        str | None, Meta(description="The URL for people and bots; null: the one that you used.")
    ]
    tls: Annotated[
        bool,
        Meta(
            description="HTTP and WebSockets are encrypted; the ports of the other protocols never "
            "are."
        ),
    ]
    ports: Annotated[
        dict[str, int],
        Meta(
            description="By protocol: http (also WebSockets and socket.io), duel, xbs, bomber, "
            "cube; others: rooms for boats."
        ),
    ]
    house: Annotated[bool, Meta(description="House bots play with bots that find no opponent.")]


MOST_FOUND = 10
"""Results of each kind."""
MOST_NEXT = 100
LONGEST_SEARCH = 100


async def server(arena: Arena, _request: RestRequest) -> ServerAddress:
    found = arena.addresses
    return ServerAddress(__version__, found.url, found.tls, found.ports, found.house)


async def upcoming(arena: Arena, _request: RestRequest) -> NextMatches:
    found = await arena.waiting(MOST_NEXT)
    waiting = [
        Waiting(one.name, one.wish.game, one.wish.contest, one.wish.players, one.opponent)
        for one in found.seekers
    ]
    unplayed = [
        RestUnplayed(one.game, one.contest, list(one.players), one.left) for one in found.unplayed
    ]
    return NextMatches(waiting, unplayed)


async def search(context: ReadContext, request: RestRequest) -> SearchResult:
    text = (request.text("q") or "").strip()
    if not 0 < len(text) <= LONGEST_SEARCH:
        raise Problem(f"q is a text of 1 to {LONGEST_SEARCH} characters, not one of {len(text)}")
    found = await context.store.reports.search(text, CATALOGUE, MOST_FOUND)
    contests = [FoundContest(game, name) for game, name in found.contests]
    return SearchResult(found.bots, found.players, contests, found.matches)
