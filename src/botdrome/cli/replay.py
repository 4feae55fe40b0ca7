"""`botdrome replay`: match files in the terminal, as HTML pages and as animations."""

import hashlib
import os
import select
import sys
import termios
import tty
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group
from rich.live import Live
from rich.text import Text
from typer import Argument, Option

from botdrome.api.pages import WEB
from botdrome.catalogue import restored
from botdrome.cli.pictures import Frame, drawn, frames
from botdrome.cli.terminal import CommandFailed, Terminal, command, note
from botdrome.drawing import animation, scenes
from botdrome.games.game import Game
from botdrome.match.film import FilmHeader, film_lines, header_of
from botdrome.match.film import frames as film_frames
from botdrome.match.record import BadRecord, Record


@command()
def replay(
    file: Annotated[Path, Argument(help="A match file.")],
    turn: Annotated[
        int | None, Option(help="Print the position after this step, and exit.")
    ] = None,
    speed: Annotated[float, Option(min=0.1, help="Positions per second during playback.")] = 2.0,
    html: Annotated[
        Path | None,
        Option(
            metavar="PAGE",
            help="Write one HTML file that shows the match in any browser, and exit.",
        ),
    ] = None,
    gif: Annotated[
        Path | None,
        Option(metavar="PICTURE", help="Write the match as an animated GIF, and exit."),
    ] = None,
) -> None:
    """Replay a match file in the terminal, step by step or as a film; or write it as an
    HTML page or an animation.
    """
    try:
        record, game = restored(file.read_bytes())
        reel = frames(record, game) if html is None and gif is None else []
        if html is not None:
            _write_page(record, game, html)
        if gif is not None:
            _write_animation(record, game, gif, speed)
    except (BadRecord, OSError) as problem:
        raise CommandFailed(f"{file}: {problem}") from None
    if html is not None or gif is not None:
        return
    if turn is not None:
        _print_one(game.name, reel, turn)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _browse(game.name, reel, speed)
    else:
        for frame in reel:
            Terminal().print(drawn(game.name, frame), "")


HELP = "space play/pause   → ← step, back   number Enter jump   + - speed   Home End   q quit"
FASTEST, SLOWEST = 64.0, 0.25


class Viewer:
    def __init__(self, frames: int, speed: float) -> None:
        self.at = 0
        self.playing = False
        self.done = False
        self.speed = speed
        self.typed = ""
        self._last = frames - 1

    def press(self, key: str) -> None:
        if key.isdigit():
            self.typed = (self.typed + key)[:9]
            return
        number, self.typed = self.typed, ""
        match key:
            case "enter" if number:
                self.go(int(number))
            case " ":
                self.at = 0 if not self.playing and self.at == self._last else self.at
                self.playing = not self.playing
            case "right" | "n" | "enter":
                self._step(1)
            case "left" | "b":
                self._step(-1)
            case "+":
                self.speed = min(self.speed * 2, FASTEST)
            case "-":
                self.speed = max(self.speed / 2, SLOWEST)
            case "home" | "end":
                self.go(0 if key == "home" else self._last)
            case "q" | "escape":
                self.done = True

    def go(self, to: int) -> None:
        self.at = min(max(to, 0), self._last)
        self.playing = self.playing and self.at < self._last

    def tick(self) -> None:
        """Show the next frame during playback."""
        if self.playing:
            self.go(self.at + 1)

    def _step(self, by: int) -> None:
        self.playing = False
        self.go(self.at + by)


NAMES = {
    "\x1b[C": "right", "\x1b[D": "left", "\x1b[H": "home", "\x1b[F": "end", "\x1b[1~": "home",
    "\x1b[4~": "end", "\x1bOC": "right", "\x1bOD": "left", "\x1bOH": "home", "\x1bOF": "end",
    "\r": "enter", "\n": "enter", "\x1b": "escape",
}  # fmt: skip


@contextmanager
def single_keys() -> Iterator[None]:
    """Let the terminal deliver single keys, and restore its mode afterwards."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def next_keys(seconds: float | None) -> list[str]:
    """Return the pressed keys; none after a timeout."""
    terminal = sys.stdin.fileno()
    if not select.select([terminal], [], [], seconds)[0]:
        return []
    return list(split(os.read(terminal, 1024).decode(errors="ignore")))


def split(text: str) -> Iterator[str]:
    """Split input into keys, as a terminal may send several at once."""
    while text:
        code = next(
            (code for code in sorted(NAMES, key=len, reverse=True) if text.startswith(code)),
            text[0],
        )
        yield NAMES.get(code, code)
        text = text[len(code) :]


def _write_page(record: Record, game: Game[Any], file: Path) -> None:
    header = header_of(record)
    try:
        page = film_page(header, b"".join(film_lines(header, film_frames(record, game))), WEB)
        file.write_bytes(page)
    except (NoViewer, OSError) as problem:
        raise CommandFailed(f"{file} cannot be written: {problem}") from None
    note(f"{file}: {len(page) / 1e6:.1f} MB; open it in any browser")


def _write_animation(record: Record, game: Game[Any], file: Path, speed: float) -> None:
    shown = scenes(record, game)
    picture = animation(game.name, record.setup.names, shown, speed)
    try:
        file.write_bytes(picture)
    except OSError as problem:
        raise CommandFailed(f"{file} cannot be written: {problem}") from None
    note(f"{file}: {len(shown)} frames, {len(picture) / 1e6:.1f} MB")


def _print_one(game: str, reel: list[Frame], step: int) -> None:
    wanted = [frame for frame in reel if frame.step == step]
    if not wanted:
        raise CommandFailed(f"there is no step {step}; the match has steps 0 to {reel[-1].step}")
    Terminal().print(drawn(game, wanted[-1]))


def _browse(game: str, reel: list[Frame], speed: float) -> None:
    viewer = Viewer(len(reel), speed)
    console = Terminal()
    with single_keys(), Live(console=console, screen=True, auto_refresh=False) as live:
        while not viewer.done:
            live.update(
                Group(drawn(game, reel[viewer.at]), _footer(viewer, len(reel))), refresh=True
            )
            pressed = next_keys(1 / viewer.speed if viewer.playing else None)
            for key in pressed:
                viewer.press(key)
            if not pressed:
                viewer.tick()


def _footer(viewer: Viewer, count: int) -> Text:
    state = "playing" if viewer.playing else "paused"
    typed = f"  jump to {viewer.typed}" if viewer.typed else ""
    return Text(
        f"\n{viewer.at} of {count - 1}  {state}, {viewer.speed:g} a second{typed}\n{HELP}",
        style="cyan",
    )


VIEWER, STYLE = "standalone", "style.css"
"""The viewer's script and style. A game with its own viewer has a script that ends in its name."""
NOT_BUILT = (
    "the viewer has not been built: run `make web` in the source folder, or install the wheel"
)


class NoViewer(Exception):
    """The viewer's script or style is missing or cannot be embedded."""


def film_page(header: FilmHeader, film: bytes, folder: Path) -> bytes:
    """Return an HTML page with the viewer and the match.

    `folder` has the output of `python -m tools.web`.
    """
    own = f"{VIEWER}-{header.game}.js"
    script = _embeddable(folder / (own if (folder / own).exists() else f"{VIEWER}.js"))
    style = _embeddable(folder / STYLE)
    policy = (
        "default-src 'none'; "
        f"script-src {_hashed(script)}; style-src {_hashed(style)}; img-src data: blob:; base-uri "
        "'none'; form-action 'none'"
    )
    title = f"{header.game}: {', '.join(player.name for player in header.players)}"
    parts = (
        b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        b'<meta http-equiv="Content-Security-Policy" content="%b">\n' % policy.encode(),
        b'<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        b"<title>%b</title>\n" % escape(title).encode(),
        b"<style>%b</style>\n</head>\n<body>\n" % style,
        b'<div id="app"></div>\n<noscript>This page shows a match by a script, which the browser '
        b"does not run.</noscript>\n",
        b'<script type="application/x-ndjson" id="film">\n%b</script>\n'
        % film.replace(b"<", b"\\u003c"),
        b"<script>%b</script>\n</body>\n</html>\n" % script,
    )
    return b"".join(parts)


def _embeddable(file: Path) -> bytes:
    """Read a script or style, and check that it does not end its HTML element early."""
    try:
        text = file.read_bytes()
    except OSError:
        raise NoViewer(NOT_BUILT) from None
    for sign in (b"</script", b"</style", b"<!--"):
        if sign in text.lower():
            raise NoViewer(f"the viewer cannot be put into a page: it contains {sign.decode()}")
    return text


def _hashed(text: bytes) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text).digest()).decode()}'"
