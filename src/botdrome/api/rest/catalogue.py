"""Catalogue: the games on offer, over REST."""

import msgspec

from botdrome.api.games import game_called
from botdrome.api.rest.answers import Game, GameInFull, GameOption, Games
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.reach import Reach
from botdrome.api.samples import sample
from botdrome.bots.house import house_bots
from botdrome.formats import FORMATS, Format
from botdrome.games.options import options_of
from botdrome.server.arena import Arena
from botdrome.wire.battlebot.messages import game_type


async def games(_arena: Arena, _asked: Asked) -> Games:
    return Games([_game(row) for row in FORMATS.values()])


async def game(_reach: Reach, asked: Asked) -> GameInFull:
    name = game_called(asked.path("game"))
    return GameInFull(**msgspec.structs.asdict(_game(FORMATS[name])), sample=sample(name))


def _game(row: Format) -> Game:
    players = row.game.players
    options = [GameOption(option.name, option.description, option.default) for option in options_of(row.game).values()]
    house = [f"house:{name}" for name in house_bots(row.name)]
    return Game(row.name, game_type(row.name), [players[0], players[-1]], options, row.terms, house)
