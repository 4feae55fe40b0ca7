"""Seats the players of a new Battlecube game: bots that are called, house bots, and bots that wait
at the desk.
"""

import asyncio
from typing import Any
from urllib.parse import unquote

from botdrome.bots.house import HouseBot
from botdrome.contest.lobby import Seeker
from botdrome.games.battlecube import Battlecube
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.tunnels import SCHEME
from botdrome.server.cube.game import CubeGame
from botdrome.server.cube.settings import CubeSection
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import HouseSeat, house_bot
from botdrome.server.lobby.invitations import BotUnavailable, Invitations
from botdrome.server.lobby.registry import Admission, Denied
from botdrome.server.lobby.url_bot import UrlBot
from botdrome.server.lobby.waiting_client import WaitingClient
from botdrome.wire.conversation import TokenNeeded
from botdrome.wire.cube.requests import CubePlayer, Fault, NewGame

HOUSE, NAMED = "house:", "bot:"
Invited = dict[str, UrlBot]
"""Registered bots with a URL, by their names. They are called as in any other match."""


async def admitted(desk: Desk, wanted: NewGame) -> tuple[Admission, ...]:
    """The players under their names on this server; Fault if one may not play under its name."""
    return tuple([await _admitted(desk, player) for player in wanted.players])


async def _admitted(desk: Desk, player: CubePlayer) -> Admission:
    """A token is needed only for a bot that is called through its tunnel, since the original has no
    tokens.
    """
    url, own = player.url, _own_name(player.url)
    if own is not None and player.name != own:
        raise Fault(f"{url} plays under its own name, {own}")
    if url.startswith(NAMED) or (url.startswith(HOUSE) and player.name == url):
        return Admission(player.name)
    needed: TokenNeeded = "always" if url.startswith(SCHEME) else "never"
    try:
        return await desk.registry.admit(player.name, player.token, Battlecube.name, needed)
    except Denied as problem:
        raise Fault(str(problem)) from None


async def invited(desk: Desk, wanted: NewGame, invitations: Invitations) -> Invited:
    """The bots that were asked to play, and must be seated or sent home; Fault if one does not
    come.
    """
    named = [player.name for player in wanted.players if player.url.startswith(NAMED)]
    absent = [name for name in named if desk.waiting_named(Battlecube.name, name) is None]
    return await _invited(absent, invitations)


async def _invited(names: list[str], invitations: Invitations) -> Invited:
    """All of these bots, or Fault and none."""
    asked = [_invited_bot(name, invitations) for name in names]
    came = dict(zip(names, await asyncio.gather(*asked, return_exceptions=True), strict=True))
    invited = {name: bot for name, bot in came.items() if isinstance(bot, UrlBot)}
    for problem in came.values():
        if isinstance(problem, BaseException):
            send_home(invited)
            raise problem
    return invited


async def _invited_bot(name: str, invitations: Invitations) -> UrlBot:
    callee = await invitations.find(name, Battlecube.name)
    if callee is None:
        raise Fault(f"The bot {name} does not wait here for a game")
    try:
        return await invitations.invite(callee)
    except BotUnavailable as problem:
        raise Fault(f"The bot {problem}") from None


def send_home(invited: Invited) -> None:
    for bot in invited.values():
        bot.turn_away({})


def _own_name(url: str) -> str | None:
    """The only name that the player at this URL may have; None: any free name."""
    if url.startswith(SCHEME):
        return unquote(url.removeprefix(SCHEME))
    return url.removeprefix(NAMED) if url.startswith(NAMED) else None


def seated(
    desk: Desk, wanted: NewGame, players: tuple[Admission, ...], caller: BotCaller, invited: Invited
) -> CubeGame:
    """The game, about to begin. After a Fault nothing has changed."""
    house = {
        number: _house_bot(one)
        for number, one in enumerate(wanted.players)
        if one.url.startswith(HOUSE)
    }
    named = {
        number: one.name for number, one in enumerate(wanted.players) if one.url.startswith(NAMED)
    }
    waiting = {
        number: _waiting(desk, name) for number, name in named.items() if name not in invited
    }
    setup = wanted.setup
    terms = setup.terms(int(desk.settings.of(CubeSection).limit * 1000))
    clients: dict[int, WaitingClient] = {
        number: desk.recruit(seeker) for number, seeker in waiting.items()
    }
    clients |= {number: invited[name] for number, name in named.items() if name in invited}
    names = tuple(player.name for player in players)
    owners = tuple(
        clients[number].owner if number in clients else player.owner
        for number, player in enumerate(players)
    )
    versions = tuple(player.version for player in wanted.players)
    table = desk.tables.set_table(
        setup.game, terms, names, owners, _options(wanted), versions=versions
    )
    table.resumes = False  # its organiser is on this node
    game = CubeGame(table, wanted, caller, desk.settings, desk.registry.clients)
    for number in range(len(names)):
        if number in house:
            HouseSeat(desk.workers, table, number, house[number]).sit_down()
        elif number not in clients:
            game.seat(number)
    desk.tables.start_table(table, [clients.get(number) for number in range(len(names))], 0.0)
    return game


def _options(wanted: NewGame) -> dict[str, Any]:
    starts = wanted.setup.starts
    return wanted.setup.options | ({"starts": [list(cell) for _, cell in starts]} if starts else {})


def _house_bot(player: CubePlayer) -> HouseBot:
    bot = house_bot(Battlecube.name, player.url)
    if bot is None:
        raise Fault(f"There is no bot {player.url}")
    return bot[1]


def _waiting(desk: Desk, name: str) -> Seeker:
    seeker = desk.waiting_named(Battlecube.name, name)
    if seeker is None:
        raise Fault(f"The bot {name} has just left")
    return seeker
