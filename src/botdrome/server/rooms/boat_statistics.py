"""Statistics of boat games, by title and by player, with the keys of the original and our own key
`total.games`.

In the store, "boats.game" has a note for each title and one for each player under a title
(TITLE|PLAYER; names have no |), so that a game changes only the lines of its players.
"boats.player" has a note for each player.
"""

import asyncio
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import structlog

from botdrome.server.lobby.desk import Desk
from botdrome.server.rooms.boat_game import BoatGame
from botdrome.server.rooms.boat_ini import read_folder, write_files
from botdrome.server.rooms.boat_settings import RoomPlan
from botdrome.server.rooms.counted_game import (
    CountedGame,
    Pages,
    Value,
    counted_game,
    player_pages,
    title_pages,
)
from botdrome.server.tables.late_entries import LateEntries
from botdrome.server.tables.ledger import Ledger
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.store import Note, Store

log = structlog.get_logger()

GAMES, PLAYERS, LATE = "boats.game", "boats.player", "boats.late"


class BoatStatistics:
    """The stored statistics in memory. A change is stored as a whole line."""

    def __init__(self, games: Pages, players: Pages, folder: Path | None) -> None:
        self.late = LateEntries(LATE, self)
        self._games: Ledger[str, Value] = Ledger(games)
        self._players: Ledger[str, Value] = Ledger(players)
        self._folder = folder
        self._writing: asyncio.Task[None] | None = None
        self._unwritten: dict[tuple[str, str], None] = {}

    async def load(self, store: Store, watch: bool = False) -> None:
        """Read the statistics from the store, and import those that only the folder has.

        `watch`: games may end at other nodes, and count as well.
        """
        games, players = await store.notes(GAMES), await store.notes(PLAYERS)
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
        await store.keep(_notes(new_games, new_players))
        self._games, self._players = Ledger(games | new_games), Ledger(players | new_players)
        self.write_again(
            [("game", title) for title in titles(games)] + [("player", name) for name in players]
        )
        await self.late.open(store, watch)

    @property
    def settled(self) -> bool:
        """Whether the stored lines are those in memory."""
        return self._games.settled and self._players.settled

    @property
    def games(self) -> Pages:
        return self._games.lines

    @property
    def players(self) -> Pages:
        return self._players.lines

    def enter(self, plan: RoomPlan, game: BoatGame) -> tuple[Note, ...]:
        """Return the notes to store for a game that is over. It counts once `settle` is called."""
        self.drop(game)
        counted = counted_game(plan, game)
        return (
            (self.late.note(game.table.entry.id, counted),)
            if self.late.away
            else self._draft(game, counted)
        )

    def draft_late(self, name: str, value: Mapping[str, Any]) -> tuple[Note, ...]:
        """Return the notes to store for a game that has ended at another node."""
        return self._draft(name, msgspec.convert(value, CountedGame))

    def _draft(self, entry: Hashable, game: CountedGame) -> tuple[Note, ...]:
        games = self._games.draft(entry, lambda look: title_pages(game, look))
        players = self._players.draft(entry, lambda look: player_pages(game, look))
        return _notes(games, players)

    def settle(self, entry: Hashable) -> None:
        """Count a game that is stored."""
        self._show(self._games.settle(entry), self._players.settle(entry))

    def drop(self, entry: Hashable) -> None:
        """Forget a game that could not be stored. Does nothing after `settle`."""
        self._show(self._games.drop(entry), self._players.drop(entry))

    async def correct(self, store: Store) -> None:
        """Store lines again that included a dropped game."""
        await self._games.correct(lambda games: store.keep(_notes(games, {}), retry=True))
        await self._players.correct(lambda players: store.keep(_notes({}, players), retry=True))

    def _show(self, games: Pages, players: Pages) -> None:
        self._unwritten |= {("game", title): None for title in titles(games)} | {
            ("player", name): None for name in players
        }
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
        self.late.close()
        self.write()
        if self._writing is not None:
            await self._writing

    def lines(self, kind: str, name: str) -> Value:
        """Return all lines of a title or a player."""
        return game_page(self.games, name) if kind == "game" else self.players[name]


class GameStatistics:
    """Counts one game, unless it never started."""

    def __init__(
        self, statistics: BoatStatistics, plan: RoomPlan, game: BoatGame, desk: Desk
    ) -> None:
        self._statistics, self._plan, self._game, self._desk = statistics, plan, game, desk
        game.table.subscribe(Subscriber(over=self._forget))

    def notes(self, _: Table) -> tuple[Note, ...]:
        return self._statistics.enter(self._plan, self._game) if self._game.roster.started else ()

    def stored(self, _: Table) -> None:
        if self._game.roster.started:
            self._statistics.settle(self._game)

    def _forget(self, _: Table) -> None:
        self._statistics.drop(self._game)
        self._desk.tasks.start(self._statistics.correct(self._desk.store))


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


def _notes(games: Pages, players: Pages) -> tuple[Note, ...]:
    return (
        *[Note(GAMES, *page) for page in games.items()],
        *[Note(PLAYERS, *page) for page in players.items()],
    )


def titles(games: Pages) -> Iterable[str]:
    return sorted(name for name in games if "|" not in name)
