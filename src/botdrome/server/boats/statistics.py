"""Statistics of boat games, by title and by player, with the keys of the original and our own key `total.games`.

In the store, "boats.game" has a note for each title and one for each player under a title (TITLE|PLAYER; names have no |), so
that a game changes only the lines of its players. "boats.player" has a note for each player.
"""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import structlog

from botdrome.games.battleship import Battleship
from botdrome.games.fleet import HIT, MISS
from botdrome.server.boats.game import BoatGame
from botdrome.server.boats.ini import read_folder, write_files
from botdrome.server.boats.plan import RoomPlan
from botdrome.server.boats.players import RoomPlayer
from botdrome.server.lobby.desk import Desk
from botdrome.server.tables.ledger import Ledger, Look
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.store.store import Note, Store

log = structlog.get_logger()

GAMES, PLAYERS = "boats.game", "boats.player"
LAST_STATUS = "disconnected"
"""Status of every player: the original closes all connections before it counts."""
Value = dict[str, Any]
Pages = dict[str, Value]


class GameTally:
    """The figures of one game so far, player by player."""

    def __init__(self, position: Battleship) -> None:
        self.turns, self.scores, self.skips = position.turns, position.scores, position.skips
        self.hits = [board.count(HIT) for board in position.boards]
        self.misses = [board.count(MISS) for board in position.boards]
        self.first = [score == max(self.scores) for score in self.scores]
        self.last = [score == min(self.scores) for score in self.scores]


class BoatStatistics:
    """The stored statistics in memory. A change is stored as a whole line."""

    def __init__(self, games: Pages, players: Pages, folder: Path | None) -> None:
        self._games: Ledger[str, Value] = Ledger(games)
        self._players: Ledger[str, Value] = Ledger(players)
        self._folder = folder
        self._writing: asyncio.Task[None] | None = None
        self._unwritten: dict[tuple[str, str], None] = {}

    async def load(self, store: Store) -> None:
        """Read the statistics from the store, and import those that only the folder has."""
        games, players = await store.notes(GAMES), await store.notes(PLAYERS)
        new_games: Pages = {}
        new_players: Pages = {}
        if self._folder is not None:
            found_games, found_players = await asyncio.to_thread(read_folder, self._folder)
            new_games = {name: value for name, value in found_games.items() if name.partition("|")[0] not in games}
            new_players = {name: value for name, value in found_players.items() if name not in players}
        new_games |= _seeded(games | new_games, players | new_players)
        await store.keep(_notes(new_games, new_players))
        self._games, self._players = Ledger(games | new_games), Ledger(players | new_players)
        self.write_again([("game", title) for title in titles(games)] + [("player", name) for name in players])

    @property
    def games(self) -> Pages:
        return self._games.lines

    @property
    def players(self) -> Pages:
        return self._players.lines

    def enter(self, plan: RoomPlan, game: BoatGame) -> tuple[Note, ...]:
        """Return the notes to store for a game that is over. It counts once `settle` is called."""
        self.drop(game)
        tally, result = GameTally(game.position), game.table.match.result
        aborted = result is not None and result.aborted
        games = self._games.draft(game, lambda look: _title_pages(plan, tally, aborted, game.players, look))
        players = self._players.draft(game, lambda look: _player_pages(tally, game.players, look))
        return _notes(games, players)

    def settle(self, game: BoatGame) -> None:
        """Count a game that is stored."""
        self._show(self._games.settle(game), self._players.settle(game))

    def drop(self, game: BoatGame) -> None:
        """Forget a game that could not be stored. Does nothing after `settle`."""
        self._show(self._games.drop(game), self._players.drop(game))

    async def correct(self, store: Store) -> None:
        """Store lines again that included a dropped game."""
        await store.keep(_notes(self._games.corrections(), self._players.corrections()), retry=True)

    def _show(self, games: Pages, players: Pages) -> None:
        self._unwritten |= {("game", title): None for title in titles(games)} | {("player", name): None for name in players}
        self.write()

    # The folder of files.

    def write(self) -> None:
        """Write the files of all changed lines, in a thread."""
        if self._folder is None:
            self._unwritten.clear()
        elif self._unwritten and (self._writing is None or self._writing.done()):
            self._writing = asyncio.ensure_future(self._write(self._folder))

    def write_again(self, files: Iterable[tuple[str, str]]) -> None:
        """Write these files: a server that was killed may have stored a game without writing them."""
        self._unwritten |= dict.fromkeys(files)
        self.write()

    async def _write(self, folder: Path) -> None:
        while self._unwritten:
            files = {key: self.lines(*key) for key in self._unwritten}
            self._unwritten.clear()
            try:
                await asyncio.to_thread(write_files, folder, files)
            except OSError as problem:
                log.error("the statistics cannot be written", folder=str(folder), problem=str(problem))

    async def close(self) -> None:
        self.write()
        if self._writing is not None:
            await self._writing

    def lines(self, kind: str, name: str) -> Value:
        """Return all lines of a title or a player."""
        return game_page(self.games, name) if kind == "game" else self.players[name]


class GameStatistics:
    """Counts one game, unless it never started."""

    def __init__(self, statistics: BoatStatistics, plan: RoomPlan, game: BoatGame, desk: Desk) -> None:
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
    """Estimate `total.games` of imported lines: the original counts a player's games over all titles only."""
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


def plan_lines(plan: RoomPlan) -> Value:
    offer = plan.offer
    counts = {"minPlayers": plan.min, "maxPlayers": plan.max, "pointGoal": offer.goal}
    return {"name": plan.title} | counts | {"width": plan.width, "height": plan.height, "boat": list(offer.boats.names)}


def _game_lines(before: Value, tally: GameTally, aborted: bool) -> Value:
    last = {
        "turnCount": tally.turns[0],
        "playerCount": len(tally.turns),
        "hits": sum(tally.scores),
        "ties": sum(tally.first) - 1,
    }
    return _counted(before, "gameCount", last, {"aborted": aborted})


def _line_in_game(before: Value, tally: GameTally, at: int) -> Value:
    lines = _counted(before, None, _counts(tally, at), {"firstPlace": tally.first[at], "lastPlace": tally.last[at]})
    return lines | {"total.games": before.get("total.games", 0) + 1}


def _player_lines(before: Value, tally: GameTally, at: int) -> Value:
    seen = {"opponents": len(tally.turns) - 1, "hitCount": tally.hits[at], "missCount": tally.misses[at]}
    lines = _counted(
        before, "gamesPlayed", _counts(tally, at) | seen, {"firstPlace": tally.first[at], "lastPlace": tally.last[at]}
    )
    lines["last.lasPlace"] = lines.pop("last.lastPlace")
    return lines


def _counts(tally: GameTally, at: int) -> dict[str, int]:
    return {"score": tally.scores[at], "skips": tally.skips[at], "turns": tally.turns[at]}


def _counted(before: Value, games: str | None, counts: dict[str, int], facts: dict[str, bool]) -> Value:
    """Add to the totals, and set the figures of the last game."""
    lines: Value = {games: before.get(games, 0) + 1} if games else {}
    for key, count in (counts | facts).items():
        lines[f"total.{key}"] = before.get(f"total.{key}", 0) + int(count)
        lines[f"last.{key}"] = count
    return lines


def _title_pages(plan: RoomPlan, tally: GameTally, aborted: bool, players: Sequence[RoomPlayer], look: Look[str, Value]) -> Pages:
    title = plan.title
    pages = {title: plan_lines(plan) | _game_lines(look(title) or {}, tally, aborted)}
    for player in players:
        here = f"{title}|{player.text}"
        pages[here] = _line_in_game(pages.get(here) or look(here) or {}, tally, player.player)
    return pages


def _player_pages(tally: GameTally, players: Sequence[RoomPlayer], look: Look[str, Value]) -> Pages:
    pages: Pages = {}
    for player in players:
        name = player.text
        who = {"playerName": name, "lastAddress": player.address, "lastStatus": LAST_STATUS}
        pages[name] = who | _player_lines(pages.get(name) or look(name) or {}, tally, player.player)
    return pages


def _notes(games: Pages, players: Pages) -> tuple[Note, ...]:
    return (*[Note(GAMES, *page) for page in games.items()], *[Note(PLAYERS, *page) for page in players.items()])


def titles(games: Pages) -> Iterable[str]:
    return sorted(name for name in games if "|" not in name)
