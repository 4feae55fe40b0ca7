"""Statistics of boat games, by title and by player, with the keys of the original and our own key
`total.games`.

In the store, "boats.game" has a note for each title and one for each player under a title
(TITLE|PLAYER; names have no |), so that a game changes only the lines of its players.
"boats.player" has a note for each player.
"""

import asyncio
from collections import ChainMap
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from time import time

import msgspec
import structlog

from botdrome.server.rooms.boat_game import BoatGame
from botdrome.server.rooms.boat_ini import read_folder, write_files
from botdrome.server.rooms.boat_settings import RoomPlan
from botdrome.server.rooms.counted_game import (
    CountedGame,
    Pages,
    Value,
    count_for_players,
    count_for_title,
    counted_game,
)
from botdrome.server.tables.statistics import Entries, Statistics
from botdrome.server.tables.table import Table
from botdrome.store.store import Note, Store

log = structlog.get_logger()

GAMES, PLAYERS, ENTRIES = "boats.game", "boats.player", "boats.late"


class BoatStatistics(Statistics):
    """The stored statistics in memory."""

    def __init__(self, store: Store, folder: Path | None) -> None:
        super().__init__(store, ENTRIES)
        self.games: Pages = {}
        self.players: Pages = {}
        self._folder = folder
        self._writing: asyncio.Task[None] | None = None
        self._unwritten: dict[tuple[str, str], None] = {}

    async def load(self, watch: bool = False) -> None:
        """Read the statistics from the store, and import those that only the folder has.

        `watch`: games may end at other nodes, and count as well.
        """
        games, players = await self._store.notes(GAMES), await self._store.notes(PLAYERS)
        new_games: Pages = {}
        new_players: Pages = {}
        if self._folder is not None:
            found_games, found_players = await asyncio.to_thread(read_folder, self._folder)
            new_games = {
                name: value
                for name, value in found_games.items()
                if name.partition("|")[0] not in games
            }
            new_players = {
                name: value for name, value in found_players.items() if name not in players
            }
        new_games |= _seeded(games | new_games, players | new_players)
        await self._store.keep(_notes(new_games, new_players))
        self.games, self.players = games | new_games, players | new_players
        self.write_again(
            [("game", title) for title in titles(games)] + [("player", name) for name in players]
        )
        await self.open(watch)

    async def read(self) -> None:
        """Read the statistics, with entries that are not folded yet. The store stays unchanged."""
        self.games, self.players = await self._store.notes(GAMES), await self._store.notes(PLAYERS)
        _, show = self.fold(await self._store.notes(ENTRIES))
        show()

    def notes(self, plan: RoomPlan, game: BoatGame, _: Table) -> tuple[Note, ...]:
        """Return what to store of a game that is over: nothing, if it never started."""
        if not game.roster.started:
            return ()
        label = f"{int(time() * 1000):015} {game.table.entry.id}"  # folded in the order of time
        return (self.entry(label, counted_game(plan, game)),)

    def fold(self, entries: Entries) -> tuple[list[Note], Callable[[], None]]:
        games = ChainMap[str, Value]({}, self.games)
        players = ChainMap[str, Value]({}, self.players)
        for value in entries.values():
            game = msgspec.convert(value, CountedGame)
            count_for_title(game, games)
            count_for_players(game, players)
        new_games, new_players = dict(games.maps[0]), dict(players.maps[0])
        return _notes(new_games, new_players), partial(self._show, new_games, new_players)

    def _show(self, games: Pages, players: Pages) -> None:
        self.games |= games
        self.players |= players
        self._unwritten |= {("game", title): None for title in titles(games)}
        self._unwritten |= {("player", name): None for name in players}
        self.write()

    # The folder of files.

    def write(self) -> None:
        """Write the files of all changed lines, in a thread."""
        if self._folder is None:
            self._unwritten.clear()
        elif self._unwritten and (self._writing is None or self._writing.done()):
            self._writing = asyncio.ensure_future(self._write(self._folder))

    def write_again(self, files: Iterable[tuple[str, str]]) -> None:
        """Write these files: a server that was killed may have stored a game without
        writing them.
        """
        self._unwritten |= dict.fromkeys(files)
        self.write()

    async def _write(self, folder: Path) -> None:
        while self._unwritten:
            files = {key: self.lines(*key) for key in self._unwritten}
            self._unwritten.clear()
            try:
                await asyncio.to_thread(write_files, folder, files)
            except OSError as problem:
                log.error(
                    "the statistics cannot be written", folder=str(folder), problem=str(problem)
                )

    async def close(self) -> None:
        await self.folded()
        self.leave()
        self.write()
        if self._writing is not None:
            await self._writing

    def lines(self, kind: str, name: str) -> Value:
        """Return all lines of a title or a player."""
        return game_page(self.games, name) if kind == "game" else self.players[name]


def _seeded(games: Pages, players: Pages) -> Pages:
    """Estimate `total.games` of imported lines: the original counts a player's games over all
    titles only.
    """
    seeded = {}
    for name, value in games.items():
        title, sign, player = name.partition("|")
        if sign and "total.games" not in value:
            of_title = games.get(title, {}).get("gameCount", 0)
            of_player = players.get(player, {}).get("gamesPlayed", of_title)
            seeded[name] = value | {"total.games": min(of_title, of_player)}
    return seeded


def game_page(games: Pages, title: str) -> Value:
    """Return a title with all its players, with the keys of the original's file."""
    page = dict(games.get(title, {}))
    for name, value in games.items():
        of, sign, player = name.partition("|")
        if sign and of == title:
            page |= {f"player.{player}.{key}": word for key, word in value.items()}
    return page


def _notes(games: Pages, players: Pages) -> list[Note]:
    return [
        *[Note(GAMES, *page) for page in games.items()],
        *[Note(PLAYERS, *page) for page in players.items()],
    ]


def titles(games: Pages) -> Iterable[str]:
    return sorted(name for name in games if "|" not in name)
