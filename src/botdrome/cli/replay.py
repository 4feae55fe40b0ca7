"""`botdrome replay` and `verify`: match files in the terminal, as HTML pages, and checked."""

import hashlib
import sys
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from botdrome.api.pages import WEB
from botdrome.catalogue import restored
from botdrome.cli.frames import Frame, drawn, frames
from botdrome.cli.terminal import Terminal, complain
from botdrome.cli.viewer import HELP, Viewer, next_keys, single_keys
from botdrome.games.game import Game
from botdrome.games.reading import plural
from botdrome.match.film import FilmHeader, film_lines, header_of
from botdrome.match.film import frames as film_frames
from botdrome.match.record import BadRecord, Record, verify


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
    Terminal(stderr=True).print(
        Text(f"{file}: {len(page) / 1e6:.1f} MB; open it in any browser"), soft_wrap=True
    )
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


def verify_files(paths: Sequence[Path]) -> int:
    """Return 0 if all files replay to the same results, else 1."""
    console = Terminal(soft_wrap=True)
    good = [_holds(path, console) for path in paths]
    return 0 if all(good) else 1


def _holds(path: Path, console: Terminal) -> bool:
    try:
        record, game = restored(path.read_bytes())
        verify(record, game)
    except (BadRecord, OSError) as problem:
        console.print(Text(str(path), "bold red").append(f": {problem}", "not bold default"))
        return False
    unfinished = "" if record.result else "; the match has no result yet"
    held = f"{plural(len(record.lines), 'input')} hold{'s' * (len(record.lines) == 1)}"
    console.print(Text(str(path), "green").append(f": {held}{unfinished}", "default"))
    return True


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
