"""The games over REST, each with a position from a match between house bots."""

from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from botdrome.api.arguments import game_called
from botdrome.api.rest.endpoint import GameName, GameType, RestRequest
from botdrome.api.server_calls import ReadContext
from botdrome.bots.house import HouseBot, house_bots, house_view, seated
from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.games.game import Raw, View
from botdrome.games.options import options_of
from botdrome.match.match import Match
from botdrome.match.terms import Terms
from botdrome.server.arena import Arena
from botdrome.wire.battlebot.messages import game_type

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


class RestGame(Struct):
    name: GameName
    gameType: GameType  # noqa: N815
    players: Annotated[list[int], Meta(description="The least and the greatest number of players.")]
    options: list[GameOption]
    terms: Terms
    house: Annotated[list[str], Meta(description="House bots for this game.")]


class GameInFull(RestGame):
    sample: Annotated[Sample, Meta(description="A position from a match between house bots.")]


class Games(Struct):
    games: list[RestGame]


async def games(_arena: Arena, _request: RestRequest) -> Games:
    return Games([_game(row) for row in CATALOGUE.values()])


async def game(_context: ReadContext, request: RestRequest) -> GameInFull:
    name = game_called(request.path("game"))
    return GameInFull(**msgspec.structs.asdict(_game(CATALOGUE[name])), sample=sample(name))


def _game(row: CatalogueEntry) -> RestGame:
    players = row.game.players
    options = [
        GameOption(option.name, option.description, option.default)
        for option in options_of(row.game).values()
    ]
    house = [f"house:{name}" for name in house_bots(row.name)]
    return RestGame(
        row.name, game_type(row.name), [players[0], players[-1]], options, row.terms, house
    )
