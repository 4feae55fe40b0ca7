"""`botdrome stats`: the statistics of boat games."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from botdrome.cli.store_commands import existing, store_url
from botdrome.cli.terminal import Terminal, complain
from botdrome.client.terminal_text import shown, shown_lines
from botdrome.games.reading import plural
from botdrome.server.rooms.boat_ini import write_files, written
from botdrome.server.rooms.boat_statistics import GAMES, LATE, PLAYERS, BoatStatistics, titles
from botdrome.store.opening import BadStoreUrl, StoreUnavailable, open_store


def show_stats(name: str | None, player: bool, db: str, as_json: bool, db_dir: Path | None) -> int:
    """Show the statistics of all games, or of one title or player."""
    try:
        statistics = asyncio.run(_read(existing(store_url(db))))
        if db_dir is not None:
            write_files(
                db_dir, {(kind, one): statistics.lines(kind, one) for kind, one in _all(statistics)}
            )
    except (BadStoreUrl, StoreUnavailable, OSError) as problem:
        complain(problem)
        return 1
    if name is not None:
        return _show_one("player" if player else "game", name, statistics, as_json)
    if as_json:
        pages: dict[str, dict[str, Any]] = {"game": {}, "player": {}}
        for kind, one in _all(statistics):
            pages[kind][one] = statistics.lines(kind, one)
        sys.stdout.write(json.dumps(pages, indent=2, sort_keys=True) + "\n")
    else:
        _show_all(statistics)
    return 0


async def _read(url: str) -> BoatStatistics:
    store = await open_store(url)
    try:
        statistics = BoatStatistics(await store.notes(GAMES), await store.notes(PLAYERS), None)
        for name, value in (await store.notes(LATE)).items():
            statistics.draft_late(name, value)
            statistics.settle(name)
        return statistics
    finally:
        await store.close()


def _all(statistics: BoatStatistics) -> list[tuple[str, str]]:
    return [("game", title) for title in titles(statistics.games)] + [
        ("player", name) for name in sorted(statistics.players)
    ]


def _show_one(kind: str, name: str, statistics: BoatStatistics, as_json: bool) -> int:
    if (kind, name) not in _all(statistics):
        complain(
            f"there are no statistics of {'the player' if kind == 'player' else 'games titled'} "
            f"{name!r}"
        )
        return 1
    lines = statistics.lines(kind, name)
    sys.stdout.write(
        json.dumps(lines, indent=2, sort_keys=True) + "\n"
        if as_json
        else shown_lines(written(lines))
    )
    return 0


def _show_all(statistics: BoatStatistics) -> None:
    console = Terminal()
    if not statistics.games:
        console.print("no boat game was played yet")
    for title in titles(statistics.games):
        page = statistics.games[title]
        table = Table("player", "first places", "hits a game", "turns a game", "skips", box=None)
        games = page.get("gameCount", 0)
        for name, line in sorted(statistics.games.items()):
            of, sign, who = name.partition("|")
            if sign and of == title:
                played = line.get("total.games") or max(1, games)
                row = [f"{line.get(f'total.{key}', 0) / played:.2f}" for key in ("score", "turns")]
                table.add_row(
                    Text(shown(who)),
                    str(line.get("total.firstPlace", 0)),
                    *row,
                    str(line.get("total.skips", 0)),
                )
        console.print(
            Text(
                f"{shown(title)}: {plural(games, 'game')}, {page.get('total.aborted', 0)} aborted",
                style="bold",
            )
        )
        console.print(table)
