"""The server over REST: its addresses, games, nodes, players that wait, and a search."""

from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.api.requests import Problem, ReadContext, game_called
from botdrome.api.rest.endpoint import (
    NO_GAME,
    PAGING,
    Endpoints,
    GameName,
    GameType,
    ListPage,
    Parameter,
    RestRequest,
    copied,
)
from botdrome.bots.house import EASY, HouseBot, house_bots, house_view, levels_of, seated
from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.games.game import Raw, View
from botdrome.games.options import options_of
from botdrome.match.match import Match
from botdrome.match.terms import Terms
from botdrome.server.arena import Arena
from botdrome.server.network.connection import source_of
from botdrome.server.nodes.cluster import Node
from botdrome.server.workers.jobs import CLIENT
from botdrome.version import __version__
from botdrome.wire.battlebot.messages import game_type
from botdrome.wire.upload import UploadLimits

endpoint = Endpoints()


class FoundContest(Struct):
    game: GameName
    name: str


class SearchResult(Struct):
    bots: list[str]
    players: list[str]
    """Names in matches that are not registered, such as guests'."""
    contests: list[FoundContest]
    matches: list[str]
    """Ids."""


class Waiting(Struct):
    name: str
    game: GameName
    contest: str | None
    players: int
    """Players at its table, including itself."""
    opponent: str | None
    """The only opponent that it accepts; null: any."""


class Invitation(Struct):
    waiting: list[str]
    """The players that wait with this invite, the longest wait first."""


class RestUnplayed(Struct):
    game: GameName
    contest: str
    players: list[str]
    left: int
    """Matches that these players have left."""


class NextMatches(Struct):
    waiting: list[Waiting]
    """Players without an opponent; at each node, the longest wait first; 100 at most."""
    unplayed: list[RestUnplayed]
    """Matches left in contests in which a bot waits or plays; 100 at most."""


class UploadsTaken(Struct):
    """What the server says of uploads of bots before it gets one."""

    allowed: str
    """off, everybody, or invited: those of participants of classes, and bots that the operator has
    invited.
    """
    daily: int
    """Uploads of a participant, or of another bot, within 24 hours."""
    limits: UploadLimits


class ServerAddress(Struct):
    version: str
    url: str | None
    """The URL for people and bots; null: the one that you used."""
    tls: bool
    """HTTP and WebSockets are encrypted; the ports of the other protocols never are."""
    ports: dict[str, int]
    """By protocol: http (also WebSockets and socket.io), duel, xbs, bomber, cube; others: rooms for
    boats.
    """
    house: bool
    """House bots play with bots that find no opponent."""
    networkUrl: str | None  # noqa: N815
    """The URL for other machines on the same network, told to clients on the server's own; null: it
    is unknown, or none can reach it.
    """
    uploads: UploadsTaken


MOST_FOUND = 10
"""Results of each kind."""
MOST_NEXT = 100
LONGEST_SEARCH = 100


@endpoint("GET", "/server", "The addresses of the server, by protocol.")
async def server(arena: Arena, _request: RestRequest) -> ServerAddress:
    addresses = arena.addresses
    near = addresses.url or source_of(CLIENT.get().source)[1]  # others need not know the network
    network = addresses.network_url if near else None
    hosting = arena.hosting
    uploads = UploadsTaken(hosting.settings.uploads, hosting.settings.per_day, hosting.limits)
    return copied(
        ServerAddress, addresses, version=__version__, networkUrl=network, uploads=uploads
    )


@endpoint(
    "GET", "/next", "Players that wait for an opponent, and the matches that contests have left."
)
async def upcoming(arena: Arena, _request: RestRequest) -> NextMatches:
    found = await arena.waiting(MOST_NEXT)
    waiting = [
        copied(Waiting, one.wish, name=one.name, opponent=one.opponent) for one in found.seekers
    ]
    return NextMatches(waiting, [copied(RestUnplayed, one) for one in found.unplayed])


@endpoint("GET", "/invites/{invite:path}", "The players that wait with an invite.")
async def invitation(arena: Arena, request: RestRequest) -> Invitation:
    return Invitation(await arena.invited(request.path("invite")))


@endpoint(
    "DELETE",
    "/invites/{invite:path}",
    "Decline an invitation: the players that wait with it are told.",
)
async def decline(arena: Arena, request: RestRequest) -> Invitation:
    return Invitation(await arena.invited(request.path("invite"), declined=True))


@endpoint(
    "GET",
    "/search",
    "Bots, other players, contests and matches by the beginning of their names or ids.",
    Parameter("q", "What they begin with."),
)
async def search(context: ReadContext, request: RestRequest) -> SearchResult:
    text = (request.text("q") or "").strip()
    if not 0 < len(text) <= LONGEST_SEARCH:
        raise Problem(f"q is a text of 1 to {LONGEST_SEARCH} characters, not one of {len(text)}")
    found = await context.store.reports.search(text, CATALOGUE, MOST_FOUND)
    contests = [FoundContest(*one) for one in found.contests]
    return copied(SearchResult, found, contests=contests)


SEED = 7
SHORTEST, LONGEST = 8, 60
"""Steps of the match. The sample is taken after two thirds of them."""
PLAYERS = 4
"""At most."""


class Sample(Struct, frozen=True):
    """A position: the public view, and the view and move of one bot."""

    players: list[str]
    public: View
    seat: int
    view: View
    move: Raw


@cache
def sample(game: str) -> Sample:
    """From a match between copies of the best house bot whose matches last long enough."""
    found: list[Sample] = []
    for name, bot in reversed(house_bots(game).items()):
        found = _played(game, name, bot)
        if len(found) >= SHORTEST:
            break
    return found[len(found) * 2 // 3]


def _played(game: str, name: str, bot: HouseBot) -> list[Sample]:
    row = CATALOGUE[game]
    match = Match(row.game, max(2, min(PLAYERS, row.game.players[-1])), row.terms, SEED)
    bots = [seated(bot, SEED + player) for player in range(match.players)]
    names = [
        f"house:{name} {player}" if player else f"house:{name}" for player in range(match.players)
    ]
    found: list[Sample] = []
    now = 0
    match.start()
    while match.result is None and len(found) < LONGEST:
        found.append(_request(match, bots, names))
        for player in tuple(match.awaited):
            match.submit(
                player, bots[player](house_view(match.position, match.seat_of(player))), now
            )
        if match.deadline is not None and (row.terms.pace.beat or not match.awaited):
            now = match.deadline
            match.wake(now)
    return found


def _request(match: Match, bots: list[Any], names: list[str]) -> Sample:
    player = match.awaited[0]
    seats, move = (
        [names[one] for one in match.order],
        bots[player](house_view(match.position, match.seat_of(player))),
    )
    return Sample(seats, match.view(None), match.seat_of(player), match.view(player), move)


class GameOption(Struct):
    name: str
    description: str
    default: Any


class HouseLevel(Struct):
    bot: str
    level: str
    """How strong it is, in a word."""
    usual: bool
    """Whether people get it as an opponent unless they choose another one."""


class RestGame(Struct):
    name: GameName
    gameType: GameType  # noqa: N815
    players: list[int]
    """The least and the greatest number of players."""
    options: list[GameOption]
    terms: Terms
    house: list[str]
    """House bots for this game."""
    levels: list[HouseLevel]
    """House bots for people, weakest first."""


class GameInFull(RestGame):
    sample: Sample
    """A position from a match between house bots."""


class Games(Struct):
    games: list[RestGame]


@endpoint("GET", "/games", "The games on offer, with their options and terms.")
async def games(_arena: Arena, _request: RestRequest) -> Games:
    return Games([_game(row) for row in CATALOGUE.values()])


@endpoint("GET", "/games/{game}", "A game, with a position by example.", NO_GAME)
async def game(_context: ReadContext, request: RestRequest) -> GameInFull:
    name = game_called(request.path("game"))
    return GameInFull(**msgspec.structs.asdict(_game(CATALOGUE[name])), sample=sample(name))


def _game(row: CatalogueEntry) -> RestGame:
    players = row.game.players
    options = [copied(GameOption, option) for option in options_of(row.game).values()]
    house = [f"house:{name}" for name in house_bots(row.name)]
    levels = [
        HouseLevel(f"house:{bot}", level, level == EASY)
        for bot, level in levels_of(row.name).items()
    ]
    return RestGame(
        row.name, game_type(row.name), [players[0], players[-1]], options, row.terms, house, levels
    )


class NodeShown(Struct):
    name: str
    url: str
    """Its own HTTP address; empty: it is starting."""
    version: str
    draining: bool
    """It takes no new matches."""
    tables: int
    """Running matches."""
    connections: int
    waiting: int
    """Its clients that wait for an opponent."""
    cpu: float
    """The share of a core that it uses."""
    seconds: int
    """The time since it joined."""
    games: list[str]
    """The games whose rooms and contests it has."""


class NodesShown(ListPage):
    nodes: list[NodeShown]
    """The live nodes by name; none: the server is no node of a cluster."""


@endpoint("GET", "/nodes", "The nodes of the cluster, with their load.", *PAGING)
async def nodes(arena: Arena, request: RestRequest) -> NodesShown:
    found = sorted(arena.nodes(), key=lambda node: node.name)
    shown = [_shown(node, arena.games_at(node)) for node in request.part(found)]
    return NodesShown(shown, **request.page(len(found)))


def _shown(node: Node, games: list[str]) -> NodeShown:
    load = {
        key: int(node.load.get(key, 0)) for key in ("tables", "connections", "waiting", "seconds")
    }
    return copied(NodeShown, node, **load, cpu=node.load.get("cpu", 0.0), games=games)
