"""Bots over REST."""

from typing import Annotated

from msgspec import Meta, Struct

from botdrome.api.arguments import check_contest, check_owner, game_called, iso
from botdrome.api.problems import Problem, no_bot
from botdrome.api.rest.endpoint import GameName, GameType, ListPage, Moment, RestRequest
from botdrome.api.server_calls import ReadContext
from botdrome.server.arena import Arena
from botdrome.store.store import BotEntry
from botdrome.wire.battlebot.messages import game_type


class RestBot(Struct):
    name: str
    game: GameName
    gameType: GameType  # noqa: N815
    owner: str
    registered: Moment
    called: Annotated[bool, Meta(description="Whether the server calls it at a URL.")] = False


class Bots(ListPage):
    bots: list[RestBot]


class NewBot(Struct, forbid_unknown_fields=True):
    game: GameName
    name: str
    owner: str = ""
    url: Annotated[
        str | None,
        Meta(description="Where the server calls it; the bot must repeat a challenge there."),
    ] = None


class Address(Struct, forbid_unknown_fields=True):
    url: Annotated[
        str | None, Meta(description="Where the server calls the bot; null: it connects by itself.")
    ]


class RestEntrant(Struct, forbid_unknown_fields=True):
    bot: str
    password: Annotated[str, Meta(description="The contest's password, if it has one.")] = ""


class RestEntry(Struct):
    contest: str
    bot: str
    entered: bool


class RegisteredBot(Struct):
    bot: RestBot
    password: Annotated[str, Meta(description="The bot's token, which is shown only once.")]


def shown(bot: BotEntry) -> RestBot:
    return RestBot(
        bot.name, bot.game, game_type(bot.game), bot.owner, iso(bot.registered), bot.url is not None
    )


async def bots(context: ReadContext, request: RestRequest) -> Bots:
    wanted, owner = request.text("game"), request.text("owner")
    game = None if wanted is None else game_called(wanted)
    order, falling = request.order("registered")
    page = await context.store.bots(game, owner, request.limit, request.offset, order, falling)  # type: ignore[arg-type]
    return Bots(
        [shown(bot) for bot in page], **request.page(await context.store.count_bots(game, owner))
    )


async def bot(context: ReadContext, request: RestRequest) -> RestBot:
    name = request.path("name")
    found = await context.store.bot(name)
    if found is None:
        raise no_bot(name)
    return shown(found)


async def register(arena: Arena, request: RestRequest) -> RegisteredBot:
    new: NewBot = await request.body(NewBot)
    check_owner(new.owner)
    registered, token = await arena.register(game_called(new.game), new.name, new.owner, new.url)
    return RegisteredBot(shown(registered), token)


async def move(arena: Arena, request: RestRequest) -> RestBot:
    new: Address = await request.body(Address)
    return shown(await arena.move(await _held(arena, request, request.path("name")), new.url))


async def enter(arena: Arena, request: RestRequest) -> RestEntry:
    return await _entry(arena, request, entered=True)


async def withdraw(arena: Arena, request: RestRequest) -> RestEntry:
    return await _entry(arena, request, entered=False)


async def _entry(arena: Arena, request: RestRequest, entered: bool) -> RestEntry:
    game, contest = game_called(request.path("game")), request.path("name")
    check_contest(contest)
    entrant: RestEntrant = await request.body(RestEntrant)
    bot = await _held(arena, request, entrant.bot)
    if bot.game != game:
        raise Problem(f"{bot.name} is registered for {bot.game}")
    if entered:
        await arena.enter(bot, contest, entrant.password)
    else:
        await arena.withdraw(bot, contest)
    return RestEntry(contest, bot.name, entered)


async def _held(arena: Arena, request: RestRequest, name: str) -> BotEntry:
    """The bot of that name, if its token came with the request."""
    token = request.token
    if "\0" in name or await arena.store.bot(name) is None:
        raise no_bot(name)
    bot = await arena.holder(name, token)
    if bot is None:
        raise Problem(f"that is not the token of {name}", 403)
    return bot
