"""All endpoints of REST, and the routes to them."""

from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from botdrome.api.pages import page
from botdrome.api.rest import bots, contests, duel, matches, server
from botdrome.api.rest.contests import Rank, RankingMethod
from botdrome.api.rest.endpoint import (
    MOST_FILES,
    NDJSON,
    OPTION_SET,
    PAGING,
    TABLE_SIZE,
    Parameter,
    RestEndpoint,
    document,
    sorted_by,
)
from botdrome.api.rest.operator_routes import OPERATOR_ENDPOINTS
from botdrome.catalogue import CATALOGUE
from botdrome.match.film import FilmFrame, FilmHeader
from botdrome.server.arena import Arena
from botdrome.server.operator.operator import Operator
from botdrome.server.workers.limits import SharedSlots
from botdrome.store.reports import CONTEST_ORDERS, OPPONENT_ORDERS

BASE = "/api/v1"
GAME = Parameter("game", f"One of {', '.join(CATALOGUE)}.")
METHODS = tuple(method.name.lower() for method in RankingMethod)
METHOD = Parameter(
    "method",
    "Points for a win and a draw, in a contest without a document: 3 and 1, 2 and 1, 3 and 2.",
    choices=METHODS,
)
NO_MATCH = (404, "There is no such match.")
PRIVATE = (
    (401, "There is no token."),
    (403, "It is not the token of that bot."),
    (404, "There is no such bot or game."),
)
FILM = (FilmHeader, FilmFrame)
LARGEST_FILE = 8 << 20
"""Bytes of an uploaded match file."""
CALLED = ((422, "The bot cannot be called, or does not repeat the challenge."),)

ENDPOINTS = (
    RestEndpoint(
        "GET",
        "/games",
        "The games on offer, with their options and terms.",
        server.games,
        server.Games,
    ),
    RestEndpoint(
        "GET",
        "/games/{game}",
        "A game, with a position by example.",
        server.game,
        server.GameInFull,
        problems=((404, "There is no such game."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/bots",
        "The registered bots, by the time of their registration.",
        bots.bots,
        bots.Bots,
        (
            GAME,
            Parameter("owner", "Whose bots."),
            sorted_by("registered", "name", "owner", "game"),
            *PAGING,
        ),
        in_worker=True,
    ),
    RestEndpoint(
        "POST",
        "/bots",
        "Register a bot.",
        bots.register,
        bots.RegisteredBot,
        body=bots.NewBot,
        status=201,
        problems=(
            (404, "There is no such game."),
            (409, "There is a bot of that name."),
            (413, "The body is too large."),
            *CALLED,
        ),
    ),
    RestEndpoint(
        "GET",
        "/bots/{name:path}",
        "A bot.",
        bots.bot,
        bots.RestBot,
        problems=((404, "There is no such bot."),),
        in_worker=True,
    ),
    RestEndpoint(
        "PUT",
        "/bots/{name:path}",
        "Give a bot an address, another one, or none.",
        bots.move,
        bots.RestBot,
        body=bots.Address,
        private=True,
        problems=(*PRIVATE, *CALLED),
    ),
    RestEndpoint(
        "GET",
        "/matches",
        "Matches, the newest first.",
        matches.matches,
        matches.Matches,
        (
            GAME,
            Parameter("contest", "The name of a contest."),
            Parameter(
                "bot", "A bot that took part. If there are several, all of them did.", many=True
            ),
            Parameter("any_bot", "If there are several, one of them took part.", many=True),
            Parameter("status", "How far they are.", choices=("running", "ended", "aborted")),
            Parameter("winner", "The player that won alone."),
            Parameter(
                "since", "When they started, at the earliest: a date or a moment as in ISO 8601."
            ),
            Parameter("until", "Before when they started."),
            sorted_by("started"),
            *PAGING,
        ),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/matches/{id}",
        "A match.",
        matches.match,
        matches.MatchInFull,
        problems=(NO_MATCH,),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/matches/{id}/players",
        "The players of a match: owner, rating and protocol.",
        matches.players,
        matches.MatchPlayers,
        problems=(NO_MATCH,),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/matches/{id}/record",
        "The match file, from which the match can be played again.",
        matches.record,
        NDJSON,
        problems=((404, "There is no such match, or it is not over."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/matches/{id}/film",
        "The match frame by frame, as a viewer shows it.",
        matches.film,
        NDJSON,
        lines=FILM,
        problems=(
            NO_MATCH,
            (409, "The match is still running: watch it."),
            (422, "It takes too long to play again."),
        ),
        in_worker=True,
        lasting=True,
    ),
    RestEndpoint(
        "POST",
        "/films",
        "The film of a match file.",
        matches.filmed,
        NDJSON,
        in_worker=True,
        file=LARGEST_FILE,
        lines=FILM,
        problems=(
            (413, "The file is too large."),
            (422, "The file is broken, or takes too long to play again."),
        ),
    ),
    RestEndpoint(
        "GET",
        "/matches/{id}/seats/{seat:int}/log",
        "The flight record: what passed between the server and one bot.",
        matches.flight,
        NDJSON,
        private=True,
        problems=(
            (401, "There is no token."),
            (403, "It is not the token of the bot at that seat."),
            NO_MATCH,
        ),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/games/{game}/leaderboard",
        "The bots of a game with their ratings, the best first.",
        bots.leaderboard,
        bots.Leaderboard,
        (OPTION_SET, TABLE_SIZE, sorted_by(*bots.ORDERS), *PAGING),
        problems=((404, "There is no such game."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/profiles/{name:path}",
        "A bot in full: its rating over time, and why its matches ended.",
        bots.profile,
        bots.Profile,
        (OPTION_SET, TABLE_SIZE),
        problems=((404, "There is no player of that name."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/opponents/{name:path}",
        "The results of a player against each of its opponents.",
        bots.opponents,
        bots.Opponents,
        (sorted_by(*OPPONENT_ORDERS), *PAGING),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/contests",
        "The contests of all games, the one with the latest match first.",
        contests.contestlist,
        contests.AllContests,
        (GAME, sorted_by(*CONTEST_ORDERS), *PAGING),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/contests/{game}",
        "The contests of a game, by their first match.",
        contests.contests,
        contests.Contests,
        PAGING,
        problems=((404, "There is no such game."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/contests/{game}/{name:path}",
        "A contest and its ranking.",
        contests.contest,
        contests.Contest,
        (METHOD,),
        problems=((404, "There is no such contest."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/contest-documents",
        "The contests with a document, the newest first.",
        contests.contestdocuments,
        contests.ListedContests,
        (contests.STATE, *PAGING),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/contest-documents/{name:path}",
        "A contest with its document, entrants, rounds, standings and log.",
        contests.contestdocument,
        contests.DocumentedContest,
        (
            Parameter(
                "fixtures",
                "none: leave out the matches of the rounds, which may be many.",
                choices=("all", "none"),
            ),
        ),
        problems=((404, "There is no such contest."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/contest-meetings/{name:path}",
        "The meetings of a contest with a document, with their matches.",
        contests.contestmeetings,
        contests.ContestMeetings,
        (*contests.FILTERS, *PAGING),
        problems=((404, "There is no such contest."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/standings/{game}/{name:path}",
        "The ranking of a contest, a page at a time.",
        contests.standings,
        contests.RestStandings,
        (METHOD, sorted_by(*Rank.__struct_fields__), *PAGING),
        problems=((404, "There is no such contest."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/crosstables/{game}/{name:path}",
        "The results of each against each in a contest.",
        contests.crosstable,
        contests.Crosstable,
        problems=((404, "There is no such contest."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/search",
        "Bots, other players, contests and matches by the beginning of their names or ids.",
        server.search,
        server.SearchResult,
        (Parameter("q", "What they begin with."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/next",
        "Players that wait for an opponent, and the matches that contests have left.",
        server.upcoming,
        server.NextMatches,
    ),
    RestEndpoint(
        "GET",
        "/server",
        "The addresses of the server, by protocol.",
        server.server,
        server.ServerAddress,
    ),
    RestEndpoint(
        "GET",
        "/nodes",
        "The nodes of the cluster, with their load.",
        server.nodes,
        server.NodesShown,
        PAGING,
    ),
    RestEndpoint(
        "GET",
        "/duel/boards",
        "Boards of duel arena, the latest first.",
        duel.duelboards,
        duel.DuelBoards,
        PAGING,
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/duel/boards/{id:int}",
        "A board of duel arena.",
        duel.duelboard,
        duel.NumberedBoard,
        problems=((404, "There is no such board."),),
        in_worker=True,
    ),
    RestEndpoint(
        "GET",
        "/duel/players",
        "The players of duel arena, the most boards won first.",
        duel.duellists,
        duel.DuelPlayers,
        PAGING,
    ),
    RestEndpoint(
        "GET",
        "/duel/players/{name:path}",
        "A player of duel arena, with its last hundred boards.",
        duel.duellist,
        duel.DuelProfile,
        problems=((404, "There is no player of that name."),),
    ),
    RestEndpoint(
        "POST",
        "/contests/{game}/{name:path}",
        "Enter a bot; without a document, one that the server can call.",
        bots.enter,
        bots.RestEntry,
        body=bots.RestEntrant,
        private=True,
        problems=(*PRIVATE, *CALLED, (409, "A rule of the contest forbids it.")),
    ),
    RestEndpoint(
        "DELETE",
        "/contests/{game}/{name:path}",
        "Withdraw a bot that was entered.",
        bots.withdraw,
        bots.RestEntry,
        body=bots.RestEntrant,
        private=True,
        problems=PRIVATE,
    ),
    RestEndpoint(
        "GET",
        "/live",
        "The running matches, the one that runs longest first.",
        matches.live,
        matches.Live,
        (GAME,),
    ),
)


@cache
def openapi_document(operator: bool) -> bytes:
    """Made once a process, since it takes most of the time in which a server opens."""
    return document(BASE, (*ENDPOINTS, *(OPERATOR_ENDPOINTS if operator else ())))


def rest_routes(arena: Arena, operator: Operator | None) -> list[BaseRoute]:
    operators = () if operator is None else OPERATOR_ENDPOINTS
    described = openapi_document(operator is not None)
    files = SharedSlots(MOST_FILES)

    def route(subject: Any, endpoint: RestEndpoint) -> Route:
        async def respond(request: Request) -> Response:
            return await endpoint.respond(arena, files, subject, request)

        return Route(BASE + endpoint.path, respond, methods=[endpoint.method])

    async def openapi(_: Request) -> Response:
        return Response(described, media_type="application/json")

    return [
        *(route(arena, endpoint) for endpoint in ENDPOINTS),
        *(route(operator, endpoint) for endpoint in operators),
        Route(f"{BASE}/openapi.json", openapi),
        Route(f"{BASE}/docs", page("rest.html")),
    ]
