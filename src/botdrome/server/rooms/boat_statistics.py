"""Statistics of boat games, by title and by player, with the keys of the original and our own key
`total.games`.

In the store, "boats.game" has a note for each title and one for each player under a title
(TITLE|PLAYER; names have no |), so that a game changes only the lines of its players.
"boats.player" has a note for each player.
"""

import asyncio
import os
import re
import tempfile
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from functools import partial
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import quote, unquote

import msgspec
import structlog
from msgspec import Struct

from botdrome.games.battleship import HIT, MISS, Battleship
from botdrome.server.rooms.boat_settings import BadRoomSettings, BoatRoomSettings, pairs_in
from botdrome.server.tables.statistics import Entries, Statistics
from botdrome.store.entries import Note
from botdrome.store.store import Store
from botdrome.wire.boats.lines import text_of

# CountedGame: a boat game that is over, and what it adds to the lines of statistics.

LAST_STATUS = "disconnected"
"""Status of every player: the original closes all connections before it counts."""
COUNTED = (
    "aborted", "turnCount", "playerCount", "hits", "ties", "firstPlace", "lastPlace", "lasPlace",
    "score", "skips", "turns", "games", "opponents", "hitCount", "missCount",
)  # fmt: skip
COUNTS = frozenset(f"{span}.{key}" for span in ("total", "last") for key in COUNTED) | {
    "gameCount",
    "gamesPlayed",
}
"""The keys whose values are counts or facts."""
Value = dict[str, Any]
Pages = dict[str, Value]


class GameTally(Struct, frozen=True):
    """The figures of one game so far, player by player."""

    turns: tuple[int, ...]
    scores: tuple[int, ...]
    skips: tuple[int, ...]
    hits: tuple[int, ...]
    misses: tuple[int, ...]

    @property
    def first(self) -> list[bool]:
        return [score == max(self.scores) for score in self.scores]

    @property
    def last(self) -> list[bool]:
        return [score == min(self.scores) for score in self.scores]


class CountedPlayer(Struct, frozen=True):
    name: str
    address: str
    player: int


class CountedGame(Struct, frozen=True):
    """A game that is over, as far as statistics need it."""

    title: str
    plan: Value
    tally: GameTally
    aborted: bool
    players: tuple[CountedPlayer, ...]


def tally_of(position: Battleship) -> GameTally:
    hits, misses = [
        tuple([board.count(square) for board in position.boards]) for square in (HIT, MISS)
    ]
    return GameTally(position.turns, position.scores, position.skips, hits, misses)


def _game_lines(before: Value, tally: GameTally, aborted: bool) -> Value:
    last = {
        "turnCount": tally.turns[0],
        "playerCount": len(tally.turns),
        "hits": sum(tally.scores),
        "ties": sum(tally.first) - 1,
    }
    return _counted(before, "gameCount", last, {"aborted": aborted})


def _line_in_game(before: Value, tally: GameTally, at: int) -> Value:
    lines = _counted(
        before,
        None,
        _counts(tally, at),
        {"firstPlace": tally.first[at], "lastPlace": tally.last[at]},
    )
    return lines | {"total.games": before.get("total.games", 0) + 1}


def _player_lines(before: Value, tally: GameTally, at: int) -> Value:
    seen = {
        "opponents": len(tally.turns) - 1,
        "hitCount": tally.hits[at],
        "missCount": tally.misses[at],
    }
    lines = _counted(
        before,
        "gamesPlayed",
        _counts(tally, at) | seen,
        {"firstPlace": tally.first[at], "lastPlace": tally.last[at]},
    )
    lines["last.lasPlace"] = lines.pop("last.lastPlace")
    return lines


def _counts(tally: GameTally, at: int) -> dict[str, int]:
    return {"score": tally.scores[at], "skips": tally.skips[at], "turns": tally.turns[at]}


def _counted(
    before: Value, games: str | None, counts: dict[str, int], facts: dict[str, bool]
) -> Value:
    """Add to the totals, and set the figures of the last game."""
    lines: Value = {games: before.get(games, 0) + 1} if games else {}
    for key, count in (counts | facts).items():
        lines[f"total.{key}"] = before.get(f"total.{key}", 0) + int(count)
        lines[f"last.{key}"] = count
    return lines


def count_for_title(game: CountedGame, pages: MutableMapping[str, Value]) -> None:
    """Count a game for its title, and for its players under that title.

    Keys that only a newer version of the original knows stay as they are.
    """
    title, before = game.title, pages.get(game.title, {})
    plan, lines = _in_words_of(before, game.plan), _game_lines(before, game.tally, game.aborted)
    pages[title] = before | plan | lines
    for player in game.players:
        here = f"{title}|{player.name}"
        line = pages.get(here, {})
        pages[here] = line | _line_in_game(line, game.tally, player.player)


def _in_words_of(before: Value, plan: Value) -> Value:
    """The newer version of the original says `ship` for `boat`."""
    return {
        "ship" if key == "boat" and "ship" in before else key: value for key, value in plan.items()
    }


def count_for_players(game: CountedGame, pages: MutableMapping[str, Value]) -> None:
    for player in game.players:
        name = player.name
        who = {"playerName": name, "lastAddress": player.address, "lastStatus": LAST_STATUS}
        before = pages.get(name, {})
        pages[name] = before | who | _player_lines(before, game.tally, player.player)


def plan_lines(plan: BoatRoomSettings) -> Value:
    offer = plan.offer
    counts = {"minPlayers": plan.min, "maxPlayers": plan.max, "pointGoal": offer.goal}
    return (
        {"name": plan.title}
        | counts
        | {"width": plan.width, "height": plan.height, "boat": list(offer.boats.names)}
    )


# The ini files of the original for statistics of boat games.

LONGEST_NAME = 200
"""Bytes of a file's name that come from a player's name or a title."""
LINE_BREAKS = re.compile(r"[\r\n]+")
PLAYER_KEY = re.compile(r"player\.(.*)\.((?:total|last)\.[A-Za-z]+)")


def file_name(kind: str, name: str) -> str:
    """Return a safe file name: characters that mean something to file systems are
    percent-encoded.
    """
    safe = quote(name, safe=" !#$&'()+,;=@[]^{}~", errors="replace")
    while len(safe.encode()) > LONGEST_NAME:
        name = name[:-1]
        safe = quote(name, safe=" ", errors="replace") + "~"
    return f"{kind}.{safe}.ini"


def written(lines: Mapping[str, Any]) -> str:
    """Write sorted `key=value` lines; a list becomes a repeated key."""
    rows = []
    for key, value in sorted(lines.items()):
        rows += [f"{key}={_word(one)}" for one in (value if isinstance(value, list) else [value])]
    return "\n".join(rows) + "\n"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return LINE_BREAKS.sub(" ", str(value))  # nothing else changes, so that names stay different


def write_files(folder: Path, files: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
    """Replace each file in one step. Unchanged files are not written."""
    folder.mkdir(mode=0o750, parents=True, exist_ok=True)
    for (kind, name), lines in files.items():
        file_path, text = folder / file_name(kind, name), written(lines)
        if _says(file_path, text):
            continue
        handle, draft = tempfile.mkstemp(dir=folder, prefix=".", suffix=".new")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        Path(draft).replace(file_path)


def _says(file: Path, text: str) -> bool:
    return file.exists() and file.read_bytes() == text.encode(errors="replace")


def read_folder(folder: Path) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return lines by title and by TITLE|PLAYER, and lines by player. Other files are ignored."""
    games: dict[str, dict[str, Any]] = {}
    players: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("*.ini")):
        kind, _, rest = file.name.removesuffix(".ini").partition(".")
        try:
            lines = {
                key: _value(key, words)
                for key, words in pairs_in(text_of(file.read_bytes())).items()
            }
        except (OSError, BadRoomSettings):
            continue
        if kind == "game":
            _take_game(str(lines.get("name") or unquote(rest)), lines, games)
        elif kind == "player":
            players[str(lines.get("playerName") or unquote(rest))] = lines
    return games, players


def _take_game(title: str, lines: dict[str, Any], games: dict[str, dict[str, Any]]) -> None:
    games[title] = {key: value for key, value in lines.items() if not PLAYER_KEY.fullmatch(key)}
    for key, value in lines.items():
        if found := PLAYER_KEY.fullmatch(key):
            games.setdefault(f"{title}|{found[1]}", {})[found[2]] = value


def _value(key: str, words: list[str]) -> Any:
    """Read counts and facts as such.

    All other values stay texts, so that they are written as they were read.
    """
    if key in ("boat", "ship"):
        return words
    word, player_key = words[-1], PLAYER_KEY.fullmatch(key)
    if (player_key[2] if player_key else key) in COUNTS:
        if word in ("true", "false"):
            return word == "true"
        return int(word) if re.fullmatch(r"\d{1,18}", word) else 0
    return words if len(words) > 1 and key not in ("name", "playerName") else word


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

    def note(self, match_id: str, game: CountedGame) -> Note:
        """Return what to store of a game that is over."""
        label = f"{int(time() * 1000):015} {match_id}"  # folded in the order of time
        return self.entry(label, game)

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
