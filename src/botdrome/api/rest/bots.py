"""Bots over REST."""

from botdrome.api.dates import iso
from botdrome.api.games import game_called
from botdrome.api.problems import Problem, no_bot
from botdrome.api.registration import check_contest, check_owner
from botdrome.api.rest.answers import Address, Bot, Bots, Entrant, Entry, NewBot, RegisteredBot
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.reach import Reach
from botdrome.server.arena import Arena
from botdrome.store.store import BotEntry
from botdrome.wire.battlebot.messages import game_type


def shown(bot: BotEntry) -> Bot:
    return Bot(bot.name, bot.game, game_type(bot.game), bot.owner, iso(bot.registered), bot.url is not None)


async def bots(reach: Reach, asked: Asked) -> Bots:
    wanted, owner = asked.text("game"), asked.text("owner")
    game = None if wanted is None else game_called(wanted)
    order, falling = asked.order("registered")
    page = await reach.store.bots(game, owner, asked.limit, asked.offset, order, falling)  # type: ignore[arg-type]
    return Bots([shown(bot) for bot in page], await reach.store.count_bots(game, owner), asked.limit, asked.offset)


async def bot(reach: Reach, asked: Asked) -> Bot:
    name = asked.path("name")
    found = await reach.store.bot(name)
    if found is None:
        raise no_bot(name)
    return shown(found)


async def register(arena: Arena, asked: Asked) -> RegisteredBot:
    new: NewBot = await asked.body(NewBot)
    check_owner(new.owner)
    registered, token = await arena.register(game_called(new.game), new.name, new.owner, new.url)
    return RegisteredBot(shown(registered), token)


async def move(arena: Arena, asked: Asked) -> Bot:
    new: Address = await asked.body(Address)
    return shown(await arena.move(await _held(arena, asked, asked.path("name")), new.url))


async def enter(arena: Arena, asked: Asked) -> Entry:
    return await _entry(arena, asked, entered=True)


async def withdraw(arena: Arena, asked: Asked) -> Entry:
    return await _entry(arena, asked, entered=False)


async def _entry(arena: Arena, asked: Asked, entered: bool) -> Entry:
    game, contest = game_called(asked.path("game")), asked.path("name")
    check_contest(contest)
    entrant: Entrant = await asked.body(Entrant)
    bot = await _held(arena, asked, entrant.bot)
    if bot.game != game:
        raise Problem(f"{bot.name} is registered for {bot.game}")
    await (arena.outreach.enter if entered else arena.outreach.withdraw)(bot, contest)
    return Entry(contest, bot.name, entered)


async def _held(arena: Arena, asked: Asked, name: str) -> BotEntry:
    """The bot of that name, if its token came with the request."""
    token = asked.token
    if "\0" in name or await arena.store.bot(name) is None:
        raise no_bot(name)
    bot = await arena.holder(name, token)
    if bot is None:
        raise Problem(f"that is not the token of {name}", 403)
    return bot
