"""Seating: a game with those whom its organiser named: bots that are called, bots of the house and bots that are here."""

import asyncio
from typing import Any
from urllib.parse import unquote

from botdrome.bots.house import HouseBot
from botdrome.contest.lobby import Seeker
from botdrome.games.battlecube import Battlecube
from botdrome.server.calling.answer import CallFailed
from botdrome.server.calling.callers import Callers
from botdrome.server.calling.carriers import SCHEME, carried
from botdrome.server.challenge import challenge
from botdrome.server.cube.game import CubeGame
from botdrome.server.desk import Desk, Guest
from botdrome.server.house import HouseSeat, house_bot
from botdrome.server.registry import Denied
from botdrome.server.url_seat import UrlGuest
from botdrome.wire.cube import CubePlayer, NewGame
from botdrome.wire.cube_checks import Fault

HOUSE, NAMED = "house:", "bot:"
Invited = dict[str, UrlGuest]
"""Registered bots with an address, by their names: they are called like in any other match."""


async def admitted(desk: Desk, wanted: NewGame, callers: Callers) -> Invited:
    """Those who are to come; Fault where one cannot, or somebody may not play under the name that was typed in."""
    for player in wanted.players:
        own = _own_name(player.url)
        if own is not None and player.name != own:
            raise Fault(f"{player.url} plays under its own name, {own}")
        if not player.url.startswith(NAMED) and not (player.url.startswith(HOUSE) and player.name == player.url):
            await _admit(desk, player)
    named = [player.name for player in wanted.players if player.url.startswith(NAMED)]
    absent = [name for name in named if desk.waiting_named(Battlecube.name, name) is None]
    guests = await asyncio.gather(*[_invited(desk, name, callers) for name in absent])
    return dict(zip(absent, guests, strict=True))


async def _invited(desk: Desk, name: str, callers: Callers) -> UrlGuest:
    """A bot that does not wait, but can be called. It is asked first whether it is there."""
    bot = await desk.registry.find(name)
    known = bot is not None and bot.game == Battlecube.name and bot.token_hash is not None
    url = None if bot is None or not known else carried(name) if name in callers.carriers else bot.url
    if url is None:
        raise Fault(f"The bot {name} does not wait here for a game")
    try:
        await challenge(callers, url, name, Battlecube.name)
    except CallFailed:
        raise Fault(f"The bot {name} does not answer") from None
    return UrlGuest(name, url, desk, callers)


def _own_name(url: str) -> str | None:
    """The only name under which it may play; None: any that is free."""
    if url.startswith(SCHEME):
        return unquote(url.removeprefix(SCHEME))
    return url.removeprefix(NAMED) if url.startswith(NAMED) else None


async def _admit(desk: Desk, player: CubePlayer) -> None:
    try:
        await desk.registry.admit(player.name, player.token, Battlecube.name)
    except Denied as problem:
        raise Fault(str(problem)) from None


def seated(desk: Desk, wanted: NewGame, callers: Callers, invited: Invited) -> CubeGame:
    """The game, about to begin; or Fault, and then nothing has happened."""
    house = {number: _of_the_house(one) for number, one in enumerate(wanted.players) if one.url.startswith(HOUSE)}
    named = {number: one.name for number, one in enumerate(wanted.players) if one.url.startswith(NAMED)}
    waiting = {number: _waiting(desk, name) for number, name in named.items() if name not in invited}
    setup, names = wanted.setup, tuple(player.name for player in wanted.players)
    terms = setup.terms(int(desk.settings.cube_limit * 1000))
    table = desk.floor.set_table(setup.game, terms, names, _options(wanted))
    game = CubeGame(table, wanted, callers, desk.settings)
    guests: list[Guest | None] = [None] * len(names)
    for number in range(len(names)):
        if number in house:
            HouseSeat(table, number, house[number]).sit_down()
        elif number in waiting:
            guests[number] = desk.recruit(waiting[number])
        elif number in named:
            guests[number] = invited[named[number]]
        else:
            game.seat(number)
    desk.floor.start_table(table, guests, 0.0)
    return game


def _options(wanted: NewGame) -> dict[str, Any]:
    starts = wanted.setup.starts
    return wanted.setup.options | ({"starts": [list(cell) for _, cell in starts]} if starts else {})


def _of_the_house(player: CubePlayer) -> HouseBot:
    bot = house_bot(Battlecube.name, player.url)
    if bot is None:
        raise Fault(f"There is no bot {player.url}")
    return bot[1]


def _waiting(desk: Desk, name: str) -> Seeker:
    seeker = desk.waiting_named(Battlecube.name, name)
    if seeker is None:
        raise Fault(f"The bot {name} has just left")
    return seeker
