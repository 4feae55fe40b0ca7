"""`botdrome replay`: a match file in the terminal."""

import sys
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from botdrome.api.pages import WEB
from botdrome.cli.film_page import NoViewer, film_page
from botdrome.cli.keys import next_keys, single_keys
from botdrome.cli.problems import complain
from botdrome.cli.reel import Frame, drawn, frames
from botdrome.cli.terminal import Terminal
from botdrome.cli.viewer import HELP, Viewer
from botdrome.formats import restored
from botdrome.games.game import Game
from botdrome.match.film import film_lines, header_of
from botdrome.match.film import frames as film_frames
from botdrome.match.record import BadRecord, Record


def show_match(file: Path, turn: int | None, speed: float, html: Path | None = None) -> int:
    try:
        record, game = restored(file.read_bytes())
        if html is not None:
            return _write_page(record, game, html)
        reel = frames(record, game)
    except (BadRecord, OSError) as problem:
        complain(f"{file}: {problem}")
        return 1
    if turn is not None:
        return _print_one(game.name, reel, turn)
    if sys.stdin.isatty() and sys.stdout.isatty():
        _browse(game.name, reel, speed)
    else:
        _print_all(game.name, reel)
    return 0


def _write_page(record: Record, game: Game[Any], file: Path) -> int:
    header = header_of(record)
    try:
        page = film_page(header, b"".join(film_lines(header, film_frames(record, game))), WEB)
        file.write_bytes(page)
    except (NoViewer, OSError) as problem:
        complain(f"{file} cannot be written: {problem}")
        return 1
    Terminal(stderr=True).print(Text(f"{file}: {len(page) / 1e6:.1f} MB; open it in any browser"), soft_wrap=True)
    return 0


def _print_one(game: str, reel: list[Frame], step: int) -> int:
    wanted = [frame for frame in reel if frame.step == step]
    if not wanted:
        complain(f"there is no step {step}; the match has steps 0 to {reel[-1].step}")
        return 1
    Terminal().print(drawn(game, wanted[-1]))
    return 0


def _print_all(game: str, reel: list[Frame]) -> None:
    console = Terminal()
    for frame in reel:
        console.print(drawn(game, frame), "")


def _browse(game: str, reel: list[Frame], speed: float) -> None:
    viewer = Viewer(len(reel), speed)
    console = Terminal()
    with single_keys(), Live(console=console, screen=True, auto_refresh=False) as live:
        while not viewer.done:
            live.update(Group(drawn(game, reel[viewer.at]), _footer(viewer, len(reel))), refresh=True)
            pressed = next_keys(1 / viewer.speed if viewer.playing else None)
            for key in pressed:
                viewer.press(key)
            if not pressed:
                viewer.tick()


def _footer(viewer: Viewer, count: int) -> Text:
    state = "playing" if viewer.playing else "paused"
    typed = f"  jump to {viewer.typed}" if viewer.typed else ""
    return Text(f"\n{viewer.at} of {count - 1}  {state}, {viewer.speed:g} a second{typed}\n{HELP}", style="cyan")
