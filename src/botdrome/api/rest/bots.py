"""Bots over REST."""

from botdrome.api.dates import iso
from botdrome.api.games import game_called
from botdrome.api.problems import no_bot
from botdrome.api.registration import check_owner
from botdrome.api.rest.answers import Bot, Bots, NewBot, RegisteredBot
from botdrome.api.rest.endpoint import Asked
from botdrome.server.arena import Arena
from botdrome.store.store import BotEntry
from botdrome.wire.battlebot import game_type


def shown(bot: BotEntry) -> Bot:
    return Bot(bot.name, bot.game, game_type(bot.game), bot.owner, iso(bot.registered))


async def bots(arena: Arena, asked: Asked) -> Bots:
    game = asked.text("game")
    found = await arena.store.bots(None if game is None else game_called(game), asked.text("owner"))
    page = found[asked.offset : asked.offset + asked.limit]
    return Bots([shown(bot) for bot in page], len(found), asked.limit, asked.offset)


async def bot(arena: Arena, asked: Asked) -> Bot:
    name = asked.path("name")
    found = await arena.store.bot(name)
    if found is None:
        raise no_bot(name)
    return shown(found)


async def register(arena: Arena, asked: Asked) -> RegisteredBot:
    new: NewBot = await asked.body(NewBot)
    check_owner(new.owner)
    registered, token = await arena.register(game_called(new.game), new.name, new.owner)
    return RegisteredBot(shown(registered), token)
