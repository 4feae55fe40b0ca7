"""Gathering: completes tables of protocols whose clients meet in rooms, with clients at the desk
and with house bots.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from botdrome.bots.house import HouseBot
from botdrome.contest.lobby import Seeker, Wish
from botdrome.games.game import Game
from botdrome.match.terms import Terms
from botdrome.server.lobby.desk import Desk, WaitingClient
from botdrome.server.lobby.house import HouseSeat, house_bot, house_names
from botdrome.server.lobby.owners import NOBODY
from botdrome.server.tables.running_tables import Candidate
from botdrome.server.tables.table import Table


class GatheredPlayer(NamedTuple):
    """A player of a table that is about to start. A house bot has no client."""

    name: str
    owner: str = NOBODY
    client: Candidate | None = None
    house: HouseBot | None = None


class Gathering:
    """Finds players for the free seats of a room."""

    def __init__(self, desk: Desk, wish: Callable[[], Wish], on_wait: Callable[[], None]) -> None:
        """`on_wait` is called when another client begins to wait at the desk for such a table."""
        self._desk, self._wish, self._on_wait = desk, wish, on_wait
        self._game = wish().game
        """The game of all its wishes: most clients at the desk want another one."""
        self.close = desk.on_wait(self._waits)

    def _waits(self, seeker: Seeker) -> None:
        if seeker.wish.game == self._game and seeker.wish == self._wish():
            self._on_wait()

    def waiting(self, taken: Collection[str]) -> list[Seeker]:
        """Return the clients at the desk that could join players with these names, longest wait
        first.
        """
        return [seeker for seeker in self._desk.waiting(self._wish()) if seeker.name not in taken]

    def recruit(self, taken: Collection[str], free: int) -> list[tuple[str, WaitingClient]]:
        """Take as many of them from the desk as there are free seats."""
        return [(seeker.name, self._desk.recruit(seeker)) for seeker in self.waiting(taken)[:free]]

    def house_bots(self, free: int) -> list[GatheredPlayer]:
        """Return a house bot of middle strength, once for each free seat."""
        found = house_bot(self._wish().game, "house")
        return (
            []
            if found is None
            else [GatheredPlayer(name, house=found[1]) for name in house_names(found[0], free)]
        )


def open_table(
    desk: Desk,
    game: Game[Any],
    terms: Terms,
    options: Mapping[str, Any],
    players: Sequence[GatheredPlayer],
    contest: str | None = None,
    seed: int | None = None,
) -> Table:
    """Return a table for these players, with its house bots seated."""
    names, owners = (
        tuple(player.name for player in players),
        tuple(player.owner for player in players),
    )
    table = desk.tables.set_table(game, terms, names, owners, options, contest, seed=seed)
    table.resumes = False  # its room is in memory
    for number, player in enumerate(players):
        if player.house is not None:
            HouseSeat(desk.workers, table, number, player.house).sit_down()
    return table
