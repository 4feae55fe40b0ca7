"""A film as one HTML file that needs nothing else: the viewer, its style and the match."""

import hashlib
from base64 import b64encode
from html import escape
from pathlib import Path

from botdrome.match.film import FilmHeader

VIEWER, STYLE = "standalone", "style.css"
"""How the viewer's script and style are called; a game whose viewer is larger has a script that ends in its name."""
NOT_BUILT = "the pages have not been built, and the viewer with them: run `make web` where the sources are, or install the wheel"


class NoViewer(Exception):
    """The script or the style of the viewer cannot be put into a page."""


def film_page(header: FilmHeader, film: bytes, folder: Path) -> bytes:
    """The page. `folder` has what `python -m tools.web` builds."""
    own = f"{VIEWER}-{header.game}.js"
    script = _embeddable(folder / (own if (folder / own).exists() else f"{VIEWER}.js"))
    style = _embeddable(folder / STYLE)
    policy = (
        "default-src 'none'; "
        f"script-src {_hashed(script)}; style-src {_hashed(style)}; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    title = f"{header.game}: {', '.join(player.name for player in header.players)}"
    parts = (
        b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        b'<meta http-equiv="Content-Security-Policy" content="%b">\n' % policy.encode(),
        b'<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        b"<title>%b</title>\n" % escape(title).encode(),
        b"<style>%b</style>\n</head>\n<body>\n" % style,
        b'<div id="app"></div>\n<noscript>This page shows a match by a script, which the browser does not run.</noscript>\n',
        b'<script type="application/x-ndjson" id="film">\n%b</script>\n' % film.replace(b"<", b"\\u003c"),
        b"<script>%b</script>\n</body>\n</html>\n" % script,
    )
    return b"".join(parts)


def _embeddable(file: Path) -> bytes:
    """A script or style that a browser does not take for more than it is."""
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
