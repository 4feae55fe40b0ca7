"""The server itself over REST: its addresses, those who wait, and a search for anything by name."""

from botdrome import __version__
from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.reach import Reach
from botdrome.api.rest.reports import FoundContest, NextMatches, SearchResult, ServerAddress, Unplayed, Waiting
from botdrome.formats import FORMATS
from botdrome.server.arena import Arena

MOST_FOUND = 10
"""Of each kind."""
MOST_NEXT = 100
LONGEST_SEARCH = 100


async def server(arena: Arena, _asked: Asked) -> ServerAddress:
    whereabouts = arena.whereabouts
    return ServerAddress(__version__, whereabouts.url, whereabouts.tls, whereabouts.ports, whereabouts.house)


async def upcoming(arena: Arena, _asked: Asked) -> NextMatches:
    queue = arena.queue
    waiting = [
        Waiting(one.name, one.wish.game, one.wish.contest, one.wish.players, one.opponent) for one in queue.seekers(MOST_NEXT)
    ]
    unplayed = [Unplayed(one.game, one.contest, list(one.players), one.left) for one in queue.unplayed(MOST_NEXT)]
    return NextMatches(waiting, unplayed)


async def search(reach: Reach, asked: Asked) -> SearchResult:
    text = (asked.text("q") or "").strip()
    if not 0 < len(text) <= LONGEST_SEARCH:
        raise Problem(f"q is a text of 1 to {LONGEST_SEARCH} characters, not one of {len(text)}")
    found = await reach.store.reports.search(text, FORMATS, MOST_FOUND)
    contests = [FoundContest(game, name) for game, name in found.contests]
    return SearchResult(found.bots, found.players, contests, found.matches)
