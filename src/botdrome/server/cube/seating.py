"""Seating: a game with those whom its organiser named: bots that are called, bots of the house and bots that wait here."""

from typing import Any
from urllib.parse import unquote

from botdrome.bots.house import HouseBot
from botdrome.contest.lobby import Seeker
from botdrome.games.battlecube import Battlecube
from botdrome.server.calling.carriers import SCHEME
from botdrome.server.cube.bot import Calling
from botdrome.server.cube.game import CubeGame
from botdrome.server.desk import Desk, Guest
from botdrome.server.house import HouseSeat, house_bot
from botdrome.server.registry import Denied
from botdrome.wire.cube import CubePlayer, NewGame
from botdrome.wire.cube_checks import Fault

HOUSE, WAITING = "house:", "bot:"


async def admit(desk: Desk, wanted: NewGame) -> None:
    """Fault where somebody may not play under the name that was typed in."""
    for player in wanted.players:
        own = _own_name(player.url)
        if own is not None and player.name != own:
            raise Fault(f"{player.url} plays under its own name, {own}")
        if not player.url.startswith(WAITING) and not (player.url.startswith(HOUSE) and player.name == player.url):
            await _admit(desk, player)


def _own_name(url: str) -> str | None:
    """The only name under which it may play; None: any that is free."""
    if url.startswith(SCHEME):
        return unquote(url.removeprefix(SCHEME))
    return url.removeprefix(WAITING) if url.startswith(WAITING) else None


async def _admit(desk: Desk, player: CubePlayer) -> None:
    try:
        await desk.registry.admit(player.name, player.token, Battlecube.name)
    except Denied as problem:
        raise Fault(str(problem)) from None


def seated(desk: Desk, wanted: NewGame, calling: Calling) -> CubeGame:
    """The game, about to begin; or Fault, and then nothing has happened."""
    house = {number: _of_the_house(one) for number, one in enumerate(wanted.players) if one.url.startswith(HOUSE)}
    waiting = {number: _waiting(desk, one) for number, one in enumerate(wanted.players) if one.url.startswith(WAITING)}
    setup, names = wanted.setup, tuple(player.name for player in wanted.players)
    terms = setup.terms(int(desk.settings.cube_limit * 1000))
    table = desk.floor.set_table(setup.game, terms, names, _options(wanted))
    game = CubeGame(table, wanted, calling, desk.settings)
    guests: list[Guest | None] = [None] * len(names)
    for number in range(len(names)):
        if number in house:
            HouseSeat(table, number, house[number]).sit_down()
        elif number in waiting:
            guests[number] = desk.recruit(waiting[number])
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


def _waiting(desk: Desk, player: CubePlayer) -> Seeker:
    seeker = desk.waiting_named(Battlecube.name, player.name)
    if seeker is None:
        raise Fault(f"The bot {player.name} does not wait here for a game")
    return seeker
