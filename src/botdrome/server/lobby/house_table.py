"""A table of one client and house bots."""

from collections.abc import Callable
from random import randrange

from botdrome.bots.house import HouseBot
from botdrome.contest.lobby import Seeker, Wish
from botdrome.server.lobby.house import HouseSeat, house_names
from botdrome.server.lobby.owners import NOBODY
from botdrome.server.lobby.waiting_client import WaitingClient
from botdrome.server.tables.table import Table
from botdrome.server.workers.pool import Workers

SetTable = Callable[[Wish, tuple[str, ...], tuple[str, ...]], Table]
"""From the wish, the names and the owners of the seats to the table."""


def house_table(
    seeker: Seeker,
    bot: tuple[str, HouseBot],
    set_table: SetTable,
    workers: Workers,
    client: WaitingClient,
) -> tuple[Table, list[WaitingClient | None]]:
    """Return the table, with its house bots seated, and who else sits down in which seat."""
    (name, function), players = bot, seeker.wish.players
    seat = randrange(players) if seeker.by_lot else 0
    others = house_names(name, players - 1)
    owners = tuple(client.owner if player == seat else NOBODY for player in range(players))
    table = set_table(seeker.wish, (*others[:seat], seeker.name, *others[seat:]), owners)
    for player in range(players):
        if player != seat:
            HouseSeat(workers, table, player, function).sit_down()
    return table, [client if player == seat else None for player in range(players)]
